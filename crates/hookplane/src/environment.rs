//! The environment a hook process gets (section 5.11, DEC-061).

use crate::firing::Firing;
use crate::hook::Hook;
use ona_api::{Env, EventName, SessionId, Variable, environment};
use serde_json::Value;
use std::path::PathBuf;
use std::time::Duration;

/// Defaults of the sdlc dialect, as the environment overrides them (section 5.9).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timeouts {
    pub general: Option<Duration>,
    pub session_end: Option<Duration>,
}

impl Timeouts {
    /// Values that are not positive whole numbers are ignored; the second part names them.
    pub fn from_env(env: &Env) -> (Self, Vec<String>) {
        let mut warnings = Vec::new();
        let mut read = |variable: Variable| {
            let text = env.get(variable)?;
            match text.trim().parse::<u64>() {
                Ok(ms) if ms > 0 => Some(Duration::from_millis(ms)),
                _ => {
                    warnings
                        .push(format!("{variable}={text:?} is ignored: it must be a positive number of milliseconds"));
                    None
                }
            }
        };
        let general = read(environment::SDLC_HOOK_TIMEOUT_MS);
        let session_end = read(environment::SDLC_SESSIONEND_HOOK_TIMEOUT_MS);
        (Self { general, session_end }, warnings)
    }

    pub fn of(&self, event: EventName, default: Duration) -> Duration {
        let overridden = if event == EventName::SessionEnd { self.session_end } else { self.general };
        overridden.unwrap_or(default)
    }
}

#[derive(Clone, Debug)]
pub struct HookEnvironment {
    /// Everything the host process has, with what the operator's settings add.
    pub host: Env,
    /// What hooks of a project's own files have instead: its `env` as well, and none of our credentials.
    pub of_project: Env,
    pub project: PathBuf,
    pub timeouts: Timeouts,
    /// `SDLC_DISABLE_ALL_HOOKS=1`.
    pub all_disabled: bool,
}

impl HookEnvironment {
    pub fn new(host: Env, project: PathBuf, timeouts: Timeouts) -> Self {
        let all_disabled = host.get(environment::SDLC_DISABLE_ALL_HOOKS) == Some("1");
        let of_project = host.clone().without_own_credentials();
        Self { host, of_project, project, timeouts, all_disabled }
    }

    /// With the environment of the project's own hooks.
    pub fn with_project(mut self, env: Env) -> Self {
        self.of_project = env.without_own_credentials();
        self
    }

    pub(crate) fn of(&self, hook: &Hook, firing: &Firing) -> Env {
        let of_project = hook.source.starts_with("project:") || hook.source.starts_with("local:");
        let mut env = self.over(if of_project { &self.of_project } else { &self.host }, &firing.base.database);
        env.set(environment::CLAUDE_CODE_SESSION_ID, firing.base.session.as_str());
        gastown(&mut env, firing);
        name_session(&mut env, &firing.base.session);
        if let Some(plugin) = &hook.plugin {
            env.set(environment::CLAUDE_PLUGIN_ROOT, &plugin.root);
            env.set(environment::CLAUDE_PLUGIN_DATA, &plugin.data);
        }
        if let Some(registered) = &hook.registered {
            env.set(environment::CLAUDE_SKILL_DIR, &registered.dir);
        }
        if let Some(file) = &firing.env_file {
            env.set(environment::CLAUDE_ENV_FILE, file.as_os_str());
        }
        env
    }

    /// The part that is the same for every hook and firing: what a process gets that
    /// serves many of them.
    pub fn lasting(&self, database: &str) -> Env {
        self.over(&self.host, database)
    }

    fn over(&self, host: &Env, database: &str) -> Env {
        let mut env = host.clone();
        env.set(environment::AGENT_SDLC_DB, database);
        env.set(environment::SDLC_HOOK, "1");
        env.set(environment::CLAUDE_PROJECT_DIR, self.project.as_os_str());
        let depth: u32 = self.host.get(environment::ONA_HOOK_DEPTH).and_then(|text| text.parse().ok()).unwrap_or(0);
        env.set(environment::ONA_HOOK_DEPTH, (depth + 1).to_string());
        // "LANG or LC_ALL unset" is read literally (DEC-061).
        if env.non_empty(environment::LANG).is_none() || env.non_empty(environment::LC_ALL).is_none() {
            env.set(environment::LANG, "C.UTF-8");
        }
        if let Some(path) = env.get(environment::PATH) {
            let fixed = absolute_entries(path);
            env.set(environment::PATH, fixed);
        }
        env
    }
}

/// Tells a child whose session it belongs to, also under the name that Gastown reads.
pub fn name_session(env: &mut Env, session: &SessionId) {
    env.set(environment::ONA_SESSION_ID, session.as_str());
    let is_name = |name: &&str| name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    // GT_SESSION_ID is Gastown's own to set.
    let named = env.non_empty(environment::GT_SESSION_ID_ENV).filter(is_name).filter(|name| *name != "GT_SESSION_ID");
    if let Some(name) = named.map(str::to_owned) {
        env.set(&name, session.as_str());
    }
}

/// `gt prime --hook` looks at the environment first, and if it finds a session there it
/// reads no stdin: so it gets what it would lose, and no session of an agent further up.
fn gastown(env: &mut Env, firing: &Firing) {
    env.remove(environment::GT_HOOK_SOURCE);
    if env.non_empty(environment::GT_ROLE).or(env.non_empty(environment::GT_ROOT)).is_none() {
        return;
    }
    env.remove(environment::CLAUDE_SESSION_ID);
    match firing.event {
        EventName::SessionStart => {
            let source = firing.fields.get("source").and_then(Value::as_str);
            env.set(environment::GT_HOOK_SOURCE, source.unwrap_or("startup"));
        }
        EventName::PreCompact => env.set(environment::GT_HOOK_SOURCE, "compact"),
        _ => {}
    }
}

/// A relative entry would let a repository bring its own `jq` to a guard that calls it.
fn absolute_entries(path: &str) -> String {
    path.split(':').filter(|entry| entry.starts_with('/')).collect::<Vec<_>>().join(":")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timeouts_that_are_not_positive_numbers_are_ignored_aloud() {
        let env = Env::default().with("SDLC_HOOK_TIMEOUT_MS", "0").with("SDLC_SESSIONEND_HOOK_TIMEOUT_MS", "5000");
        let (timeouts, warnings) = Timeouts::from_env(&env);
        assert_eq!(timeouts, Timeouts { general: None, session_end: Some(Duration::from_secs(5)) });
        assert_eq!(warnings, ["SDLC_HOOK_TIMEOUT_MS=\"0\" is ignored: it must be a positive number of milliseconds"]);
    }

    #[test]
    fn relative_search_path_entries_are_dropped() {
        assert_eq!(absolute_entries(".:/usr/bin::bin:/bin"), "/usr/bin:/bin");
    }
}
