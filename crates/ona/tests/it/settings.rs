//! Where settings come from, and what a start may change (DEC-012 to DEC-014, DEC-058).

use crate::ona;
use ona_testkit::Ona;
use ona_testkit::model::{Gate, Wire, say};
use serde_json::{Value, json};

fn touch_hook(name: &str) -> Value {
    json!({"PreToolUse": [{"hooks": [{"type": "command", "command": format!("touch {name}")}]}]})
}

/// The names in `touch` hooks that `hooks list` shows.
fn listed(ona: &Ona, flags: &[&str]) -> (Vec<String>, String) {
    let mut args = flags.to_vec();
    args.extend(["hooks", "list", "--json"]);
    let ran = ona.run(args).expect_code(0);
    let hooks = ran.json()["hooks"].as_array().unwrap().clone();
    let names = hooks.iter().map(|hook| hook["command"].as_str().unwrap().trim_start_matches("touch ").to_owned());
    (names.collect(), ran.stderr)
}

const SNAPSHOT: &str = "SELECT json FROM settings_snapshot";
const BY_OPERATOR: &str = "were written by an operator";

#[test]
fn every_form_follows_the_files() {
    let ona = ona();
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("one")}).to_string());
    ona.eval("Bash", json!({"command": "true"}));
    assert!(ona.exists("one"));
    let row: Value = serde_json::from_str(ona.value(SNAPSHOT).as_str().unwrap()).unwrap();
    assert_eq!(row["permissions"]["defaultMode"], "default");
    assert_eq!(row["hooks"][0]["dialect"], "sdlc");
    let call = json!({"tool": "Bash", "input": {"command": "true"}}).to_string();
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "x"})
        .to_string();
    for (name, args) in [("two", ["--eval", call.as_str()]), ("three", ["--fire-hook", event.as_str()])] {
        ona.file(".ona/settings.json", json!({"hooks": touch_hook(name)}).to_string());
        ona.run(args).expect_code(0);
        assert!(ona.exists(name), "{args:?}");
        assert!(ona.value(SNAPSHOT).as_str().unwrap().contains(&format!("touch {name}")), "{args:?}");
    }
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("four")}).to_string());
    ona.execute("INSERT INTO conversations(id, project_dir, phase) VALUES ('c', '/', 'idle')", []);
    ona.run(["--transition", "planning", "--conversation", "c"]).expect_code(0);
    assert!(ona.value(SNAPSHOT).as_str().unwrap().contains("touch four"));
}

#[test]
fn what_is_listed_is_what_the_next_start_uses_and_nothing_is_written() {
    let ona = ona();
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("one")}).to_string());
    assert_eq!(listed(&ona, &[]), (vec!["one".to_owned()], String::new()));
    for args in [
        vec!["settings", "show"],
        vec!["doctor"],
        vec!["mcp", "list"],
        vec!["hooks", "lint"],
        vec!["--settings", "{}", "settings", "show"],
        vec!["--trust", "hooks", "list"],
    ] {
        ona.run(&args);
        assert!(!ona.db().parent().unwrap().exists(), "{args:?} made a database, or a lock beside it");
    }
    ona.eval("Bash", json!({"command": "true"}));
    let rows = ["settings_snapshot", "schema_meta", "events"].map(|table| format!("SELECT * FROM {table}"));
    let before = rows.each_ref().map(|sql| ona.rows(sql));
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("two"), "theme": "dark"}).to_string());
    assert_eq!(listed(&ona, &[]).0, ["two"]);
    let flag = json!({"hooks": touch_hook("flag")}).to_string();
    assert_eq!(listed(&ona, &["--settings", &flag]).0, ["two", "flag"]);
    assert_eq!(ona.run(["settings", "show"]).expect_code(0).json()["theme"], "dark");
    let doctor = ona.run(["doctor", "--json"]).json();
    assert_eq!(doctor["hooks"][0]["command"], "touch two", "{doctor}");
    ona.run(["hooks", "lint"]).expect_code(0);
    assert_eq!(rows.each_ref().map(|sql| ona.rows(sql)), before, "listing wrote a row");
    assert_eq!(listed(&ona, &[]).0, ["two"], "--settings of a listing counted later");
}

#[test]
fn a_row_an_operator_changed_is_left_alone_and_said() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("ok")]);
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("one")}).to_string());
    ona.eval("Bash", json!({"command": "true"}));
    ona.execute("UPDATE settings_snapshot SET json = json_set(json, '$.hooks[0].command', 'touch row')", []);
    let before = ona.value(SNAPSHOT);
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("two")}).to_string());
    let ran = ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"true"}}"#]).expect_code(0);
    assert!(ona.exists("row") && !ona.exists("two") && !ran.stderr.contains(BY_OPERATOR), "{ran:?}");
    let (names, said) = listed(&ona, &[]);
    assert_eq!(names, ["row"]);
    assert!(said.contains(BY_OPERATOR) && said.contains("ona settings import"), "{said}");
    for args in [vec!["doctor"], vec!["settings", "show"], vec!["mcp", "list"], vec!["hooks", "lint"], vec!["-p", "hi"]]
    {
        let ran = ona.run(&args);
        assert_eq!(ran.stderr.matches(BY_OPERATOR).count(), 1, "{args:?} {ran:?}");
    }
    // It counts in other projects, too; what -p added did not make it ours.
    let other = ona.root().join("other");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    assert!(ona.run_in(&other, ["hooks", "list"]).expect_code(0).stdout.contains("touch row"));
    assert!(listed(&ona, &[]).1.contains(BY_OPERATOR));
    assert!(ona.value(SNAPSHOT).as_str().unwrap().starts_with(before.as_str().unwrap().trim_end_matches('}')));
    ona.run(["settings", "import"]).expect_code(0);
    assert_eq!(listed(&ona, &[]), (vec!["two".to_owned()], String::new()));
}

#[test]
fn what_the_program_adds_to_the_row_leaves_it_following_the_files() {
    let mut ona = ona();
    let _server = ona.model(Wire::Messages, [say("one"), say("two")]);
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("one")}).to_string());
    ona.run(["-p", "hi"]).expect_code(0);
    assert_eq!(ona.value("SELECT json_type(json, '$.model_config') FROM settings_snapshot"), "object");
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("two")}).to_string());
    let ran = ona.run(["-p", "hi"]).expect_code(0);
    assert_eq!(ran.stderr, "");
    let row = ona.value(SNAPSHOT);
    assert!(row.as_str().unwrap().contains("touch two") && row.as_str().unwrap().contains("model_config"), "{row}");
}

#[test]
fn a_call_beside_a_session_uses_the_row_and_says_that_files_differ() {
    let mut ona = ona();
    let gate = Gate::new();
    let _server = ona.model(Wire::Messages, [say("one").hold(&gate), say("two")]);
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("one")}).to_string());
    let session = ona.command(["-p", "first"]).spawn().unwrap();
    gate.wait_until_reached();
    ona.file(".ona/settings.json", json!({"hooks": touch_hook("two")}).to_string());
    let call = r#"{"tool":"Bash","input":{"command":"true"}}"#;
    let ran = ona.run(["--eval", call]).expect_code(0);
    assert!(ona.exists("one") && !ona.exists("two"), "{ran:?}");
    assert_eq!(ran.stderr.matches("settings files have changed").count(), 1, "{ran:?}");
    // Trust that is withheld holds all the same.
    std::fs::remove_file(ona.project().join("one")).unwrap();
    ona.run(["--no-trust", "--eval", call]).expect_code(0);
    assert!(!ona.exists("one") && !ona.exists("two"));
    // Another project has to wait, in every form.
    let other = ona.root().join("other");
    std::fs::create_dir_all(other.join(".git")).unwrap();
    let refused = ona.run_in(&other, ["--eval", call]).expect_code(2);
    assert!(refused.stderr.contains("the database is in use for project"), "{refused:?}");
    // Beside it in the same project, nothing is in the way of a second session.
    assert_eq!(ona.run(["-p", "second"]).expect_code(0).stdout, "two\n");
    gate.open();
    assert_eq!(ona_testkit::finish(session, b"").expect_code(0).stdout, "one\n");
    ona.run_in(&other, ["--eval", call]).expect_code(0);
    ona.run(["--eval", call]).expect_code(0);
    assert!(ona.exists("two"));
}

#[test]
fn managed_policy_alone_may_be_made_to_count() {
    let ona = ona();
    let managed = json!({"allowManagedHooksOnly": true, "permissions": {"deny": ["Bash(curl *)"]}, "hooks": touch_hook("managed")});
    std::fs::write(ona.root().join("managed-settings.json"), managed.to_string()).unwrap();
    ona.home_file(
        ".ona/settings.json",
        json!({"hooks": touch_hook("user"), "permissions": {"allow": ["Bash"]}}).to_string(),
    );
    ona.eval("Bash", json!({"command": "true"}));
    assert!(ona.exists("managed") && !ona.exists("user"));
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE skipped_reason='managed_only'"), 1);
    let denied = ona.eval("Bash", json!({"command": "curl http://127.0.0.1:1/"}));
    assert_eq!(denied["content"], "Denied by permission rule Bash(curl *)", "H-11");
}

#[test]
fn a_broken_policy_stops_everything_whatever_the_flags() {
    let ona = ona();
    std::fs::write(ona.root().join("managed-settings.json"), "{ not json").unwrap();
    let ran = ona.run(["--eval", GLOB]).expect_code(2);
    assert!(ran.stderr.contains("managed-settings.json: not valid JSON: key must be a string at line 1 column 3"));
    ona.run(["--eval", GLOB, "--ignore-bad-settings"]).expect_code(2);
    ona.run(["db", "init"]).expect_code(0);
    assert!(ona.run(["doctor"]).expect_code(1).stdout.contains("managed-settings.json"));
}

const GLOB: &str = r#"{"tool":"Glob","input":{"pattern":"*"}}"#;

#[test]
fn a_settings_file_that_is_not_a_json_object_stops_the_start_and_names_the_place() {
    let files =
        [".claude/settings.json", ".ona/settings.json", ".claude/settings.local.json", ".ona/settings.local.json"];
    for file in files {
        let ona = ona();
        ona.file(file, "{\n  \"permissions\": {\"deny\": [\"Bash\"]},\n}\n");
        let ran = ona.run(["--eval", GLOB]).expect_code(2);
        let place = format!("{file}:3: not valid JSON: trailing comma at line 3 column 1");
        assert!(ran.stderr.contains(&place) && ran.stderr.contains("--ignore-bad-settings"), "{ran:?}");
        assert_eq!(ona.rows("SELECT json FROM settings_snapshot"), Vec::<Vec<Value>>::new(), "nothing was imported");
        ona.run(["-p", "hello"]).expect_code(2);
        ona.run(["hooks", "list"]).expect_code(2);

        let ran = ona.run(["--eval", GLOB, "--ignore-bad-settings"]).expect_code(0);
        assert!(ran.stderr.contains(&format!("{file}:3: this settings file is not used")), "{ran:?}");
        // What was once ignored is not forgotten.
        assert!(ona.run(["-p", "hello"]).expect_code(2).stderr.contains(&place));

        let ran = ona.run(["doctor", "--json"]).expect_code(1);
        assert!(ran.json()["problems"].to_string().contains(&place), "{ran:?}");
        ona.run(["db", "check"]).expect_code(0);
    }
    let ona = ona();
    ona.home_file(".ona/settings.json", "[]");
    assert!(ona.run(["--eval", GLOB]).expect_code(2).stderr.contains("one JSON object at line 1 column 1"));
    let ran = ona.run(["--eval", GLOB, "--ignore-bad-settings"]).expect_code(0);
    assert!(ran.stderr.contains("this settings file is not used"), "{ran:?}");
    let conversation = ran.json()["conversation_id"].as_str().unwrap().to_owned();
    ona.run(["--transition", "planning", "--conversation", &conversation]).expect_code(0);
    // Of a folder that is not trusted it is one line.
    let untrusted = crate::ona();
    untrusted.file(".claude/settings.json", "{");
    let ran = untrusted.run(["--eval", GLOB, "--no-trust"]).expect_code(0);
    assert_eq!(ran.stderr.matches(".claude/settings.json").count(), 1, "{ran:?}");
    let ran = ona.run(["--eval", GLOB, "--settings", "{\"a\":"]).expect_code(2);
    assert!(ran.stderr.contains("--settings") && ran.stderr.contains("line 1 column 5"), "{ran:?}");
}

#[test]
fn a_row_that_can_not_be_used_is_a_configuration_error() {
    let ona = ona();
    for row in [json!({"permissions": {"defaultMode": "auto"}}), json!([1])] {
        ona.settings(row);
        ona.run(["--eval", r#"{"tool":"Bash","input":{"command":"touch ran"}}"#]).expect_code(2);
    }
    assert!(!ona.exists("ran"));
}

#[test]
fn what_is_wrong_with_settings_is_recorded_once() {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash"], "deny": ["Bash(", ""], "read": {}}, "hooks": [
        {"hook_event_name": "pretooluse", "command": "x"}, {"hook_event_name": "PreToolUse", "matcher": "[", "command": "x"},
    ]}));
    ona.eval("Bash", json!({"command": "true"}));
    ona.eval("Bash", json!({"command": "true"}));
    let kinds = ona.rows("SELECT event_type, count(*) FROM events WHERE event_type LIKE '%reject%' OR event_type LIKE '%drop%' OR event_type LIKE '%unknown%' GROUP BY 1 ORDER BY 1");
    assert_eq!(
        kinds,
        [
            [json!("hook_config_rejected"), json!(2)],
            [json!("permission_rule_dropped"), json!(2)],
            [json!("settings_unknown_key"), json!(1)]
        ]
    );
}
