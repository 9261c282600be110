//! The words of `ona hooks`.

use clap::{Subcommand, ValueEnum};
use std::path::PathBuf;

const FIXTURES: &str = r#"A fixture is a JSON file with an event and what the hooks are expected to make of it, or an array of them:

  {"name": "a force push is refused", "event": "PreToolUse",
   "payload": {"tool_name": "Bash", "tool_input": {"command": "git push -f"}},
   "expect": {"decision": "deny", "message": "force"}}

"expect" may name decision (allow, ask, deny, none), message and context (a part of the text), input (the tool's
input afterwards), continue (true, false) and ran (how many hooks ran). `ona --hook-schema` lists events and fields.

Exit status: 0 all as expected, 1 something is not, 2 a fixture or the configuration can not be read."#;

const EXPLAIN: &str = "Ids are in the table transcript_entries and in the messages of --output-format stream-json.";

const LINT: &str = "Exit status: 0 nothing was found, 1 something was, 2 the configuration can not be read.";

const REPLAY: &str =
    "Only what hooks decide before a tool runs is compared: whether the call is denied, and with what input it
would run. The tools themselves do not run, and nothing is recorded.

Exit status: 0 all would be decided as they were, 1 something would not, 2 there is no such session.";

const IMPORT: &str = "What has no counterpart here is named on stderr and left out.";

#[derive(Debug, Subcommand)]
pub enum Command {
    /// List the hooks in the order they run, and those that do not
    List {
        /// Only hooks of this event
        #[arg(long, value_name = "EVENT")]
        event: Option<String>,
        /// With the hooks that skills brought into this session
        #[arg(long, value_name = "SESSION")]
        session: Option<String>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the TypeScript declarations for hook modules
    Types,
    /// Show everything that was consulted about a recorded call
    #[command(after_help = EXPLAIN)]
    Explain {
        /// The id of the call (tool_use_id)
        call: String,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Run hooks over fixtures and compare what they decide; no model is asked
    #[command(after_help = FIXTURES)]
    Test {
        /// Fixture files, or folders of them
        #[arg(required = true, value_name = "FILE|DIR")]
        fixtures: Vec<PathBuf>,
        /// Hooks of this file instead of the effective ones: settings, a --hooks-config or a MassGen configuration
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// How to report
        #[arg(long, value_enum, default_value_t = Report::Tap)]
        format: Report,
        /// The same as --format json
        #[arg(long, conflicts_with = "format")]
        json: bool,
    },
    /// Look for hooks that can not do what they were written for
    #[command(after_help = LINT)]
    Lint {
        /// Look at this file instead of the effective settings
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// One JSON array
        #[arg(long)]
        json: bool,
    },
    /// Run today's hooks over the calls of a recorded session and show what would differ
    #[command(after_help = REPLAY)]
    Replay {
        /// The id of the session; `ona sessions list` shows them
        session: String,
        /// Hooks of this file instead of the effective ones: settings, a --hooks-config or a MassGen configuration
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
        /// One JSON object
        #[arg(long)]
        json: bool,
    },
    /// Translate another program's hooks into settings for ona
    #[command(after_help = IMPORT)]
    Import {
        /// The program they were written for
        #[arg(long, value_enum)]
        from: Foreign,
        /// Its settings file; the usual place if not given
        #[arg(value_name = "FILE")]
        file: Option<PathBuf>,
        /// Add them to .ona/settings.json of this project instead of printing them
        #[arg(long)]
        write: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Report {
    Tap,
    Junit,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Foreign {
    Claude,
    Codex,
    Gemini,
}
