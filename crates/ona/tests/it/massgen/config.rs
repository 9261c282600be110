//! The configuration file, and what else stands around these hooks.

use super::*;

#[test]
fn a_configuration_that_is_not_there_or_an_agent_nobody_knows_is_refused() {
    let ona = ona();
    let eval = glob().to_string();
    let ran = ona.run(["--eval", &eval, "--massgen-config", "gone.yaml"]).expect_code(2);
    assert!(ran.stderr.contains("could not be read") && ran.stderr.trim_end().ends_with("/gone.yaml"), "{ran:?}");
    ona.file("hooks.yaml", "agents: [{id: a}, {id: b}]\n");
    let ran = ona.run(["--eval", &eval, "--massgen-config", "hooks.yaml", "--agent-id", "c"]).expect_code(2);
    assert!(ran.stderr.contains("has no agent \"c\"; its agents are a, b"), "{ran:?}");
    let ran = ona.run(["--eval", &eval, "--agent-id", "c"]).expect_code(2);
    assert!(ran.stderr.contains("--agent-id c names an agent of a MassGen configuration"), "{ran:?}");
}

#[test]
fn what_is_not_known_is_skipped_aloud_and_extra_keys_are_ignored() {
    let yaml = "hooks:
  PreTool: []
  override: true
  PreToolUse:
    - {handler: hooks.f, colour: red}
models: [a]
";
    let ona = world(yaml);
    ona.file("hooks.py", LOG.replace("def log", "def f"));
    for _ in 0..2 {
        assert_eq!(write(&ona)["is_error"], false);
    }
    let ran = ona.run(["--eval", &glob().to_string()]).expect_code(0);
    assert!(ran.stderr.contains("ona: hooks.PreTool is not an event of this framework"), "{ran:?}");
    let why = logged(&ona, "hook_config_rejected");
    assert_eq!(
        why,
        [
            "hooks.PreTool is not an event of this framework; it has PreToolUse and PostToolUse",
            "hooks.override belongs under an event; here it has no effect",
        ]
    );
    assert_eq!(lines(&ona, "log").len(), 3);
}

#[test]
fn mg_x16_a_modules_state_lasts_for_the_session() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n  PostToolUse:\n    - {handler: hooks.f}\n");
    ona.file(
        "hooks.py",
        "count = 0\ndef f(event):\n    global count\n    count += 1\n    open('log', 'a').write(f'{count}\\n')\n",
    );
    evals(&ona, &[glob(), glob(), glob()]);
    assert_eq!(lines(&ona, "log"), ["1", "2", "3", "4", "5", "6"]);
    assert!(!ona.exists("__pycache__"));
}

#[test]
fn mg_x17_switched_off_hooks_start_nothing_and_leave_rows_that_say_so() {
    // Section L: rows with all_hooks_disabled, not no rows.
    let yaml = "hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n  PostToolUse:\n    - {handler: no.such}\n";
    let mut ona = world(yaml);
    ona.file("hooks.py", "def f(event): return {'decision': 'deny'}\n");
    let python = ona.file("python", "#!/bin/sh\ntouch started\n");
    ona.env("ONA_PYTHON", python.to_string_lossy());
    ona.env("SDLC_DISABLE_ALL_HOOKS", "1");
    assert_eq!(write(&ona)["is_error"], false);
    assert!(!ona.exists("started"));
    assert_eq!(hook_rows(&ona, "skipped_reason"), [["all_hooks_disabled"], ["all_hooks_disabled"]]);
}

#[test]
fn the_settings_switch_these_hooks_off_as_well() {
    for (switch, reason) in [("disableAllHooks", "all_hooks_disabled"), ("allowManagedHooksOnly", "managed_only")] {
        let ona = python("return {'decision': 'deny'}", "");
        ona.settings(json!({"permissions": {"allow": ["Write"]}, switch: true}));
        assert_eq!(write(&ona)["is_error"], false, "{switch}");
        assert_eq!(hook_rows(&ona, "skipped_reason"), [[reason]]);
    }
}

#[test]
fn the_flag_wins_over_the_environment_and_that_over_the_setting() {
    let mut ona = ona();
    ona.file("log.py", LOG);
    for name in ["flag", "env", "setting"] {
        ona.file(
            &format!("{name}.yaml"),
            format!("hooks:\n  PreToolUse:\n    - {{handler: log.log, matcher: '{name}*|Write'}}\n"),
        );
    }
    ona.settings(json!({"massgenConfig": "setting.yaml"}));
    let matcher = |ona: &Ona, flags: &[&str]| fire(ona, pre("Write"), flags)["hooks"][0]["matcher"].clone();
    assert_eq!(matcher(&ona, &[]), "setting*|Write");
    ona.env("ONA_MASSGEN_CONFIG", "env.yaml");
    assert_eq!(matcher(&ona, &[]), "env*|Write");
    assert_eq!(matcher(&ona, &["--massgen-config", "flag.yaml"]), "flag*|Write");
}

#[test]
fn an_agent_can_not_change_the_hooks_that_watch_it() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: hooks.f}\n    - {handler: 'guard.sh x', type: command}\n");
    ona.file("hooks.py", "def f(event): pass\n");
    ona.file("guard.sh", "");
    for file in ["hooks.yaml", "hooks.py", "guard.sh"] {
        let before = ona.read(file);
        let result = ona.eval("Write", json!({"file_path": file, "content": "x"}));
        assert_eq!((&result["is_error"], ona.read(file)), (&json!(true), before), "{file}: {result}");
    }
}

#[test]
fn a_secret_reaches_neither_a_function_nor_the_rows() {
    let mut ona = python("print(event.tool_input)\nreturn {'decision': 'deny', 'reason': str(event.tool_input)}", "");
    let secret = format!("sk-{}-{}", "ant", "x".repeat(40));
    ona.env("ANTHROPIC_API_KEY", secret.as_str());
    let result = ona.eval("Write", json!({"file_path": "a.txt", "content": secret}));
    assert!(!said(&result).contains(&secret), "{result}");
    assert!(
        !ona.rows("SELECT * FROM hook_invocations").iter().flatten().any(|cell| cell.to_string().contains(&secret))
    );
}

/// The import has a minute; the person who presses the stop button does not.
#[test]
fn a_turn_can_be_interrupted_while_a_function_is_imported() {
    let mut ona = world("hooks:\n  PreToolUse:\n    - handler: slow.f\n");
    ona.file(
        "slow.py",
        "import os, time\nopen('pid', 'w').write(str(os.getpid()))\nos.rename('pid', 'importing')\ntime.sleep(600)\n",
    );
    let _model = ona.model(Wire::Messages, [call("Glob", json!({"pattern": "*.none"})), say("done")]);
    let mut talk = ona.talk(["-p", "--input-format", "stream-json", "--output-format", "stream-json"]);
    talk.say("go");
    while !ona.exists("importing") {
        std::thread::yield_now();
    }
    talk.ask(json!({"subtype": "interrupt"}));
    talk.until_result();
    talk.close();
    talk.finish();
    assert_eq!(hook_rows(&ona, "stderr_text"), [["[SDLC] hook interrupted"]]);
    assert!(is_over(&ona.read("importing")), "the interpreter is still there");
}

#[test]
fn nothing_is_left_running_when_the_session_ends() {
    let ona = python("import os\nopen('pid', 'w').write(str(os.getpid()))", "");
    let ran: RunOutput = ona.run(["--eval", &glob().to_string()]).expect_code(0);
    assert_eq!(ran.stderr, "");
    assert!(is_over(&ona.read("pid")), "the interpreter is still there");
}

/// Whether a process has ended, or waits for its parent to collect it.
fn is_over(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z')
}
