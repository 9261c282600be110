//! Conversations that outgrow the model's context (DEC-035).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

/// A window in which the second request of a turn no longer fits.
fn settings(extra: Value) -> Value {
    let mut settings = json!({
        "permissions": {"allow": ["Read"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        "autoCompactWindow": 8000,
    });
    settings.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    settings
}

fn long_file(ona: &Ona) {
    ona.file("long.txt", "a line that is long enough to fill a window soon\n".repeat(1500));
}

fn read() -> Value {
    json!({"file_path": "long.txt"})
}

#[test]
fn a_conversation_that_fills_the_window_goes_on_from_a_summary() {
    let mut ona = ona();
    long_file(&ona);
    let script = [call("Read", read()), say("SUMMARY of it all"), say("done"), say("still here")];
    let server = ona.model(Wire::Messages, script);
    ona.settings(settings(json!({})));
    let ran = ona.run(["-p", "read it", "--session-id", "s-1"]).expect_code(0);
    assert_eq!(ran.stdout, "done\n");

    assert!(server.request(1).last_message().contains("Write a summary of this conversation"));
    let body = String::from_utf8_lossy(&server.request(2).body).into_owned();
    assert!(body.contains("SUMMARY of it all") && !body.contains("long enough to fill"), "{body}");
    assert_eq!(
        ona.rows("SELECT json_extract(payload_json,'$.trigger'), json_extract(payload_json,'$.summary') FROM transcript_entries WHERE entry_type='collapse_commit'"),
        [vec![json!("auto"), json!("SUMMARY of it all")]]
    );
    // Nothing is lost, and a resumed session starts from the summary too.
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE payload_json LIKE '%long enough to fill%'"), 1);
    ona.run(["-p", "and now?", "-r", "s-1"]).expect_code(0);
    let body = String::from_utf8_lossy(&server.request(3).body).into_owned();
    assert!(body.contains("SUMMARY of it all") && !body.contains("long enough to fill"), "{body}");
}

#[test]
fn hooks_stand_around_a_compaction_in_order() {
    let mut ona = ona();
    long_file(&ona);
    let _server = ona.model(Wire::Messages, [call("Read", read()), say("SUMMARY"), say("done")]);
    let log = |event: &str| {
        let command = "cat >> hooks.log";
        json!({"hook_event_name": event, "matcher": "", "command": command})
    };
    let hooks = json!([log("PreCompact"), log("PostCompact"), log("SessionStart")]);
    ona.settings(settings(json!({ "hooks": hooks })));
    ona.run(["-p", "read it"]).expect_code(0);
    let fired = ona.read("hooks.log");
    let fired: Vec<Value> = fired.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let told: Vec<_> = fired
        .iter()
        .map(|one| {
            let text = |key: &str| one[key].as_str().unwrap_or("-").to_owned();
            [text("hook_event_name"), text("trigger"), text("source"), text("compact_summary")].join(" ")
        })
        .collect();
    assert_eq!(
        told,
        ["SessionStart - startup -", "PreCompact auto - -", "PostCompact auto - SUMMARY", "SessionStart - compact -"]
    );
}

#[test]
fn nothing_is_compacted_where_a_hook_or_the_operator_says_so() {
    let refusing = json!({"hooks": [{"hook_event_name": "PreCompact", "matcher": "", "command": "exit 2"}]});
    for off in [refusing, json!({"autoCompactEnabled": false}), json!({"env": {"DISABLE_AUTO_COMPACT": "1"}})] {
        let mut ona = ona();
        long_file(&ona);
        let server = ona.model(Wire::Messages, [call("Read", read()), say("done")]);
        ona.settings(settings(off));
        ona.run(["-p", "read it"]).expect_code(0);
        assert_eq!(server.requests().len(), 2);
        assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'"), 0);
    }
}

#[test]
fn a_window_that_is_no_number_is_refused_before_any_request() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done")]);
    ona.settings(settings(json!({"autoCompactWindow": "large"})));
    let ran = ona.run(["-p", "go"]).expect_code(2);
    assert!(ran.stderr.contains("autoCompactWindow must be a number of tokens"), "{ran:?}");
    assert_eq!(server.requests().len(), 0);
}

#[test]
fn a_person_can_ask_for_a_summary_and_say_what_it_must_keep() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("first reply"), say("SUMMARY"), say("go on")]);
    let hooks = json!([{"hook_event_name": "PreCompact", "matcher": "", "command": "cat >> pre.log"}]);
    ona.settings(settings(json!({"hooks": hooks, "autoCompactWindow": 100_000})));
    ona.run(["-p", "first prompt", "--session-id", "s"]).expect_code(0);
    let ran = ona.run(["-p", "/compact keep the names", "-r", "s"]).expect_code(0);
    assert_eq!(ran.stdout, "The conversation was compacted.\n");
    assert!(server.request(1).last_message().contains("keep the names"), "{}", server.request(1).last_message());
    let pre: Value = serde_json::from_str(&ona.read("pre.log")).unwrap();
    assert_eq!((&pre["trigger"], &pre["custom_instructions"]), (&json!("manual"), &json!("keep the names")));
    ona.run(["-p", "and now?", "-r", "s"]).expect_code(0);
    let body = String::from_utf8_lossy(&server.request(2).body).into_owned();
    assert!(body.contains("SUMMARY") && !body.contains("first prompt"), "{body}");
}
