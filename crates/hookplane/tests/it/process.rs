//! Real shells: what they get, and how their end is read.

use crate::support::*;
use ona_api::{Env, EventName, Redactor};
use ona_hookplane::{
    Firing, Hook, HookAction, HookEngine, HookList, HookOutcome, HookShell, PluginDirs, ProcessRunner,
    SessionRegistration,
};
use serde_json::{Value, json};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio_util::sync::CancellationToken;

/// A folder in which real shells run, with a small host environment.
struct Room {
    dir: TempDir,
    env: Env,
    cancel: CancellationToken,
}

impl Room {
    fn new() -> Self {
        let env = Env::default().with("PATH", "/usr/local/bin:/usr/bin:/bin").with("HOME", "/nonexistent");
        Self { dir: tempfile::tempdir().unwrap(), env, cancel: CancellationToken::new() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.env.set(name, value);
        self
    }

    fn path(&self) -> PathBuf {
        self.dir.path().canonicalize().unwrap()
    }

    fn firing(&self, event: EventName) -> Firing {
        Firing::new(event, base(&self.path()), call(event, "ls").fields.into())
    }

    async fn fire(&self, hook: Hook) -> HookOutcome {
        let event = hook.event;
        self.fire_as(hook, self.firing(event)).await
    }

    async fn fire_as(&self, hook: Hook, firing: Firing) -> HookOutcome {
        let environment = environment(self.env.clone());
        let runner = Arc::new(ProcessRunner::new(environment.clone(), self.cancel.clone()));
        HookEngine::new(HookList::new([hook]), environment, runner, Redactor::default()).fire(firing).await
    }

    /// What a PreToolUse hook prints.
    async fn prints(&self, command: &str) -> String {
        let outcome = self.fire(pre(command)).await;
        assert_eq!(outcome.runs[0].exit_code, Some(0), "{:?}", outcome.runs[0]);
        outcome.runs[0].stdout.clone().unwrap()
    }
}

#[tokio::test]
async fn stdin_is_one_object_and_a_newline_in_the_sessions_directory() {
    let room = Room::new();
    let read = room.prints("cat; pwd").await;
    let (line, rest) = read.split_once('\n').unwrap();
    let object: Value = serde_json::from_str(line).unwrap();
    assert_eq!(object["hook_event_name"], "PreToolUse");
    assert_eq!(object["cwd"], json!(room.path()));
    assert_eq!(rest.trim_end(), room.path().to_str().unwrap());
}

#[tokio::test]
async fn exit_codes_and_signals_are_recorded_as_a_shell_reports_them() {
    for (command, code) in [("exit 0", 0), ("exit 2", 2), ("exit 7", 7), ("kill -9 $$", 137)] {
        let room = Room::new();
        assert_eq!(room.fire(pre(command)).await.runs[0].exit_code, Some(code), "{command}");
    }
}

#[tokio::test]
async fn both_streams_are_kept() {
    let outcome = Room::new().fire(pre("echo out; echo err >&2; exit 3")).await;
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some("out\n"));
    assert_eq!(outcome.runs[0].stderr.as_deref(), Some("err\n"));
}

#[tokio::test]
async fn a_hook_knows_database_project_session_and_how_deep_it_is() {
    let room = Room::new().with("ONA_HOOK_DEPTH", "2");
    let said = room
        .prints("echo \"$AGENT_SDLC_DB|$SDLC_HOOK|$CLAUDE_PROJECT_DIR|$CLAUDE_CODE_SESSION_ID|$ONA_SESSION_ID|$ONA_HOOK_DEPTH\"")
        .await;
    assert_eq!(said, "/db/ona.db|1|/project|s1|s1|3\n");
}

#[tokio::test]
async fn the_locale_is_set_unless_both_variables_are() {
    assert_eq!(Room::new().prints("echo $LANG").await, "C.UTF-8\n");
    assert_eq!(Room::new().with("LANG", "de_DE").prints("echo $LANG").await, "C.UTF-8\n");
    assert_eq!(Room::new().with("LANG", "de_DE").with("LC_ALL", "C").prints("echo $LANG").await, "de_DE\n");
}

#[tokio::test]
async fn relative_entries_of_the_search_path_do_not_reach_hooks() {
    let room = Room::new().with("PATH", ".:/usr/bin:bin:/bin:");
    assert_eq!(room.prints("echo $PATH").await, "/usr/bin:/bin\n");
}

#[tokio::test]
async fn hooks_of_the_projects_files_do_not_get_our_credentials() {
    for (source, key) in [("user:settings", "k3y"), ("project:.claude/settings.json", ""), ("local:x", "")] {
        let room = Room::new().with("ANTHROPIC_API_KEY", "k3y");
        let hook = Hook { source: source.into(), ..pre("echo \"$ANTHROPIC_API_KEY\"") };
        let outcome = room.fire(hook).await;
        assert_eq!(outcome.runs[0].stdout.as_deref(), Some(format!("{key}\n").as_str()), "{source}");
    }
}

#[tokio::test]
async fn folders_of_plugins_and_skills_and_the_file_for_variables_are_told() {
    let plugin = PluginDirs { root: "/p/root".into(), data: "/p/data".into() };
    let registered =
        SessionRegistration { by: "skill:s".into(), session: "s1".into(), dir: "/skill".into(), once: None };
    let command = "echo \"$CLAUDE_PLUGIN_ROOT $CLAUDE_PLUGIN_DATA $CLAUDE_SKILL_DIR $CLAUDE_ENV_FILE\"";
    let hook = Hook { plugin: Some(plugin), registered: Some(registered), ..pre(command) };
    let room = Room::new();
    let firing = Firing { env_file: Some("/env.sh".into()), ..room.firing(EventName::PreToolUse) };
    let outcome = room.fire_as(hook, firing).await;
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some("/p/root /p/data /skill /env.sh\n"));
}

#[tokio::test]
async fn gastown_hears_of_the_session_under_the_name_it_reads() {
    let room = Room::new()
        .with("GT_ROLE", "crew")
        .with("GT_SESSION_ID_ENV", "MY_SESSION")
        .with("CLAUDE_SESSION_ID", "of-the-parent")
        .with("GT_HOOK_SOURCE", "old");
    let command = "echo \"$MY_SESSION|$CLAUDE_SESSION_ID|$GT_HOOK_SOURCE\"";
    assert_eq!(room.prints(command).await, "s1||\n");
    for (event, fields, source) in [
        (EventName::SessionStart, json!({"source": "resume"}), "resume"),
        (EventName::SessionStart, json!({}), "startup"),
        (EventName::PreCompact, json!({"trigger": "auto"}), "compact"),
    ] {
        let firing = Firing::new(event, base(&room.path()), fields);
        let outcome = room.fire_as(hook(event, command), firing).await;
        assert_eq!(outcome.runs[0].stdout.as_deref(), Some(format!("s1||{source}\n").as_str()));
    }
}

#[tokio::test]
async fn the_exec_form_fills_in_folders_and_splits_nothing() {
    let args = vec!["%s|".to_owned(), "${CLAUDE_PROJECT_DIR}/a b".to_owned(), "$HOME".to_owned()];
    let action = HookAction::Exec { program: "/usr/bin/printf".into(), args };
    let outcome = Room::new().fire(Hook { action, ..pre("") }).await;
    assert_eq!(outcome.runs[0].stdout.as_deref(), Some("/project/a b|$HOME|"));
    assert_eq!(outcome.runs[0].command, "/usr/bin/printf");
}

#[tokio::test]
async fn each_shell_is_the_one_that_was_asked_for() {
    for (shell, bash) in [(HookShell::Sh, false), (HookShell::Bash, true)] {
        let command = "case $BASH_VERSION in '') echo no;; *) shopt -qo posix && echo no || echo yes;; esac".into();
        let outcome = Room::new().fire(Hook { action: HookAction::Shell { shell, command }, ..pre("") }).await;
        let said = outcome.runs[0].stdout.clone().unwrap();
        assert_eq!(said.trim_end(), if bash { "yes" } else { "no" });
    }
}

#[tokio::test]
async fn a_program_or_directory_that_does_not_exist_is_named() {
    let action = HookAction::Exec { program: "/nonexistent/guard".into(), args: Vec::new() };
    let outcome = Room::new().fire(Hook { action, ..pre("") }).await;
    let stderr = outcome.runs[0].stderr.clone().unwrap();
    assert!(stderr.starts_with("[SDLC] hook not started: ") && stderr.contains("/nonexistent/guard"), "{stderr}");
    let room = Room::new();
    let firing = Firing::new(EventName::PreToolUse, base(&room.path().join("gone")), json!({}));
    let outcome = room.fire_as(pre("true"), firing).await;
    assert!(outcome.runs[0].stderr.as_ref().unwrap().starts_with("[SDLC] hook not started: "));
    let powershell = HookAction::Shell { shell: HookShell::PowerShell, command: "exit 0".into() };
    let outcome = Room::new().with("PATH", "/nonexistent").fire(Hook { action: powershell, ..pre("") }).await;
    assert!(outcome.runs[0].stderr.as_ref().unwrap().contains("pwsh or powershell"));
}

#[tokio::test]
async fn a_hook_that_takes_too_long_is_ended_and_blocks() {
    let room = Room::new();
    let slow = Hook { timeout: Some(Duration::from_millis(50)), ..pre("echo begun; sleep 60") };
    let outcome = room.fire(slow).await;
    assert_eq!(outcome.runs[0].exit_code, Some(2));
    assert_eq!(outcome.message(), "[0] [SDLC] hook timed out after 50 ms");
}

#[tokio::test]
async fn an_interrupt_ends_a_hook_that_runs() {
    let room = Room::new();
    let started = room.path().join("started");
    let watching = {
        let (cancel, started) = (room.cancel.clone(), started.clone());
        async move {
            while !started.exists() {
                tokio::task::yield_now().await;
            }
            cancel.cancel();
        }
    };
    let (outcome, ()) = tokio::join!(room.fire(pre("touch started; sleep 60")), watching);
    assert_eq!(outcome.message(), "[0] [SDLC] hook interrupted");
}

#[tokio::test]
async fn output_beyond_the_limit_is_cut_and_marked() {
    let outcome = Room::new().fire(pre("head -c 4200000 /dev/zero | tr '\\0' x")).await;
    let stdout = outcome.runs[0].stdout.clone().unwrap();
    assert_eq!(stdout.len(), ona_hookplane::CAPTURE + "\n[SDLC_OUTPUT_TRUNCATED]\n".len());
    assert!(stdout.ends_with("x\n[SDLC_OUTPUT_TRUNCATED]\n"));
}

#[tokio::test]
async fn hooks_of_firings_at_the_same_time_run_one_at_a_time() {
    let room = Room::new();
    let environment = environment(room.env.clone());
    let runner = Arc::new(ProcessRunner::new(environment.clone(), room.cancel.clone()));
    let alone = pre("mkdir busy || exit 9; cat > /dev/null; rmdir busy");
    let engine = HookEngine::new(HookList::new([alone]), environment, runner, Redactor::default());
    let fire = || engine.fire(room.firing(EventName::PreToolUse));
    let (a, b, c) = tokio::join!(fire(), fire(), fire());
    for outcome in [a, b, c] {
        assert_eq!(outcome.runs[0].exit_code, Some(0));
    }
}

#[test]
fn argv_of_a_login_shell_keeps_the_callers_search_path() {
    let env = Env::default().with("PATH", "/opt/it's/bin");
    let action = HookAction::Shell { shell: HookShell::LoginSh, command: "guard".into() };
    let (_, args) = ona_hookplane::argv(&action, &env).unwrap();
    assert_eq!(args[0], "-lc");
    assert_eq!(
        args[1],
        r#"[ "$PATH" = '/opt/it'\''s/bin' ] || { PATH=$PATH:'/opt/it'\''s/bin'; export PATH; }; guard"#
    );
}
