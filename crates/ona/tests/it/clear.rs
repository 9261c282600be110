//! `/clear`: another session of the same conversation, with nothing in its context.

use crate::ona;
use ona_testkit::model::{Wire, say};
use serde_json::{Value, json};

#[test]
fn clearing_ends_the_session_and_starts_another_in_the_same_conversation() {
    for name in ["/clear", "/reset", "/new"] {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, [say("It was about mice."), say("What was?")]);
        let hooks: Vec<_> = ["SessionStart", "SessionEnd"]
            .map(|event| json!({"hook_event_name": event, "matcher": ".*", "command": "true", "shell": "sh"}))
            .into();
        ona.settings(json!({
            "hooks": hooks,
            "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        }));
        ona.run(["memory", "add", "Mice", "Mice are small"]).expect_code(0);
        let line = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
        let input = [line("tell me of mice"), line(name), line("what was it about?")].join("\n");
        let args = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"];
        let ran = ona.run_with_stdin(args, input.as_bytes()).expect_code(0);

        // The hooks, in their order, each in the session it speaks of.
        let fired = ona.rows(
            "SELECT hook_event, coalesce(json_extract(input_json,'$.source'), json_extract(input_json,'$.reason')), \
             s.rowid - (SELECT min(rowid) FROM sessions) FROM hook_invocations h JOIN sessions s USING(session_id) ORDER BY h.id",
        );
        let fired: Vec<_> =
            fired.iter().map(|row| format!("{} {} {}", row[0], row[1], row[2]).replace('"', "")).collect();
        assert_eq!(
            fired,
            ["SessionStart startup 0", "SessionEnd clear 0", "SessionStart clear 1", "SessionEnd other 1"]
        );
        assert_eq!(ona.value("SELECT count(DISTINCT conversation_id) FROM sessions"), 1);
        assert_eq!(ona.value("SELECT count(*) FROM sessions"), 2);
        assert_eq!(ona.value("SELECT content FROM summaries"), "What was?");

        assert_eq!(server.request_count(), 2, "the command is not a prompt");
        let body = String::from_utf8_lossy(&server.request(1).body).into_owned();
        assert!(!body.contains("mice") && !body.contains("/clear"), "{body}");
        assert_eq!(server.request(1).json()["messages"].as_array().unwrap().len(), 1);

        let lines: Vec<Value> = ran.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let reset = lines.iter().find(|line| line["type"] == "conversation_reset").expect("programs are told");
        let results: Vec<_> = lines.iter().filter(|line| line["type"] == "result").collect();
        assert_eq!(results.len(), 3);
        assert_ne!(results[0]["session_id"], results[2]["session_id"]);
        assert_eq!(results[2]["session_id"], reset["new_conversation_id"]);
        assert_eq!(results[1]["num_turns"], 0);
        // The old one can still be gone on with.
        let old = results[0]["session_id"].as_str().unwrap();
        assert!(ona.run(["sessions", "show", old]).expect_code(0).stdout.contains("It was about mice."));
    }
}

#[test]
fn phase_and_plan_survive() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("ok"), say("ok")]);
    ona.run(["-p", "hello", "--session-id", "s"]).expect_code(0);
    ona.execute("UPDATE conversations SET phase = 'planning'", []);
    ona.run(["-p", "/clear", "-r", "s"]).expect_code(0);
    assert_eq!(ona.value("SELECT group_concat(phase) FROM conversations"), "planning");
    assert_eq!(ona.value("SELECT count(*) FROM sessions"), 2);
    assert_eq!(
        ona.value("SELECT json_extract(detail,'$.after') FROM events WHERE json_extract(detail,'$.by')='clear'"),
        "s"
    );
}
