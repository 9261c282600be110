//! Section 5.11 to the byte.

use crate::{World, pre, rows};
use ona_api::{EventName, Redactor};
use serde_json::json;
use std::os::unix::fs::PermissionsExt;

#[tokio::test]
async fn stdin_is_one_compact_object_and_exactly_one_newline() {
    let world = World::new();
    let outcome = world.pre(json!([pre("cat > stdin")])).await;
    let expected = format!(
        r#"{{"hook_event_name":"PreToolUse","session_id":"s1","conversation_id":"c1","runtime_db_path":"/db/ona.db","cwd":"{}","permission_mode":"default","tool_name":"Bash","tool_input":{{"command":"ls"}},"tool_use_id":"t1"}}"#,
        world.path().display()
    );
    assert_eq!(world.read("stdin"), format!("{expected}\n"));
    assert_eq!(outcome.runs[0].input_json, expected);
}

#[tokio::test]
async fn bash_is_a_login_shell_and_sh_is_not() {
    let world = World::new();
    let mut bash = pre("shopt -q login_shell && echo login > kind; tr '\\0' ' ' < /proc/$$/cmdline > argv");
    bash["shell"] = "bash".into();
    world.pre(json!([bash])).await;
    assert_eq!(world.read("kind"), "login\n");
    assert!(world.read("argv").starts_with("/bin/bash -lc "), "{}", world.read("argv"));
    world.pre(json!([pre("tr '\\0' ' ' < /proc/$$/cmdline > argv; :")])).await;
    assert!(world.read("argv").starts_with("/bin/sh -c "), "{}", world.read("argv"));
}

#[tokio::test]
async fn the_environment_is_the_hosts_with_ours_over_it() {
    let mut world = World::new();
    world.env.set("FOO", "1");
    world.env.set("SDLC_HOOK", "host");
    world.pre(json!([pre("env > env")])).await;
    let env = world.read("env");
    for line in [
        "FOO=1",
        "AGENT_SDLC_DB=/db/ona.db",
        "SDLC_HOOK=1",
        "LANG=C.UTF-8",
        "CLAUDE_CODE_SESSION_ID=s1",
        "ONA_HOOK_DEPTH=1",
    ] {
        assert!(env.lines().any(|found| found == line), "{line} in {env}");
    }
    assert!(env.contains(&format!("CLAUDE_PROJECT_DIR={}", world.path().display())));
}

#[tokio::test]
async fn a_locale_that_is_complete_stays() {
    let mut world = World::new();
    world.env.set("LANG", "de_DE.UTF-8");
    world.pre(json!([pre("echo $LANG > lang")])).await;
    assert_eq!(world.read("lang"), "C.UTF-8\n", "LC_ALL is unset, so LANG is set");
    world.env.set("LC_ALL", "C");
    world.pre(json!([pre("echo $LANG > lang")])).await;
    assert_eq!(world.read("lang"), "de_DE.UTF-8\n");
}

#[tokio::test]
async fn a_missing_directory_is_a_failure_that_blocks_nothing() {
    let world = World::new();
    let hooks = json!({"hooks": [pre("touch x")]});
    let gone = world.path().join("gone");
    let outcome = world.fire_in(&gone, hooks, EventName::PreToolUse, crate::bash("ls")).await;
    assert_eq!(rows(&outcome), [(0, None, None)]);
    let stderr = outcome.runs[0].stderr.as_deref().unwrap();
    assert!(stderr.contains("working directory") && stderr.contains("does not exist"), "{stderr}");
}

#[tokio::test]
async fn powershell_is_looked_for_on_the_search_path() {
    let mut world = World::new();
    let mut hook = pre("Get-Item");
    hook["shell"] = "powershell".into();
    let outcome = world.pre(json!([hook])).await;
    assert_eq!(rows(&outcome), [(0, None, None)]);
    let fake = world.path().join("pwsh");
    std::fs::write(&fake, "#!/bin/sh\nprintf '%s\\n' \"$@\" > argv\n").unwrap();
    std::fs::set_permissions(&fake, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path = format!("{}:/usr/bin:/bin", world.path().display());
    world.env.set("PATH", path);
    let outcome = world.pre(json!([hook])).await;
    assert_eq!(rows(&outcome), [(0, Some(0), None)]);
    assert_eq!(world.read("argv"), "-NoProfile\n-NonInteractive\n-Command\nGet-Item\n");
}

#[tokio::test]
async fn the_exec_form_has_no_shell() {
    let world = World::new();
    let hook = json!({"hook_event_name": "PreToolUse", "command": "/usr/bin/printf", "args": ["%s|", "a b", "$HOME", "${CLAUDE_PROJECT_DIR}"]});
    let outcome = world.pre(json!([hook])).await;
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some(&*format!("a b|$HOME|{}|", world.path().display())));
}

#[tokio::test]
async fn output_is_decoded_and_capped() {
    let world = World::new();
    let outcome = world.pre(json!([pre("printf '\\377\\376A'"), pre("head -c 5000000 /dev/zero | tr '\\0' x")])).await;
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some("\u{fffd}\u{fffd}A"));
    let flood = outcome.runs[1].stdout.as_deref().unwrap();
    assert_eq!(flood.len(), 4_194_304 + "\n[SDLC_OUTPUT_TRUNCATED]\n".len());
    assert!(flood.ends_with("x\n[SDLC_OUTPUT_TRUNCATED]\n"));
    assert_eq!(outcome.runs[1].exit_code, Some(0));
}

#[tokio::test]
async fn a_timeout_of_an_sdlc_hook_counts_as_exit_2_before_a_tool() {
    let mut world = World::new();
    world.env.set("SDLC_HOOK_TIMEOUT_MS", "150");
    let outcome = world.pre(json!([pre("echo part; sleep 20"), pre("touch late")])).await;
    assert_eq!(rows(&outcome), [(0, Some(2), None), (1, None, Some("prior_block_or_deny"))]);
    assert_eq!(outcome.runs[0].stderr.as_deref(), Some("[SDLC] hook timed out after 150 ms"));
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some("part\n"));
    assert!(outcome.is_denied() && outcome.message().contains("timed out"));
}

#[tokio::test]
async fn a_timeout_after_a_tool_is_only_logged() {
    let world = World::new();
    let hooks = json!({"hooks": [{"hook_event_name": "PostToolUse", "command": "sleep 20", "timeout": 0.15}]});
    let fields = json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {}, "tool_use_id": "t1"});
    let outcome = world.fire(hooks, EventName::PostToolUse, fields).await;
    assert_eq!(rows(&outcome), [(0, None, None)]);
    assert!(outcome.blocks.is_empty());
}

#[tokio::test]
async fn session_end_has_its_own_short_default() {
    let world = World::new();
    let hooks = json!({"hooks": [{"hook_event_name": "SessionEnd", "command": "sleep 20"}]});
    let outcome = world.fire(hooks, EventName::SessionEnd, json!({"reason": "other"})).await;
    assert_eq!(outcome.runs[0].stderr.as_deref(), Some("[SDLC] hook timed out after 1500 ms"));
}

#[tokio::test]
async fn secrets_are_kept_out_of_stdin() {
    let mut world = World::new();
    world.redactor = Redactor::new([("OPENAI_API_KEY", "canary-canary")]);
    let hooks = json!({"hooks": [pre("cat > stdin")]});
    let outcome = world.fire(hooks, EventName::PreToolUse, crate::bash("echo canary-canary")).await;
    assert!(!world.read("stdin").contains("canary-canary"));
    assert!(outcome.runs[0].input_json.contains("[REDACTED:OPENAI_API_KEY]"));
}

#[tokio::test]
async fn a_repository_cannot_replace_the_helper_of_a_guard() {
    let mut world = World::new();
    let own = world.path().join("jq");
    std::fs::write(&own, "#!/bin/sh\ntouch canary\n").unwrap();
    std::fs::set_permissions(&own, std::fs::Permissions::from_mode(0o755)).unwrap();
    world.env.set("PATH", ".:/usr/bin:/bin");
    world.pre(json!([pre("jq --version")])).await;
    assert!(!world.exists("canary"), "I-16");
}

#[tokio::test]
async fn disabled_hooks_leave_rows_and_start_nothing() {
    let mut world = World::new();
    let mut untrusted = pre("touch a");
    untrusted["disabled"] = "untrusted_workspace".into();
    let mut managed = pre("touch b");
    managed["disabled"] = "managed_only".into();
    let outcome = world.pre(json!([untrusted, managed])).await;
    assert_eq!(rows(&outcome), [(0, None, Some("untrusted_workspace")), (1, None, Some("managed_only"))]);
    world.env.set("SDLC_DISABLE_ALL_HOOKS", "1");
    let outcome = world.pre(json!([pre("touch c"), pre("exit 2")])).await;
    assert_eq!(rows(&outcome), [(0, None, Some("all_hooks_disabled")), (1, None, Some("all_hooks_disabled"))]);
    assert!(!outcome.is_denied() && !world.exists("a") && !world.exists("b") && !world.exists("c"));
    world.env.set("SDLC_DISABLE_ALL_HOOKS", "true");
    assert!(world.pre(json!([pre("exit 2")])).await.is_denied(), "only the exact value 1 counts");
}
