//! The command line of `ona hooks`.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

const FIXTURES: &str = r#"A fixture is a JSON file with an event and the expected decision of the
hooks, or an array of them:

  {"name": "a force push is refused", "event": "PreToolUse",
   "payload": {"tool_name": "Bash", "tool_input": {"command": "git push -f"}},
   "expect": {"decision": "deny", "message": "force"}}

"expect" may hold: decision (allow, ask, deny, none), message and context (a
part of the text), input (of the tool afterwards), continue (true, false), ran
(number of hooks that ran). `ona --hook-schema` lists events and fields.

Exit codes: 0 all as expected, 1 a difference was found, 2 a fixture or the
configuration cannot be read."#;

const EXPLAIN: &str = "\
Ids are in the table transcript_entries and in the messages of
--output-format stream-json.";

const LINT: &str = "\
Exit codes: 0 no findings, 1 findings, 2 the configuration cannot be read.";

const REPLAY: &str = "\
Compares only what hooks decide before a tool runs: whether the call is denied,
and the input it would run with. The tools themselves do not run, and nothing
is recorded.

Exit codes: 0 all calls would be decided as before, 1 a call would not, 2 the
session does not exist.";

const IMPORT: &str = "\
Hooks without a counterpart in ona are named on stderr and not imported.";

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// List the hooks in the order they run, and those that do not run
    List {
        /// Only hooks of this event
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
        /// Include the hooks that skills added to this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// Include those of the session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the TypeScript declarations for hook modules
    Types,
    /// Show which hooks and rules decided a recorded call
    #[command(after_help = EXPLAIN)]
    Explain {
        /// Id of the call (tool_use_id) or the beginning of it [default: the last call of this project]
        call: Option<String>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run hooks on fixtures and compare their decisions; no model is used
    #[command(after_help = FIXTURES)]
    Test {
        /// Fixture files or folders
        #[arg(required = true, value_name = "FILE|DIR")]
        fixtures: Vec<PathBuf>,
        /// Use the hooks of this file instead: settings, a --hooks-config or a MassGen configuration
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Format of the report
        #[arg(long, value_enum, default_value_t = Report::Tap)]
        format: Report,
        /// Same as --format json
        #[arg(long, conflicts_with = "format")]
        json: bool,
    },
    /// Find hooks that cannot work as written
    #[command(after_help = LINT)]
    Lint {
        /// Check this file instead of the effective settings
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Run the current hooks on the calls of a recorded session and show the differences
    #[command(after_help = REPLAY)]
    Replay {
        /// Its id or the beginning of it
        #[arg(required_unless_present = "last")]
        session: Option<String>,
        /// The session of this project that was used last
        #[arg(long, conflicts_with = "session")]
        last: bool,
        /// Use the hooks of this file instead: settings, a --hooks-config or a MassGen configuration
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Translate the hooks of another program into settings for ona
    #[command(after_help = IMPORT)]
    Import {
        /// Program they were written for
        #[arg(long, value_enum)]
        from: Foreign,
        /// Its settings file [default: the usual place]
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Write them to .ona/settings.json of this project instead of printing them
        #[arg(long)]
        write: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Report {
    Tap,
    Junit,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Foreign {
    Claude,
    Codex,
    Gemini,
}
