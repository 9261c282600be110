//! What a caller of `-p` may wish for beyond what every run knows.

use crate::args::{OutputFormat, PermissionPrompts};

#[derive(Debug)]
pub struct HeadlessOptions {
    pub output_format: OutputFormat,
    /// Prompts come as JSON messages on stdin.
    pub streams_in: bool,
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
