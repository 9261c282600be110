//! One hook of the effective list, ready to run.

use crate::dialect::Dialect;
use crate::environment::Timeouts;
use crate::firing::Firing;
use crate::handler::HookHandler;
use ona_api::{EventName, Ordinal, SessionId, SkipReason};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// Whether a hook applies to a firing whose tool input now is the given value.
/// Matcher and condition are compiled into it once, when the list is read.
pub type Applies = Arc<dyn Fn(&Firing, &Value) -> bool + Send + Sync>;

#[derive(Clone)]
pub struct Hook {
    /// Assigned by the list, after deduplication.
    pub ordinal: Ordinal,
    pub event: EventName,
    /// The configured text, "" when absent.
    pub matcher: String,
    /// What limits it besides the matcher: a permission rule, an agent; "" when nothing does.
    pub condition: String,
    pub action: HookAction,
    pub timeout: Option<Duration>,
    pub dialect: Arc<dyn Dialect>,
    /// Where it was configured, for people.
    pub source: String,
    pub disabled: Option<SkipReason>,
    /// Any failure of this hook blocks, where the event can block.
    pub fail_closed: bool,
    /// Configured as asynchronous: it runs in its place, but decides nothing (DEC-047).
    pub detached: bool,
    /// Folders of the plugin it came from.
    pub plugin: Option<PluginDirs>,
    /// Runs a single time in each session: a short name that is the same in every process.
    pub once: Option<String>,
    /// It came into a session that was running already.
    pub registered: Option<SessionRegistration>,
    pub applies: Applies,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PluginDirs {
    pub root: String,
    pub data: String,
}

/// How a hook came into a running session: with a skill that was loaded or an agent that was
/// started (section 5.2).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionRegistration {
    /// `skill:careful`, `agent:reviewer`
    pub by: String,
    /// The session it belongs to and goes with.
    pub session: SessionId,
    /// The folder of the file it was written in.
    pub dir: String,
    /// Runs a single time; the `state` key that says it has.
    pub once: Option<String>,
}

#[derive(Clone)]
pub enum HookAction {
    Shell {
        shell: HookShell,
        command: String,
    },
    /// Started directly, no shell and no splitting.
    Exec {
        program: String,
        args: Vec<String>,
    },
    /// No process of its own for each firing.
    Handler(Arc<dyn HookHandler>),
}

impl PartialEq for HookAction {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (
                HookAction::Shell { shell, command },
                HookAction::Shell { shell: other_shell, command: other_command },
            ) => shell == other_shell && command == other_command,
            (HookAction::Exec { program, args }, HookAction::Exec { program: other_program, args: other_args }) => {
                program == other_program && args == other_args
            }
            (HookAction::Handler(one), HookAction::Handler(other)) => {
                one.label() == other.label() && one.identity() == other.identity()
            }
            (HookAction::Shell { .. } | HookAction::Exec { .. } | HookAction::Handler(_), _) => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookShell {
    Bash,
    Sh,
    /// `/bin/sh` with the person's profile; a dialect's own choice, no setting names it.
    LoginSh,
    PowerShell,
}

impl HookShell {
    pub fn from_text(text: &str) -> Option<Self> {
        match text {
            "bash" => Some(HookShell::Bash),
            "sh" => Some(HookShell::Sh),
            "powershell" => Some(HookShell::PowerShell),
            _ => None,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            HookShell::Bash => "bash",
            HookShell::Sh => "sh",
            HookShell::LoginSh => "sh -l",
            HookShell::PowerShell => "powershell",
        }
    }
}

/// Default timeout of a detached hook: its answer is ignored, but the session waits for its end.
const DETACHED: Duration = Duration::from_secs(10);

impl Hook {
    /// How long it may take.
    pub fn effective_timeout(&self, timeouts: &Timeouts) -> Duration {
        self.timeout.unwrap_or_else(|| {
            let usual = self.dialect.timeout(self.event, timeouts);
            if self.detached { usual.min(DETACHED) } else { usual }
        })
    }

    /// The `state` key that says it has had its only run in this session.
    pub fn once_key(&self, session: &SessionId) -> Option<String> {
        let registered = self.registered.as_ref().and_then(|registered| registered.once.clone());
        registered.or_else(|| Some(format!("hook_spent:{session}:{}", self.once.as_ref()?)))
    }

    /// The `command` column.
    pub fn command(&self) -> &str {
        match &self.action {
            HookAction::Shell { command, .. } => command,
            HookAction::Exec { program, .. } => program,
            HookAction::Handler(handler) => handler.label(),
        }
    }

    /// Whether the two are one entry written twice (section 5.2).
    pub(crate) fn repeats(&self, other: &Hook) -> bool {
        self.event == other.event
            && self.matcher == other.matcher
            && self.action == other.action
            && self.condition == other.condition
            && self.dialect.name() == other.dialect.name()
            && self.disabled == other.disabled
            && self.plugin == other.plugin
            && self.registered == other.registered
    }
}
