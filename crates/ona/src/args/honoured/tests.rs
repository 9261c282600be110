use super::super::{Args as CommandLine, command};
use super::*;
use clap::CommandFactory;
use std::collections::BTreeSet;

fn ids() -> BTreeSet<String> {
    Options::augment_args(Command::new("ona")).get_arguments().map(|arg| arg.get_id().to_string()).collect()
}

#[test]
fn the_table_names_every_command_and_only_flags_there_are() {
    let mut commands = BTreeSet::new();
    for command in CommandLine::command().get_subcommands() {
        let below: Vec<_> =
            command.get_subcommands().map(|one| format!("{} {}", command.get_name(), one.get_name())).collect();
        commands.extend(if below.is_empty() { vec![command.get_name().to_owned()] } else { below });
    }
    let named: BTreeSet<_> =
        TABLE.iter().map(|row| row.0.to_owned()).filter(|mode| !mode.starts_with('-') && mode != TERMINAL).collect();
    assert_eq!(named, commands);
    let ids = ids();
    let used: BTreeSet<_> = TABLE
        .iter()
        .flat_map(|row| row.1.iter().copied().flatten())
        .chain(DIAGNOSTICS)
        .map(|id| (*id).to_owned())
        .collect();
    assert_eq!(used, ids, "each flag is used somewhere");
}

#[test]
fn clap_accepts_the_whole_command_line() {
    command(super::super::Detail::Full).debug_assert();
}
