//! What a caller may choose about the protocol, beyond the options of every run.

use crate::live::LiveStyle;
use ona_api::Mode;
use ona_runtime::session_start::SetupTrigger;
use ona_runtime::{Failure, Launch};

#[derive(Debug)]
pub struct HeadlessOptions {
    pub output_format: OutputFormat,
    /// Prompts arrive as JSON messages, one per line.
    pub streams_in: bool,
    /// A person watches at a terminal; only for the format `Text`.
    pub live: Option<LiveStyle>,
    pub include_partial_messages: bool,
    pub include_hook_events: bool,
    pub replay_user_messages: bool,
    pub forward_subagent_text: bool,
    pub permission_prompt_tool: Option<String>,
    pub permission_prompts: Option<PermissionPrompts>,
    pub allow_dangerously_skip_permissions: bool,
    pub init: bool,
    pub init_only: bool,
    pub maintenance: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputFormat {
    /// The final text.
    Text,
    /// One JSON object, or one array with all messages.
    Json,
    /// One JSON message per line, as things happen.
    StreamJson,
}

/// Who answers permission questions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PermissionPrompts {
    /// The driving program.
    Host,
    /// Nobody: what would be asked is denied.
    None,
}

impl HeadlessOptions {
    /// Which Setup hooks an option asks for.
    pub fn setup(&self) -> Option<SetupTrigger> {
        match (self.init || self.init_only, self.maintenance) {
            (true, _) => Some(SetupTrigger::Init),
            (false, true) => Some(SetupTrigger::Maintenance),
            (false, false) => None,
        }
    }

    /// Whether the mode that asks for nothing may be chosen during the run.
    pub fn may_bypass(&self, launch: &Launch) -> Result<bool, Failure> {
        if self.allow_dangerously_skip_permissions {
            launch.operator_only("permissions")?;
        }
        let options = &launch.options;
        let chosen = options.dangerously_skip_permissions
            || self.allow_dangerously_skip_permissions
            || options.permission_mode.as_deref() == Some(Mode::BypassPermissions.as_str());
        Ok(chosen && !launch.agent_shell)
    }

    /// Refuses choices that exclude each other.
    pub fn check(&self, launch: &Launch) -> Result<(), Failure> {
        let streams_out = self.output_format == OutputFormat::StreamJson;
        if self.streams_in && !streams_out {
            return Err(Failure::usage("--input-format stream-json needs --output-format stream-json"));
        }
        let of_stream = [
            ("--include-partial-messages", self.include_partial_messages),
            ("--include-hook-events", self.include_hook_events),
            ("--forward-subagent-text", self.forward_subagent_text),
            ("--replay-user-messages", self.replay_user_messages),
        ];
        if let Some((flag, _)) = of_stream.iter().find(|(_, given)| *given && !streams_out) {
            return Err(Failure::usage(format_args!("{flag} needs --output-format stream-json")));
        }
        if self.replay_user_messages && !self.streams_in {
            return Err(Failure::usage("--replay-user-messages needs --input-format stream-json"));
        }
        let by_stdio = match self.permission_prompt_tool.as_deref() {
            None => false,
            Some("stdio") => true,
            Some(tool) if tool.starts_with("mcp__") => false,
            Some(other) => {
                return Err(Failure::usage(format_args!(
                    "--permission-prompt-tool {other}: permission questions are answered by stdio or by a tool of an \
                     MCP server (mcp__server__tool)"
                )));
            }
        };
        let by_host = self.permission_prompts == Some(PermissionPrompts::Host);
        if (by_stdio || by_host) && !self.streams_in {
            return Err(Failure::usage("permission questions over stdio need --input-format stream-json"));
        }
        self.may_bypass(launch).map(drop)
    }
}
