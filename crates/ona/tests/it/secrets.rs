//! Credentials never reach a table, hook stdin or an error text (section 2.8).

use crate::ona;
use serde_json::json;

const CANARIES: [(&str, &str); 5] = [
    ("ANTHROPIC_API_KEY", "canary-anthropic-key-1"),
    ("ANTHROPIC_AUTH_TOKEN", "canary-anthropic-token-2"),
    ("OPENAI_API_KEY", "canary-openai-\"key\"-3"),
    ("LM_STUDIO_API_KEY", "canary-studio-4"),
    ("CLAUDE_CODE_OAUTH_TOKEN", "canary-oauth-5"),
];

#[test]
fn no_credential_is_in_the_database_or_in_hook_stdin() {
    let mut ona = ona();
    for (name, value) in CANARIES {
        ona.env(name, value);
    }
    ona.file(
        ".ona/settings.json",
        json!({
            "env": {"MY_TOKEN": "canary-settings-6", "PLAIN": "visible"},
            "permissions": {"allow": ["Bash", "Write", "Read"]},
            "hooks": [{"hook_event_name": "PreToolUse", "command": "env; cat >> stdin", "shell": "sh"}],
        })
        .to_string(),
    );
    ona.eval("Bash", json!({"command": "env; echo $OPENAI_API_KEY | base64; echo $MY_TOKEN; false"}));
    ona.eval("Write", json!({"file_path": "k.txt", "content": "canary-oauth-5\ncanary-openai-\"key\"-3\n"}));
    ona.eval("Read", json!({"file_path": "k.txt"}));
    assert_eq!(
        ona.read("k.txt"),
        "canary-oauth-5\ncanary-openai-\"key\"-3\n",
        "the tool itself works with the real value"
    );
    let tables = ona.column("SELECT name FROM sqlite_master WHERE type='table' AND name NOT LIKE 'memories_fts_%'");
    for table in tables {
        let table = table.as_str().unwrap().to_owned();
        let dump = format!("{:?}", ona.rows(&format!("SELECT * FROM \"{table}\"")));
        assert!(!dump.contains("canary"), "{table}: {dump}");
    }
    assert!(!ona.read("stdin").contains("canary"));
    let stored = ona.value("SELECT json FROM settings_snapshot");
    assert!(
        stored.as_str().unwrap().contains("${ONA_SECRET:") && stored.as_str().unwrap().contains("visible"),
        "{stored}"
    );
}

#[test]
fn settings_with_a_secret_model_config_are_refused_whole() {
    let ona = ona();
    ona.file(
        ".ona/settings.json",
        json!({"model_config": {"provider": "openai_compatible", "api_key": "canary-x-y-z"}}).to_string(),
    );
    let ran = ona.run(["--eval", r#"{"tool":"Glob","input":{"pattern":"*"}}"#]).expect_code(2);
    assert!(ran.stderr.contains("model_config") && !ran.stderr.contains("canary"), "{}", ran.stderr);
    assert!(!ona.db().exists());
}

#[test]
fn what_a_key_helper_prints_is_used_and_never_kept() {
    use ona_testkit::model::{Wire, call, say};
    let mut ona = ona();
    let server = ona.model(
        Wire::Messages,
        [call("Bash", json!({"command": "echo canary-of-a-helper"})), say("canary-of-a-helper")],
    );
    ona.env("ANTHROPIC_API_KEY", "").env("ANTHROPIC_AUTH_TOKEN", "");
    ona.home_file(
        ".ona/settings.json",
        json!({"apiKeyHelper": "echo canary-of-a-helper", "permissions": {"allow": ["Bash"]}}).to_string(),
    );
    ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(server.request(0).header("x-api-key"), Some("canary-of-a-helper"));
    let rows = format!("{:?}", ona.rows("SELECT payload_json FROM transcript_entries"));
    assert!(!rows.contains("canary") && rows.contains("[REDACTED:"), "{rows}");
}

/// A model that repeats a key does so token by token: no piece is the key, all of them are.
#[test]
fn a_key_spread_over_pieces_of_a_reply_is_neither_printed_nor_stored() {
    use ona_testkit::model::{Call, Split, Wire, calls, say};
    let secret = "canary/of+the=wire";
    let encoded = ["canary%2fof%2bthe%3dwire", "canary/of%2Bthe%3Dwire", "Y2FuYXJ5L29mK3RoZT13aXJl", secret];
    for wire in [Wire::Messages, Wire::Chat] {
        let mut ona = ona();
        let input = json!({"file_path": "k.txt", "content": format!("key {secret}\n")});
        let text = format!("The key is {} and that is all.", encoded.join(" or "));
        let _server = ona.model(
            wire,
            [
                calls([Call::new("Write", input).split(Split::EveryByte)]),
                say(&text).split_text(Split::EveryByte),
                say("again: canary/of+the=wire").split_text(Split::At(vec![3, 14, 20])),
            ],
        );
        ona.env("ANTHROPIC_AUTH_TOKEN", secret);
        ona.home_file(".ona/settings.json", json!({"permissions": {"allow": ["Write"]}}).to_string());
        let mut printed = Vec::new();
        let pieces = ["-p", "go", "--output-format", "stream-json", "--include-partial-messages"];
        for args in [&pieces[..], &["-p", "go", "--output-format", "json", "--verbose"]] {
            let ran = ona.run(args);
            assert!(!ran.stdout.contains("canary") && !ran.stdout.contains("Y2Fu"), "{wire:?} {}", ran.stdout);
            printed.push(ran.expect_code(0).stdout);
        }
        assert_eq!(ona.read("k.txt"), format!("key {secret}\n"), "the tool works with the real value");
        let lines = printed[0].lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let deltas: Vec<_> = lines.map(|line| line["event"]["delta"].clone()).collect();
        let of = |key: &str| deltas.iter().filter_map(|delta| delta[key].as_str()).collect::<String>();
        let label = "[REDACTED:ANTHROPIC_AUTH_TOKEN]";
        assert_eq!(of("text"), format!("The key is {label} or {label} or {label} or {label} and that is all."));
        let input: serde_json::Value = serde_json::from_str(&of("partial_json")).unwrap();
        assert_eq!(input["content"], format!("key {label}\n"));
        assert!(deltas.len() > 40, "text is shown as it comes");
        let rows = format!("{:?}", ona.rows("SELECT payload_json FROM transcript_entries"));
        assert!(!rows.contains("canary") && !rows.contains("Y2Fu"), "{rows}");
    }
}
