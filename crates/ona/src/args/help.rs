//! What `-h`, `--help` and `ona help` show.

use super::{Args, Wrong, environment};
use clap::CommandFactory;
use ona_runtime::Failure;
use std::ffi::OsString;

/// The modes come first; commands and options follow as clap lists them.
pub(super) const TEMPLATE: &str = "\
{about-with-newline}
{usage-heading}
  ona [OPTIONS] [PROMPT]            Open the terminal, with a first prompt
  ona [OPTIONS] -p PROMPT           Answer a prompt, with stdin added to it
  ona [OPTIONS] --eval JSON         Run one tool call through hooks and rules
  ona [OPTIONS] --fire-hook JSON    Run the hooks of one event
  ona [OPTIONS] --transition PHASE  Move a --conversation to another phase
  ona --hook-schema                 Print the contracts of the hook events
  ona [OPTIONS] COMMAND             Run one of the commands below

{all-args}{after-help}";

pub(super) const AFTER: &str = "\
Modes: default (manual), acceptEdits, plan, dontAsk, bypassPermissions.
Exit codes: 0 done, 1 refused or failed, 2 usage, 75 database busy, 130 stopped

ona --help lists all options, ona help COMMAND those of a command, ona help
environment the environment variables. Try it without a key: ona demo";

/// How many of the options help shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Detail {
    /// Those people use every day.
    Short,
    Full,
}

/// `ona help [COMMAND...]`: the same as `ona COMMAND... --help`; `ona help environment`.
pub(crate) fn show(topic: &[String], as_json: bool) -> Result<u8, Wrong> {
    if topic == [environment::TOPIC] {
        environment::print(as_json);
        return Ok(0);
    }
    if as_json {
        let what = format_args!("--json can only be used with `ona help {}`", environment::TOPIC);
        return Err(Failure::usage(what).into());
    }
    let mut command = Args::command();
    for word in topic {
        command = match command.find_subcommand(word) {
            Some(below) => below.clone(),
            None => return Err(unknown_command(word, word).into()),
        };
    }
    let words = std::iter::once("ona").chain(topic.iter().map(String::as_str)).chain(["--help"]);
    match super::parse(words.map(OsString::from).collect()) {
        Err(wrong) => Err(wrong),
        Ok(_) => Ok(0),
    }
}

/// A word where a command was expected; `phrase` is that word and what follows it.
pub(super) fn unknown_command(word: &str, phrase: &str) -> Failure {
    let first_line = |text: &str| ona_permissions::printable(text.lines().next().unwrap_or_default());
    let (shown, prompt) = (first_line(word), first_line(phrase));
    if ["login", "logout"].contains(&word) {
        return Failure::usage(format_args!("unknown command '{shown}'; did you mean 'auth {shown}'?"));
    }
    let command = Args::command();
    let names = command.get_subcommands().map(|one| one.get_name());
    match ona_api::nearest(word, names) {
        Some(name) => Failure::usage(format_args!("unknown command '{shown}'; did you mean '{name}'?")),
        None => Failure::usage(format_args!("unknown command '{shown}'"))
            .hint(format!("ona -p '{prompt}' answers a prompt; ona -h lists the commands")),
    }
}

#[cfg(test)]
mod tests;
