//! What a start says about hooks: `--hooks-config`, `PI_HOOKS_JSON`, gastown mode (000,
//! DEC-014, DEC-140 to DEC-143).
//!
//! Read before the hooks of the settings are, because it decides which of those count.
//! It prints nothing: `pi` does.

use crate::launch::{Launch, OpenProject};
use ona_api::{Env, environment};
use ona_dialects::pi::{ClaudeFiles, Installed, InvalidDefinition, PROBES, PiLayer, PiOffer, choose};
use ona_files::ReadError;
use ona_process::{ChildCommand, OnDeath, find_in_path};
use ona_settings::Settings;
use ona_trust::{
    ClaudeHooks, NoticeKind, SessionHookFilter, SettingsScope, has_hooks_of_an_orchestrator, keep_for_session,
};
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio_util::sync::CancellationToken;

pub(crate) struct PiSession {
    pub layer: PiLayer,
    /// The file of `--hooks-config`.
    pub file: Option<PathBuf>,
    /// Hooks of `.claude` files that do not count in this session.
    pub claude_off: usize,
}

impl PiSession {
    /// Returns the settings of this session as well: without hooks that do not count, and with its mode.
    pub(crate) fn read(launch: &Launch, open: &OpenProject, settings: Settings) -> (Self, Settings) {
        let (options, env) = (&launch.options, &launch.env);
        let asked_for_claude =
            options.claude_settings_hooks || env.get(environment::PI_ENABLE_CLAUDE_SETTINGS_HOOKS) == Some("1");
        let file = options.hooks_config.as_ref().map(|path| launch.cwd.join(path));
        // Bytes that are not text are not JSON either, and they were handed over on purpose.
        let unreadable = env.is_set(environment::PI_HOOKS_JSON).then_some("\u{fffd}");
        let handed_over = env.get(environment::PI_HOOKS_JSON).or(unreadable).filter(|text| !text.is_empty());
        let mode = Gastown::of(launch, open, &settings);
        let settings = if mode == Gastown::Off { settings } else { settings.in_gastown_mode() };
        let claude_hooks = match mode {
            _ if asked_for_claude => ClaudeHooks::On,
            // What the agent starts itself never gets rid of a guard by saying so.
            _ if launch.agent_shell => ClaudeHooks::On,
            _ if file.is_some() || handed_over.is_some() => ClaudeHooks::Off,
            Gastown::Operators => ClaudeHooks::Off,
            Gastown::Folders => ClaudeHooks::WithoutTheFolders,
            Gastown::Off => ClaudeHooks::On,
        };
        let in_town = env.non_empty(environment::GT_ROLE).and(env.non_empty(environment::GT_ROOT)).is_some();
        let (hooks, claude_off) = keep_for_session(&settings.hooks, SessionHookFilter { claude_hooks, in_town });
        let settings = settings.with_hooks(hooks);
        let installed = || installed(env, &launch.cwd);
        let layer = choose(PiOffer {
            cli: file.as_deref().map(config_text),
            env: handed_over,
            claude: if asked_for_claude { claude_files(open) } else { ClaudeFiles::Silent },
            builtin: (mode != Gastown::Off && !has_hooks_of_an_orchestrator(&settings.hooks)).then_some(&installed),
        });
        (Self { layer, file, claude_off }, settings)
    }

    /// For hooks of a file, which come from no source of a start.
    pub(crate) fn none() -> Self {
        Self { layer: PiLayer::Nobody, file: None, claude_off: 0 }
    }

    pub(super) fn invalid(&self) -> Option<&InvalidDefinition> {
        match &self.layer {
            PiLayer::Invalid(invalid) => Some(invalid),
            PiLayer::Nobody | PiLayer::Hooks { .. } => None,
        }
    }
}

/// Whether gastown mode is on, and by whose word.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gastown {
    Off,
    /// Only a file that came with the folder says so.
    Folders,
    Operators,
}

impl Gastown {
    fn of(launch: &Launch, open: &OpenProject, settings: &Settings) -> Self {
        if launch.options.gastown || launch.env.get(environment::PI_GASTOWN_MODE) == Some("1") {
            return Gastown::Operators;
        }
        if !settings.gastown_mode {
            return Gastown::Off;
        }
        let mut saying = open.found.layers.iter().filter(|layer| layer.settings().gastown_mode).peekable();
        let folders = saying.peek().is_some() && saying.all(|layer| layer.scope.is_confined());
        if folders { Gastown::Folders } else { Gastown::Operators }
    }
}

fn config_text(file: &Path) -> Result<String, String> {
    ona_files::read_named(file).map_err(|why| match why {
        ReadError::Absent => "hooks config file not found".to_owned(),
        why => format!("hooks config file {why}"),
    })
}

/// What the project's own `.claude` files say; their hooks are in the settings already.
fn claude_files(open: &OpenProject) -> ClaudeFiles {
    let in_project = open.found.project_root.join(".claude");
    let unreadable = open.merged.notices.iter().find(|notice| {
        matches!(notice.about, NoticeKind::Unreadable | NoticeKind::NotSettings)
            && notice.file.as_ref().is_some_and(|file| file.starts_with(&in_project))
    });
    if let Some(notice) = unreadable {
        // A place in the text means that the text is what is wrong.
        let why = if notice.line.is_some() { "invalid JSON" } else { &notice.message };
        return ClaudeFiles::Unusable(why.to_owned());
    }
    let speaks = open.found.layers.iter().any(|layer| {
        !layer.own
            && matches!(layer.scope, SettingsScope::Project | SettingsScope::Local)
            && layer.settings().hooks.entries.as_array().is_some_and(|hooks| !hooks.is_empty())
    });
    if speaks { ClaudeFiles::Speaks } else { ClaudeFiles::Silent }
}

/// What is not found by name may still be known to the login shell, which is what the
/// hooks run in.
fn installed(env: &Env, cwd: &Path) -> Installed {
    let path = env.get(environment::PATH).unwrap_or_default();
    let mut found = PROBES.map(|name| find_in_path(path, name).is_some());
    if found.contains(&false) {
        let said = ask_login_shell(env.clone(), cwd.to_owned());
        for (found, name) in found.iter_mut().zip(PROBES) {
            *found |= said.lines().any(|line| line == name);
        }
    }
    let [gt, bd] = found;
    Installed { gt, bd }
}

/// The names of the programs it can start, a line each.
///
/// On a thread of its own, because a start may or may not happen inside a runtime.
fn ask_login_shell(env: Env, cwd: PathBuf) -> String {
    let script: String =
        PROBES.iter().map(|name| format!("command -v {name} >/dev/null 2>&1 && echo {name}; ")).collect();
    let command = ChildCommand {
        program: "/bin/sh".into(),
        args: vec!["-lc".into(), script.into()],
        cwd,
        env,
        stdin: Vec::new(),
        cap: 64 * 1024,
        deadline: Some(Duration::from_secs(5)),
        grace: Duration::ZERO,
        on_death: OnDeath::Leave,
        wall: None,
    };
    let ask = || {
        let ran = crate::block_on(ona_process::run(command, &CancellationToken::new()));
        ran.inspect_err(|error| tracing::debug!(%error, "the login shell cannot be asked"))
            .map(|ran| String::from_utf8_lossy(&ran.stdout.bytes).into_owned())
            .unwrap_or_default()
    };
    // Without an answer the shell has none of the programs.
    std::thread::spawn(ask).join().unwrap_or_default()
}
