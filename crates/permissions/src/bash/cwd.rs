//! The directories a command may run in, following the `cd`s before it.
//!
//! A `cd` behind `&&` counts as done; otherwise it may have failed, and both
//! directories stay possible. A deny looks at all of them, an allow has to hold
//! in all of them.

use super::lex::Connector;
use super::words::ShellWord;
use super::{ParsedScript, ShellCommand};
use ona_api::path::lexical;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Dirs {
    pub possible: Vec<PathBuf>,
    /// There may be others.
    pub unknown: bool,
}

/// Returns the directories of every command of the script.
pub(crate) fn follow(script: &ParsedScript, start: &Path, home: &Path) -> Vec<Dirs> {
    let start = vec![start.to_path_buf()];
    let mut shells = vec![Shell { depth: 0, all: start.clone(), now: start, unknown: false, entered: false }];
    // How often a loop runs is not known, and CDPATH changes what a name means.
    let wild = script.has_loop || script.commands.iter().any(|c| c.env.iter().any(|(name, _)| name == "CDPATH"));
    let mut dirs = Vec::with_capacity(script.commands.len());
    let (mut before, mut reached): (Option<Vec<PathBuf>>, Vec<PathBuf>) = (None, Vec::new());
    for (at, command) in script.commands.iter().enumerate() {
        while shells.len() > 1 && shells.last().is_some_and(|shell| shell.depth > command.depth) {
            shells.pop();
        }
        let Some(shell) = shells.last() else { break };
        if shell.depth < command.depth {
            let mut inner = Shell { depth: command.depth, ..shell.clone() };
            if let Some(dir) = command.chdir.as_ref().filter(|_| !shell.entered) {
                inner.enter(dir, home);
            }
            shells.push(inner);
        }
        let Some(shell) = shells.last_mut() else { break };
        // Another reading of a command starts where the first one did.
        match (command.twin, before.take()) {
            (true, Some(before)) => shell.now = before,
            _ if command.link != Connector::And => shell.now.clone_from(&shell.all),
            _ => {}
        }
        before = Some(shell.now.clone());
        // A command its wrapper moved; the shells it starts are entered above.
        let mut here = Dirs { possible: shell.now.clone(), unknown: shell.unknown };
        if let Some(dir) = command.chdir.as_ref().filter(|_| !shell.entered) {
            let mut moved = shell.clone();
            moved.enter(dir, home);
            here = Dirs { possible: moved.now, unknown: moved.unknown };
        }
        dirs.push(here);
        let piped = command.link == Connector::Pipe
            || script.commands[at + 1..].iter().find(|next| next.own).is_some_and(|next| next.link == Connector::Pipe);
        if let Some(step) = Step::of(command) {
            let others = command.twin.then(|| reached.clone());
            shell.take(step, home, wild, piped || !command.moves);
            shell.now.extend(others.into_iter().flatten());
            reached.clone_from(&shell.now);
        }
    }
    dirs
}

enum Step<'a> {
    To(&'a ShellWord),
    Home,
    Unknown,
}

impl<'a> Step<'a> {
    fn of(command: &'a ShellCommand) -> Option<Self> {
        match command.name()? {
            "cd" | "chdir" | "pushd" => {}
            "popd" => return Some(Step::Unknown),
            _ => return None,
        }
        let is_flag = |word: &&ShellWord| matches!(word.text.as_str(), "-L" | "-P" | "-e" | "-n" | "--");
        let mut words = command.words[1..].iter().skip_while(is_flag);
        Some(match (words.next(), words.next()) {
            (None, _) => Step::Home,
            (Some(word), None) if !word.is_option() && word.text != "-" => Step::to(word),
            _ => Step::Unknown,
        })
    }

    fn to(word: &'a ShellWord) -> Self {
        if word.has_hole() || word.glob { Step::Unknown } else { Step::To(word) }
    }
}

#[derive(Clone)]
struct Shell {
    depth: u16,
    /// Every directory it may have been in.
    all: Vec<PathBuf>,
    /// Where it may be if the last command succeeded.
    now: Vec<PathBuf>,
    unknown: bool,
    /// Started in a directory its wrapper named.
    entered: bool,
}

impl Shell {
    /// Begins in another directory.
    fn enter(&mut self, dir: &ShellWord, home: &Path) {
        match Step::to(dir) {
            Step::To(word) => self.now = self.now.iter().map(|from| lexical(&path_of(word, from, home))).collect(),
            Step::Home | Step::Unknown => self.unknown = true,
        }
        self.all.clone_from(&self.now);
        self.entered = true;
    }

    /// `uncertain`: the step may move another shell than this one.
    fn take(&mut self, step: Step<'_>, home: &Path, wild: bool, uncertain: bool) {
        /// More directories than a person would follow.
        const MOST: usize = 8;
        let reached: Vec<PathBuf> = match step {
            Step::To(word) => self.now.iter().map(|dir| lexical(&path_of(word, dir, home))).collect(),
            Step::Home => vec![home.to_path_buf()],
            Step::Unknown => Vec::new(),
        };
        self.unknown |= wild || reached.is_empty() || self.all.len() + reached.len() > MOST;
        for dir in &reached {
            if !self.all.contains(dir) && self.all.len() < MOST {
                self.all.push(dir.clone());
            }
        }
        if uncertain || reached.is_empty() {
            self.now.clone_from(&self.all);
        } else {
            self.now = reached;
        }
    }
}

/// Returns the path a word names, not normalised.
pub(crate) fn path_of(word: &ShellWord, dir: &Path, home: &Path) -> PathBuf {
    if word.home {
        let mut path = home.as_os_str().to_owned();
        path.push(&word.text);
        return path.into();
    }
    dir.join(&word.text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bash::parse;

    /// Directories of the last command called `x`.
    fn dirs(script: &str) -> String {
        let script = parse(script);
        let dirs = follow(&script, Path::new("/w"), Path::new("/home/u"));
        let at = script.commands.iter().rposition(|c| c.name() == Some("x")).unwrap();
        let mut text: Vec<_> = dirs[at].possible.iter().map(|dir| dir.to_string_lossy().into_owned()).collect();
        if dirs[at].unknown {
            text.push("?".into());
        }
        text.join(" ")
    }

    #[test]
    fn static_steps_are_followed_and_others_stay_open() {
        for (script, expected) in [
            ("x", "/w"),
            ("cd a && x", "/w/a"),
            ("cd a && cd ../b && x", "/w/b"),
            ("cd a; x", "/w /w/a"),
            ("cd a && y; x", "/w /w/a"),
            ("cd a || x", "/w /w/a"),
            ("(cd a && y); x", "/w"),
            ("(cd a && x)", "/w/a"),
            ("cd a | x", "/w /w/a"),
            ("y $(cd a); x", "/w"),
            ("cd && x", "/home/u"),
            ("cd ~/b && x", "/home/u/b"),
            ("cd /etc\nx", "/w /etc"),
            ("cd $D && x", "/w ?"),
            ("cd - && x", "/w ?"),
            ("popd; x", "/w ?"),
            ("builtin cd a && x", "/w/a"),
            ("eval 'cd a' && x", "/w/a"),
            ("sh -c 'cd a'; x", "/w"),
            ("sh -c 'cd a && x'", "/w/a"),
            ("while y; do cd ..; done; x", "/w / ?"),
        ] {
            assert_eq!(dirs(script), expected, "{script}");
        }
    }
}
