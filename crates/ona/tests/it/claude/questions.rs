//! A hook in the user's place: questions of the model, answered or left alone.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

fn ask(questions: &[&str]) -> Value {
    json!({"questions": questions.iter().map(|text| question(text)).collect::<Vec<_>>()})
}

#[test]
fn a_model_can_not_answer_its_own_question() {
    let mut ona = ona();
    let mut asked = ask(&["Which?"]);
    asked["answers"] = json!({"Which?": "B"});
    let mut own = ask(&["Which?"]);
    own["questions"][0]["answer"] = "B".into();
    let server = ona.model(Wire::Messages, [call("AskUserQuestion", asked), call("AskUserQuestion", own), say("done")]);
    ona.run(["-p", "go"]).expect_code(0);
    for n in [1, 2] {
        let told = server.request(n).last_message();
        assert!(told.contains("(error)") && !told.contains("= \"B\""), "{told}");
    }
}

#[test]
fn c7_an_allow_that_leaves_a_question_open_still_asks_it() {
    let open = [
        json!({"permissionDecision": "allow"}),
        json!({"permissionDecision": "allow", "updatedInput": {"answers": {}}}),
        json!({"permissionDecision": "allow", "updatedInput": {"answers": {"Which?": "A (recommended)"}}}),
    ];
    for fields in open {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, [call("AskUserQuestion", ask(&["Which?", "When?"])), say("done")]);
        install(&ona, json!({"PreToolUse": [group(QUESTION_MATCHER, &[&says("PreToolUse", fields.clone())])]}));
        let mut talk = ona.attended();
        talk.say("go");
        let asked = talk.until_asked("can_use_tool");
        let mut input = asked["request"]["input"].clone();
        input["answers"] = json!({"Which?": "B", "When?": "now"});
        talk.answer(&asked, json!({"behavior": "allow", "updatedInput": input}));
        talk.until_result();
        let told = server.request(1).last_message();
        assert!(told.contains("\"When?\" = \"now\""), "{fields}: {told}");
    }
}

/// DECISIONS, section L: PostToolUseFailure, and PostToolUse for hooks of this dialect.
#[test]
fn c36_a_cancelled_question_is_told_to_hooks_after_the_tool() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [call("AskUserQuestion", ask(&["Which?"])), say("done")]);
    let fallback = r#"jq -c 'if .tool_response.is_error then {hookSpecificOutput:{hookEventName:"PostToolUse",additionalContext:"ask in prose"}} else {hookSpecificOutput:{hookEventName:"PostToolUse"}} end'"#;
    install(
        &ona,
        json!({"PostToolUse": [group(QUESTION_MATCHER, &["cat >> post"]), group(QUESTION_MATCHER, &[fallback])],
            "PostToolUseFailure": [group("*", &["cat >> failed"])]}),
    );
    let mut talk = ona.attended();
    talk.say("go");
    let asked = talk.until_asked("can_use_tool");
    talk.answer(&asked, json!({"behavior": "deny", "message": "not now"}));
    talk.until_result();
    assert_eq!(talk.finish().0, 0);
    let post = &dumped(&ona, "post")[0];
    assert_eq!((&post["tool_response"]["is_error"], &post["hook_event_name"]), (&json!(true), &json!("PostToolUse")));
    assert!(post["tool_response"]["content"].as_str().unwrap().contains("not now"), "{post}");
    assert!(dumped(&ona, "failed")[0]["error"].as_str().unwrap().contains("not now"));
    let told = server.request(1).last_message();
    assert!(told.contains("not now") && told.contains("ask in prose"), "{told}");
}
