//! Instruction files of folders whose files are read, from the rows to the request.

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::{Value, json};

fn settings(ona: &Ona, provider: &str, model: &str) {
    ona.settings(json!({
        "permissions": {"allow": ["Read", "Edit", "Write", "NotebookEdit"]},
        "hooks": [{"hook_event_name": "InstructionsLoaded", "matcher": ".*", "command": "true", "shell": "sh"}],
        "model_config": {"provider": provider, "model_id": model},
    }));
}

fn anthropic(ona: &Ona) {
    settings(ona, "claude_code_subscription", "claude_sonnet_4");
}

/// What hooks were told: file, reason, and the file that brought it in.
fn told(ona: &Ona) -> Vec<String> {
    let inputs =
        ona.column("SELECT input_json FROM hook_invocations WHERE hook_event='InstructionsLoaded' ORDER BY id");
    let project = format!("{}/", ona.project().display());
    let short = |value: &Value| value.as_str().map_or("-".to_owned(), |path| path.replace(&project, ""));
    inputs
        .iter()
        .map(|input| {
            let input: Value = serde_json::from_str(input.as_str().unwrap()).unwrap();
            let by = [&input["trigger_file_path"], &input["parent_file_path"]].map(short);
            format!("{} {} {} {}", short(&input["file_path"]), short(&input["load_reason"]), by[0], by[1])
        })
        .collect()
}

fn times(body: &[u8], words: &str) -> usize {
    String::from_utf8_lossy(body).matches(words).count()
}

#[test]
fn writing_counts_and_a_refused_call_does_not() {
    let mut ona = ona();
    ona.file("a/CLAUDE.md", "Words of a.\n");
    ona.file("b/CLAUDE.md", "Words of b.\n");
    ona.file("c/CLAUDE.md", "Words of c.\n");
    let server = ona.model(
        Wire::Messages,
        [
            call("Write", json!({"file_path": "a/new.txt", "content": "x"})),
            call("Read", json!({"file_path": "b/missing.txt"})),
            call("Bash", json!({"command": "cat c/CLAUDE.md"})),
            say("done"),
        ],
    );
    anthropic(&ona);
    ona.run(["-p", "go"]).expect_code(0);
    let last = server.request(3);
    assert_eq!(["a", "b", "c"].map(|name| times(&last.body, &format!("Words of {name}."))), [1, 0, 0]);
}

#[test]
fn bare_runs_withheld_trust_and_deny_rules_keep_instructions_out() {
    for (flags, deny) in
        [(vec!["--bare"], json!([])), (vec!["--no-trust"], json!([])), (vec![], json!(["Read(sub/CLAUDE.md)"]))]
    {
        let mut ona = ona();
        ona.file("sub/a.txt", "a\n");
        ona.file("sub/CLAUDE.md", "Words of the sub folder.\n");
        let server = ona.model(Wire::Messages, [call("Read", json!({"file_path": "sub/a.txt"})), say("done")]);
        ona.settings(json!({
            "permissions": {"allow": ["Read"], "deny": deny},
            "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"},
        }));
        let mut args = vec!["-p", "read"];
        args.extend(&flags);
        ona.run(args).expect_code(0);
        let last = server.request(1);
        assert!(last.last_message().contains("(1 line)"), "{flags:?} {}", last.last_message());
        assert_eq!(times(&last.body, "Words of the sub folder."), 0, "{flags:?}");
    }
}

#[test]
fn after_a_summary_the_instructions_of_a_folder_come_again_with_its_next_file() {
    let mut ona = ona();
    ona.file("CLAUDE.md", "Words of the project.\n");
    ona.file("sub/CLAUDE.md", "Words of the sub folder.\n");
    ona.file("sub/a.txt", "a\n");
    ona.file("big.txt", "many words in a line\n".repeat(1_900).repeat(3));
    let server = ona.model(
        Wire::Chat,
        [
            call("Read", json!({"file_path": "sub/a.txt"})),
            call("Read", json!({"file_path": "big.txt", "limit": 6000})),
            say("What was done, in short."),
            call("Read", json!({"file_path": "sub/a.txt"})),
            say("done"),
        ],
    );
    settings(&ona, "lm_studio_local", "lm_studio_server_routed");
    ona.run(["-p", "read", "--session-id", "s"]).expect_code(0);
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='collapse_commit'"), 1);
    assert_eq!(times(&server.request(3).body, "Words of the sub folder."), 0, "the summary took its place");
    assert_eq!(times(&server.request(4).body, "Words of the sub folder."), 1);
    assert_eq!(times(&server.request(4).body, "Words of the project."), 1);
    assert_eq!(
        told(&ona),
        [
            "CLAUDE.md session_start - -",
            "sub/CLAUDE.md nested_traversal sub/a.txt -",
            "CLAUDE.md compact - -",
            "sub/CLAUDE.md nested_traversal sub/a.txt -",
        ]
    );
}
