//! `ONA_LOG`, `--debug` and `--debug-file`.

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[test]
fn lines_are_written_only_if_asked_for_and_name_call_hook_and_commit() {
    let mut ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash(echo *)"]},
        "hooks": [{"hook_event_name": "PreToolUse", "command": "exit 0"}]}));
    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "echo out"})), say("done")]);
    let quiet = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.as_str()), ("done\n", ""));
    drop(server);

    let server = ona.model(Wire::Messages, [call("Bash", json!({"command": "echo out"})), say("done")]);
    ona.env("ONA_LOG", "ona=debug");
    let loud = ona.run(["-p", "go"]).expect_code(0);
    assert_eq!(loud.stdout, "done\n");
    for part in [
        "run{version=",
        "turn{session=",
        "call{tool=Bash id=",
        "hook{event=PreToolUse ordinal=0}: ona_hookplane::engine: hook ended exit=\"Code(0)\"",
        "decided ruling=allow",
        "commit{session=",
        "model_request{model=",
        "time.busy=",
    ] {
        assert!(loud.stderr.contains(part), "{part} in {}", loud.stderr);
    }
    drop(server);
}

#[test]
fn a_file_gets_the_lines_in_place_of_stderr() {
    let ona = ona();
    let file = ona.file("debug.log", "before\n");
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = ona.run(["--debug-file", file.to_str().unwrap(), "db", "init"]).expect_code(0);
    assert_eq!(ran.stderr, "");
    let text = ona.read("debug.log");
    assert!(text.starts_with("before\n") && text.contains("opened the database"), "{text}");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    let more = ona.run(["--debug=ona_store=debug", "--debug-file", file.to_str().unwrap(), "db", "init"]);
    more.expect_code(0);
    assert!(ona.read("debug.log").strip_prefix(&text).is_some_and(|added| added.contains("ona_store::open")));
}

/// A tool's name is the caller's text. A secret in it is left out although quoting would hide
/// it from a search for its plain text, and a line end in it does not begin a line.
#[test]
fn no_line_shows_a_secret() {
    let mut ona = ona();
    let (of_environment, of_settings) = ("first\"secret\\\u{1b}\u{e9}-0123456789", "second-secret-0123456789");
    ona.env("ANTHROPIC_API_KEY", of_environment);
    ona.file(".ona/settings.json", json!({"env": {"SERVICE_TOKEN": of_settings}}).to_string());
    let name = format!("x{of_environment} {of_settings}\nFORGED");
    let call = json!({"tool": name, "input": {}}).to_string();
    let ran = ona.run(["--debug=trace", "--eval", &call]);
    assert!(
        ran.stderr.contains("call{tool=\"x[REDACTED:ANTHROPIC_API_KEY] [REDACTED:SERVICE_TOKEN]\\nFORGED\" id="),
        "{}",
        ran.stderr
    );
    for part in ["first\"secret", "first\\\"secret", "0123456789"] {
        assert!(!ran.stderr.contains(part), "{part} in {}", ran.stderr);
    }
}

/// The key that a helper prints is not known before the first request.
#[test]
fn a_secret_that_is_learned_later_counts_too() {
    let mut ona = ona();
    let secret = "printed-by-a-helper-0123456789";
    let server = ona.model(Wire::Messages, [call(&format!("x{secret}"), json!({})), say("done")]);
    ona.env("ANTHROPIC_API_KEY", "").env("ANTHROPIC_AUTH_TOKEN", "");
    ona.home_file(".ona/settings.json", json!({"apiKeyHelper": format!("echo {secret}")}).to_string());
    let ran = ona.run(["--debug=trace", "-p", "go"]).expect_code(0);
    assert_eq!(server.request(0).header("x-api-key"), Some(secret));
    assert!(ran.stderr.contains("call{tool=\"x[REDACTED:"), "{}", ran.stderr);
    assert!(!ran.stderr.contains(secret), "{}", ran.stderr);
}

#[test]
fn what_is_no_filter_and_a_file_that_cannot_be_written_are_refused() {
    let mut ona = ona();
    let no_folder = ona.root().join("none/debug.log");
    let ran = ona.run(["--debug-file", no_folder.to_str().unwrap(), "db", "init"]).expect_code(2);
    assert!(
        ran.stderr.starts_with("ona: the debug file") && ran.stderr.contains("cannot be written"),
        "{}",
        ran.stderr
    );
    let ran = ona.run(["--debug=ona=loud", "db", "init"]).expect_code(2);
    assert!(ran.stderr.starts_with("ona: --debug: \"ona=loud\" is not a filter"), "{}", ran.stderr);
    ona.env("ONA_LOG", "ona[=debug");
    let ran = ona.run(["db", "init"]).expect_code(2);
    assert!(ran.stderr.starts_with("ona: ONA_LOG: \"ona[=debug\" is not a filter"), "{}", ran.stderr);
    assert!(!ona.db().exists(), "nothing was made");
}
