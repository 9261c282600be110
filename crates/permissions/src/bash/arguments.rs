//! The arguments of a command, taken apart into options and operands.
//!
//! Most programs are not known well enough to say which options take a value,
//! so a value may pass for an operand. That names one file too many, never one
//! too few.

use super::files::{self, FileReach, FileRole, FileUse};
use super::words::ShellWord;

/// Short options that take the next word, of programs where that word would be mistaken for a file.
pub(super) fn values_of(name: &str) -> &'static str {
    match name {
        "head" | "tail" => "nc",
        "grep" | "egrep" | "fgrep" | "zgrep" | "rgrep" => "eABCmdD",
        "rg" => "eABCmgtTjMrE",
        "sed" | "gsed" => "e",
        "awk" | "gawk" | "mawk" | "nawk" => "Fv",
        "sort" => "ktSTo",
        "cut" => "dfcb",
        "cp" | "mv" | "install" | "ln" => "SgmoZ",
        "truncate" => "s",
        "curl" => "oDcTXHdFuAebmxKwrEY",
        "wget" => "OoaiUPtTQe",
        "touch" => "dt",
        "mkdir" => "m",
        "jq" => "",
        _ => "",
    }
}

/// The arguments of a command, taken apart without knowing the program.
pub(super) struct Arguments<'a> {
    options: Vec<&'a ShellWord>,
    pub operands: Vec<&'a ShellWord>,
    words: &'a [ShellWord],
}

impl<'a> Arguments<'a> {
    pub(crate) fn of(words: &'a [ShellWord], values: &str) -> Self {
        let mut args = Self { options: Vec::new(), operands: Vec::new(), words };
        let mut at = 0;
        while let Some(word) = words.get(at) {
            at += 1;
            if word.text == "--" {
                args.operands.extend(&words[at..]);
                break;
            } else if word.is_option() {
                args.options.push(word);
                let takes_next = !word.text.starts_with("--") && word.text.ends_with(|c| values.contains(c));
                at += usize::from(takes_next);
            } else {
                args.operands.push(word);
            }
        }
        args
    }

    pub(crate) fn has(&self, short: char, long: &[&str]) -> bool {
        self.options.iter().any(|word| match word.text.strip_prefix("--") {
            Some(_) => long.contains(&word.text.split('=').next().unwrap_or_default()),
            None => word.text.contains(short),
        })
    }

    pub(crate) fn all(&self, role: FileRole) -> Vec<FileUse> {
        self.rest(0, role)
    }

    /// Operands behind the first few, and files in options.
    pub(crate) fn rest(&self, from: usize, role: FileRole) -> Vec<FileUse> {
        let operands = self.operands.iter().skip(from).map(|word| FileUse::one(word, role));
        operands.chain(self.in_options(role)).collect()
    }

    pub(crate) fn here_if_none(&self, role: FileRole, reach: FileReach) -> Vec<FileUse> {
        let here = ShellWord::plain(".");
        let operands = if self.operands.is_empty() { vec![&here] } else { self.operands.clone() };
        operands.into_iter().map(|word| FileUse { word: word.clone(), role, reach: reach.clone() }).collect()
    }

    /// Sources and a destination, which may be a directory.
    pub(crate) fn copied(&self, role: FileRole, reach: FileReach) -> Vec<FileUse> {
        let given: Vec<_> = self.valued('t', "--target-directory", FileRole::Write).map(|file| file.word).collect();
        let (target, sources) = match (given.first(), self.operands.as_slice()) {
            (Some(target), sources) => (target.clone(), sources),
            (None, [sources @ .., target]) => ((*target).clone(), sources),
            (None, []) => return self.in_options(FileRole::Read).collect(),
        };
        let from = |word: &&ShellWord| FileUse { word: (*word).clone(), role, reach: reach.clone() };
        let mut files: Vec<FileUse> = sources.iter().map(from).collect();
        for source in sources {
            let path = source.text.trim_end_matches('/');
            let name = path.rsplit('/').next().unwrap_or(path);
            let below = ShellWord { text: format!("{}/{name}", target.text.trim_end_matches('/')), ..target.clone() };
            files.push(FileUse {
                word: ShellWord {
                    glob: target.glob || source.glob,
                    derived: target.derived || source.derived,
                    fixed: target.fixed && source.fixed,
                    ..below
                },
                role: FileRole::Write,
                reach: FileReach::Replaced,
            });
        }
        files.push(FileUse { word: target, role: FileRole::Write, reach: FileReach::Replaced });
        files.extend(self.in_options(FileRole::Read));
        files
    }

    /// Reads all operands but the last of `count`, which is written.
    pub(crate) fn last_written(&self, count: usize) -> Vec<FileUse> {
        let role = |at: usize| if at + 1 == count { FileRole::Write } else { FileRole::Read };
        self.operands.iter().enumerate().map(|(at, word)| FileUse::one(word, role(at))).collect()
    }

    /// Returns the value of an option: `-o x`, `-ox`, `--output x`, `--output=x`.
    pub(crate) fn valued(&self, short: char, long: &str, role: FileRole) -> impl Iterator<Item = FileUse> {
        let mut files = Vec::new();
        for (at, word) in self.words.iter().enumerate().filter(|(_, word)| word.is_option()) {
            let next = self.words.get(at + 1);
            if let Some(rest) = word.text.strip_prefix(long) {
                match rest.strip_prefix('=') {
                    Some(value) => files.push(FileUse::one(&word.with(value), role)),
                    None if rest.is_empty() => files.extend(next.map(|word| FileUse::one(word, role))),
                    None => {}
                }
            } else if !word.text.starts_with("--")
                && let Some((_, value)) = word.text.split_once(short)
            {
                match value {
                    "" => files.extend(next.map(|word| FileUse::one(word, role))),
                    value => files.push(FileUse::one(&word.with(value), role)),
                }
            }
        }
        files.into_iter()
    }

    /// `-d @file`
    pub(crate) fn named_at_sign(&self) -> impl Iterator<Item = FileUse> {
        let named = |word: &ShellWord| {
            word.text.rsplit_once('@').map(|(_, path)| FileUse::one(&word.with(path), FileRole::Read))
        };
        let read = |word: &ShellWord| {
            word.text.split_once("=<").map(|(_, path)| FileUse::one(&word.with(path), FileRole::Read))
        };
        let at_sign =
            |word: &&ShellWord| word.text.starts_with('@') || word.text.contains("=@") || word.text.contains('@');
        let operands = self.words.iter().filter(|word| !word.text.contains("://"));
        operands.clone().filter(at_sign).filter_map(named).chain(operands.filter_map(read))
    }

    /// `file:///path`, in any case and with escapes.
    pub(crate) fn file_addresses(&self) -> impl Iterator<Item = FileUse> {
        let path = |word: &ShellWord| {
            let (scheme, rest) = word.text.split_once(':')?;
            let scheme = scheme.rsplit('=').next().unwrap_or(scheme);
            let rest = scheme.eq_ignore_ascii_case("file").then_some(rest)?;
            let rest = rest.strip_prefix("//").map_or(rest, without_host);
            let rest = super::embedded::decoded(rest.split(['?', '#']).next().unwrap_or(rest));
            // curl has patterns of its own.
            let wild = rest.contains(['[', '{']);
            let text = if wild { super::words::without_lists(&rest) } else { rest };
            Some(FileUse::one(&ShellWord { glob: wild, fixed: false, ..word.with(&text) }, FileRole::Read))
        };
        self.words.iter().filter_map(path)
    }

    /// Values glued to options: `--file=x`, `-f/x`.
    pub(crate) fn in_options(&self, role: FileRole) -> impl Iterator<Item = FileUse> {
        self.options.iter().filter_map(move |word| {
            let value = match word.text.split_once('=') {
                Some((_, value)) => value,
                None => &word.text[word.text.find(['/', '.', '~'])?..],
            };
            (!value.is_empty()).then(|| FileUse::one(&word.with(value), role))
        })
    }

    /// Returns every argument, for programs that are not known.
    pub(crate) fn everything(&self) -> Vec<FileUse> {
        let operands = self.operands.iter().flat_map(|word| {
            let whole = files::is_web_address(&word.text);
            let parts =
                word.text.split(['=', ':']).filter(move |part| !whole && *part != word.text && !part.is_empty());
            std::iter::once(FileUse::one(word, FileRole::Any))
                .chain(parts.map(|part| FileUse::one(&word.with(part), FileRole::Any)))
        });
        operands.chain(self.in_options(FileRole::Any)).collect()
    }
}

/// Returns the path of an address without its host. What cannot be told may be a folder as well as a host.
fn without_host(rest: &str) -> &str {
    let host = rest.find('/').unwrap_or(0);
    if rest[..host].contains(super::words::HOLE) { rest } else { &rest[host..] }
}
