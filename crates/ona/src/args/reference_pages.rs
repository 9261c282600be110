//! `ona completions SHELL` and `ona man`: files for shells and for `man`, from the definitions that
//! parse the command line and print its help. What help hides is in neither, except the modes, which
//! help describes in its first lines.

use super::help::{Detail, unknown_command};
use super::{Wrong, command};
use crate::output;
use clap::Command;
use clap::builder::{Resettable, Str};
use clap_complete::Shell;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};
use ona_api::environment::{self, VariableGroup};
use ona_runtime::Failure;
use std::io;
use std::path::Path;

pub(super) const COMPLETIONS: &str = "\
To install them:
  bash  ona completions bash > ~/.local/share/bash-completion/completions/ona
  zsh   ona completions zsh > DIR/_ona, where DIR is in $fpath before compinit
  fish  ona completions fish > ~/.config/fish/completions/ona.fish";

pub(super) const MAN: &str = "\
To look at a page:      ona man db check | man -l -
To install all of them: ona man --dir ~/.local/share/man/man1";

/// Prints the script that completes command lines of ona in a shell.
pub(crate) fn print_completions(shell: Shell) {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut visible(), "ona", &mut script);
    output::line(String::from_utf8_lossy(&script).trim_end());
}

/// Prints the page of one command, or writes the pages of all commands below a folder.
pub(crate) fn man(topic: &[String], dir: Option<&Path>) -> Result<u8, Wrong> {
    let Some(dir) = dir else {
        let all = visible();
        let mut command = &all;
        for word in topic {
            command = command.find_subcommand(word).ok_or_else(|| unknown_command(word, word))?;
        }
        output::line(String::from_utf8_lossy(&page(command)).trim_end());
        return Ok(0);
    };
    let failed = |path: &Path, error: io::Error| Failure::refused(format_args!("{error}: {}", path.display()));
    std::fs::create_dir_all(dir).map_err(|error| failed(dir, error))?;
    let mut pages = Vec::new();
    collect(&visible(), &mut pages);
    for (name, text) in &pages {
        let path = dir.join(name);
        std::fs::write(&path, text).map_err(|error| failed(&path, error))?;
    }
    output::line(format_args!("{} pages were written to {}", pages.len(), dir.display()));
    Ok(0)
}

fn collect(command: &Command, pages: &mut Vec<(String, Vec<u8>)>) {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    pages.push((format!("{name}.1"), page(command)));
    command.get_subcommands().for_each(|below| collect(below, pages));
}

fn page(command: &Command) -> Vec<u8> {
    let mut text = Vec::new();
    let source = format!("ona {}", env!("CARGO_PKG_VERSION"));
    let written = Man::new(command.clone()).source(source).render(&mut text);
    let written = written.and_then(|()| match command.get_name() {
        "ona" => variables().to_writer(&mut text),
        _ => Ok(()),
    });
    written.expect("a vector takes everything");
    text
}

/// The variables people set; those that are set for children are in `ona help environment`.
fn variables() -> Roff {
    let mut roff = Roff::new();
    roff.control("SH", ["ENVIRONMENT"]);
    let groups = [VariableGroup::Control, VariableGroup::Provider];
    for variable in environment::ALL.iter().filter(|variable| groups.contains(&variable.group())) {
        roff.control("TP", []).text([bold(variable.name())]).text([roman(variable.meaning())]);
    }
    roff.control("PP", []).text([roman("All of them: ona help environment")]);
    roff
}

/// Flags that help describes in its first lines instead of in a list.
const MODES: [&str; 5] = ["print", "eval", "fire_hook", "transition", "hook_schema"];

/// The commands and flags that people are shown.
fn visible() -> Command {
    let mut all = command(Detail::Full);
    all.build();
    copy(&all)
}

/// The generators look at hidden arguments, too, so a command is made that has none.
fn copy(command: &Command) -> Command {
    let shown = command.get_arguments().filter(|arg| !arg.is_hide_set() || MODES.contains(&arg.get_id().as_str()));
    // Whether a flag may stand behind a subcommand was decided when `command` was built. A conflict may
    // be one with a hidden flag.
    let shown = shown
        .map(|arg| arg.clone().hide(false).hide_possible_values(false).global(false).conflicts_with(Resettable::Reset));
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    Command::new(command.get_name().to_owned())
        .bin_name(command.get_bin_name().unwrap_or_else(|| command.get_name()).to_owned())
        .display_name(name.to_owned())
        .disable_help_flag(true)
        .disable_version_flag(true)
        .disable_help_subcommand(true)
        .subcommand_help_heading("COMMANDS")
        .args(shown)
        .subcommands(command.get_subcommands().filter(|below| !below.is_hide_set()).map(copy))
        .about(Resettable::from(command.get_about().cloned()))
        .long_about(Resettable::from(command.get_long_about().cloned()))
        .after_help(Resettable::from(command.get_after_help().cloned()))
        .override_usage(Resettable::from(command.get_overridden_usage().cloned()))
        .version(Resettable::from(command.get_version().map(|version| Str::from(version.to_owned()))))
}
