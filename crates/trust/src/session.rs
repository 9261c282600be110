//! Determines which hooks of the effective row count in one session (DEC-014).
//!
//! The row is the same for all sessions of a database: a session with hooks of its own
//! leaves out those of `.claude` files, and the session beside it does not. So they are
//! taken out when the row is read, not when it is written.

use ona_settings::HookSettings;
use serde_json::Value;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaudeHooks {
    On,
    /// A folder asked for a mode that goes without them: it can leave out its own, not
    /// the guards of the operator.
    WithoutTheFolders,
    Off,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SessionHookFilter {
    pub claude_hooks: ClaudeHooks,
    /// Inside a Gastown town, whose settings are read like a `--settings` file.
    pub in_town: bool,
}

/// Returns the hooks that count, and how many of `.claude` files do not.
pub fn keep_for_session(settings: &HookSettings, context: SessionHookFilter) -> (HookSettings, usize) {
    let mut kept = settings.clone();
    let mut off = 0;
    let Some(hooks) = kept.entries.as_array_mut() else { return (kept, off) };
    hooks.retain(|hook| {
        let counts = match Origin::of(hook) {
            Origin::Town => return context.in_town,
            Origin::ClaudeOfUser => context.claude_hooks != ClaudeHooks::Off,
            Origin::ClaudeOfFolder => context.claude_hooks == ClaudeHooks::On,
            Origin::Flag | Origin::Other => true,
        };
        off += usize::from(!counts);
        counts
    });
    (kept, off)
}

/// Returns whether an orchestrator supplied hooks through settings: those of its town, or a file
/// in the `.claude` shape that it named with `--settings`. Defaults would repeat them.
pub fn has_hooks_of_an_orchestrator(settings: &HookSettings) -> bool {
    let mut hooks = settings.entries.as_array().into_iter().flatten();
    hooks.any(|hook| match Origin::of(hook) {
        Origin::Town => true,
        Origin::Flag => hook["dialect"] == "claude",
        Origin::ClaudeOfUser | Origin::ClaudeOfFolder | Origin::Other => false,
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Town,
    ClaudeOfUser,
    ClaudeOfFolder,
    /// `--settings`
    Flag,
    /// Own files, managed settings, entries written by SQL.
    Other,
}

impl Origin {
    /// Reads the label that `clean` put on the entry.
    fn of(hook: &Value) -> Self {
        let Some((scope, file)) = hook["source"].as_str().and_then(|source| source.split_once(':')) else {
            return Origin::Other;
        };
        let own = file.ends_with(".ona/settings.json") || file.ends_with(".ona/settings.local.json");
        match scope {
            "town" => Origin::Town,
            "flag" => Origin::Flag,
            "user" if !own => Origin::ClaudeOfUser,
            "project" | "local" if !own => Origin::ClaudeOfFolder,
            _ => Origin::Other,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_session_keeps_what_its_own_hooks_do_not_replace() {
        let sources = [
            "user:~/.claude/settings.json",
            "user:/elsewhere/settings.json",
            "project:.claude/settings.json",
            "local:.claude/settings.local.json",
            "town:/town/rig/.claude/settings.json",
            "user:~/.ona/settings.json",
            "local:.ona/settings.local.json",
            "flag:/x/.claude/settings.json",
            "managed:/etc/ona/managed-settings.json",
        ];
        let mut hooks: Vec<_> = sources.iter().map(|source| json!({ "source": source })).collect();
        hooks.push(json!({"command": "by hand"}));
        let kept = |claude_hooks, in_town| {
            let settings = HookSettings { entries: hooks.clone().into(), ..HookSettings::default() };
            let (kept, off) = keep_for_session(&settings, SessionHookFilter { claude_hooks, in_town });
            (kept.entries.as_array().unwrap().len(), off)
        };
        assert_eq!(kept(ClaudeHooks::On, true), (10, 0));
        assert_eq!(kept(ClaudeHooks::On, false), (9, 0));
        assert_eq!(kept(ClaudeHooks::WithoutTheFolders, true), (8, 2));
        assert_eq!(kept(ClaudeHooks::Off, true), (6, 4));
    }
}
