//! The configuration file, and what else stands around these hooks.

use super::*;

#[test]
fn mg_x14_a_wrong_type_is_a_configuration_error_that_names_its_place() {
    let cases = [
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: '10'}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        (
            "hooks: {PreToolUse: [{handler: a.b, timeout: 0}]}",
            "hooks.PreToolUse[0].timeout must be a positive number of seconds",
        ),
        ("hooks: {PreToolUse: [{handler: 5}]}", "hooks.PreToolUse[0].handler must be a non-empty string"),
        ("hooks: {PostToolUse: [{matcher: x}]}", "hooks.PostToolUse[0].handler is missing"),
        ("hooks: {PreToolUse: [{handler: a.b, matcher: [x]}]}", "hooks.PreToolUse[0].matcher must be a string"),
        ("hooks: {PreToolUse: [{handler: a.b, type: http}]}", "hooks.PreToolUse[0].type must be python or command"),
        (
            "hooks: {PreToolUse: [{handler: a.b, fail_closed: 1}]}",
            "hooks.PreToolUse[0].fail_closed must be true or false",
        ),
        (
            "hooks: {PreToolUse: [{handler: \"a 'b\", type: command}]}",
            "hooks.PreToolUse[0].handler has a quote that is never closed",
        ),
        ("hooks: {PreToolUse: 5}", "hooks.PreToolUse must be a list of hooks, or a mapping with override and hooks"),
        ("hooks: {PreToolUse: [x]}", "hooks.PreToolUse[0] must be a mapping"),
        ("hooks: [x]", "hooks must be a mapping from event to hooks"),
        (
            "agents: [{id: a, backend: {hooks: {PreToolUse: {override: 'yes'}}}}]",
            "agents[0].backend.hooks.PreToolUse.override must be true or false",
        ),
        ("agent: {id: 5}", "agent.id must be a non-empty string"),
        ("agents: [{id: a}, {id: a}]", "agents[1].id is the id of another agent already"),
        ("agents: [{id: a}]\nagent: {id: b}", "agents and agent cannot both be set"),
    ];
    for (yaml, what) in cases {
        let ona = world(yaml);
        let ran = ona.run(["--eval", &glob().to_string()]).expect_code(2);
        let file = ona.project().join("hooks.yaml");
        let sentence = format!("ona: the massgen configuration cannot be used: {what}: {}\n", file.display());
        assert_eq!(ran.stderr, sentence, "{yaml}");
    }
    let not_yaml = "is not valid YAML: unclosed bracket";
    let no_mapping = "cannot be used: at line 1, column 1 there must be a mapping";
    for (yaml, what) in [("hooks: [", not_yaml), ("just text", no_mapping), ("- a\n- b", no_mapping)] {
        let ran = world(yaml).run(["--eval", &glob().to_string()]).expect_code(2);
        assert!(ran.stderr.starts_with(&format!("ona: the massgen configuration {what}")), "{ran:?}");
    }
}

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
fn yaml_is_read_as_yaml_and_what_is_wrong_with_it_is_said_plainly() {
    let anchors = "common: &base {handler: hooks.f, matcher: Glob}
more: &more {timeout: 3}
hooks:
  PreToolUse:
    - <<: [*base, *more]
      matcher: Write
      type:
  PostToolUse: &list
    - *base
";
    let ona = world(anchors);
    ona.file("hooks.py", "def f(event): pass\n");
    let doctor = ona.run(["doctor", "--json"]).json();
    let hooks: Vec<_> =
        doctor["hooks"].as_array().unwrap().iter().map(|hook| (&hook["matcher"], &hook["timeout_ms"])).collect();
    assert_eq!(hooks, [(&json!("Write"), &json!(3000)), (&json!("Glob"), &json!(30_000))]);
    let cases = [
        ("hooks:\n  PreToolUse: []\n  PreToolUse: []\n", "duplicate mapping key: PreToolUse at line 3"),
        ("hooks: {}\n---\nhooks: {}\n", "there is more than one document at line 3"),
        ("- hooks\n", "at line 1, column 1 there must be a mapping"),
        ("agents: {a: {}}\n", "at line 1, column 9 there must be a list"),
        ("agents:\n  - id: a\n    backend: claude\n", "at line 3, column 14 there must be a mapping"),
        (
            &format!("a: &a [{}]\nb: &b [{}]\nc: &c [{}]\n", "x,".repeat(80), "*a,".repeat(80), "*b,".repeat(80)),
            "it is too large, or refers to its own parts too often",
        ),
    ];
    for (yaml, why) in cases {
        let ran = world(yaml).run(["--eval", &glob().to_string()]).expect_code(2);
        assert!(ran.stderr.contains(why) && !ran.stderr.contains("Options"), "{yaml}: {ran:?}");
    }
}

#[test]
fn mg_x15_programs_and_modules_are_found_beside_the_configuration_first() {
    let ona = ona();
    ona.settings(json!({"permissions": {"allow": ["Glob"]}}));
    let yaml = "hooks:
  PreToolUse:
    - {handler: scripts/found.py, type: command}
    - {handler: './scripts/with space.sh', type: command}
    - {handler: \"scripts/args.sh 'a b' c\", type: command}
    - {handler: inner.f}
    - {handler: outer.f}
";
    ona.file("config/hooks.yaml", yaml);
    ona.file("config/scripts/found.py", "open('log', 'a').write('found\\n')\n");
    ona.file("scripts/found.py", "open('log', 'a').write('wrong\\n')\n");
    ona.file("config/scripts/with space.sh", "echo space >> log\n");
    ona.file("scripts/args.sh", "printf '%s|' \"$@\" >> log; echo >> log\n");
    ona.file("config/inner.py", "def f(event): open('log', 'a').write('inner\\n')\n");
    ona.file("outer.py", "def f(event): open('log', 'a').write('outer\\n')\n");
    ona.eval_with("Glob", json!({"pattern": "*"}), &["--massgen-config", "config/hooks.yaml"]);
    assert_eq!(lines(&ona, "log"), ["found", "space", "a b|c|", "inner", "outer"], "{:?}", errors(&ona));
}

#[test]
fn an_executable_program_is_started_directly() {
    use std::os::unix::fs::PermissionsExt;
    let ona = world(
        "hooks:\n  PreToolUse:\n    - {handler: hook.py, type: command}\n    - {handler: plain.py, type: command}\n",
    );
    for (name, script) in
        [("hook.py", "#!/bin/sh\necho sh >> log\n"), ("plain.py", "open('log', 'a').write('python\\n')\n")]
    {
        let file = ona.file(name, script);
        std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    fire(&ona, pre("Write"), &[]);
    assert_eq!(lines(&ona, "log"), ["sh", "python"]);
}

#[test]
fn a_program_by_a_bare_name_is_the_installed_one() {
    let ona = world("hooks:\n  PreToolUse:\n    - {handler: \"python3 -c 'print(1)'\", type: command}\n");
    ona.file("python3", "echo '{\"decision\":\"deny\"}'");
    assert_eq!(fire(&ona, pre("Write"), &[])["denied"], false);
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

/// The import has a minute; whoever presses the stop button does not.
#[test]
fn a_turn_can_be_interrupted_while_a_function_is_imported() {
    let mut ona = world("hooks:\n  PreToolUse:\n    - handler: slow.f\n");
    ona.file("slow.py", "import time\nopen('importing', 'w').close()\ntime.sleep(7661)\n");
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
    assert!(!runs("7661"));
}

#[test]
fn nothing_is_left_running_when_the_session_ends() {
    let ona = python("import os\nopen('pid', 'w').write(str(os.getpid()))", "");
    let ran: RunOutput = ona.run(["--eval", &glob().to_string()]).expect_code(0);
    assert_eq!(ran.stderr, "");
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", ona.read("pid"))).unwrap_or_default();
    // Ended, or waiting for whoever collects orphans.
    assert!(stat.is_empty() || stat.rsplit(')').next().unwrap().trim_start().starts_with('Z'), "{stat}");
}
