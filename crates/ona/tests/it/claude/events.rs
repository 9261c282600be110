//! Events around a session: what starts it, what ends a turn, what hooks leave behind.

use super::*;
use crate::ona;
use ona_testkit::model::{Wire, call, say};

#[test]
fn c28_a_matcher_on_the_start_knows_how_it_came_about() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("one"), say("two"), say("a summary"), say("three")]);
    install(
        &ona,
        json!({"SessionStart": [group("startup|clear|compact", &["cat >> starts"])], "PreCompact": [group("manual", &["cat >> compacting"])]}),
    );
    ona.run(["-p", "go", "--session-id", "s"]).expect_code(0);
    ona.run(["-p", "on", "-r", "s"]).expect_code(0);
    let sources = |ona: &Ona| dumped(ona, "starts").iter().map(|event| event["source"].clone()).collect::<Vec<_>>();
    assert_eq!(sources(&ona), ["startup"], "not on resume");
    ona.run(["-p", "/compact keep names", "-r", "s"]).expect_code(0);
    assert_eq!(sources(&ona), ["startup", "compact"]);
    assert_eq!(dumped(&ona, "compacting")[0]["custom_instructions"], "keep names");
    drop(server);
}

#[test]
fn c29_a_stop_hook_sends_the_agent_back_with_its_reason() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("I am done"), say("really done")]);
    let block =
        r#"tee -a stops | jq -c 'if .stop_hook_active then {} else {decision:"block",reason:"run the tests"} end'"#;
    install(&ona, json!({"Stop": [group("", &[block])]}));
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(ran.stdout, "really done\n");
    assert!(server.request(1).last_message().contains("run the tests"));
    let stops = dumped(&ona, "stops");
    let seen: Vec<_> = stops.iter().map(|stop| (&stop["stop_hook_active"], &stop["last_assistant_message"])).collect();
    assert_eq!(seen, [(&json!(false), &json!("I am done")), (&json!(true), &json!("really done"))]);
}

#[test]
fn a_stop_hook_that_never_gives_in_is_heard_eight_times_and_the_turn_has_failed() {
    for form in ["text", "json"] {
        let mut ona = ona();
        let server = ona.model(Wire::Messages, (0..12).map(|n| say(&format!("done {n}"))).collect::<Vec<_>>());
        install(&ona, json!({"Stop": [group("", &["echo never >&2; exit 2"])]}));
        let ran = ona.run(["-p", "go", "--output-format", form]).expect_code(1);
        assert_eq!(server.request_count(), 9);
        let why = "Stop hooks blocked 8 times in a row; the turn was ended";
        if form == "text" {
            assert_eq!((ran.stdout.as_str(), ran.stderr), ("", format!("ona: {why}\n")));
            continue;
        }
        let result = ran.json();
        assert_eq!(
            (&result["subtype"], &result["is_error"], &result["terminal_reason"], &result["errors"], &result["result"]),
            (
                &json!("error_during_execution"),
                &json!(true),
                &json!("stop_hook_prevented"),
                &json!([why]),
                &json!("done 8")
            )
        );
    }
}

#[test]
fn an_agent_whose_stop_hook_never_gives_in_has_failed() {
    let mut ona = ona();
    let agent = call("Agent", json!({"description": "d", "prompt": "work"}));
    let work = (0..9).map(|n| say(&format!("report {n}")));
    let server =
        ona.model(Wire::Messages, std::iter::once(agent).chain(work).chain([say("noted")]).collect::<Vec<_>>());
    install(&ona, json!({"SubagentStop": [group("", &["echo never >&2; exit 2"])]}));
    let ran = ona.run(["-p", "go", "--allowedTools", "Agent"]).expect_code(0);
    assert_eq!(ran.stdout, "noted\n");
    let told = server.request(10).last_message();
    assert!(told.contains("SubagentStop hooks blocked 8 times in a row") && told.contains("report 8"), "{told}");
    let failed = "SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result' AND json_extract(payload_json,'$.is_error')";
    assert_eq!(ona.value(failed), 1);
}

#[test]
fn continue_false_beats_a_block_of_the_stop() {
    let mut ona = ona();
    let server = ona.model(Wire::Messages, [say("done"), say("never")]);
    let both = print(&json!({"continue": false, "stopReason": "enough", "decision": "block", "reason": "go on"}));
    install(&ona, json!({"Stop": [group("", &[&both])]}));
    let ran = ona.run(["-p", "go"]);
    assert_eq!(server.request_count(), 1);
    assert!(ran.stderr.contains("enough"), "{ran:?}");
    assert!(!ran.stderr.contains("times in a row"), "{}", ran.stderr);
}

#[test]
fn c30_exported_variables_reach_later_shells() {
    let mut ona = ona();
    let script = [
        call("Bash", json!({"command": "echo a=$A"})),
        call("Bash", json!({"command": "mkdir -p d && cd d"})),
        call("Bash", json!({"command": "echo a=$A b=$B"})),
        say("done"),
    ];
    let server = ona.model(Wire::Messages, script);
    install_with(
        &ona,
        json!({"SessionStart": [group("", &["echo 'export A=1' >> \"$CLAUDE_ENV_FILE\""])],
            "CwdChanged": [group("", &["echo 'export B=2' >> \"$CLAUDE_ENV_FILE\""])],
            "PreToolUse": [group("", &["test -z \"$CLAUDE_ENV_FILE\""])]}),
        json!({"permissions": {"allow": ["Bash"]}}),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert!(server.request(1).last_message().contains("a=1"), "{}", server.request(1).last_message());
    assert!(server.request(3).last_message().contains("a=1 b=2"), "{}", server.request(3).last_message());
    assert_eq!(notices(&ona), Vec::<Value>::new(), "the tool events have no such file");
}
