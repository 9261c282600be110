//! The command line: names, help and what excludes what. It decides nothing.

use crate::flags::Reference;
use clap::{Args as Group, Parser, Subcommand};

const AFTER_HELP: &str = "\
Exit codes: 0 done, 1 refused or failed, 2 usage or configuration error, 75 database busy, 130 interrupted.

Examples:
  ona --eval '{\"tool\":\"Read\",\"input\":{\"file_path\":\"README.md\"}}'
  ona --fire-hook '{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{\"command\":\"ls\"},\"tool_use_id\":\"t1\"}'
  ona --transition planning --conversation ID
  ona demo";

/// A coding agent for the terminal that can be held to its word.
#[derive(Debug, Parser)]
#[command(name = "ona", version, after_help = AFTER_HELP, max_term_width = 100, args_conflicts_with_subcommands = false)]
pub struct Args {
    #[command(flatten, next_help_heading = "One action")]
    pub action: Action,

    #[command(flatten, next_help_heading = "For that action")]
    pub options: Options,

    /// What to do, for -p
    #[arg(value_name = "PROMPT", requires = "printing")]
    pub prompt: Option<String>,

    /// The version of the stream-json this speaks, then our own: what programs that drive it ask for
    #[arg(short = 'v', hide = true)]
    pub protocol_version: bool,

    #[command(subcommand)]
    pub command: Option<Command>,
}

#[derive(Debug, Group)]
#[group(multiple = false)]
pub struct Action {
    /// Answer one prompt without a terminal; the prompt is the argument, stdin, or both
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "")]
    pub print: Option<String>,

    /// Take one tool call through hooks, gate, rules and execution; "-" reads one or more calls from stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub eval: Option<String>,

    /// Move a conversation to another phase (needs --conversation)
    #[arg(long, value_name = "PHASE")]
    pub transition: Option<String>,

    /// Run the hook chain of one event and print what it came to; "-" reads stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true)]
    pub fire_hook: Option<String>,

    /// Print the contracts of the 27 hook events as JSON
    #[arg(long)]
    pub hook_schema: bool,
}

#[derive(Debug, Group)]
#[command(group = clap::ArgGroup::new("printing").args(["print", "input_format", "init_only"]).multiple(true))]
pub struct Options {
    /// Go on with the newest session of this project
    #[arg(short = 'c', long = "continue", requires = "printing", conflicts_with = "resume")]
    pub continue_newest: bool,

    /// Go on with this session
    #[arg(short, long, value_name = "SESSION", requires = "printing")]
    pub resume: Option<String>,

    /// Go on in a copy of the session, which itself stays as it is
    #[arg(long, requires = "printing")]
    pub fork_session: bool,

    /// The id of a new session
    #[arg(long, value_name = "ID", requires = "printing")]
    pub session_id: Option<String>,

    /// The model for this run, by its id
    #[arg(long, value_name = "ID", requires = "printing")]
    pub model: Option<String>,

    /// What -p prints
    #[arg(long, value_name = "FORMAT", requires = "printing", value_enum, default_value_t = OutputFormat::Text)]
    pub output_format: OutputFormat,

    /// What -p reads from stdin: text, or one JSON message per line until it ends (implies -p)
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<InputFormat>,

    /// Also print pieces of replies as they arrive (stream-json)
    #[arg(long, requires = "printing")]
    pub include_partial_messages: bool,

    /// Also print when hooks start and end (stream-json)
    #[arg(long, requires = "printing")]
    pub include_hook_events: bool,

    /// Repeat user messages of stdin when they are taken up (stream-json)
    #[arg(long, requires = "printing")]
    pub replay_user_messages: bool,

    /// Also print what subagents say, not only what they do (stream-json)
    #[arg(long, requires = "printing")]
    pub forward_subagent_text: bool,

    /// Who answers permission questions: "stdio" is the program on the other side (stream-json)
    #[arg(long, value_name = "WHO", requires = "printing")]
    pub permission_prompt_tool: Option<String>,

    /// "host": as --permission-prompt-tool stdio; "none": what would be asked is refused
    #[arg(long, value_name = "WHO", requires = "printing", value_enum)]
    pub permission_prompts: Option<PermissionPrompts>,

    /// Let the program on the other side choose the mode bypassPermissions later
    #[arg(long, requires = "printing")]
    pub allow_dangerously_skip_permissions: bool,

    /// Ask the model at most this often
    #[arg(long, value_name = "N", requires = "printing")]
    pub max_turns: Option<u32>,

    /// The built-in tools to have: names, "default" for all, "" for none
    #[arg(long, value_name = "NAMES", requires = "printing", num_args = 1..)]
    pub tools: Option<Vec<String>>,

    /// Agent definitions by name, as JSON or a file of it
    #[arg(long, value_name = "JSON|FILE")]
    pub agents: Option<String>,

    /// Work as this agent: its instructions, tools and model
    #[arg(long, value_name = "NAME", requires = "printing")]
    pub agent: Option<String>,

    /// Instructions in place of ours
    #[arg(long, value_name = "TEXT", requires = "printing")]
    pub system_prompt: Option<String>,

    /// A file with instructions in place of ours
    #[arg(long, value_name = "FILE", requires = "printing", conflicts_with = "system_prompt")]
    pub system_prompt_file: Option<std::path::PathBuf>,

    /// Instructions after ours
    #[arg(long, value_name = "TEXT", requires = "printing")]
    pub append_system_prompt: Option<String>,

    /// A file with instructions after ours
    #[arg(long, value_name = "FILE", requires = "printing", conflicts_with = "append_system_prompt")]
    pub append_system_prompt_file: Option<std::path::PathBuf>,

    /// Instructions for every subagent, after its own
    #[arg(long, value_name = "TEXT", requires = "printing")]
    pub append_subagent_system_prompt: Option<String>,

    /// Fire Setup (init) before the session starts
    #[arg(long, requires = "printing")]
    pub init: bool,

    /// Fire Setup (init) and end
    #[arg(long, conflicts_with_all = ["init", "maintenance"])]
    pub init_only: bool,

    /// Fire Setup (maintenance) before the session starts
    #[arg(long, requires = "printing", conflicts_with = "init")]
    pub maintenance: bool,

    /// MCP servers for this run, as JSON or a file of it; may be given again
    #[arg(long, value_name = "FILE|JSON", num_args = 1..)]
    pub mcp_config: Vec<String>,

    /// No MCP servers but those of --mcp-config
    #[arg(long, global = true)]
    pub strict_mcp_config: bool,

    #[command(flatten)]
    pub reference: Reference,

    /// The conversation to work in
    #[arg(long, value_name = "ID", global = true)]
    pub conversation: Option<String>,

    /// The database file (before AGENT_SDLC_DB and the per-project default)
    #[arg(long, value_name = "PATH", global = true)]
    pub db: Option<String>,

    /// Approve the report that `--transition done` shows
    #[arg(long, requires = "transition")]
    pub approve: bool,

    /// Answer yes to explicit questions of `--eval`
    #[arg(long)]
    pub yes: bool,

    /// Permission mode for this run: default (or manual), acceptEdits, bypassPermissions, plan, dontAsk
    #[arg(long, value_name = "MODE")]
    pub permission_mode: Option<String>,

    /// Same as --permission-mode bypassPermissions
    #[arg(long, conflicts_with = "permission_mode")]
    pub dangerously_skip_permissions: bool,

    /// Allow rules for this run, separated by commas or spaces
    #[arg(long = "allowedTools", visible_alias = "allowed-tools", value_name = "RULES", num_args = 1..)]
    pub allowed_tools: Vec<String>,

    /// Deny rules for this run, separated by commas or spaces
    #[arg(long = "disallowedTools", visible_alias = "disallowed-tools", value_name = "RULES", num_args = 1..)]
    pub disallowed_tools: Vec<String>,

    /// Another working directory
    #[arg(long, value_name = "DIR", num_args = 1..)]
    pub add_dir: Vec<String>,

    /// A folder with a plugin, imported with the settings; may be given several times
    #[arg(long, value_name = "DIR", global = true)]
    pub plugin_dir: Vec<std::path::PathBuf>,

    /// A settings file, or settings as JSON, imported over the others
    #[arg(long, value_name = "FILE|JSON", global = true)]
    pub settings: Option<String>,

    /// Go on without settings files that are not JSON objects (managed ones are still required)
    #[arg(long, global = true)]
    pub ignore_bad_settings: bool,

    /// Refuse to start where a guard does not work (also the setting "guards": "strict")
    #[arg(long, global = true)]
    pub strict_guards: bool,

    /// Which settings files to read: any of user, project, local
    #[arg(long, value_name = "LIST", global = true)]
    pub setting_sources: Option<String>,

    /// Leave .claude settings files alone (also ONA_CLAUDE_SETTINGS=0)
    #[arg(long, global = true)]
    pub no_claude_settings: bool,

    /// Hooks of this session, from a JSON file (before PI_HOOKS_JSON)
    #[arg(long, value_name = "PATH", global = true)]
    pub hooks_config: Option<String>,

    /// Gastown mode: default hooks for gt and bd, matchers as permission rules (also PI_GASTOWN_MODE=1)
    #[arg(long, global = true)]
    pub gastown: bool,

    /// Run the hooks of .claude files in such sessions too (also PI_ENABLE_CLAUDE_SETTINGS_HOOKS=1)
    #[arg(long, global = true)]
    pub claude_settings_hooks: bool,

    /// No settings files except --settings
    #[arg(long, global = true)]
    pub bare: bool,

    /// Trust this project's settings, and remember it
    #[arg(long, global = true, conflicts_with = "no_trust")]
    pub trust: bool,

    /// Use nothing from this project's settings (also ONA_TRUST=never)
    #[arg(long, global = true)]
    pub no_trust: bool,

    /// Hooks of a MassGen configuration (before ONA_MASSGEN_CONFIG and the setting massgenConfig)
    #[arg(long, value_name = "PATH", global = true)]
    pub massgen_config: Option<String>,

    /// Which agent of the MassGen configuration this session is; the first if left out
    #[arg(long, value_name = "ID", global = true)]
    pub agent_id: Option<String>,

    /// A hook module (JavaScript or TypeScript) for this run; may be given again
    #[arg(long, value_name = "PATH", global = true)]
    pub hook: Vec<String>,

    /// The same as --hook; these come first
    #[arg(short = 'e', long, value_name = "PATH", global = true)]
    pub extension: Vec<String>,

    /// A flag that a hook module has registered, NAME or NAME=VALUE; may be given again
    #[arg(long, value_name = "NAME[=VALUE]", global = true)]
    pub extension_flag: Vec<String>,

    /// Say on stderr what each hook and rule did; with --output-format json, print all messages as one array
    #[arg(long)]
    pub verbose: bool,
}

impl Options {
    pub fn streams_in(&self) -> bool {
        self.input_format == Some(InputFormat::StreamJson)
    }
}

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
    /// The final text
    Text,
    /// One JSON object
    Json,
    /// One JSON object per line, as things happen
    StreamJson,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show the whole tool path on a toy project, without a key and without a network
    Demo {
        /// One conversation through all phases: plan, approval, work, tests, report
        #[arg(long)]
        sdlc: bool,
    },
    /// Check database, shells, settings and hooks
    Doctor {
        /// Machine-readable output
        #[arg(long)]
        json: bool,
    },
    /// The database: create, check, locate
    #[command(subcommand)]
    Db(Db),
    /// Effective settings: show or import again
    #[command(subcommand)]
    Settings(Settings),
    /// Plans of a conversation
    #[command(subcommand)]
    Plan(Plan),
    /// Recorded sessions: list, show, export
    #[command(subcommand)]
    Sessions(Sessions),
    /// Memories and their full-text search
    #[command(subcommand)]
    Memory(Memory),
    /// Hooks: what runs, why it did, and what it would do
    #[command(subcommand)]
    Hooks(crate::hooks::Command),
    /// MCP servers as they are configured; none is started
    #[command(subcommand)]
    Mcp(Mcp),
    /// Work as an agent of a Gastown town
    #[command(subcommand)]
    Gastown(Gastown),
    /// Behavioural tests of a plan's success criteria
    #[command(subcommand)]
    Test(crate::test::Command),
}

#[derive(Debug, Subcommand)]
pub enum Mcp {
    /// List the servers, and those that are left out
    List {
        #[arg(long)]
        json: bool,
    },
    /// Show one server
    Get {
        name: String,
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub enum Db {
    /// Create what is missing
    Init,
    /// Check integrity, schema and transcript; changes nothing
    Check {
        #[arg(long)]
        json: bool,
    },
    /// Print the path in use
    Path,
}

#[derive(Debug, Subcommand)]
pub enum Settings {
    /// Print the effective row
    Show,
    /// Read the settings files again and lay them over the row
    Import,
}

#[derive(Debug, Subcommand)]
pub enum Plan {
    /// List the plans of a conversation (or of all)
    List {
        #[arg(long)]
        json: bool,
    },
    /// Print one plan
    Show {
        id: i64,
        #[arg(long)]
        json: bool,
    },
    /// Approve a draft
    Approve { id: i64 },
    /// Store a file's text as a draft
    Import {
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
    },
}

#[derive(Debug, Subcommand)]
pub enum Sessions {
    /// List sessions, the newest first
    List {
        #[arg(long)]
        json: bool,
    },
    /// Print a session for reading, with what it used and cost
    Show {
        session: String,
        /// Only its facts, tokens and cost, by model and by turn
        #[arg(long)]
        json: bool,
    },
    /// Print a session for other programs; the output is never read back
    Export {
        session: String,
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
        format: ExportFormat,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum ExportFormat {
    Markdown,
    Json,
    /// One line per message, as usage and status-line tools read it
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub enum Gastown {
    /// Register ona in the settings of a town; what stands there already stays
    Install {
        /// The town's folder (else GT_ROOT)
        #[arg(long, value_name = "DIR")]
        town: Option<std::path::PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub enum Memory {
    /// Store a memory
    Add {
        title: String,
        /// The text; "-" reads stdin
        content: String,
        /// What kind of memory it is
        #[arg(long = "type", value_name = "TYPE", default_value = "note")]
        kind: String,
        #[arg(long, value_name = "WORDS")]
        keywords: Option<String>,
        /// Only for the current project
        #[arg(long)]
        project: bool,
    },
    /// List all memories
    List {
        #[arg(long)]
        json: bool,
    },
    /// Search by words
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        #[arg(long)]
        json: bool,
    },
    /// Store every Markdown file of a folder
    Import { dir: std::path::PathBuf },
    /// Remove a memory
    Rm { id: String },
}
