//! The effective settings as one typed value.
//!
//! [`Settings::read`] is called once, where the effective row is loaded; everything below takes the
//! fields it needs. A settings file that changes yields a new `Settings`; nothing edits one in place.
//!
//! Reading never fails as a whole, because a command must not be refused for a setting it does not use.
//! A value of the wrong type is kept with its field in one of two forms: [`Checked`] where a fallback
//! applies and the problem is only reported, `Result` where the command that needs the setting
//! has to refuse. Keys that ona does not know are kept in `other`.
//!
//! Which files and scopes count, and how they are merged, is decided in `trust`, before this.

mod catalog;
mod checkpoints;
mod compaction;
mod env;
mod hooks;
pub mod keys;
mod mcp;
mod model_info;
mod model_timeouts;
mod permissions;
mod problem;
mod sdlc;
mod status_line;
mod terminal;
mod waiting;

pub use catalog::{CATALOG, KnownSetting, SettingKind, known_setting};
pub use checkpoints::CheckpointSettings;
pub use compaction::CompactionSettings;
pub use env::env_text;
pub use hooks::{HookSettings, PluginSettings};
pub use mcp::McpSettings;
pub use model_info::{ModelFacts, ModelInfo};
pub use model_timeouts::ModelTimeouts;
pub use permissions::{BadPermissions, PermissionSettings, PermissionsFinding};
pub use problem::{Checked, SettingsProblem};
pub use sdlc::{BadDeclaration, Planning, PublicApi, SdlcSettings, TasksWhilePlanning};
pub use status_line::StatusLineSettings;
pub use terminal::TerminalSettings;

use serde_json::{Map, Value};
use std::sync::Arc;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// Command that prints a credential for Anthropic.
    pub api_key_helper: Option<String>,
    pub checkpoints: CheckpointSettings,
    pub compaction: CompactionSettings,
    pub effort_level: String,
    /// Variables laid over the process environment.
    pub env: Vec<(String, String)>,
    pub gastown_mode: bool,
    /// `"guards": "strict"`: a start is refused while a guard does not work. A value that cannot be
    /// read counts as strict.
    pub strict_guards: Checked<bool>,
    pub hooks: HookSettings,
    /// How long a driven session waits for a prompt until hooks are notified; `None` for never.
    pub idle_prompt: Checked<Option<Duration>>,
    /// Path of a MassGen configuration, relative to the project.
    pub massgen_config: Result<Option<String>, SettingsProblem>,
    pub mcp: McpSettings,
    /// Provider and model id; `auth` judges them.
    pub model_config: Option<Value>,
    /// What the operator says of models.
    pub model_info: Result<ModelInfo, SettingsProblem>,
    /// Prices by model; `transcript` judges them.
    pub model_prices: Value,
    /// How long a model may take to answer.
    pub model_timeouts: Result<ModelTimeouts, SettingsProblem>,
    /// Whether commands of the agent receive the providers' credentials.
    pub pass_credentials: Checked<bool>,
    pub permissions: Result<PermissionSettings, BadPermissions>,
    /// What of `permissions` has no effect, or another one than written.
    pub permission_findings: Vec<PermissionsFinding>,
    pub sdlc: SdlcSettings,
    pub skill_shell_disabled: bool,
    /// By name of the skill; `instructions` judges them.
    pub skill_overrides: Map<String, Value>,
    /// The name that is sent for a model id; `auth` judges it.
    pub wire_models: Value,
    /// A command that writes a line below the prompt.
    pub status_line: Checked<Option<StatusLineSettings>>,
    /// `claudeCompat.transcriptPath`: hooks get a transcript in a file.
    pub transcript_path: Checked<bool>,
    /// A new worktree starts from the default branch of `origin`.
    pub worktree_from_origin: Checked<bool>,
    /// Name of the output style; `instructions` judges it.
    pub output_style: Option<String>,
    /// How the terminal looks and is used; the terminal judges it.
    pub terminal: TerminalSettings,
    /// The keys that ona does not read.
    pub other: Map<String, Value>,
    written: Arc<Value>,
}

impl Settings {
    pub fn read(written: &Value) -> Self {
        let (permissions, permission_findings) = match PermissionSettings::parse(&written[keys::PERMISSIONS]) {
            Ok((permissions, findings)) => (Ok(permissions), findings),
            Err(bad) => (Err(bad), Vec::new()),
        };
        Self {
            api_key_helper: text(&written[keys::API_KEY_HELPER]),
            checkpoints: CheckpointSettings::read(written),
            compaction: CompactionSettings::read(written),
            effort_level: text(&written[keys::EFFORT_LEVEL]).unwrap_or_else(|| "medium".to_owned()),
            env: env::read(&written[keys::ENV]),
            gastown_mode: is_true(&written[keys::GASTOWN_MODE]),
            strict_guards: strict_guards(&written[keys::GUARDS]),
            hooks: HookSettings::read(written),
            idle_prompt: waiting::idle_prompt(&written[keys::IDLE_PROMPT_SECONDS]),
            massgen_config: massgen_config(&written[keys::MASSGEN_CONFIG]),
            mcp: McpSettings::read(written),
            model_config: written.get(keys::MODEL_CONFIG).cloned(),
            model_info: ModelInfo::read(&written[keys::MODEL_INFO]),
            model_prices: written[keys::MODEL_PRICES].clone(),
            model_timeouts: ModelTimeouts::read(&written[keys::MODEL_TIMEOUTS]),
            pass_credentials: Checked::flag(
                keys::PASS_CREDENTIALS,
                &written[keys::PASS_CREDENTIALS],
                "; taken as false",
            ),
            permissions,
            permission_findings,
            sdlc: SdlcSettings::read(&written[keys::SDLC]),
            skill_shell_disabled: is_true(&written[keys::DISABLE_SKILL_SHELL_EXECUTION]),
            skill_overrides: written[keys::SKILL_OVERRIDES].as_object().cloned().unwrap_or_default(),
            status_line: status_line::read(&written[keys::STATUS_LINE]),
            wire_models: written[keys::WIRE_MODELS].clone(),
            transcript_path: Checked::flag(
                "claudeCompat.transcriptPath",
                &written[keys::CLAUDE_COMPAT]["transcriptPath"],
                "",
            ),
            worktree_from_origin: waiting::worktree_from_origin(&written[keys::WORKTREE]),
            output_style: text(&written[keys::OUTPUT_STYLE]),
            terminal: TerminalSettings::read(written),
            other: other(written),
            written: Arc::new(written.clone()),
        }
    }

    /// Returns what is wrong with values of the wrong type or form.
    pub fn problems(&self) -> Vec<String> {
        let flags = [&self.strict_guards, &self.pass_credentials, &self.transcript_path, &self.hooks.fail_closed];
        let flags = flags.into_iter().filter_map(|checked| checked.problem.as_ref());
        let refused = [
            self.massgen_config.as_ref().err(),
            self.model_info.as_ref().err(),
            self.model_timeouts.as_ref().err(),
            self.compaction.window.as_ref().err(),
            self.sdlc.build_outputs.as_ref().err(),
            self.sdlc.test_timeout.as_ref().err(),
            self.idle_prompt.problem.as_ref(),
            self.status_line.problem.as_ref(),
            self.worktree_from_origin.problem.as_ref(),
        ];
        let mut problems: Vec<String> = flags.chain(refused.into_iter().flatten()).map(ToString::to_string).collect();
        problems.extend(self.permissions.as_ref().err().map(ToString::to_string));
        problems.extend(self.sdlc.public_api.as_ref().err().map(ToString::to_string));
        problems
    }

    /// The same settings in Gastown mode.
    #[must_use]
    pub fn in_gastown_mode(mut self) -> Self {
        self.gastown_mode = true;
        self
    }

    /// The same settings with these hooks.
    #[must_use]
    pub fn with_hooks(mut self, hooks: HookSettings) -> Self {
        self.hooks = hooks;
        self
    }

    /// Returns the value these settings were read from, for digests and for showing it.
    pub fn as_written(&self) -> &Value {
        &self.written
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::read(&Value::Null)
    }
}

fn other(written: &Value) -> Map<String, Value> {
    let fields = written.as_object().into_iter().flatten().filter(|(key, _)| !keys::is_read(key));
    fields.map(|(key, value)| (key.clone(), value.clone())).collect()
}

/// What is neither of the two words was meant to restrict.
fn strict_guards(value: &Value) -> Checked<bool> {
    match value {
        Value::Null => Checked::ok(false),
        Value::String(word) if word == "warn" => Checked::ok(false),
        Value::String(word) if word == "strict" => Checked::ok(true),
        _ => Checked::wrong(true, keys::GUARDS, "`guards` in the settings must be \"warn\" or \"strict\""),
    }
}

fn massgen_config(value: &Value) -> Result<Option<String>, SettingsProblem> {
    match value {
        Value::Null => Ok(None),
        Value::String(path) if !path.is_empty() => Ok(Some(path.clone())),
        _ => Err(SettingsProblem::new(keys::MASSGEN_CONFIG, "the setting massgenConfig must be a non-empty string")),
    }
}

pub(crate) fn is_true(value: &Value) -> bool {
    *value == Value::Bool(true)
}

pub(crate) fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

/// The strings of a list; what is not a string is left out.
pub(crate) fn texts(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().filter_map(text).collect()
}

#[cfg(test)]
mod tests;
