//! The copy of the transcript that hooks written for Claude Code may ask for (DEC-062).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{CANARY, Wire, call, say};
use serde_json::{Value, json};

/// Notes the path it is told, the modes of file and folder, and how many lines there are.
const NOTE: &str = r#"input=$(cat); path=$(printf '%s' "$input" | jq -r '.transcript_path // "none"')
event=$(printf '%s' "$input" | jq -r .hook_event_name)
printf '%s %s ' "$event" "$path" >> noted
if [ -f "$path" ]; then
  printf '%s %s %s\n' "$(stat -c %a "$path")" "$(stat -c %a "$(dirname "$path")")" "$(wc -l < "$path")" >> noted
  cp "$path" "copy-$event"
else echo >> noted; fi
"#;

fn hooked(settings: Value) -> Ona {
    let ona = ona();
    ona.file("note.sh", NOTE);
    let group = |matcher: &str| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": "sh note.sh"}]}]);
    let mut file = json!({"hooks": {"UserPromptSubmit": group(""), "PreToolUse": group("Bash"), "Stop": group("")}});
    file.as_object_mut().unwrap().extend(settings.as_object().unwrap().clone());
    ona.file(".claude/settings.json", file.to_string());
    ona
}

fn noted(ona: &Ona) -> Vec<Vec<String>> {
    ona.read("noted").lines().map(|line| line.split(' ').map(str::to_owned).collect()).collect()
}

fn lines(ona: &Ona, event: &str) -> Vec<Value> {
    ona.read(&format!("copy-{event}")).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn hooks_that_ask_for_it_get_a_private_copy_that_grows_and_goes() {
    let mut ona = hooked(json!({"claudeCompat": {"transcriptPath": true}}));
    let script = [call("Bash", json!({"command": format!("echo {CANARY}")})), say("Done.")];
    let server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go on", "--session-id", "s-1", "--allowedTools", "Bash"]).expect_code(0);
    assert_eq!(server.request_count(), 2);
    let noted = noted(&ona);
    let events: Vec<_> = noted.iter().map(|line| line[0].as_str()).collect();
    assert_eq!(events, ["UserPromptSubmit", "PreToolUse", "Stop"]);
    // One file for the session, for nobody else's eyes, longer each time.
    let path = &noted[0][1];
    assert!(path.starts_with(&*ona.tmp().to_string_lossy()) && path.ends_with("/s-1.jsonl"), "{path}");
    assert!(noted.iter().all(|line| &line[1] == path && line[2] == "600" && line[3] == "700"), "{noted:?}");
    assert_eq!(noted.iter().map(|line| line[4].as_str()).collect::<Vec<_>>(), ["0", "2", "4"]);
    assert!(!std::path::Path::new(path).parent().unwrap().exists(), "it goes with the process");

    let said = lines(&ona, "Stop");
    let kinds: Vec<_> = said.iter().map(|line| line["type"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["user", "assistant", "user", "assistant"]);
    assert_eq!(said[0]["message"]["content"][0]["text"], "go on");
    assert_eq!(said[1]["message"]["content"][0]["name"], "Bash");
    assert_eq!(said[2]["message"]["content"][0]["type"], "tool_result");
    assert_eq!(said[3]["message"]["content"][0]["text"], "Done.");
    assert!(said[1]["message"]["usage"]["output_tokens"].is_number(), "{}", said[1]);
    for (index, line) in said.iter().enumerate() {
        assert_eq!((&line["sessionId"], &line["isSidechain"]), (&json!("s-1"), &json!(false)));
        assert_eq!(line["cwd"], json!(ona.project()));
        assert!(line["timestamp"].as_str().unwrap().ends_with('Z') && line["uuid"].is_string());
        assert_eq!(line["parentUuid"], if index == 0 { Value::Null } else { said[index - 1]["uuid"].clone() });
    }
    let text = ona.read("copy-Stop");
    assert!(!text.contains(CANARY) && text.contains("[REDACTED"), "{text}");
    // What was there earlier is the beginning of what is there later.
    assert!(text.starts_with(&ona.read("copy-PreToolUse")));
    // The rows tell of the path and of nothing that was read back.
    assert_eq!(
        ona.value("SELECT count(*) FROM hook_invocations WHERE json_extract(input_json,'$.transcript_path') IS NULL"),
        0
    );

    // A resumed session starts with what it had.
    let _server = ona.model(Wire::Messages, [say("More.")]);
    ona.run(["-p", "again", "-r", "s-1"]).expect_code(0);
    assert_eq!(lines(&ona, "UserPromptSubmit").len(), 4);
    assert_eq!(lines(&ona, "Stop").len(), 6);
}

#[test]
fn without_the_setting_and_in_other_dialects_nobody_is_told() {
    for settings in [
        json!({}),
        json!({"claudeCompat": {"transcriptPath": false}}),
        json!({"claudeCompat": {"transcriptPath": "yes"}}),
    ] {
        let mut ona = hooked(settings.clone());
        let _server = ona.model(Wire::Messages, [say("Done.")]);
        let ran = ona.run(["-p", "go"]).expect_code(0);
        assert!(noted(&ona).iter().all(|line| line[1] == "none"), "{settings}");
        assert_eq!(ran.stderr.contains("must be true or false"), settings["claudeCompat"]["transcriptPath"] == "yes");
    }
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("Done.")]);
    ona.file("note.sh", NOTE);
    ona.settings(json!({
        "claudeCompat": {"transcriptPath": true},
        "hooks": [{"hook_event_name": "Stop", "command": "sh note.sh"}],
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
    }));
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(noted(&ona)[0][1], "none");
    assert_eq!(std::fs::read_dir(ona.tmp()).unwrap().count(), 0, "no file is made for nobody");
}

#[test]
fn a_folder_that_can_not_be_written_leaves_the_hook_without_the_field() {
    let mut ona = hooked(json!({"claudeCompat": {"transcriptPath": true}}));
    let _server = ona.model(Wire::Messages, [say("Done.")]);
    ona.env("TMPDIR", "/nonexistent");
    let ran = ona.run(["-p", "go"]).expect_code(0);
    assert!(noted(&ona).iter().all(|line| line[1] == "none"));
    assert_eq!(ran.stderr.matches("hooks get no transcript file").count(), 1, "{}", ran.stderr);
}
