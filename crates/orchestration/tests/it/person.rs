//! What a person answers, and what comes with the answer.

use crate::refusals::question;
use crate::scene::*;
use ona_api::Authority;
use ona_api::permission_update::PermissionUpdate;
use ona_orchestration::OperatorAnswer;
use serde_json::{Value, json};

fn with_input(input: Value) -> OperatorAnswer {
    OperatorAnswer { input: input.as_object().cloned(), ..yes() }
}

fn update(value: Value) -> PermissionUpdate {
    serde_json::from_value(value).unwrap()
}

#[tokio::test]
async fn a_yes_runs_the_call_and_is_a_row() {
    let mut scene = setting().open().answers([yes()]);
    assert!(!scene.bash("touch out").await.denied);
    assert!(scene.exists("out"));
    assert_eq!(scene.decisions(), ["allow human"]);
    assert!(matches!(scene.asked()[0].by, Authority::Mode(_)));
    assert_eq!(scene.asked()[0].call.input["command"], "touch out");
}

#[tokio::test]
async fn a_no_is_told_to_the_model_in_the_persons_words() {
    let mut scene = setting().hook("PermissionDenied", "touch told").open().answers([no("use make instead")]);
    let finished = scene.bash("touch out").await;
    assert_eq!(finished.result.content, "use make instead");
    assert!(finished.denied && !finished.interrupt);
    assert!(!scene.exists("out") && scene.exists("told"));
    assert_eq!(scene.decisions(), ["deny human"]);
}

#[tokio::test]
async fn a_no_may_end_the_turn() {
    let mut scene = setting().open().answers([OperatorAnswer { interrupt: true, ..no("stop it") }]);
    let finished = scene.bash("ls").await;
    assert!(finished.denied && finished.interrupt);
}

#[tokio::test]
async fn the_call_is_committed_before_the_person_is_asked() {
    let mut scene = setting().open();
    scene.bash("ls").await;
    assert_eq!(scene.asked()[0].entries, ["tool_use"]);
}

#[tokio::test]
async fn an_input_the_person_changed_is_what_runs() {
    let mut scene = setting().open().answers([with_input(json!({"command": "echo mine"}))]);
    let finished = scene.bash("echo theirs").await;
    assert_eq!(finished.result.content.trim(), "mine");
    let row = scene.newest("internal_hook");
    assert_eq!(row["requested_input"]["command"], "echo theirs");
    assert_eq!(row["effective_input"]["command"], "echo mine");
}

#[tokio::test]
async fn an_input_the_person_left_as_it_is_leaves_no_row() {
    let mut scene = setting().open().answers([with_input(json!({"command": "true"}))]);
    scene.bash("true").await;
    assert_eq!(scene.entries(), ["tool_use", "tool_result"]);
}

#[tokio::test]
async fn an_input_of_the_person_that_does_not_fit_does_not_run() {
    let mut scene = setting().open().answers([with_input(json!({"command": 7}))]);
    let finished = scene.bash("ls").await;
    let expected = "The input was changed to one the tool cannot use: ";
    assert!(finished.result.content.starts_with(expected), "{}", finished.result.content);
    assert!(!scene.ran());
}

#[tokio::test]
async fn a_deny_rule_holds_for_the_persons_input_too() {
    let mut scene =
        setting().permissions(json!({"deny": ["Bash(rm:*)"]})).open().answers([with_input(json!({"command": "rm x"}))]);
    assert!(scene.bash("ls").await.denied);
    assert_eq!(scene.decisions(), ["deny rule"]);
}

#[tokio::test]
async fn always_means_that_the_next_call_is_not_asked_about() {
    let rule = update(json!({
        "type": "addRules", "rules": [{"toolName": "Bash", "ruleContent": "touch:*"}], "behavior": "allow",
        "destination": "localSettings",
    }));
    let mut scene = setting().open().answers([OperatorAnswer { updates: vec![rule.clone()], ..yes() }]);
    scene.bash("touch a").await;
    scene.bash("touch b").await;
    assert!(scene.exists("a") && scene.exists("b"));
    assert_eq!(scene.asked().len(), 1);
    assert_eq!(*scene.kept.lock().unwrap(), [rule], "it is kept beyond the session");
}

#[tokio::test]
async fn a_mode_that_comes_with_an_answer_holds_from_then_on() {
    let mode = update(json!({"type": "setMode", "mode": "acceptEdits", "destination": "session"}));
    let mut scene = setting().open().answers([OperatorAnswer { updates: vec![mode], ..yes() }]);
    scene.write("a").await;
    scene.write("b").await;
    assert!(scene.exists("a") && scene.exists("b"));
    assert_eq!(scene.asked().len(), 1);
}

#[tokio::test]
async fn an_update_that_is_refused_is_told_and_the_call_runs() {
    let root = update(json!({"type": "addDirectories", "directories": ["/"], "destination": "session"}));
    let mut scene = setting().open().answers([OperatorAnswer { updates: vec![root], ..yes() }]);
    let finished = scene.bash("touch out").await;
    assert!(scene.exists("out"));
    assert_eq!(finished.messages.len(), 1);
    assert!(finished.messages[0].starts_with("A permission change was not made: "), "{:?}", finished.messages);
    assert!(scene.kept.lock().unwrap().is_empty());
}

#[tokio::test]
async fn a_path_that_leads_elsewhere_after_the_answer_is_refused() {
    let mut scene = setting().open().answers([yes()]);
    scene.file("one/f", "1");
    scene.file("two/f", "2");
    std::os::unix::fs::symlink(scene.path("one"), scene.path("link")).unwrap();
    let (link, two) = (scene.path("link"), scene.path("two"));
    *scene.operator.meanwhile.lock().unwrap() = Some(Box::new(move || {
        std::fs::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(&two, &link).unwrap();
    }));
    let finished = scene.write("link/f").await;
    let text = &finished.result.content;
    assert!(text.contains("when this was asked about and leads to"), "{text}");
    assert!(text.ends_with("Nothing was opened."), "{text}");
    assert_eq!((scene.read("one/f"), scene.read("two/f")), ("1".to_owned(), "2".to_owned()));
}

#[tokio::test]
async fn hooks_hear_that_an_answer_is_waited_for() {
    let mut scene = setting().hook("Notification", "exit 0").open();
    scene.bash("ls").await;
    assert!(scene.hook_runs().is_empty(), "nobody who could answer");
    *scene.operator.can_answer_questions.lock().unwrap() = true;
    scene.bash("ls").await;
    let told = scene.hook_input("Notification");
    assert_eq!(told["message"], "ona needs your permission to use Bash");
    assert_eq!(told["notification_type"], "permission_prompt");
}

#[tokio::test]
async fn a_question_of_the_model_is_put_to_the_person_and_answered_with_its_input() {
    let scene = setting().permissions(json!({"allow": ["AskUserQuestion"]})).hook("PostToolUse", "exit 0").open();
    *scene.operator.can_answer_questions.lock().unwrap() = true;
    let mut answered = question();
    answered["answers"] = json!({"Tea?": "yes"});
    let mut scene = scene.answers([with_input(answered)]);
    let finished = scene.call("AskUserQuestion", question()).await;
    assert!(!finished.result.is_error() && finished.result.content.contains("yes"), "{:?}", finished.result);
    assert_eq!(scene.decisions(), ["allow human"]);
    assert_eq!(scene.hook_runs(), ["PostToolUse 0 0"]);
}

#[tokio::test]
async fn a_question_of_the_model_that_the_person_declines_is_told_to_hooks_as_a_failure() {
    let mut scene = setting()
        .permissions(json!({"allow": ["AskUserQuestion"]}))
        .hook("PostToolUseFailure", "exit 0")
        .hook("PermissionDenied", "exit 0")
        .open()
        .answers([no("not now")]);
    *scene.operator.can_answer_questions.lock().unwrap() = true;
    let finished = scene.call("AskUserQuestion", question()).await;
    assert_eq!(finished.result.content, "not now");
    assert_eq!(scene.hook_runs(), ["PostToolUseFailure 0 0"]);
}
