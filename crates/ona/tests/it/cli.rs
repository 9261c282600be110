//! Usage, exit codes, and behaving well at the edges of a terminal.

use crate::ona;
use serde_json::json;

#[test]
fn wrong_use_is_one_helpful_sentence_and_exit_2() {
    let mut ona = ona();
    let cases: &[(&[&str], &str)] = &[
        (&["--no-such-flag"], "--no-such-flag"),
        (&["--eval", "{"], "the call is not valid JSON"),
        (&["--eval", "[]"], "must be a JSON object"),
        (&["--eval", "{}"], "has no \"tool\""),
        (&["--eval", r#"{"tool":"Read"}"#], "has no \"input\""),
        (&["--eval", r#"{"tool":"Read","input":{},"x":1}"#], "unknown key \"x\""),
        (&["--eval", r#"{"tool":"Read","input":{},"conversation_id":"nobody"}"#], "conversation nobody does not exist"),
        (&["--eval", r#"{"tool":"Read","input":{},"session_id":"../../etc/passwd"}"#], "not a session id"),
        (&["--eval", r#"{"tool":"Read","input":{},"session_id":".."}"#], "not a session id"),
        (&["--eval", r#"{"tool":"Read","input":{},"session_id":"a/b"}"#], "not a session id"),
        (&["--eval", r#"{"tool":"Read","input":{},"session_id":""}"#], "not a non-empty string"),
        (&["--fire-hook", r#"{"hook_event_name":"pretooluse"}"#], "\"pretooluse\" is not a hook event"),
        (&["--fire-hook", r#"{"hook_event_name":"Stop"}"#], "\"stop_hook_active\" is missing"),
        (&["--fire-hook", r#"{"hook_event_name":"Stop","stop_hook_active":1}"#], "must be true or false"),
        (
            &["--fire-hook", r#"{"hook_event_name":"Stop","stop_hook_active":true,"transcript_path":"x"}"#],
            "has no field \"transcript_path\"",
        ),
        (&["--transition", "test"], "--transition needs --conversation"),
        (&["--transition", "lunch", "--conversation", "c"], "\"lunch\" is not a phase"),
        (&["--transition", "test", "--conversation", "nobody"], "conversation nobody does not exist"),
        (&["plan", "show", "7"], "plan 7 does not exist"),
        (&["memory", "rm", "7"], "memory 7 does not exist"),
        (
            &["--eval", r#"{"tool":"Read","input":{}}"#, "--permission-mode", "auto"],
            "\"auto\" is not a permission mode",
        ),
        (&["--db", "relative.db", "db", "init"], "must be an absolute path"),
        (&[], "the prompt is empty"),
        (&["sesions", "list"], "unknown command 'sesions'; did you mean 'sessions'?"),
        (&["doctr", "--jsn"], "unknown command 'doctr'; did you mean 'doctor'?"),
        (&["help", "nowhere"], "unknown command 'nowhere'"),
        (&["--max-turns", "3", "db", "path"], "--max-turns cannot be used with ona db path"),
        (&["db", "path", "--max-turns", "3"], "--max-turns cannot be used with ona db path"),
        (&["--eval", "{}", "--approve"], "--approve cannot be used with --eval"),
    ];
    for (args, sentence) in cases {
        let ran = ona.run(*args);
        assert_eq!(ran.code, 2, "{args:?}: {ran:?}");
        assert!(ran.stderr.contains(sentence), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    if ona.db().exists() {
        assert_eq!(ona.value("SELECT count(*) FROM transcript_entries"), 0);
    }
    // What looks at no database does not mind one that cannot be.
    ona.env("AGENT_SDLC_DB", "relative");
    for args in [&["--help"][..], &["help", "db"], &["help", "environment"], &["--version"], &["--hook-schema"]] {
        assert_eq!(ona.run(args).code, 0, "{args:?}");
    }
    let short = ona.run(["-h"]).stdout;
    assert!(short.contains("--output-format") && !short.contains("--massgen-config"), "{short}");
    assert!(short.lines().count() < 60 && short.lines().all(|line| line.len() <= 80), "{short}");
    for args in [["help", "db", "check"], ["db", "check", "--help"]] {
        let help = ona.run(args).expect_code(0).stdout;
        assert!(help.contains("Usage: ona db check") && help.contains("--db") && !help.contains("--model"), "{help}");
    }
    let schema = ona.run(["--hook-schema"]).json();
    assert_eq!(schema["events"].as_array().unwrap().len(), 27);
}

#[test]
fn a_reader_that_goes_away_ends_the_run_and_the_rows_are_kept() {
    let ona = ona();
    let call = json!({"tool": "Bash", "input": {"command": "seq 100000"}}).to_string();
    let mut child = ona.command(["--eval", &call]).spawn().unwrap();
    drop(child.stdout.take());
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(141));
    assert_eq!(ona.value("SELECT count(*) FROM transcript_entries WHERE entry_type='tool_result'"), 1);
}

#[test]
fn a_newer_schema_is_refused() {
    let ona = ona();
    ona.run(["db", "init"]).expect_code(0);
    ona.execute("UPDATE schema_meta SET value='2' WHERE key='schema_version'", []);
    let ran = ona.run(["--eval", r#"{"tool":"Glob","input":{"pattern":"*"}}"#]).expect_code(2);
    assert!(ran.stderr.contains("schema version 2"), "{}", ran.stderr);
    ona.execute("UPDATE schema_meta SET value='1' WHERE key='schema_version'", []);
    ona.execute("UPDATE schema_meta SET value='7' WHERE key='sdlc_schema_version'", []);
    let newer = "this database was written by a newer ona (schema 7, this one knows 3)";
    for command in [&["db", "init"][..], &["sessions", "list"]] {
        let ran = ona.run(command).expect_code(2);
        assert!(
            ran.stderr.contains(newer) && ran.stderr.contains("update ona, or use another database"),
            "{}",
            ran.stderr
        );
    }
    for command in [["db", "check"], ["doctor", "--json"]] {
        let ran = ona.run(command).expect_code(1);
        assert!(ran.stdout.contains(newer), "{}", ran.stdout);
    }
}

#[test]
fn the_demo_runs_without_key_and_network() {
    let ona = ona();
    let ran = ona.run(["demo"]).expect_code(0);
    for part in [
        "Denied by permission rule Read(./secret.txt)",
        "[0] this project is not published from here",
        "Denied: phase is planning and no approved plan exists",
        "\"status\":\"approved\"",
        "cannot go from implement to verify",
    ] {
        assert!(ran.stdout.contains(part), "{part} in {}", ran.stdout);
    }
    let query = ran.stdout.lines().find(|line| line.contains("hook_invocations")).unwrap().trim();
    let output = ona.shell(query).expect_code(0).stdout;
    assert!(output.lines().any(|line| line.ends_with("|2|")), "{output}");
}

#[test]
fn a_stale_index_and_an_unknown_phase_are_found() {
    let ona = ona();
    ona.run(["memory", "add", "Mice", "Mice are small"]).expect_code(0);
    ona.run(["memory", "add", "Cats", "Cats are not"]).expect_code(0);
    ona.execute("INSERT INTO conversations(id, project_dir) VALUES ('c', '/x')", []);
    ona.run(["db", "check"]).expect_code(0);
    ona.execute("DELETE FROM memories_fts WHERE title='Mice'", []);
    ona.execute("UPDATE memories SET content='changed' WHERE title='Cats'", []);
    ona.execute("UPDATE conversations SET phase='dreaming'", []);
    let found = ona.run(["db", "check", "--json"]).expect_code(1).json();
    let problems: Vec<_> = found["problems"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert_eq!(problems[0], "conversation c is in the unknown phase \"dreaming\"");
    assert!(problems[1].contains("2 memories are not in it, 1 entries are of no memory"), "{problems:?}");
    // The remedy it names.
    ona.run(["memory", "add", "Dogs", "Dogs bark"]).expect_code(0);
    ona.execute("UPDATE conversations SET phase='idle'", []);
    ona.run(["db", "check"]).expect_code(0);
}
