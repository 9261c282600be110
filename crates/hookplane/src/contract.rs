//! What differs from event to event, as one table.
//!
//! The engine has a single loop for all 27 events; whatever an event does
//! differently is a value here and is printed by `ona --hook-schema`.

use ona_api::EventName;
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contract {
    pub exit_two: ExitTwo,
    /// A deny or block skips the hooks that follow (section 5.6, PreToolUse only).
    pub skips_rest: bool,
    /// A timeout of an sdlc hook counts as exit 2 (section 5.9).
    pub timeout_blocks: bool,
    pub default_timeout: Duration,
    /// Plain text on stdout becomes context for the model (DEC-065).
    pub plain_text_is_context: bool,
    /// The hook gets `CLAUDE_ENV_FILE` (DEC-061).
    pub env_file: bool,
}

impl Contract {
    /// Whether there is a call that a block refuses.
    pub fn denies_call(&self) -> bool {
        matches!(self.exit_two, ExitTwo::DenyCall | ExitTwo::DenyRequest)
    }
}

/// What exit code 2 does (section 5.4, DEC-050).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitTwo {
    DenyCall,
    RejectPrompt,
    /// The agent continues with the message as its instruction.
    KeepWorking,
    DenyRequest,
    CancelCompaction,
    RejectChange,
    Decline,
    FailCreation,
    TellModel,
    TellOperator,
}

impl ExitTwo {
    pub fn as_str(self) -> &'static str {
        match self {
            ExitTwo::DenyCall => "deny_call",
            ExitTwo::RejectPrompt => "reject_prompt",
            ExitTwo::KeepWorking => "keep_working",
            ExitTwo::DenyRequest => "deny_request",
            ExitTwo::CancelCompaction => "cancel_compaction",
            ExitTwo::RejectChange => "reject_change",
            ExitTwo::Decline => "decline",
            ExitTwo::FailCreation => "fail_creation",
            ExitTwo::TellModel => "tell_model",
            ExitTwo::TellOperator => "tell_operator",
        }
    }
}

const GENERAL: Duration = Duration::from_millis(600_000);
const SESSION_END: Duration = Duration::from_millis(1_500);

pub fn of(event: EventName) -> Contract {
    use EventName as E;
    let exit_two = match event {
        E::PreToolUse => ExitTwo::DenyCall,
        E::UserPromptSubmit => ExitTwo::RejectPrompt,
        E::Stop | E::SubagentStop | E::TeammateIdle => ExitTwo::KeepWorking,
        E::PermissionRequest => ExitTwo::DenyRequest,
        E::PreCompact => ExitTwo::CancelCompaction,
        E::ConfigChange | E::TaskCreated | E::TaskCompleted => ExitTwo::RejectChange,
        E::Elicitation | E::ElicitationResult => ExitTwo::Decline,
        E::WorktreeCreate => ExitTwo::FailCreation,
        E::PostToolUse | E::PostToolUseFailure => ExitTwo::TellModel,
        E::PermissionDenied
        | E::Notification
        | E::SessionStart
        | E::SessionEnd
        | E::StopFailure
        | E::SubagentStart
        | E::PostCompact
        | E::Setup
        | E::InstructionsLoaded
        | E::WorktreeRemove
        | E::CwdChanged
        | E::FileChanged => ExitTwo::TellOperator,
    };
    Contract {
        exit_two,
        skips_rest: event == E::PreToolUse,
        timeout_blocks: matches!(event, E::PreToolUse | E::UserPromptSubmit),
        default_timeout: if event == E::SessionEnd { SESSION_END } else { GENERAL },
        plain_text_is_context: matches!(event, E::UserPromptSubmit | E::SessionStart),
        env_file: matches!(event, E::SessionStart | E::Setup | E::CwdChanged | E::FileChanged),
    }
}
