//! git: finds its subcommand, and which arguments are files.

use super::ShellCommand;
use super::arguments::Arguments;
use super::files::{FileReach, FileRole, FileUse};
use super::words::ShellWord;

/// A git command taken apart.
pub(super) struct Git<'a> {
    pub globals: &'a [ShellWord],
    pub subcommand: &'a str,
    pub arguments: &'a [ShellWord],
    /// `-C` directories.
    pub dirs: Vec<&'a ShellWord>,
}

impl<'a> Git<'a> {
    pub(crate) fn of(command: &'a ShellCommand) -> Option<Self> {
        let words = command.words.get(1..)?;
        let mut at = 0;
        let mut dirs = Vec::new();
        while let Some(word) = words.get(at).filter(|word| word.is_option()) {
            let takes_next = matches!(
                word.text.as_str(),
                "-C" | "-c"
                    | "--git-dir"
                    | "--work-tree"
                    | "--namespace"
                    | "--exec-path"
                    | "--config-env"
                    | "--super-prefix"
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

pub(super) fn files(command: &ShellCommand) -> Vec<FileUse> {
    let Some(git) = Git::of(command) else { return Vec::new() };
    let args = Arguments::of(git.arguments, "mF");
    let (role, reach) = match git.subcommand {
        "checkout" | "restore" | "apply" | "clone" | "init" | "worktree" | "reset" | "clean" | "stash" | "bundle"
        | "submodule" => (FileRole::Write, FileReach::Replaced),
        "rm" | "mv" => (FileRole::Remove, FileReach::One),
        _ => (FileRole::Read, FileReach::One),
    };
    let mut files = Vec::new();
    let mut add = |word: &ShellWord, role: FileRole| {
        files.push(FileUse { word: word.clone(), role, reach: reach.clone() });
        for dir in &git.dirs {
            let below = ShellWord { text: format!("{}/{}", dir.text, word.text), ..(*dir).clone() };
            files.push(FileUse { word: below, role, reach: reach.clone() });
        }
    };
    for word in &args.operands {
        add(word, role);
        // `HEAD:path`
        if let Some((_, path)) = word.text.split_once(':').filter(|_| !word.text.contains("://")) {
            add(&word.with(path), FileRole::Read);
        }
    }
    if git.subcommand == "mv"
        && let Some(target) = args.operands.last()
    {
        add(target, FileRole::Write);
    }
    if git.subcommand == "grep" && args.operands.len() < 2 {
        let reach = FileReach::Below { names: Vec::new(), hidden: true };
        files.push(FileUse { word: ShellWord::plain("."), role: FileRole::Read, reach });
    }
    for dir in &git.dirs {
        files.push(FileUse { word: (*dir).clone(), role: FileRole::Read, reach: FileReach::Listing });
    }
    files.extend(args.valued('o', "--output", FileRole::Write));
    files.extend(args.valued('F', "--file", FileRole::Read));
    if git.subcommand == "config" {
        files.extend(args.valued('f', "--file", FileRole::Write));
    }
    files.extend(args.in_options(FileRole::Read));
    files
}

/// Returns the argument by which a git command runs a program or writes a file of the caller's choice.
pub(super) fn danger(command: &ShellCommand) -> Option<String> {
    let git = Git::of(command)?;
    const GLOBAL: [&str; 8] =
        ["-c", "--exec-path", "--config-env", "--git-dir", "--work-tree", "--namespace", "--attr-source", "-C"];
    if let Some(word) = git.globals.iter().find(|word| is_option(word, &GLOBAL)) {
        return Some(word.text.clone());
    }
    let first = git.arguments.first().map_or("", |word| word.text.as_str());
    match (git.subcommand, first) {
        (
            "difftool" | "mergetool" | "instaweb" | "filter-branch" | "daemon" | "send-email" | "shell" | "fast-import",
            _,
        ) => {
            return Some(git.subcommand.to_owned());
        }
        ("bisect", "run") | ("submodule", "foreach") => return Some(format!("{} {first}", git.subcommand)),
        ("config", _) => return config(git.arguments),
        _ => {}
    }
    // In any subcommand, and those that only some have.
    const ANYWHERE: [&str; 7] =
        ["--receive-pack", "--upload-pack", "--exec", "--extcmd", "--open-files-in-pager", "--ext-diff", "--output"];
    let here: &[&str] = match git.subcommand {
        "clone" => &["-u", "-c", "--config", "--template"],
        "init" => &["--template"],
        "rebase" => &["-x"],
        "grep" => &["-O"],
        "archive" => &["-o", "--remote"],
        _ => &[],
    };
    let runs =
        |word: &&ShellWord| is_option(word, &ANYWHERE) || is_option(word, here) || word.text.starts_with("ext::");
    git.arguments.iter().find(runs).map(|word| word.text.clone())
}

/// Long options may be cut short, short ones may have their value glued to them.
fn is_option(word: &ShellWord, options: &[&str]) -> bool {
    let text = word.text.split('=').next().unwrap_or_default();
    options.iter().any(|option| match option.starts_with("--") {
        true => *option == text || (text.len() > 3 && text.starts_with("--") && option.starts_with(text)),
        false => word.text.starts_with(option) && !word.text.starts_with("--"),
    })
}

/// Settings by which git runs programs are most of them; those it does not are listed.
fn config(arguments: &[ShellWord]) -> Option<String> {
    const HARMLESS: [&str; 7] =
        ["user.", "color.", "branch.", "init.defaultbranch", "pull.rebase", "push.default", "commit.gpgsign"];
    let key = arguments.iter().find(|word| word.text.contains('.') && !word.is_option())?;
    let lower = key.text.to_ascii_lowercase();
    let sets = arguments.len() > 1 || arguments.iter().any(|word| matches!(word.text.as_str(), "-e" | "--edit"));
    (sets && !HARMLESS.iter().any(|safe| lower.starts_with(safe))).then(|| key.text.clone())
}
