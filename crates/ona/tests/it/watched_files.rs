//! FileChanged: which hook learns about which file (DEC-063).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

/// One turn of Bash commands under these hooks.
fn turn(ona: &mut Ona, hooks: Value, commands: &[&str]) {
    let calls = commands.iter().map(|command| call("Bash", json!({ "command": command })));
    let script: Vec<_> = calls.chain([say("done")]).collect();
    let _server = ona.model(Wire::Messages, script);
    ona.settings(json!({"permissions": {"allow": ["Bash"]}, "hooks": hooks,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona.run(["-p", "go"]).expect_code(0);
}

/// What FileChanged hooks were told, in order: event and name of the file.
fn told(ona: &Ona) -> Vec<(String, String)> {
    let rows = ona.rows("SELECT json_extract(input_json,'$.event'), json_extract(input_json,'$.file_path') FROM hook_invocations WHERE hook_event='FileChanged' ORDER BY id");
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let name = |path: &Value| text(path).rsplit('/').next().unwrap().to_owned();
    rows.iter().map(|row| (text(&row[0]), name(&row[1]))).collect()
}

fn pairs(of: &[(&str, &str)]) -> Vec<(String, String)> {
    of.iter().map(|(event, name)| ((*event).to_owned(), (*name).to_owned())).collect()
}

#[test]
fn files_named_by_a_matcher_are_watched_between_steps() {
    let mut ona = ona();
    ona.file("old.txt", "1");
    let hooks =
        json!([{"hook_event_name": "FileChanged", "matcher": "new.txt|old.txt", "command": "true", "shell": "sh"}]);
    turn(&mut ona, hooks, &["echo 1 > new.txt; echo 1 > other.txt", "echo 2 >> new.txt", "true", "rm old.txt"]);
    assert_eq!(told(&ona), pairs(&[("add", "new.txt"), ("change", "new.txt"), ("unlink", "old.txt")]));
}

#[test]
fn nothing_is_watched_for_a_subagent_of_its_own() {
    let mut ona = ona();
    let hooks = json!([{"hook_event_name": "FileChanged", "matcher": "a.txt", "command": "true", "shell": "sh"}]);
    ona.settings(json!({"permissions": {"allow": ["Bash", "Agent"]}, "hooks": hooks,
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    let script = [
        call("Agent", json!({"description": "d", "prompt": "p", "subagent_type": "general-purpose"})),
        call("Bash", json!({"command": "echo 1 > a.txt"})),
        say("agent done"),
        say("done"),
    ];
    let _server = ona.model(Wire::Messages, script);
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(told(&ona), pairs(&[("add", "a.txt")]));
}
