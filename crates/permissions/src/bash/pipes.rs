//! Where `xargs` gets its arguments from.
//!
//! An allow rule looks through `xargs`, so it has to know that what comes down
//! the pipe are names of files below the place that was searched. A program
//! that prints what is *in* files could hand over any path.

use super::ShellCommand;
use super::git::Git;
use super::lex::Connector;

/// Returns the command before `xargs` in a pipe whose output may be anything.
pub(crate) fn uncertain_source(commands: &[ShellCommand], at: usize) -> Option<&ShellCommand> {
    if !commands.iter().any(|command| command.of == at && command.name() == Some("xargs")) {
        return None;
    }
    let mut link = commands[at].link;
    for command in commands[..at].iter().rev().filter(|command| command.own) {
        match link {
            Connector::Pipe if lists_files(command) => return None,
            Connector::Pipe if passes_lines(command) => link = command.link,
            Connector::Pipe => return Some(command),
            Connector::Then | Connector::And | Connector::Or => return None,
        }
    }
    None
}

fn lists_files(command: &ShellCommand) -> bool {
    let has = |short: char, long: &str| {
        command.words.iter().any(|word| {
            word.text == long || (word.is_option() && !word.text.starts_with("--") && word.text.contains(short))
        })
    };
    match command.name() {
        Some("find") => !command.words.iter().any(|word| word.text.contains("-printf")),
        Some("fd" | "fdfind" | "ls") => true,
        Some("rg") => has('l', "--files-with-matches") || command.words.iter().any(|word| word.text == "--files"),
        Some("grep" | "egrep" | "fgrep") => has('l', "--files-with-matches") || has('L', "--files-without-match"),
        // Its words are looked at as if they were opened; escapes would hide them.
        Some("echo") => !command.words.iter().any(|word| word.text.contains('\\') || word.is_option()),
        Some("git") => Git::of(command).is_some_and(|git| match git.subcommand {
            "ls-files" => true,
            "diff" | "show" => git.arguments.iter().any(|word| word.text == "--name-only"),
            _ => false,
        }),
        _ => false,
    }
}

/// Keeps, drops or orders lines and changes none.
fn passes_lines(command: &ShellCommand) -> bool {
    let operands =
        command.words.iter().skip(1).filter(|word| !word.is_option() && word.text.parse::<u64>().is_err()).count();
    match command.name() {
        Some("sort" | "uniq" | "head" | "tail") => operands == 0,
        Some("grep" | "egrep" | "fgrep") => {
            operands == 1
                && !command
                    .words
                    .iter()
                    .any(|word| word.is_option() && word.text != "-v" && word.text != "-E" && word.text != "-i")
        }
        _ => false,
    }
}
