//! Which hooks a platform can run at all (DEC-007, section 5.11 b).
//!
//! Windows has no bash to rely on, and a guard that runs in another shell than its
//! author meant is none. So a start there refuses hooks of bash and sh, whatever `guards` says.
//!
//! The platform is a parameter: the refusal is the same function everywhere, and its tests run
//! where ona is built.

use crate::failure::Failure;
use ona_hookplane::{Hook, HookAction, HookShell};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Platform {
    Unix,
    Windows,
}

impl Platform {
    pub(super) const CURRENT: Platform = if cfg!(windows) { Platform::Windows } else { Platform::Unix };

    /// Why the hook cannot run here.
    pub(super) fn refusal(self, hook: &Hook) -> Option<String> {
        let shell = shell(&hook.action)?;
        match (self, shell) {
            (Platform::Unix, _) | (Platform::Windows, HookShell::PowerShell) => None,
            (Platform::Windows, HookShell::Bash | HookShell::Sh | HookShell::LoginSh) => {
                Some(format!("it runs in {}, which ona does not use on Windows; use shell: powershell", shell.as_str()))
            }
        }
    }

    /// Refuses to start if a hook that is not switched off cannot run here.
    pub(super) fn accept<'a>(self, hooks: impl IntoIterator<Item = &'a Hook>) -> Result<(), Failure> {
        let effective = hooks.into_iter().filter(|hook| hook.disabled.is_none());
        let refused = effective.filter_map(|hook| {
            let why = self.refusal(hook)?;
            Some(format!("the {} hook {} ({}): {why}", hook.event, hook.command(), hook.source))
        });
        let refused: Vec<_> = refused.collect();
        if refused.is_empty() {
            return Ok(());
        }
        Err(Failure::usage(refused.join("\n  ")).hint("write these hooks for PowerShell, or remove them"))
    }
}

fn shell(action: &HookAction) -> Option<HookShell> {
    match action {
        HookAction::Shell { shell, .. } => Some(*shell),
        // Without a shell; the program is what its author named.
        HookAction::Exec { .. } => None,
        HookAction::Handler(handler) => handler.action().and_then(shell),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::FailureKind;
    use ona_permissions::SessionDirs;
    use ona_settings::Settings;
    use serde_json::{Value, json};

    fn hooks(entries: Value) -> Vec<Hook> {
        let here = || "/nonexistent".into();
        let dirs = SessionDirs { project: here(), start: here(), home: here(), extra: Vec::new() };
        let none = |wanted: ona_dialects::HandlerSpec| Err(format!("not made here: {wanted:?}"));
        ona_dialects::load(&Settings::read(&json!({ "hooks": entries })), &dirs, &none).hooks
    }

    #[test]
    fn bash_and_sh_are_refused_on_windows_alone() {
        for (entry, runs_on_windows) in [
            (json!({"hook_event_name": "Stop", "command": "guard"}), false),
            (json!({"hook_event_name": "Stop", "command": "guard", "shell": "bash"}), false),
            (json!({"hook_event_name": "Stop", "command": "guard", "shell": "sh"}), false),
            (json!({"hook_event_name": "Stop", "command": "guard", "shell": "powershell"}), true),
            (json!({"hook_event_name": "Stop", "command": "guard.exe", "args": ["-x"]}), true),
            (json!({"hook_event_name": "Stop", "command": "guard", "disabled": "untrusted_workspace"}), true),
        ] {
            let hooks = hooks(json!([entry]));
            assert_eq!(hooks.len(), 1, "{entry}");
            assert_eq!(Platform::Windows.accept(&hooks).is_ok(), runs_on_windows, "{entry}");
            assert!(Platform::Unix.accept(&hooks).is_ok(), "{entry}");
        }
    }

    #[test]
    fn the_refusal_names_each_hook_and_what_to_write() {
        let hooks = hooks(json!([
            {"hook_event_name": "PreToolUse", "matcher": "Bash", "command": "first"},
            {"hook_event_name": "Stop", "command": "second", "shell": "sh"},
            {"hook_event_name": "Stop", "command": "third", "shell": "powershell"},
        ]));
        let refused = Platform::Windows.accept(&hooks).expect_err("two of them need another shell");
        assert_eq!(refused.kind, FailureKind::Usage);
        let lines: Vec<_> = refused.message.lines().map(str::trim).collect();
        let [first, second] = lines[..] else { panic!("{lines:?}") };
        assert!(first.starts_with("the PreToolUse hook first (") && first.contains("it runs in bash"), "{first}");
        assert!(second.starts_with("the Stop hook second (") && second.contains("it runs in sh"), "{second}");
        assert!(lines.iter().all(|line| line.ends_with("use shell: powershell")), "{lines:?}");
    }
}
