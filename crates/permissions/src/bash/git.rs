//! git: where its subcommand stands, and which arguments are files.

use super::Command;
use super::arguments::Arguments;
use super::files::{FileUse, Reach, Role};
use super::words::Word;

/// A git command taken apart.
pub(super) struct Git<'a> {
    pub globals: &'a [Word],
    pub subcommand: &'a str,
    pub arguments: &'a [Word],
    /// `-C` directories.
    pub dirs: Vec<&'a Word>,
}

impl<'a> Git<'a> {
    pub fn of(command: &'a Command) -> Option<Self> {
        let words = command.words.get(1..)?;
        let mut at = 0;
        let mut dirs = Vec::new();
        while let Some(word) = words.get(at).filter(|word| word.is_option()) {
            let takes_next = matches!(
                word.text.as_str(),
                "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path" | "--config-env" | "--super-prefix"
            );
            if word.text == "-C" {
                dirs.extend(words.get(at + 1));
            }
            at += 1 + usize::from(takes_next);
        }
        let at = at.min(words.len());
        let subcommand = words.get(at).map_or("", |word| word.text.as_str());
        let arguments = words.get(at + 1..).unwrap_or_default();
        Some(Self { globals: &words[..at], subcommand, arguments, dirs })
    }
}

pub(super) fn files(command: &Command) -> Vec<FileUse> {
    let Some(git) = Git::of(command) else { return Vec::new() };
    let args = Arguments::of(git.arguments, "mF");
    let (role, reach) = match git.subcommand {
        "checkout" | "restore" | "apply" | "clone" | "init" | "worktree" | "reset" | "clean" | "stash" => {
            (Role::Write, Reach::Replaced)
        }
        "rm" | "mv" => (Role::Remove, Reach::One),
        _ => (Role::Read, Reach::One),
    };
    let mut files = Vec::new();
    let mut add = |word: &Word, role: Role| {
        files.push(FileUse { word: word.clone(), role, reach: reach.clone() });
        for dir in &git.dirs {
            let below = Word { text: format!("{}/{}", dir.text, word.text), ..(*dir).clone() };
            files.push(FileUse { word: below, role, reach: reach.clone() });
        }
    };
    for word in &args.operands {
        add(word, role);
        // `HEAD:path`
        if let Some((_, path)) = word.text.split_once(':').filter(|_| !word.text.contains("://")) {
            add(&word.with(path), Role::Read);
        }
    }
    if git.subcommand == "mv" && let Some(target) = args.operands.last() {
        add(target, Role::Write);
    }
    if git.subcommand == "grep" && args.operands.len() < 2 {
        let reach = Reach::Below { names: Vec::new(), hidden: true };
        files.push(FileUse { word: Word::plain("."), role: Role::Read, reach });
    }
    for dir in &git.dirs {
        files.push(FileUse { word: (*dir).clone(), role: Role::Read, reach: Reach::Listing });
    }
    files.extend(args.valued('o', "--output", Role::Write));
    files.extend(args.valued('F', "--file", Role::Read));
    files.extend(args.in_options(Role::Read));
    files
}
