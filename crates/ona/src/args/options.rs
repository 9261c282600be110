//! The flags. Those without a heading are the ones people use every day: `-h` shows them alone.

use crate::flags::Reference;
use clap::Args;

const SESSION: &str = "Session";
const MODEL: &str = "Model and instructions";
const PERMISSIONS: &str = "Permissions";
const SETTINGS: &str = "Settings and trust";
const HOOKS: &str = "Hooks and modules";
const MCP: &str = "MCP servers";
const PROTOCOL: &str = "Protocol for programs";
const SINGLE: &str = "Single calls and phases";

/// Every flag that is not a mode. All are accepted before and after a command's name;
/// `honoured` says which modes and commands use which.
#[derive(Debug, Args)]
pub struct Options {
    /// Continue the newest session here
    #[arg(short = 'c', long = "continue", global = true, conflicts_with = "resume")]
    pub continue_newest: bool,

    /// Continue this session, or choose one
    #[arg(short, long, value_name = "SESSION", global = true, num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// Model for this run
    #[arg(long, value_name = "ID", global = true)]
    pub model: Option<String>,

    /// text (the default), json or stream-json
    #[arg(
        long,
        value_name = "FORMAT",
        global = true,
        value_enum,
        default_value_t = OutputFormat::Text,
        hide_default_value = true,
        hide_possible_values = true
    )]
    pub output_format: OutputFormat,

    /// Decides calls that no rule covers
    #[arg(long, value_name = "MODE", global = true)]
    pub permission_mode: Option<String>,

    /// Allow rules, such as "Read,Bash(ls:*)"
    #[arg(
        long = "allowedTools",
        alias = "allowed-tools",
        value_name = "RULES",
        global = true,
        num_args = 1..
    )]
    pub allowed_tools: Vec<String>,

    /// Deny rules, in the same form
    #[arg(
        long = "disallowedTools",
        alias = "disallowed-tools",
        value_name = "RULES",
        global = true,
        num_args = 1..
    )]
    pub disallowed_tools: Vec<String>,

    /// Additional working directories
    #[arg(long, value_name = "DIR", global = true, num_args = 1..)]
    pub add_dir: Vec<String>,

    /// Settings, with precedence over files
    #[arg(long, value_name = "FILE|JSON", global = true)]
    pub settings: Option<String>,

    /// Trust this project's settings from now on
    #[arg(long, global = true, conflicts_with = "no_trust")]
    pub trust: bool,

    /// Database file (overrides AGENT_SDLC_DB)
    #[arg(long, value_name = "PATH", global = true)]
    pub db: Option<String>,

    /// Print the decisions of hooks and rules
    #[arg(long, global = true)]
    pub verbose: bool,

    /// Only append, as for screen readers
    #[arg(long, global = true)]
    pub plain: bool,

    // Session
    /// Conversation to work in
    #[arg(long, value_name = "ID", global = true, help_heading = SESSION)]
    pub conversation: Option<String>,

    /// Id of the new session
    #[arg(long, value_name = "ID", global = true, help_heading = SESSION)]
    pub session_id: Option<String>,

    /// Continue in a copy of the session; the original stays unchanged
    #[arg(long, global = true, help_heading = SESSION)]
    pub fork_session: bool,

    /// Maximum number of model requests
    #[arg(long, value_name = "N", value_parser = super::number::<u32>, global = true, help_heading = SESSION)]
    pub max_turns: Option<u32>,

    /// Work in a git worktree of this project; it is removed at the end if nothing was changed
    #[arg(short = 'w', long, value_name = "NAME", global = true, help_heading = SESSION, num_args = 0..=1, default_missing_value = "")]
    pub worktree: Option<String>,

    /// Run the Setup hooks (init) before the session starts
    #[arg(long, global = true, help_heading = SESSION)]
    pub init: bool,

    /// Run the Setup hooks (init) and exit
    #[arg(long, global = true, help_heading = SESSION, conflicts_with_all = ["init", "maintenance"])]
    pub init_only: bool,

    /// Run the Setup hooks (maintenance) before the session starts
    #[arg(long, global = true, help_heading = SESSION, conflicts_with = "init")]
    pub maintenance: bool,

    // Model and instructions
    /// Work as this agent: its instructions, tools and model
    #[arg(long, value_name = "NAME", global = true, help_heading = MODEL)]
    pub agent: Option<String>,

    /// Agent definitions by name, as JSON or a file
    #[arg(long, value_name = "JSON|FILE", global = true, help_heading = MODEL)]
    pub agents: Option<String>,

    /// Built-in tools to offer: names, "default" for all, "" for none
    #[arg(long, value_name = "NAMES", global = true, help_heading = MODEL, num_args = 1..)]
    pub tools: Option<Vec<String>>,

    /// System prompt that replaces the built-in one
    #[arg(long, value_name = "TEXT", global = true, help_heading = MODEL)]
    pub system_prompt: Option<String>,

    /// File with the system prompt that replaces the built-in one
    #[arg(long, value_name = "FILE", global = true, help_heading = MODEL, conflicts_with = "system_prompt")]
    pub system_prompt_file: Option<std::path::PathBuf>,

    /// Text to append to the system prompt
    #[arg(long, value_name = "TEXT", global = true, help_heading = MODEL)]
    pub append_system_prompt: Option<String>,

    /// File with text to append to the system prompt
    #[arg(
        long,
        value_name = "FILE",
        global = true,
        help_heading = MODEL,
        conflicts_with = "append_system_prompt"
    )]
    pub append_system_prompt_file: Option<std::path::PathBuf>,

    /// Text to append to the system prompt of every subagent
    #[arg(long, value_name = "TEXT", global = true, help_heading = MODEL)]
    pub append_subagent_system_prompt: Option<String>,

    // Permissions
    /// Same as --permission-mode bypassPermissions
    #[arg(long, global = true, help_heading = PERMISSIONS, conflicts_with = "permission_mode")]
    pub dangerously_skip_permissions: bool,

    /// Let the driving program switch to bypassPermissions later
    #[arg(long, global = true, help_heading = PERMISSIONS)]
    pub allow_dangerously_skip_permissions: bool,

    /// Who answers permission questions: "stdio" is the driving program
    #[arg(long, value_name = "WHO", global = true, help_heading = PERMISSIONS)]
    pub permission_prompt_tool: Option<String>,

    /// "host": same as --permission-prompt-tool stdio; "none": deny instead of asking
    #[arg(long, value_name = "WHO", global = true, help_heading = PERMISSIONS, value_enum, hide_possible_values = true)]
    pub permission_prompts: Option<PermissionPrompts>,

    // Settings and trust
    /// Settings files to read: any of user, project, local
    #[arg(long, value_name = "LIST", global = true, help_heading = SETTINGS)]
    pub setting_sources: Option<String>,

    /// Read no settings files except --settings
    #[arg(long, global = true, help_heading = SETTINGS)]
    pub bare: bool,

    /// Do not read .claude settings files (also ONA_CLAUDE_SETTINGS=0)
    #[arg(long, global = true, help_heading = SETTINGS)]
    pub no_claude_settings: bool,

    /// Continue without settings files that cannot be read (managed ones are still required)
    #[arg(long, global = true, help_heading = SETTINGS)]
    pub ignore_bad_settings: bool,

    /// Use nothing from the settings of this project (also ONA_TRUST=never)
    #[arg(long, global = true, help_heading = SETTINGS)]
    pub no_trust: bool,

    /// Refuse to start if a guard does not work (also the setting "guards": "strict")
    #[arg(long, global = true, help_heading = SETTINGS)]
    pub strict_guards: bool,

    /// Folder of a plugin to load; may be repeated
    #[arg(long, value_name = "DIR", global = true, help_heading = SETTINGS)]
    pub plugin_dir: Vec<std::path::PathBuf>,

    // Hooks and modules
    /// JSON file with hooks for this session (instead of PI_HOOKS_JSON)
    #[arg(long, value_name = "PATH", global = true, help_heading = HOOKS)]
    pub hooks_config: Option<String>,

    /// Hook module (JavaScript or TypeScript) to load; may be repeated
    #[arg(long, value_name = "PATH", global = true, help_heading = HOOKS)]
    pub hook: Vec<String>,

    /// Same as --hook; these are loaded first
    #[arg(short = 'e', long, value_name = "PATH", global = true, help_heading = HOOKS)]
    pub extension: Vec<String>,

    /// Flag that a hook module registered; may be repeated
    #[arg(long, value_name = "NAME[=VALUE]", global = true, help_heading = HOOKS)]
    pub extension_flag: Vec<String>,

    /// Gastown mode: default hooks for gt and bd, matchers as permission rules (also PI_GASTOWN_MODE=1)
    #[arg(long, global = true, help_heading = HOOKS)]
    pub gastown: bool,

    /// Also run the hooks of .claude files in pi sessions (also PI_ENABLE_CLAUDE_SETTINGS_HOOKS=1)
    #[arg(long, global = true, help_heading = HOOKS)]
    pub claude_settings_hooks: bool,

    /// MassGen configuration with hooks (instead of ONA_MASSGEN_CONFIG and the setting massgenConfig)
    #[arg(long, value_name = "PATH", global = true, help_heading = HOOKS)]
    pub massgen_config: Option<String>,

    /// Agent of the MassGen configuration that this session is [default: the first]
    #[arg(long, value_name = "ID", global = true, help_heading = HOOKS)]
    pub agent_id: Option<String>,

    // MCP servers
    /// MCP servers for this run, as JSON or a file; may be repeated
    #[arg(long, value_name = "FILE|JSON", global = true, help_heading = MCP, num_args = 1..)]
    pub mcp_config: Vec<String>,

    /// Use only the MCP servers of --mcp-config
    #[arg(long, global = true, help_heading = MCP)]
    pub strict_mcp_config: bool,

    // Protocol for programs
    /// Format of stdin: text, or one JSON message per line (implies -p)
    #[arg(long, value_name = "FORMAT", global = true, help_heading = PROTOCOL, value_enum)]
    pub input_format: Option<InputFormat>,

    /// Also print parts of replies as they arrive (stream-json)
    #[arg(long, global = true, help_heading = PROTOCOL)]
    pub include_partial_messages: bool,

    /// Also print when hooks start and end (stream-json)
    #[arg(long, global = true, help_heading = PROTOCOL)]
    pub include_hook_events: bool,

    /// Print each user message of stdin again when its turn begins (stream-json)
    #[arg(long, global = true, help_heading = PROTOCOL)]
    pub replay_user_messages: bool,

    /// Also print the text of subagents, not only their tool calls (stream-json)
    #[arg(long, global = true, help_heading = PROTOCOL)]
    pub forward_subagent_text: bool,

    // Single calls and phases
    /// Answer yes to the permission questions of --eval
    #[arg(long, global = true, help_heading = SINGLE)]
    pub yes: bool,

    /// Approve the report that --transition done shows
    #[arg(long, global = true, help_heading = SINGLE)]
    pub approve: bool,

    #[command(flatten)]
    pub diagnostics: ona_diagnostics::Flags,

    #[command(flatten)]
    pub reference: Reference,
}

impl Options {
    pub fn streams_in(&self) -> bool {
        self.input_format == Some(InputFormat::StreamJson)
    }
}

// Variants have no doc comments: with them clap prints each on a line of its own.

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum PermissionPrompts {
    Host,
    None,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum InputFormat {
    Text,
    StreamJson,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum OutputFormat {
    Text,
    Json,
    StreamJson,
}
