//! Determines which arguments of a command are files, and what happens to them.
//!
//! A table of programs. Of a program that is not in it nothing is known: its
//! arguments may be files, and it may change them (`FileRole::Any`).

use super::ShellCommand;
use super::arguments::{Arguments, values_of};
use super::words::ShellWord;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileRole {
    Read,
    /// Created or changed.
    Write,
    /// Removed, or moved away.
    Remove,
    /// Another name for the file is made; a write to it is a write to the file.
    Alias,
    /// Named to a program we do not know.
    Any,
}

/// How much is reached through the named path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum FileReach {
    One,
    /// The names in a directory.
    Listing,
    /// Everything below a directory whose name fits one of the patterns; no pattern fits all.
    Below {
        names: Vec<String>,
        hidden: bool,
    },
    /// A directory that is replaced or filled as a whole.
    Replaced,
}

impl FileReach {
    /// All that is below a directory, if the path is one.
    pub(crate) fn everything() -> Self {
        Self::Below { names: Vec::new(), hidden: true }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileUse {
    pub word: ShellWord,
    pub role: FileRole,
    pub reach: FileReach,
}

impl FileUse {
    pub(crate) fn one(word: &ShellWord, role: FileRole) -> Self {
        Self { word: word.clone(), role, reach: FileReach::One }
    }
}

/// What becomes of the text a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OutputUse {
    Shown,
    /// May be names of files that another command opens (`$(…)`, `read`).
    PassedOn,
    /// Becomes the arguments of another command (`xargs`).
    Arguments,
}

/// Returns the files a command names, also in a program it is given.
pub(crate) fn uses(command: &ShellCommand, output: OutputUse) -> Vec<FileUse> {
    let mut files = match command.extra.is_empty() {
        true => named(command, output),
        false => {
            let words = command.words.iter().chain(&command.extra).cloned().collect();
            named(&ShellCommand { words, ..command.clone() }, output)
        }
    };
    files.extend(super::embedded::effects(command).files);
    files
}

fn named(command: &ShellCommand, output: OutputUse) -> Vec<FileUse> {
    let Some(name) = command.name() else {
        return command.words.iter().skip(1).map(|word| FileUse::one(word, FileRole::Any)).collect();
    };
    let args = Arguments::of(&command.words[1..], values_of(name));
    match name {
        "echo" | "printf" if output != OutputUse::Shown => args.all(FileRole::Read),
        "echo" | "printf" | "true" | "false" | ":" | "exit" | "return" | "sleep" | "seq" | "pwd" | "whoami" | "id"
        | "uname" | "hostname" | "date" | "which" | "type" | "export" | "declare" | "local" | "readonly" | "set"
        | "unset" | "break" | "continue" | "wait" | "kill" | "yes" | "expr" | "basename" | "dirname" | "umask"
        | "ulimit" | "jobs" | "read" | "shift" | "let" | "alias" | "trap" | "eval" | "tr" | "ps" | "tty" | "nproc"
        | "printenv" | "env" | "sudo" | "doas" | "timeout" | "time" | "nice" | "nohup" | "stdbuf" | "command"
        | "builtin" | "exec" | "watch" | "ionice" | "setsid" | "busybox" | "[[" => Vec::new(),
        "cat" | "tac" | "head" | "tail" | "nl" | "less" | "more" | "most" | "bat" | "batcat" | "wc" | "stat"
        | "file" | "cut" | "paste" | "join" | "comm" | "cmp" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum"
        | "cksum" | "b2sum" | "shasum" | "md5" | "strings" | "od" | "hexdump" | "base64" | "base32" | "column"
        | "fold" | "fmt" | "pr" | "rev" | "expand" | "unexpand" | "realpath" | "readlink" | "test" | "[" | "zcat"
        | "zless" | "bzcat" | "xzcat" | "source" | "." | "diff" | "sdiff" | "colordiff" | "look" | "sum" | "iconv"
        | "tsort" | "lsof" | "view" | "jless" => {
            // Some of these can copy what they show into a file.
            let log =
                args.valued('o', "--output", FileRole::Write).chain(args.valued('O', "--log-file", FileRole::Write));
            let copies = matches!(name, "less" | "more" | "base64" | "base32" | "iconv");
            args.all(FileRole::Read).into_iter().chain(log.filter(|_| copies)).collect()
        }
        "jq" | "yq" | "gron" => {
            let in_place = name == "yq" && args.has('i', &["--inplace", "--in-place"]);
            args.rest(1, if in_place { FileRole::Write } else { FileRole::Read })
        }
        "tree" if args.has('o', &[]) => args.all(FileRole::Write),
        "xargs" => args.valued('a', "--arg-file", FileRole::Read).collect(),
        "ls" | "dir" | "vdir" | "du" | "df" | "tree" | "exa" | "eza" | "lsd" | "cd" | "chdir" | "pushd" => {
            // `ls -A | xargs cat`
            let hidden = args.has('a', &["--all"]) || args.has('A', &["--almost-all"]);
            let opened = name == "ls" && hidden && output == OutputUse::Arguments;
            args.here_if_none(FileRole::Read, if opened { FileReach::everything() } else { FileReach::Listing })
        }
        "grep" | "egrep" | "fgrep" | "zgrep" | "rgrep" | "rg" | "ag" | "ack" | "ugrep" => search(name, &args),
        // `git ls-files -o | xargs cat`: files that git does not know are as good as a search.
        "git" if output == OutputUse::Arguments && lists_untracked(command) => {
            vec![FileUse { word: ShellWord::plain("."), role: FileRole::Read, reach: FileReach::everything() }]
        }
        "find" | "fd" | "fdfind" => find(name, command, &args, output),
        "sed" | "gsed" => {
            let role = if args.has('i', &["--in-place"]) { FileRole::Write } else { FileRole::Read };
            let scripts = usize::from(!args.has('e', &["--expression"]) && !args.has('f', &["--file"]));
            args.rest(scripts, role)
        }
        "awk" | "gawk" | "mawk" | "nawk" => {
            // `-i inplace`
            let role = if args.has('i', &["--include"]) { FileRole::Write } else { FileRole::Read };
            args.rest(usize::from(!args.has('f', &["--file"])), role)
        }
        "sort" | "shuf" => {
            args.all(FileRole::Read).into_iter().chain(args.valued('o', "--output", FileRole::Write)).collect()
        }
        "uniq" | "xxd" => args.last_written(2),
        "tee" | "touch" | "mkdir" | "mkfifo" | "mknod" | "truncate" | "mktemp" | "split" | "csplit" | "ed" | "ex"
        | "vi" | "vim" | "nvim" | "nano" | "emacs" | "patch" | "gzip" | "gunzip" | "bzip2" | "bunzip2" | "xz"
        | "unxz" | "zstd" | "chmod" | "chown" | "chgrp" | "chattr" | "setfacl" | "setfattr" | "sqlite3" | "sqlite"
        | "litecli" | "sqlite-utils" | "duckdb" | "sqlitebrowser" => {
            let addresses = args.operands.iter().filter_map(|word| Some(word.with(word.text.strip_prefix("file:")?)));
            args.all(FileRole::Write)
                .into_iter()
                .chain(addresses.map(|word| FileUse::one(&word, FileRole::Write)))
                .collect()
        }
        "rm" | "rmdir" | "unlink" | "shred" | "trash" | "srm" => args.all(FileRole::Remove),
        "cp" | "scp" if !(args.has('r', &["--recursive", "--archive"]) || args.has('R', &[]) || args.has('a', &[])) => {
            args.copied(FileRole::Read, FileReach::One)
        }
        "install" => args.copied(FileRole::Read, FileReach::One),
        "cp" | "scp" | "rsync" | "ditto" | "rclone" => args.copied(FileRole::Read, FileReach::everything()),
        "mv" | "rename" => args.copied(FileRole::Remove, FileReach::everything()),
        "ln" | "link" => args.copied(FileRole::Alias, FileReach::everything()),
        "dd" => args
            .operands
            .iter()
            .filter_map(|word| match word.text.split_once('=') {
                Some(("if", path)) => Some(FileUse::one(&word.with(path), FileRole::Read)),
                Some(("of", path)) => Some(FileUse::one(&word.with(path), FileRole::Write)),
                _ => None,
            })
            .collect(),
        "tar" | "bsdtar" | "zip" | "unzip" | "7z" | "cpio" => archive(name, command, &args),
        "git" => super::git::files(command),
        "curl" => args
            .valued('o', "--output", FileRole::Write)
            .chain(args.valued('D', "--dump-header", FileRole::Write))
            .chain(args.valued('c', "--cookie-jar", FileRole::Write))
            .chain(args.valued('T', "--upload-file", FileRole::Read))
            .chain(args.valued('\0', "--output-dir", FileRole::Write))
            .chain(args.valued('K', "--config", FileRole::Read))
            .chain(args.valued('\0', "--netrc-file", FileRole::Read))
            .chain(args.valued('\0', "--cacert", FileRole::Read))
            .chain(args.valued('E', "--cert", FileRole::Read))
            .chain(args.named_at_sign())
            .chain(args.file_addresses())
            .collect(),
        "wget" => args
            .valued('O', "--output-document", FileRole::Write)
            .chain(args.valued('o', "--output-file", FileRole::Write))
            .chain(args.valued('a', "--append-output", FileRole::Write))
            .chain(args.valued('P', "--directory-prefix", FileRole::Write))
            .chain(args.valued('i', "--input-file", FileRole::Read))
            .chain(args.valued('\0', "--post-file", FileRole::Read))
            .chain(args.valued('\0', "--body-file", FileRole::Read))
            .chain(args.file_addresses())
            .collect(),
        "go" if args.operands.first().is_some_and(|word| word.text == "env") && args.has('w', &[]) => {
            // The settings of the go command, in the user's configuration.
            vec![FileUse::one(&ShellWord { home: true, ..ShellWord::plain("/.config/go/env") }, FileRole::Write)]
        }
        name if super::wrappers::SHELLS.contains(&name) => {
            // The text of `-c` is read as a script of its own.
            if args.has('c', &[]) { Vec::new() } else { args.all(FileRole::Any) }
        }
        _ => args.everything(),
    }
}

fn search(name: &str, args: &Arguments<'_>) -> Vec<FileUse> {
    let pattern_given = args.has('e', &["--regexp"]) || args.has('f', &["--file", "--files"]);
    let operands: Vec<_> = args.operands.iter().skip(usize::from(!pattern_given)).collect();
    let greps = name.ends_with("grep") && name != "ugrep";
    let recursive =
        !greps || name == "rgrep" || args.has('r', &["--recursive", "--dereference-recursive"]) || args.has('R', &[]);
    if !recursive {
        return operands
            .into_iter()
            .map(|word| FileUse::one(word, FileRole::Read))
            .chain(args.in_options(FileRole::Read))
            .collect();
    }
    let mut names: Vec<String> = args.valued('g', "--glob", FileRole::Read).map(|file| file.word.text).collect();
    names.extend(args.valued('\0', "--include", FileRole::Read).map(|file| file.word.text));
    names.retain(|name| !name.starts_with('!'));
    // ripgrep and its like leave out hidden and ignored files unless they are told not to.
    let shows_all =
        greps || args.has('u', &["--hidden", "--no-ignore", "--unrestricted", "--no-ignore-vcs"]) || args.has('.', &[]);
    let reach = FileReach::Below { hidden: shows_all || !names.is_empty(), names };
    let here = ShellWord::plain(".");
    let operands = if operands.is_empty() { vec![&here] } else { operands.into_iter().copied().collect() };
    operands
        .into_iter()
        .map(|word| FileUse { word: word.clone(), role: FileRole::Read, reach: reach.clone() })
        .collect()
}

fn find(name: &str, command: &ShellCommand, args: &Arguments<'_>, output: OutputUse) -> Vec<FileUse> {
    let words = &command.words[1..];
    let has = |flags: &[&str]| words.iter().any(|word| flags.contains(&word.text.as_str()));
    let runs = has(&["-exec", "-execdir", "-ok", "-okdir", "-x", "-X", "--exec", "--exec-batch"]);
    let removes = has(&["-delete"]) || (runs && has(&["rm", "rmdir", "unlink", "shred", "mv"]));
    let mut names: Vec<String> = Vec::new();
    for pair in words.windows(2) {
        if matches!(pair[0].text.as_str(), "-name" | "-iname" | "-path" | "-ipath" | "-wholename") {
            names.push(pair[1].text.rsplit('/').next().unwrap_or_default().to_owned());
        }
    }
    let starts: Vec<&ShellWord> = match name {
        "find" => {
            words.iter().take_while(|word| !word.is_option() && !matches!(word.text.as_str(), "(" | "!")).collect()
        }
        _ => args.operands.iter().skip(1).copied().collect(),
    };
    let here = ShellWord::plain(".");
    let starts = if starts.is_empty() { vec![&here] } else { starts };
    let only_folders = words.windows(2).any(|pair| pair[0].text == "-type" && pair[1].text == "d");
    let sees_hidden = name == "find" || has(&["-H", "-u", "--hidden", "--unrestricted"]);
    // What is found is opened by another command: `find . -type f | xargs cat`.
    let opened = match output {
        OutputUse::Shown => false,
        OutputUse::PassedOn => !names.is_empty(),
        OutputUse::Arguments => !names.is_empty() || (!only_folders && sees_hidden),
    };
    let (role, reach) = match (removes, runs || opened) {
        (true, _) => (FileRole::Remove, FileReach::Below { names, hidden: true }),
        (false, true) => (FileRole::Read, FileReach::Below { names, hidden: true }),
        (false, false) => (FileRole::Read, FileReach::Listing),
    };
    let mut files: Vec<_> =
        starts.into_iter().map(|word| FileUse { word: word.clone(), role, reach: reach.clone() }).collect();
    for flag in ["-fprint", "-fprint0", "-fprintf", "-fls"] {
        files.extend(
            words.windows(2).filter(|pair| pair[0].text == flag).map(|pair| FileUse::one(&pair[1], FileRole::Write)),
        );
    }
    files
}

fn lists_untracked(command: &ShellCommand) -> bool {
    let mut words = command.words.iter().map(|word| word.text.as_str()).skip_while(|word| *word != "ls-files");
    words.next().is_some()
        && words
            .any(|word| word == "--others" || (word.starts_with('-') && !word.starts_with("--") && word.contains('o')))
}

/// A command that prints the names of the files below some directories.
pub(crate) struct FileWalk {
    pub starts: Vec<ShellWord>,
    /// Patterns of names; none means all.
    pub names: Vec<String>,
    /// Patterns of paths that are left out.
    pub skipped: Vec<String>,
    /// Only folders are printed.
    pub folders: bool,
}

pub(crate) fn walk(command: &ShellCommand) -> Option<FileWalk> {
    let words = command.words.get(1..)?;
    let here = || vec![ShellWord::plain(".")];
    match command.name()? {
        "find" => {
            let is_test = |word: &ShellWord| word.is_option() || matches!(word.text.as_str(), "(" | "!" | "\\(");
            let starts: Vec<ShellWord> = words.iter().take_while(|word| !is_test(word)).cloned().collect();
            let (mut names, mut skipped) = (Vec::new(), Vec::new());
            for (at, pair) in words.windows(2).enumerate() {
                let before = at.checked_sub(1).map_or("", |at| words[at].text.as_str());
                let after = words.get(at + 2).map_or("", |word| word.text.as_str());
                let left_out = matches!(before, "!" | "-not") || after == "-prune";
                let pattern = pair[1].text.as_str();
                match (pair[0].text.as_str(), left_out) {
                    ("-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename", true) => {
                        skipped.push(pattern.to_owned());
                    }
                    ("-name" | "-iname", false) => names.push(pattern.to_owned()),
                    ("-path" | "-ipath" | "-wholename" | "-iwholename", false) => {
                        names.push(pattern.rsplit('/').next().unwrap_or_default().to_owned());
                    }
                    _ => {}
                }
            }
            let folders = words.windows(2).any(|pair| pair[0].text == "-type" && pair[1].text == "d");
            Some(FileWalk { starts: if starts.is_empty() { here() } else { starts }, names, skipped, folders })
        }
        "fd" | "fdfind"
            if words.iter().any(|word| matches!(&*word.text, "-H" | "-u" | "--hidden" | "--unrestricted")) =>
        {
            let starts: Vec<ShellWord> = words.iter().filter(|word| !word.is_option()).skip(1).cloned().collect();
            let starts = if starts.is_empty() { here() } else { starts };
            Some(FileWalk { starts, names: Vec::new(), skipped: Vec::new(), folders: false })
        }
        "git" if words.first().is_some_and(|word| word.text == "ls-files") => {
            let names = words[1..].iter().filter(|word| !word.is_option());
            let names = names.map(|word| word.text.rsplit('/').next().unwrap_or_default().to_owned()).collect();
            Some(FileWalk { starts: here(), names, skipped: Vec::new(), folders: false })
        }
        _ => None,
    }
}

fn archive(name: &str, command: &ShellCommand, args: &Arguments<'_>) -> Vec<FileUse> {
    let mode = command.words.get(1).map_or("", |word| word.text.as_str());
    let bundled = !mode.starts_with('-');
    let has = |letter: char, long: &[&str]| {
        args.has(letter, long) || (name.ends_with("tar") && bundled && mode.contains(letter))
    };
    let packs = name == "zip" || has('c', &["--create"]) || has('r', &["--append"]) || has('u', &["--update"]);
    let unpacks = name == "unzip" || has('x', &["--extract", "--get"]);
    let mut files = Vec::new();
    if unpacks {
        let into: Vec<_> = args
            .valued('C', "--directory", FileRole::Write)
            .chain(args.valued('d', "--dir", FileRole::Write))
            .collect();
        let into = if into.is_empty() { vec![FileUse::one(&ShellWord::plain("."), FileRole::Write)] } else { into };
        files.extend(into.into_iter().map(|file| FileUse { reach: FileReach::Replaced, ..file }));
    }
    // Which operand is the archive depends on the order of the options; all may be.
    let role = if packs { FileRole::Any } else { FileRole::Read };
    let reach = if packs { FileReach::Below { names: Vec::new(), hidden: true } } else { FileReach::One };
    let operands: Vec<&ShellWord> =
        args.operands.iter().skip(usize::from(name.ends_with("tar") && bundled)).copied().collect();
    let dirs: Vec<ShellWord> = args.valued('C', "--directory", FileRole::Read).map(|file| file.word).collect();
    for dir in dirs.iter().filter(|_| packs) {
        for word in operands.iter().filter(|word| !word.home && !word.text.starts_with('/')) {
            let text = format!("{}/{}", dir.text, word.text);
            let below =
                ShellWord { text, glob: dir.glob || word.glob, derived: dir.derived || word.derived, ..dir.clone() };
            files.push(FileUse { word: below, role: FileRole::Read, reach: reach.clone() });
        }
    }
    files.extend(operands.into_iter().map(|word| FileUse { word: word.clone(), role, reach: reach.clone() }));
    files.extend(args.valued('f', "--file", if packs { FileRole::Write } else { FileRole::Read }));
    files
}

/// Returns whether a word could be meant as a path at all.
pub(crate) fn looks_like_path(word: &ShellWord) -> bool {
    let text = word.text.as_str();
    let path = text.starts_with(['/', '~']) || text == ".." || text.starts_with("../") || text.contains("/..");
    word.home || (path && !is_web_address(text))
}

pub(super) fn is_web_address(text: &str) -> bool {
    text.split_once("://").is_some_and(|(scheme, _)| !scheme.eq_ignore_ascii_case("file"))
}
