//! The pi dialect from outside. Each test carries the ids of its scenarios (docs/SPECIFICATION.md).

use crate::ona;
use ona_testkit::model::{Wire, call, say};
use ona_testkit::{Ona, RunOutput};
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

/// A world in which tools may run and `hooks.json` holds this configuration.
pub(crate) fn with_config(config: Value) -> Ona {
    let ona = allowed();
    ona.file("hooks.json", config.to_string());
    ona
}

pub(crate) fn allowed() -> Ona {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash", "Read", "Write", "Edit", "Glob", "Grep"]},
        "model_config": {"provider": "claude_code_subscription", "model_id": "claude_sonnet_4"}}));
    ona
}

/// A program on the search path that notes its arguments and then does what `body` says.
pub(crate) fn stub(ona: &mut Ona, name: &str, body: &str) {
    let log = ona.root().join(format!("{name}.log"));
    let file = ona.root().join("bin").join(name);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&file, format!("#!/bin/sh\necho \"$*\" >> '{}'\n{body}\n", log.display())).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/local/bin:/usr/bin:/bin", ona.root().join("bin").display());
    ona.env("PATH", path);
}

/// What a stub was called with, a line per call.
pub(crate) fn called(ona: &Ona, name: &str) -> Vec<String> {
    let log = std::fs::read_to_string(ona.root().join(format!("{name}.log"))).unwrap_or_default();
    log.lines().map(str::to_owned).collect()
}

/// The records of the log, in order.
fn records(ona: &Ona) -> Vec<Value> {
    let rows = ona.column("SELECT detail FROM events WHERE event_type='hook_exec' ORDER BY id");
    rows.iter().map(|row| serde_json::from_str(row.as_str().unwrap()).unwrap()).collect()
}

fn record(ona: &Ona) -> Value {
    let mut all = records(ona);
    assert_eq!(all.len(), 1, "{all:?}");
    all.remove(0)
}

fn bash(ona: &Ona, command: &str, flags: &[&str]) -> (Value, RunOutput) {
    let call = json!({"tool": "Bash", "input": {"command": command}}).to_string();
    let mut args = vec!["--eval", &call];
    args.extend(flags);
    let ran = ona.run(args).expect_code(0);
    (ran.json(), ran)
}

/// One Bash call under PreToolUse hooks given as commands.
fn guarded(hooks: &[&str], command: &str) -> (Ona, Value, RunOutput) {
    let hooks: Vec<_> = hooks.iter().map(|hook| json!({ "command": hook })).collect();
    let ona = with_config(json!({ "PreToolUse": hooks }));
    let (result, ran) = bash(&ona, command, &["--hooks-config", "hooks.json"]);
    (ona, result, ran)
}

/// A command that prints this as its last word.
fn prints(value: &Value) -> String {
    format!("printf %s '{value}'")
}

fn fire(ona: &Ona, event: Value, flags: &[&str]) -> RunOutput {
    let event = event.to_string();
    let mut args = vec!["--fire-hook", &event];
    args.extend(flags);
    ona.run(args).expect_code(0)
}

fn start(ona: &Ona, flags: &[&str]) -> RunOutput {
    fire(ona, json!({"hook_event_name": "SessionStart", "source": "startup"}), flags)
}

fn commands(ran: &RunOutput) -> Vec<String> {
    let json = ran.json();
    json["hooks"].as_array().unwrap().iter().map(|hook| hook["command"].as_str().unwrap().to_owned()).collect()
}

fn warning(source: &str, reason: &str) -> String {
    format!("Warning: invalid hook config from {source} ({reason}). Hooks are disabled for this session.\n")
}

// ---- sources and validity ----------------------------------------------------------

/// DEC-143 against "hooks are disabled".
#[test]
fn an_invalid_configuration_does_not_switch_off_the_operators_guards() {
    let mut ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Bash"]},
        "hooks": [{"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "echo no >&2; exit 2"}]}));
    ona.env("PI_HOOKS_JSON", "{");
    let (result, _) = bash(&ona, "touch ran", &[]);
    assert_eq!((&result["is_error"], ona.exists("ran")), (&json!(true), false));
}

#[test]
fn p10_p11_defaults_need_the_mode_and_their_program() {
    type Switch = fn(&mut Ona) -> Vec<&'static str>;
    let switches: [(Switch, bool); 7] = [
        (|_| vec!["--gastown"], true),
        (
            |ona| {
                ona.env("PI_GASTOWN_MODE", "1");
                vec![]
            },
            true,
        ),
        (
            |ona| {
                ona.env("PI_GASTOWN_MODE", "true");
                vec![]
            },
            false,
        ),
        (
            |ona| {
                ona.settings(json!({"gastownMode": true}));
                vec![]
            },
            true,
        ),
        (
            |ona| {
                ona.home_file(".ona/settings.json", r#"{"gastownMode": true}"#);
                vec![]
            },
            true,
        ),
        (|_| vec!["--settings", r#"{"gastownMode": true}"#], true),
        (|_| vec![], false),
    ];
    for (switch, on) in switches {
        let mut ona = ona();
        stub(&mut ona, "gt", "");
        let flags = switch(&mut ona);
        let mut args = vec!["doctor", "--json"];
        args.extend(&flags);
        let doctor = ona.run(args).json();
        let hooks: Vec<_> = doctor["hooks"]
            .as_array()
            .unwrap()
            .iter()
            .map(|hook| (hook["hook_event"].clone(), hook["command"].clone(), hook["source"].clone()))
            .collect();
        let expected = [("SessionStart", "gt prime"), ("PreToolUse", "gt tap guard")];
        let expected: Vec<_> = expected.map(|(e, c)| (json!(e), json!(c), json!("gastown_builtin"))).into();
        assert_eq!(hooks, if on { expected } else { vec![] }, "{flags:?}");
        assert!(called(&ona, "gt").is_empty(), "looking is not running");
    }
}

#[test]
fn p10_all_three_defaults_run_where_they_belong_and_a_missing_bd_sync_is_no_news() {
    let mut ona = allowed();
    stub(&mut ona, "gt", "");
    stub(&mut ona, "bd", "echo unknown command >&2; exit 1");
    start(&ona, &["--gastown"]);
    let (_, ran) = bash(&ona, "true", &["--gastown"]);
    assert_eq!(ran.stderr, "");
    let compact = json!({"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": null});
    let ran = fire(&ona, compact, &["--gastown"]);
    assert_eq!((ran.stderr.as_str(), &ran.json()["denied"]), ("", &json!(false)));
    assert_eq!(
        (called(&ona, "gt"), called(&ona, "bd")),
        (vec!["prime".into(), "tap guard".into()], vec!["sync".into()])
    );
    // gt was found by name, so it is found as what only a login shell knows, too.
    std::fs::remove_file(ona.root().join("gt.log")).unwrap();
    ona.home_file(".profile", format!("PATH=$PATH:{}\n", ona.root().join("bin").display()));
    ona.env("PATH", "/usr/bin:/bin");
    start(&ona, &["--gastown"]);
    assert_eq!(called(&ona, "gt"), ["prime"]);
}

fn call_bash() -> ona_testkit::model::ScriptedTurn {
    call("Bash", json!({"command": "true"}))
}

#[test]
fn p14_a_broken_claude_file_is_an_invalid_source_once_it_was_asked_for() {
    let mut ona = allowed();
    stub(&mut ona, "gt", "");
    ona.file(".claude/settings.json", "{");
    let (_, ran) = bash(&ona, "true", &["--gastown", "--claude-settings-hooks"]);
    assert!(ran.stderr.contains(&warning("claude_settings", "invalid JSON")), "{ran:?}");
    assert!(called(&ona, "gt").is_empty());
    let (_, ran) = bash(&ona, "true", &["--gastown"]);
    assert!(!ran.stderr.contains("Warning"), "{ran:?}");
    assert_eq!(called(&ona, "gt"), ["tap guard"]);
}

#[test]
fn the_flag_needs_a_value_and_relative_paths_start_at_the_working_directory() {
    let ona = with_config(json!({"PreToolUse": [{"command": "touch ../ran"}]}));
    ona.run(["--eval", "{}", "--hooks-config"]).expect_code(2);
    ona.file("sub/x", "");
    let call = json!({"tool": "Bash", "input": {"command": "true"}}).to_string();
    ona.run_in(&ona.project().join("sub"), ["--eval", &call, "--hooks-config", "../hooks.json"]).expect_code(0);
    assert!(ona.exists("ran"));
}

#[test]
fn hooks_handed_over_run_after_those_of_the_settings_and_obey_the_same_switches() {
    let ona = with_config(json!({"PreToolUse": [{"command": "echo pi >> order"}]}));
    let flags = ["--hooks-config", "hooks.json"];
    let hook = |command: &str| json!({"hook_event_name": "PreToolUse", "command": command, "shell": "sh"});
    let plugin = json!({"p": {"hooks": [hook("echo plugin >> order")]}});
    let row = json!({"permissions": {"allow": ["Bash"]}, "hooks": [hook("echo row >> order")], "plugins": plugin});
    ona.settings(row.clone());
    bash(&ona, "true", &flags);
    assert_eq!(ona.read("order"), "row\nplugin\npi\n");
    let ordinals = ona.column("SELECT hook_ordinal FROM hook_invocations ORDER BY id");
    assert_eq!(ordinals, [json!(0), json!(1), json!(2)]);
    for (key, reason) in [("disableAllHooks", "all_hooks_disabled"), ("allowManagedHooksOnly", "managed_only")] {
        let mut off = row.clone();
        off[key] = true.into();
        ona.settings(off);
        bash(&ona, "true", &flags);
        let newest = ona.value("SELECT skipped_reason FROM hook_invocations ORDER BY id DESC LIMIT 1");
        assert_eq!(newest, reason);
    }
}

#[test]
fn the_agent_may_not_change_the_configuration_nor_the_scripts_it_starts() {
    let ona = with_config(json!({"PreToolUse": [{"command": "./guard.sh"}]}));
    ona.file("guard.sh", "#!/bin/sh\n");
    for file in ["hooks.json", "guard.sh"] {
        let call = json!({"tool": "Write", "input": {"file_path": file, "content": "x"}}).to_string();
        let ran = ona.run(["--eval", &call, "--hooks-config", "hooks.json"]).expect_code(0);
        assert_eq!(ran.json()["is_error"], true, "{ran:?}");
        assert_ne!(ona.read(file), "x");
    }
}

// ---- running and blocking ----------------------------------------------------------

/// One Bash call before a hook that fails in this way; whether the call ran, what was said.
fn failing(command: &str, timeout: u64, fail_open: bool) -> (Ona, Value) {
    let ona = with_config(json!({"PreToolUse": [{"command": command, "timeoutMs": timeout, "failOpen": fail_open}]}));
    let (result, ran) = bash(&ona, "touch ran", &["--hooks-config", "hooks.json"]);
    assert_eq!(ona.exists("ran"), result["is_error"] == false, "{command}");
    assert_eq!(ran.stderr.lines().count(), 1, "{ran:?}");
    assert_eq!(record(&ona)["failed"], true);
    (ona, result)
}

#[test]
fn p22_to_p24_a_failure_blocks_only_where_the_hook_may_not_fail() {
    for (command, reason) in [("printf warn; exit 1", "warn"), ("exit 1", "Tool call blocked by hook failure")] {
        let (ona, result) = failing(command, 5000, false);
        assert_eq!(result["content"], format!("Denied by PreToolUse hook\n[0] {reason}"));
        assert_eq!((&record(&ona)["decision"], &record(&ona)["timedOut"]), (&json!("deny"), &json!(false)));
    }
    // A timeout passes, with its whole process group gone.
    let (ona, result) = failing("sleep 7660 & sleep 7660", 200, true);
    let timed_out = record(&ona);
    assert_eq!((&result["is_error"], &timed_out["decision"]), (&json!(false), &json!("allow")));
    assert_eq!((&timed_out["timedOut"], &timed_out["code"]), (&json!(true), &json!(1)));
    assert_eq!(ona.value("SELECT exit_code FROM hook_invocations"), Value::Null);
    assert_ne!(ona.lenient_shell("pgrep -f 'sleep 766[0]'").code, 0);
    // It blocks with what had been printed where the hook may not fail.
    let (ona, result) = failing("echo early; sleep 30 & wait", 200, false);
    assert_eq!(result["content"], "Denied by PreToolUse hook\n[0] early");
    assert_eq!((&record(&ona)["timedOut"], &record(&ona)["decision"]), (&json!(true), &json!("deny")));
    assert_eq!(ona.value("SELECT exit_code FROM hook_invocations"), 2);
}

#[test]
fn p26_matchers_take_native_and_pi_names_exactly_on_all_tool_events() {
    let cases: [(Value, &str, bool); 9] = [
        (json!(["bash"]), "Bash", true),
        (json!(["Bash"]), "Bash", true),
        (json!(["BASH", "ba", "Bash|Read", ".*"]), "Bash", false),
        (json!(["bash"]), "Read", false),
        (json!(["find"]), "Glob", true),
        (json!(["grep", "x"]), "Grep", true),
        (json!(["glob"]), "Glob", false),
        (json!(["mcp__s__t"]), "mcp__s__t", true),
        (json!([]), "Bash", false),
    ];
    for (names, tool, runs) in cases {
        let hook = json!([{"command": "true", "matcher": {"toolNames": names}}]);
        let ona = with_config(json!({"PreToolUse": hook, "PostToolUse": hook, "PostToolUseFailure": hook,
            "SessionStart": hook, "PreCompact": hook}));
        let flags = ["--hooks-config", "hooks.json"];
        let call = json!({"tool_name": tool, "tool_input": {}, "tool_use_id": "t"});
        for (event, more) in [
            ("PreToolUse", json!({})),
            ("PostToolUse", json!({"tool_response": {}})),
            ("PostToolUseFailure", json!({"error": "x"})),
        ] {
            let mut fired = call.clone();
            fired["hook_event_name"] = event.into();
            fired.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            assert_eq!(commands(&fire(&ona, fired, &flags)).len(), usize::from(runs), "{names} {tool} {event}");
        }
        assert_eq!(commands(&start(&ona, &flags)).len(), 1, "a matcher is for tools");
    }
}

#[test]
fn p27_each_event_has_the_fields_of_the_dialect_and_of_section_6() {
    let keep = |event: &str| json!([{ "command": format!("cat > {event}.json") }]);
    let ona = with_config(
        json!({"PreToolUse": keep("pre"), "PostToolUse": keep("post"), "PostToolUseFailure": keep("failure")}),
    );
    let flags = ["--hooks-config", "hooks.json"];
    bash(&ona, "true", &flags);
    bash(&ona, "echo oops >&2; false", &flags);
    let read = |name: &str| -> Value {
        let text = ona.read(&format!("{name}.json"));
        assert!(text.ends_with("}\n") && text.lines().count() == 1, "{text:?}");
        serde_json::from_str(&text).unwrap()
    };
    let (pre, post, failure) = (read("pre"), read("post"), read("failure"));
    assert_eq!((&post["tool_input"]["command"], &post["hook_event_name"]), (&json!("true"), &json!("PostToolUse")));
    assert_eq!(post["tool_response"]["is_error"], false);
    for stdin in [&pre, &post, &failure] {
        assert_eq!((&stdin["tool_name"], &stdin["cwd"]), (&json!("Bash"), &json!(ona.project())));
        for field in ["tool_use_id", "session_id", "conversation_id", "hook_event_name"] {
            assert!(stdin[field].is_string(), "{field} in {stdin}");
        }
        assert_eq!(stdin["tool_name_pi"], "bash");
        assert_eq!(stdin["runtime_db_path"], json!(ona.db()));
    }
    assert_eq!(
        (&failure["tool_error"], &failure["hook_event_name"]),
        (&failure["error"], &json!("PostToolUseFailure"))
    );
    assert!(failure["tool_error"].as_str().unwrap().contains("oops"));
    assert!(pre.get("tool_error").is_none() && post.get("error").is_none());
    assert_eq!(post["tool_input"]["command"], "true", "PostToolUse did not fire for the failure");
}

#[test]
fn p30_a_session_starts_once_however_many_prompts_it_gets() {
    let mut ona = with_config(json!({"SessionStart": [{"command": "printf once"}]}));
    let model = ona.model(Wire::Messages, [say("a"), say("b"), say("c")]);
    let prompt = |text: &str| json!({"type": "user", "message": {"role": "user", "content": text}}).to_string();
    let lines = format!("{}\n{}\n{}\n", prompt("1"), prompt("2"), prompt("3"));
    let args =
        ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--hooks-config", "hooks.json"];
    ona.run_with_stdin(args, lines.as_bytes()).expect_code(0);
    assert_eq!(ona.value("SELECT count(*) FROM hook_invocations WHERE hook_event='SessionStart'"), 1);
    let last = String::from_utf8_lossy(&model.request(2).body).into_owned();
    assert_eq!(last.matches("<hook-context>\\nonce\\n</hook-context>").count(), 1, "{last}");
    let model = ona.model(Wire::Messages, [say("a"), say("b")]);
    let lines = format!("{}\n{}\n{}\n", prompt("1"), prompt("/clear"), prompt("2"));
    ona.run_with_stdin(args, lines.as_bytes()).expect_code(0);
    let sources =
        "SELECT json_extract(input_json, '$.source') FROM hook_invocations WHERE hook_event='SessionStart' ORDER BY id";
    assert_eq!(ona.column(sources), ["startup", "startup", "clear"]);
    let last = String::from_utf8_lossy(&model.request(1).body).into_owned();
    assert_eq!(last.matches("<hook-context>\\nonce\\n</hook-context>").count(), 1, "{last}");
}

#[test]
fn p29_before_the_summary_of_a_compaction_asked_for_precompact_has_run() {
    let hook = "cat > precompact.json; echo not context";
    let mut ona =
        with_config(json!({"PreCompact": [{"command": hook}], "SessionStart": [{"command": "touch started"}]}));
    let model = ona.model(Wire::Messages, [say("one"), say("SUMMARY"), say("two")]);
    let flags = ["--hooks-config", "hooks.json"];
    ona.run(["-p", "first", "--session-id", "s"].into_iter().chain(flags)).expect_code(0);
    let marker = ona.project().join("precompact.json");
    let (tell, seen) = std::sync::mpsc::channel();
    model.on_request(move |_| tell.send(marker.exists()).unwrap_or_default());
    ona.run(["-p", "/compact keep names", "-r", "s"].into_iter().chain(flags)).expect_code(0);
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [true]);
    let stdin: Value = serde_json::from_str(&ona.read("precompact.json")).unwrap();
    assert_eq!((&stdin["hook_event_name"], &stdin["trigger"]), (&json!("PreCompact"), &json!("manual")));
    ona.run(["-p", "second", "-r", "s"].into_iter().chain(flags)).expect_code(0);
    assert!(!body(&model, 2).contains("not context"), "what it prints is logged only");
}

#[test]
fn v1_exit_2_after_the_fact_is_neither_a_block_nor_a_failure() {
    let both = json!([{"command": "echo no >&2; exit 2"}]);
    let mut ona = with_config(json!({"PostToolUse": both, "SessionStart": both, "PreCompact": both}));
    let model = ona.model(Wire::Messages, [call_bash(), say("done")]);
    let ran = ona.run(["-p", "go", "--hooks-config", "hooks.json"]).expect_code(0);
    assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("done\n", ""));
    assert!(!String::from_utf8_lossy(&model.request(1).body).contains("hook-context"));
    let compact = json!({"hook_event_name": "PreCompact", "trigger": "auto", "custom_instructions": null});
    assert_eq!(fire(&ona, compact, &["--hooks-config", "hooks.json"]).json()["denied"], false);
    assert!(records(&ona).iter().all(|record| record["failed"] == false && record.get("decision").is_none()));
}

#[test]
fn a_hook_runs_in_a_login_shell_that_still_finds_what_ona_was_started_with() {
    let mut ona = with_config(json!({"SessionStart": [{"command": "echo \"$FROM_PROFILE $0 $-\" > shell; mine"}]}));
    ona.home_file(".profile", "FROM_PROFILE=yes\n");
    stub(&mut ona, "mine", "echo found");
    let ran = start(&ona, &["--hooks-config", "hooks.json"]);
    assert_eq!(ran.json()["additional_context"], json!(["found"]));
    assert!(ona.read("shell").starts_with("yes "), "{}", ona.read("shell"));
}

// ---- structured output -------------------------------------------------------------

fn body(model: &ona_testkit::model::ModelServer, index: usize) -> String {
    String::from_utf8_lossy(&model.request(index).body).into_owned()
}

#[test]
fn a_claude_shaped_configuration_runs_its_other_events_too() {
    let group = |matcher: &str, command: &str| json!([{"matcher": matcher, "hooks": [{"type": "command", "command": command, "timeout": 3}]}]);
    let mut ona = with_config(
        json!({"hooks": {"UserPromptSubmit": group("", "echo mail"), "Stop": group("", "touch stopped"),
        "PreToolUse": group("Bash|Write", "echo from stdout; exit 2"), "SessionStart": group("resume", "touch resumed")}}),
    );
    let model = ona.model(Wire::Messages, [call_bash(), say("done")]);
    ona.run(["-p", "go", "--hooks-config", "hooks.json"]).expect_code(0);
    assert!(body(&model, 0).contains("<hook-context>\\nmail\\n</hook-context>"));
    assert!(model.request(1).last_message().contains("from stdout"));
    assert_eq!((ona.exists("stopped"), ona.exists("resumed")), (true, false));
}

// ---- logging -----------------------------------------------------------------------

/// A hook that cannot decide is not said to have decided.
#[test]
fn an_asynchronous_hook_of_a_claude_shaped_configuration_blocks_nothing_in_the_log_either() {
    for handler in [
        json!({"command": "echo no; exit 2", "async": true}),
        json!({"command": prints(&json!({"decision": "deny"})), "async": true}),
    ] {
        let ona = with_config(json!({"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [handler]}]}}));
        let (result, ran) = bash(&ona, "echo ran", &["--hooks-config", "hooks.json"]);
        assert_eq!((&result["content"], ran.stderr.as_str()), (&json!("ran\n"), ""));
        assert_eq!(record(&ona)["decision"], "allow");
    }
}

#[test]
fn p62_a_long_reason_is_cleaned_then_cut_and_the_model_gets_that() {
    let reason = format!("SECRET=hidden {}", "r".repeat(5000));
    let (ona, result, _) = guarded(&[&prints(&json!({"decision": "deny", "reason": reason}))], "true");
    let shown = format!("SECRET=[REDACTED] {}\n...[truncated]", "r".repeat(2000 - 18));
    assert_eq!(result["content"], format!("Denied by PreToolUse hook\n{shown}"));
    assert_eq!((&record(&ona)["reason"], &record(&ona)["truncated"]), (&json!(shown), &json!(true)));
}
