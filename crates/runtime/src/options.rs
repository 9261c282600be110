//! What a front may wish for when it starts a run: the flags of `ona`, the parameters of another
//! protocol. Every field has a default that wishes for nothing.

use std::path::PathBuf;

#[derive(Clone, Debug, Default)]
pub struct Options {
    // Which session.
    pub continue_newest: bool,
    pub resume: Option<String>,
    /// Continue in a copy of the resumed session.
    pub fork_session: bool,
    /// The id of a new session.
    pub session_id: Option<String>,
    pub conversation: Option<String>,
    /// Work in a git worktree of this name; an empty name is chosen by the program.
    pub worktree: Option<String>,

    // Which model, and what it is told and may use.
    pub model: Option<String>,
    /// The built-in tools to have; `default` for all.
    pub tools: Option<Vec<String>>,
    /// Agent definitions, as JSON or a file of it.
    pub agents: Option<String>,
    /// The agent whose instructions, tools and model the session has.
    pub agent: Option<String>,
    pub system_prompt: Option<String>,
    pub system_prompt_file: Option<PathBuf>,
    pub append_system_prompt: Option<String>,
    pub append_system_prompt_file: Option<PathBuf>,
    pub append_subagent_system_prompt: Option<String>,
    /// No skills and no commands of files.
    pub disable_slash_commands: bool,
    /// Maximum number of model requests of one turn.
    pub max_turns: Option<u32>,

    // Permissions.
    pub permission_mode: Option<String>,
    pub dangerously_skip_permissions: bool,
    pub allowed_tools: Vec<String>,
    pub disallowed_tools: Vec<String>,
    pub add_dir: Vec<String>,
    /// Refuse to start where a guard does not work.
    pub strict_guards: bool,

    // Settings files and trust.
    /// The database file.
    pub db: Option<String>,
    /// A settings file, or settings as JSON.
    pub settings: Option<String>,
    pub ignore_bad_settings: bool,
    pub setting_sources: Option<String>,
    pub no_claude_settings: bool,
    pub plugin_dir: Vec<PathBuf>,
    /// No settings files except `settings`.
    pub bare: bool,
    pub trust: bool,
    pub no_trust: bool,

    // MCP servers.
    pub mcp_config: Vec<String>,
    pub strict_mcp_config: bool,

    // Hooks that no settings file holds.
    pub hooks_config: Option<String>,
    pub gastown: bool,
    pub claude_settings_hooks: bool,
    pub massgen_config: Option<String>,
    /// Which agent of the MassGen configuration this session is.
    pub agent_id: Option<String>,
    /// Hook modules.
    pub hook: Vec<String>,
    pub extension: Vec<String>,
    pub extension_flag: Vec<String>,

    /// Note what each hook and rule did.
    pub verbose: bool,
}
