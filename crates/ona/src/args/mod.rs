//! The command line: names, help, and what excludes what. It decides nothing else.

mod commands;
mod environment;
mod help;
mod honoured;
mod options;
mod reference_pages;

pub(crate) use commands::{
    Audit, AuditFormat, Auth, Command, Config, ConfigScope, Conversations, Db, ExportFormat, Gastown, LoginOptions,
    Memory, Plan, Plugin, Rewind, Sandbox, Sessions, Settings, Worktree,
};
pub(crate) use help::show as show_help;
pub(crate) use options::{Options, OutputFormat, PermissionPrompts};
pub(crate) use reference_pages::{man, print_completions};

use crate::flags;
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser};
use clap_complete::Shell;
use help::Detail;
use ona_runtime::Failure;
use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;

/// A coding agent for the terminal; every tool call passes hooks and rules
#[derive(Debug, Parser)]
#[command(
    name = "ona",
    version,
    help_template = help::TEMPLATE,
    after_help = help::AFTER,
    override_usage = "ona [OPTIONS] [PROMPT]\n       ona [OPTIONS] -p PROMPT\n       ona [OPTIONS] COMMAND",
    max_term_width = 100,
    disable_help_subcommand = true
)]
struct Args {
    #[command(flatten)]
    action: Action,

    #[command(flatten)]
    options: Options,

    /// The prompt, for -p
    #[arg(value_name = "PROMPT", hide = true)]
    prompt: Option<String>,

    /// The version of the stream-json protocol, then our own: programs that drive ona ask for it
    #[arg(short = 'v', hide = true)]
    protocol_version: bool,

    #[command(subcommand)]
    command: Option<FirstWord>,
}

/// Beside the commands: what needs neither a project nor a database.
#[derive(Debug, clap::Subcommand)]
enum FirstWord {
    #[command(flatten)]
    Command(Command),
    /// Show help of a command, or variables: ona help environment
    Help {
        /// Names of a command, such as: db check
        #[arg(value_name = "COMMAND")]
        topic: Vec<String>,
        /// Machine-readable output, for `environment`
        #[arg(long)]
        json: bool,
    },
    /// Print a script that completes command lines of ona in a shell
    #[command(after_help = reference_pages::COMPLETIONS)]
    Completions { shell: Shell },
    /// Print the manual page of ona or a command, or write them all
    #[command(after_help = reference_pages::MAN)]
    Man {
        /// Names of a command, such as: db check
        #[arg(value_name = "COMMAND", conflicts_with = "dir")]
        topic: Vec<String>,
        /// Write the pages of all commands to this folder
        #[arg(long, value_name = "DIR")]
        dir: Option<PathBuf>,
    },
}

/// What the command line asks for.
pub(crate) enum Task {
    Help {
        topic: Vec<String>,
        json: bool,
    },
    Completions(Shell),
    Man {
        topic: Vec<String>,
        dir: Option<PathBuf>,
    },
    HookSchema,
    ProtocolVersion,
    /// Something that needs a project and its database.
    Job(Job),
}

pub(crate) enum Job {
    /// No mode and no command: the interactive terminal, with a first prompt.
    Terminal {
        prompt: Option<String>,
    },
    /// `-p`: the prompt beside the flag, and the one that stands alone.
    Print {
        flag: Option<String>,
        argument: Option<String>,
    },
    Eval(String),
    FireHook(String),
    Transition(String),
    Command(Command),
}

/// The modes. The help's first lines describe them, so clap hides them.
#[derive(Debug, clap::Args)]
#[group(multiple = false)]
struct Action {
    /// Answer a prompt and exit; the prompt is the argument, stdin, or both
    #[arg(short, long, value_name = "PROMPT", num_args = 0..=1, default_missing_value = "", hide = true)]
    print: Option<String>,

    /// Run one tool call through hooks, gate, rules and execution; "-" reads calls from stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, hide = true)]
    eval: Option<String>,

    /// Run the hooks of one event and print the result; "-" reads stdin
    #[arg(long, value_name = "JSON", allow_hyphen_values = true, hide = true)]
    fire_hook: Option<String>,

    /// Move a conversation to another phase (needs --conversation)
    #[arg(long, value_name = "PHASE", hide = true)]
    transition: Option<String>,

    /// Print the contracts of the 27 hook events as JSON
    #[arg(long, hide = true)]
    hook_schema: bool,
}

/// Why the command line is not carried out.
pub(crate) enum Wrong {
    /// Help, version, or a mistake that clap describes.
    Clap(clap::Error),
    Failure(Failure),
}

impl From<Failure> for Wrong {
    fn from(failure: Failure) -> Self {
        Wrong::Failure(failure)
    }
}

/// Reads a command line, the program's name first.
pub(crate) fn parse(words: Vec<OsString>) -> Result<(Task, Options), Wrong> {
    let words = own_short_flags(words);
    // Both spellings show the same flags in subcommands; at the top `-h` is the short list.
    let detail = if words.iter().any(|word| word == "-h") { Detail::Short } else { Detail::Full };
    let matches = match command(detail).try_get_matches_from(&words) {
        Ok(matches) => matches,
        Err(error) => return Err(explain(error, words)),
    };
    let args = Args::from_arg_matches(&matches).map_err(Wrong::Clap)?;
    // One word is a mistyped command rather than a prompt.
    if let Some(word) = args.prompt.as_deref().filter(|word| !args.prints() && !word.contains(char::is_whitespace)) {
        return Err(help::unknown_command(word, word).into());
    }
    if let Some(mode) = args.mode(&matches) {
        honoured::check(&mode, &matches)?;
    }
    if args.prints() && args.command.is_some() {
        let failure = Failure::usage("-p cannot be used with a command");
        let hint = "a prompt that is the name of a command goes right after the flag: ona -p 'PROMPT'";
        return Err(failure.hint(hint).into());
    }
    Ok(args.task())
}

/// `ona mcp add -e NAME=VALUE`, which people know from the compatible product, means --env; everywhere else
/// -e is --extension.
fn own_short_flags(mut words: Vec<OsString>) -> Vec<OsString> {
    let Some(at) = words.windows(2).position(|pair| pair[0] == "mcp" && pair[1] == "add") else { return words };
    for word in words[at + 2..].iter_mut().take_while(|word| *word != "--") {
        if let Some(rest) = word.to_str().and_then(|word| word.strip_prefix("-e")) {
            *word = if rest.is_empty() { "--env".into() } else { format!("--env={rest}").into() };
        }
    }
    words
}

fn command(detail: Detail) -> clap::Command {
    let command = Args::command();
    let names: Vec<String> = command.get_subcommands().map(|one| one.get_name().to_owned()).collect();
    let command = names
        .into_iter()
        .fold(command, |command, name| command.mut_subcommand(name, |command| command.defer(honoured::hide_unused)));
    match detail {
        Detail::Full => command,
        Detail::Short => command.mut_args(|arg| {
            let rare = arg.get_help_heading().is_some();
            let hidden = arg.is_hide_set() || rare;
            arg.hide(hidden)
        }),
    }
}

/// A sentence of our own for what clap would describe less well.
fn explain(error: clap::Error, words: Vec<OsString>) -> Wrong {
    if !error.use_stderr() {
        return Wrong::Clap(error);
    }
    if let Some(failure) = flags::refusal(&error) {
        return failure.into();
    }
    // A mistyped command is read as a prompt, and what follows it as a mistake.
    let texts: Vec<_> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let guessed = Args::command().ignore_errors(true).try_get_matches_from(words);
    if let Ok(matches) = guessed
        && let Ok(args) = Args::from_arg_matches(&matches)
        && let Some(word) = args.prompt.as_deref()
        && args.mode(&matches).is_none_or(|mode| mode == honoured::TERMINAL)
    {
        // It may have been meant as a prompt without quotes.
        let from_word = texts.iter().map(String::as_str).skip_while(|text| *text != word);
        let phrase = from_word.take_while(|text| !text.starts_with('-')).collect::<Vec<_>>().join(" ");
        return help::unknown_command(word, &phrase).into();
    }
    Wrong::Clap(error)
}

impl Args {
    fn task(self) -> (Task, Options) {
        let prints = self.prints();
        let Action { print, eval, fire_hook, transition, hook_schema } = self.action;
        let task = match (eval, fire_hook, transition, self.command) {
            _ if hook_schema => Task::HookSchema,
            _ if self.protocol_version => Task::ProtocolVersion,
            _ if prints => Task::Job(Job::Print { flag: print, argument: self.prompt }),
            (Some(call), ..) => Task::Job(Job::Eval(call)),
            (_, Some(event), ..) => Task::Job(Job::FireHook(event)),
            (_, _, Some(phase), _) => Task::Job(Job::Transition(phase)),
            (_, _, _, Some(FirstWord::Command(command))) => Task::Job(Job::Command(command)),
            (_, _, _, Some(FirstWord::Help { topic, json })) => Task::Help { topic, json },
            (_, _, _, Some(FirstWord::Completions { shell })) => Task::Completions(shell),
            (_, _, _, Some(FirstWord::Man { topic, dir })) => Task::Man { topic, dir },
            (None, None, None, None) => Task::Job(Job::Terminal { prompt: self.prompt }),
        };
        (task, self.options)
    }

    /// Whether this is a run of `-p`, also where another flag implies it.
    fn prints(&self) -> bool {
        self.action.print.is_some() || self.options.streams_in() || self.options.init_only
    }

    /// The mode or the command, as `honoured` names it.
    fn mode(&self, matches: &ArgMatches) -> Option<String> {
        let action = &self.action;
        let mode = match () {
            () if self.prints() => "-p",
            () if action.eval.is_some() => "--eval",
            () if action.fire_hook.is_some() => "--fire-hook",
            () if action.transition.is_some() => "--transition",
            () if action.hook_schema => "--hook-schema",
            () if self.command.is_none() => honoured::TERMINAL,
            () => return command_path(matches),
        };
        Some(mode.to_owned())
    }
}

/// Reads a number. What clap says by itself is about digits in strings.
fn number<T: FromStr>(text: &str) -> Result<T, &'static str> {
    text.parse().map_err(|_| "it must be a whole number in range")
}

/// The names of the command, as in `db check`.
fn command_path(matches: &ArgMatches) -> Option<String> {
    let (name, mut below) = matches.subcommand()?;
    let mut path = name.to_owned();
    while let Some((name, next)) = below.subcommand() {
        path = format!("{path} {name}");
        below = next;
    }
    Some(path)
}

#[cfg(test)]
mod tests;
