//! The commands and their arguments.

use clap::Subcommand;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show how tool calls are decided, on a toy project without a key
    Demo {
        /// Show one conversation through all phases: plan, approval, work, tests, report
        #[arg(long)]
        sdlc: bool,
    },
    /// Check the database, shells, settings and hooks
    Doctor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show session, phase, model, settings, trust and guards
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show or set one setting, and say where its value comes from
    #[command(subcommand)]
    Config(Config),
    /// Write starter instructions and settings; existing files stay
    Init,
    /// Show the phase of the newest conversation, or change it
    Phase {
        /// idle, planning, implement, test, verify or done
        #[arg(value_name = "PHASE")]
        to: Option<String>,
    },
    /// List conversations, or begin one
    #[command(subcommand)]
    Conversations(Conversations),
    /// Log in, log out, or show what signs requests to Anthropic
    #[command(subcommand)]
    Auth(Auth),
    /// Create, check, recover or locate the database
    #[command(subcommand)]
    Db(Db),
    /// Verify, anchor or export the record of what was done
    #[command(subcommand)]
    Audit(Audit),
    /// Show the effective settings or import them again
    #[command(subcommand)]
    Settings(Settings),
    /// List, show, approve or import plans
    #[command(subcommand)]
    Plan(Plan),
    /// List, show or export recorded sessions
    #[command(subcommand)]
    Sessions(Sessions),
    /// Add, search, import or remove memories
    #[command(subcommand)]
    Memory(Memory),
    /// List, test, lint, replay, explain or import hooks
    #[command(subcommand)]
    Hooks(crate::hooks::Command),
    /// Add, remove, list and approve MCP servers, or log in to one
    #[command(subcommand)]
    Mcp(crate::mcp::Command),
    /// Install, list, show, enable, disable or remove plugins
    #[command(subcommand)]
    Plugin(Plugin),
    /// Try the kernel's wall around a command; tools do not use it yet
    #[command(subcommand)]
    Sandbox(Sandbox),
    /// Register ona as an agent of a Gastown town
    #[command(subcommand)]
    Gastown(Gastown),
    /// List or remove git worktrees that sessions and agents have left
    #[command(subcommand)]
    Worktree(Worktree),
    /// Generate, lint, run or report the tests of a plan
    #[command(subcommand)]
    Test(crate::test::Command),
}

#[derive(Debug, Subcommand)]
pub(crate) enum Config {
    /// Print a setting, such as permissions.defaultMode; exit code 1 if it has no value
    Get {
        key: String,
        /// Print JSON, with every file that has a part in it
        #[arg(long)]
        json: bool,
    },
    /// Set it in a settings file; the other keys stay unchanged
    Set {
        key: String,
        /// JSON, or a text
        value: String,
        #[arg(long, value_enum, default_value_t = ConfigScope::User)]
        scope: ConfigScope,
    },
    /// Remove it from a settings file
    Unset {
        key: String,
        #[arg(long, value_enum, default_value_t = ConfigScope::User)]
        scope: ConfigScope,
    },
    /// List the settings that have a value
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ConfigScope {
    User,
    Project,
    Local,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Conversations {
    /// List conversations, the one used last first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Begin a conversation and print its id
    New,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Auth {
    /// Log in and store the login
    Login(LoginOptions),
    /// Remove the stored login, and tell its server if it can be reached
    Logout {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what signs requests to Anthropic; exit code 1 if nothing does
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct LoginOptions {
    /// Approve the login on another device, with a code
    #[arg(long, conflicts_with = "token")]
    pub device: bool,
    /// Store a long-lived token or an API key that is read from stdin
    #[arg(long)]
    pub token: bool,
    /// Print the address and open no browser
    #[arg(long)]
    pub no_browser: bool,
    /// Print one JSON line for each step
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Plugin {
    /// Copy a plugin from a folder or a repository of this machine and switch it on
    ///
    /// What the plugin would run is shown first; without a terminal, --yes confirms it. The copy is pinned by
    /// the digest of its files and is not loaded once they change.
    Install {
        /// A folder, a bare repository, or file://REPOSITORY
        source: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// List the installed plugins
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Show what a plugin brings; runs nothing of it
    Show {
        /// An installed plugin, or a folder
        name: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch a plugin on
    Enable {
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Switch a plugin off
    Disable {
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove a plugin and its copy
    Remove {
        id: String,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Db {
    /// Create the database, or the tables it lacks
    Init,
    /// Check integrity, schema and transcript; changes nothing
    Check {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Save what can be read of a damaged database into a new one
    ///
    /// The damaged file is only read. Exit code 0 if everything came through, 1 if the new database
    /// was made and lacks something, 2 if nothing could be read.
    Recover {
        /// The new database; nothing may be in its place
        #[arg(value_name = "OUT")]
        out: std::path::PathBuf,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the path of the database
    Path,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Audit {
    /// Compare the record with its chain of hashes and name the first difference
    ///
    /// Exit code 1 if something was changed, deleted, inserted afterwards or reordered by other
    /// means than ona. Rows that other programs added at the end (hooks do that) are listed as
    /// foreign and do not count as differences.
    Verify {
        /// Judge the rows of this session only; the chain is verified as a whole
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// The same with the session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
        /// A line that `ona audit anchor` printed earlier; may be given several times
        #[arg(long, value_name = "ANCHOR")]
        against: Vec<String>,
        /// Exit with 1 for foreign rows, too
        #[arg(long)]
        strict: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one line that names the newest group; keep it elsewhere, for verify --against
    Anchor {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print transcript, hook, permission and event rows for other programs, as they are stored
    Export {
        #[arg(long, value_enum)]
        format: AuditFormat,
        /// Only the rows of this session
        #[arg(long, value_name = "ID")]
        session: Option<String>,
        /// Only those of the session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AuditFormat {
    // One JSON object per row.
    Jsonl,
    Csv,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Settings {
    /// Print the effective settings
    Show,
    /// Read the settings files again and store the result
    Import,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Plan {
    /// List the plans of one conversation, or of all
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print one plan
    Show {
        #[arg(value_parser = super::number::<i64>, required_unless_present = "last")]
        id: Option<i64>,
        /// The newest plan of --conversation, or of this project
        #[arg(long, conflicts_with = "id")]
        last: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Approve a draft
    Approve {
        #[arg(value_parser = super::number::<i64>, required_unless_present = "last")]
        id: Option<i64>,
        /// The newest plan of --conversation, or of this project
        #[arg(long, conflicts_with = "id")]
        last: bool,
    },
    /// Store the text of a file as a draft
    Import {
        #[arg(value_name = "FILE")]
        file: std::path::PathBuf,
        /// For the conversation of this project that was used last
        #[arg(long)]
        last: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sessions {
    /// List sessions, newest first
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print a session for people, with its tokens and cost
    Show {
        /// Its id or the beginning of it
        #[arg(required_unless_present = "last")]
        session: Option<String>,
        /// The session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
        /// Print only its facts, tokens and cost, by model and by turn, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Go back to before a prompt: the conversation, the files, or both
    ///
    /// Without --to it lists the prompts. Files are restored to how they were before the prompt, as far as ona
    /// kept them; what cannot be restored is named.
    Rewind(Rewind),
    /// Print a session for other programs; ona never reads it back
    Export {
        /// Its id or the beginning of it
        #[arg(required_unless_present = "last")]
        session: Option<String>,
        /// The session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
        #[arg(long, value_enum, default_value_t = ExportFormat::Markdown)]
        format: ExportFormat,
    },
}

#[derive(Debug, clap::Args)]
pub(crate) struct Rewind {
    /// The session
    #[arg(required_unless_present = "last")]
    pub(crate) session: Option<String>,
    /// The session of this project that was used last
    #[arg(long, conflicts_with = "session")]
    pub(crate) last: bool,
    /// The prompt to go back before: its number in the list, its id, or the beginning of its id
    #[arg(long, value_name = "PROMPT")]
    pub(crate) to: Option<String>,
    /// Take the last rewind back
    #[arg(long, conflicts_with_all = ["to", "scope"])]
    pub(crate) undo: bool,
    /// Only the files
    #[arg(long, group = "scope")]
    pub(crate) files: bool,
    /// Only the conversation
    // The global option of this name has a value, so this one has the same type; a value is refused.
    #[arg(long, group = "scope", num_args = 0..=1, require_equals = true, default_missing_value = "", value_name = "")]
    pub(crate) conversation: Option<String>,
    /// The conversation and the files (default)
    #[arg(long, group = "scope")]
    pub(crate) both: bool,
    /// Show what would change and change nothing
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Also replace files that something else has changed since
    #[arg(long)]
    pub(crate) force: bool,
    /// Print JSON
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ExportFormat {
    Markdown,
    Json,
    // One line per message, as usage and status-line tools read it.
    Jsonl,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Worktree {
    /// List the worktrees of this project, and what would be lost with each
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove one; refused while it has changes, or commits that are on no other branch
    Remove {
        /// Its name or the beginning of it
        name: String,
        /// Remove it with its changes and commits
        #[arg(long)]
        force: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Remove all with which nothing would be lost
    Prune {
        /// Show what would be removed and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Gastown {
    /// Add ona to the settings of a town; existing entries stay unchanged
    Install {
        /// Folder of the town [default: GT_ROOT]
        #[arg(long, value_name = "DIR")]
        town: Option<std::path::PathBuf>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Sandbox {
    /// Try what must fail, and say what holds; exit code 1 if something got through
    Status {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run a command that cannot change ona's record, guards and settings, nor read its credentials
    Exec {
        /// Let it write in working directories, temporary folders and package caches only
        #[arg(long)]
        workspace: bool,
        /// Let it use no network, loopback included
        #[arg(long)]
        no_network: bool,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "CMD")]
        command: Vec<std::ffi::OsString>,
    },
}

#[derive(Debug, Subcommand)]
pub(crate) enum Memory {
    /// Store a memory
    Add {
        title: String,
        /// Text; "-" reads stdin
        content: String,
        /// Kind of memory
        #[arg(long = "type", value_name = "TYPE", default_value = "note")]
        kind: String,
        #[arg(long, value_name = "WORDS")]
        keywords: Option<String>,
        /// Use it in this project only
        #[arg(long)]
        project: bool,
    },
    /// List all memories
    List {
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Search by words
    Search {
        #[arg(required = true)]
        words: Vec<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Store each Markdown file of a folder as a memory
    Import { dir: std::path::PathBuf },
    /// Remove a memory
    Rm {
        /// Its id or the beginning of it
        id: String,
    },
}
