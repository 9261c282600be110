//! How hooks stand in Claude Code settings files: shapes, shells, plugins, twins, times.

use crate::{World, bash, no_others, rows};
use ona_api::EventName;
use ona_dialects::load;
use ona_hookplane::Firing;
use ona_settings::Settings;
use serde_json::{Value, json};
use std::os::unix::fs::PermissionsExt;

fn claude(hooks: Value) -> Value {
    json!({"hooksDialect": "claude", "hooks": hooks})
}

fn on_bash(handlers: Value) -> Value {
    json!({"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]})
}

fn command(text: &str) -> Value {
    json!({"type": "command", "command": text})
}

fn rejected(world: &World, settings: &Value) -> Vec<String> {
    load(&Settings::read(settings), &world.place(), &no_others).rejected.into_iter().map(|bad| bad.why).collect()
}

fn program(world: &World, name: &str, text: &str) {
    let path = world.path().join(name);
    std::fs::write(&path, text).unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[tokio::test]
async fn what_is_malformed_is_left_out_and_the_rest_runs() {
    let world = World::new();
    let hooks = json!({
        "Stop": null,
        "PostToolUse": [{"matcher": "Bash", "hooks": null}],
        "SessionStart": "echo hi",
        "PreToolUse": [
            null,
            "echo",
            {"matcher": "Bash", "hooks": "echo"},
            {"matcher": 7, "hooks": [command("touch number")]},
            {"matcher": "Bash", "hooks": [null, {"type": "command"}, {"type": "command", "command": 5}, {"command": "touch untyped"}]},
            {"matcher": null, "_gstack_source": "x", "id": "i", "description": "d", "hooks": [{"type": "command", "command": "touch ran", "description": "d", "_x": {}}]},
        ],
    });
    world.fire(claude(hooks), EventName::PreToolUse, bash("ls")).await;
    assert!(world.exists("ran") && world.exists("untyped") && !world.exists("number"));
    assert!(load(&Settings::read(&claude(Value::Null)), &world.place(), &no_others).hooks.is_empty());
}

#[tokio::test]
async fn the_exec_form_starts_the_program_itself_and_knows_the_folders() {
    let world = World::new();
    program(&world, "my guard.sh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > words\n");
    let exec = json!({"type": "command", "command": "${CLAUDE_PROJECT_DIR}/my guard.sh", "args": ["a b", "$HOME", "${CLAUDE_PROJECT_DIR}/x", "*"]});
    world.fire(claude(on_bash(json!([exec]))), EventName::PreToolUse, bash("ls")).await;
    assert_eq!(world.read("words"), format!("a b\n$HOME\n{}/x\n*\n", world.path().display()));

    program(&world, "plugin.sh", "#!/bin/sh\nprintf '%s|%s' \"$CLAUDE_PLUGIN_ROOT\" \"$CLAUDE_PLUGIN_DATA\" > seen\n");
    let exec = json!({"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/plugin.sh", "args": []});
    for handler in [command("\"${CLAUDE_PLUGIN_ROOT}\"/plugin.sh"), exec] {
        let plugin = json!({"root": world.path(), "data": "/data", "hooks": on_bash(json!([handler]))});
        world.fire(json!({"plugins": {"one": plugin}}), EventName::PreToolUse, bash("ls")).await;
        assert_eq!(world.read("seen"), format!("{}|/data", world.path().display()), "{handler}");
        std::fs::remove_file(world.path().join("seen")).unwrap();
    }
}

#[tokio::test]
async fn a_shell_can_be_named_and_an_unknown_one_is_refused() {
    let world = World::new();
    let with =
        |shell: &str| json!({"type": "command", "shell": shell, "command": "echo ${BASH_VERSION:+bash}x >> log"});
    let settings = claude(on_bash(json!([with("bash"), with("sh"), with("fish")])));
    world.fire(settings.clone(), EventName::PreToolUse, bash("ls")).await;
    assert_eq!(world.read("log").lines().next(), Some("bashx"));
    let why = rejected(&world, &settings);
    assert!(why.len() == 1 && why[0].contains("fish"), "{why:?}");
}

#[tokio::test]
async fn hooks_run_in_the_sessions_directory_with_the_projects_in_their_environment() {
    let world = World::new();
    std::fs::create_dir(world.path().join("sub")).unwrap();
    let hook = command("pwd > \"$CLAUDE_PROJECT_DIR/where\"; env > \"$CLAUDE_PROJECT_DIR/env\"");
    let settings = claude(on_bash(json!([hook])));
    world.fire_in(&world.path().join("sub"), settings, EventName::PreToolUse, bash("ls")).await;
    assert_eq!(world.read("where").trim(), world.path().join("sub").to_str().unwrap());
    let env = world.read("env");
    assert!(env.lines().any(|line| line == "CLAUDE_CODE_SESSION_ID=s1"), "{env}");
    assert!(!env.contains("CLAUDE_CODE_REMOTE") && !env.contains("CLAUDE_PLUGIN_ROOT"), "{env}");
}

#[tokio::test]
async fn a_hook_may_leave_a_process_behind() {
    let world = World::new();
    let hook = command("(while [ ! -e go ]; do sleep 0.05; done; touch later) & echo $! > pid");
    let outcome = world.fire(claude(on_bash(json!([hook]))), EventName::PreToolUse, bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, Some(0), None)]);
    std::fs::write(world.path().join("go"), "").unwrap();
    for _ in 0..400 {
        if world.exists("later") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    panic!("the process did not go on");
}

#[tokio::test]
async fn the_switch_for_all_hooks_leaves_rows_and_starts_nothing() {
    let world = World::new();
    let mut settings = claude(on_bash(json!([command("touch ran")])));
    settings["disableAllHooks"] = true.into();
    let outcome = world.fire(settings, EventName::PreToolUse, bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, None, Some("all_hooks_disabled"))]);
    assert!(!world.exists("ran"));
}

#[test]
fn each_hook_has_its_time() {
    let world = World::new();
    let handler = |more: Value| {
        let mut handler = command("true");
        handler.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!([{"matcher": "", "hooks": [handler]}])
    };
    let hooks = json!({"Stop": handler(json!({})), "PreToolUse": handler(json!({"timeout": 5})),
        "PostToolUse": handler(json!({"async": true})), "UserPromptSubmit": handler(json!({"async": true, "timeout": 60})),
        "SessionEnd": handler(json!({}))});
    let (timeouts, _) = ona_hookplane::Timeouts::from_env(&world.env);
    let loaded = load(&Settings::read(&claude(hooks)), &world.place(), &no_others);
    let times: Vec<_> = loaded.hooks.iter().map(|hook| hook.effective_timeout(&timeouts).as_millis()).collect();
    assert_eq!(times, [600_000, 5_000, 10_000, 60_000, 1_500]);
}

#[tokio::test]
async fn effort_is_the_configured_one() {
    let world = World::new();
    let mut settings = claude(on_bash(json!([command("cat > pre")])));
    settings["effortLevel"] = "high".into();
    world.fire(settings, EventName::PreToolUse, bash("ls")).await;
    let told = world.read("pre");
    assert!(told.contains(r#""effort":{"level":"high"}"#), "{told}");
    assert_eq!(told.matches('\n').count(), 1, "one line and its end");
}

#[tokio::test]
async fn a_failed_command_is_reported_with_its_exit_code() {
    let world = World::new();
    let entry = |dialect: &str, file: &str| json!({"hook_event_name": "PostToolUseFailure", "command": format!("cat > {file}"), "shell": "sh", "dialect": dialect});
    let engine = world.engine(json!({"hooks": [entry("claude", "failed"), entry("sdlc", "own")]}));
    for (code, error, told) in [(3, "", "Exit code 3"), (4, "half\n", "Exit code 4\nhalf")] {
        let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_use_id": "t", "error": error});
        let mut firing = Firing::new(EventName::PostToolUseFailure, world.base(&world.path()), fields);
        firing.exit_code = Some(code);
        engine.fire(firing).await;
        let error_in = |file: &str| serde_json::from_str::<Value>(&world.read(file)).unwrap()["error"].clone();
        assert_eq!((error_in("failed"), error_in("own")), (json!(told), json!(error)));
    }
}

#[test]
fn a_matcher_written_like_a_rule_fits_no_tool_and_is_named() {
    let world = World::new();
    let hooks = json!({"PreToolUse": [{"matcher": "Bash(git push*)", "hooks": [command("true")]}]});
    let why = load(&Settings::read(&claude(hooks)), &world.place(), &no_others).idle;
    assert!(why.iter().any(|why| why.contains("Bash(git push*)")), "{why:?}");
}

#[tokio::test]
async fn a_copy_with_a_condition_is_the_same_handler_and_a_plugins_copy_is_not() {
    let world = World::new();
    let same = "echo \"<$CLAUDE_PLUGIN_ROOT>\" >> log";
    let limited = json!({"type": "command", "if": "Bash(ls *)", "command": same});
    let plugin = |root: &str| json!({"root": root, "data": "/d", "hooks": on_bash(json!([command(same)]))});
    let mut settings = claude(json!({"PreToolUse": [
        {"matcher": "Bash", "hooks": [command(same)]},
        {"matcher": "Bash", "hooks": [limited]},
    ]}));
    settings["plugins"] = json!({"one": plugin("/one"), "two": plugin("/two")});
    world.fire(settings, EventName::PreToolUse, bash("ls -l")).await;
    assert_eq!(world.read("log"), "<>\n</one>\n</two>\n");
}

#[tokio::test]
async fn a_copy_that_is_switched_off_does_not_take_the_place_of_another() {
    let world = World::new();
    let entry = |more: Value| {
        let mut entry =
            json!({"hook_event_name": "PreToolUse", "matcher": "*", "command": "echo ran >> log", "dialect": "claude"});
        entry.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        entry
    };
    let hooks = json!({"hooks": [entry(json!({"matcher": "Bash", "disabled": "managed_only"})), entry(json!({}))]});
    world.fire(hooks, EventName::PreToolUse, bash("ls")).await;
    assert_eq!(world.read("log"), "ran\n");
}
