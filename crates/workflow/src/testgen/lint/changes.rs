//! L11: programs that change files, and what is in those files afterwards.

use super::entry::shown;
use super::location::{HoleRoot, LocationKind};
use super::rule::LintRule;
use super::state::ScriptState;
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    /// A path is written to.
    pub(crate) fn writes_to(&mut self, path: &TrackedText, line: u32) {
        let location = self.location(&path.text);
        let line = self.outermost(line);
        match location.kind {
            LocationKind::Scratch | LocationKind::Database | LocationKind::Device => {}
            LocationKind::Project => {
                self.find(LintRule::L11, line, format_args!("It writes to `{}` in the project", shown(path)))
            }
            LocationKind::System => self.find(LintRule::L11, line, format_args!("It writes to `{}`", shown(path))),
            LocationKind::Unknown => {
                self.find(LintRule::L11, line, format_args!("Where `{}` leads cannot be determined", shown(path)));
            }
        }
        self.fills_path(&location.key, line);
    }

    /// What a program other than the product does to files.
    pub(crate) fn changes(&mut self, words: &[TrackedText], line: u32) {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = &words[1..];
        let has = |flag: &str| arguments.iter().any(|word| word.text == flag);
        let after = |flags: &[&str]| {
            let at = arguments.iter().position(|word| flags.contains(&word.text.as_str()))?;
            arguments.get(at + 1).cloned()
        };
        let short = |letter: char| {
            arguments.iter().any(|w| w.text.starts_with('-') && !w.text.starts_with("--") && w.text.contains(letter))
        };
        let operands: Vec<TrackedText> = operands(&name, arguments);
        match name.as_str() {
            "tee" => {
                let append = short('a') || has("--append");
                for path in &operands {
                    self.writes_to(path, line);
                    self.write(&path.text, self.stdin.clone(), append);
                }
            }
            "touch" | "mkdir" | "truncate" | "mkfifo" | "mknod" | "fallocate" => {
                for path in &operands {
                    self.writes_to(path, line);
                    if !self.files.contains_key(&self.location(&path.text).key) {
                        self.write(&path.text, TrackedText::default(), false);
                    }
                }
            }
            "rm" | "rmdir" | "unlink" | "shred" | "chmod" | "chown" | "chgrp" | "patch" => {
                let skip = usize::from(name.starts_with("ch") && !has("--reference"));
                for path in operands.iter().skip(skip) {
                    self.writes_to(path, line);
                    if name.starts_with('r') || name == "unlink" {
                        // It is gone: the next command that creates it is its author.
                        let key = self.location(&path.text).key;
                        self.files.remove(&key);
                    }
                }
            }
            "cp" | "mv" | "ln" | "install" | "rsync" => self.copies(&name, arguments, &operands, line),
            "sed" | "perl" | "ruby" if arguments.iter().any(|word| in_place(&name, &word.text)) => {
                let script = usize::from(!has("-e") && !has("-f"));
                for path in operands.iter().skip(script) {
                    self.writes_to(path, line);
                    let content = self.content(&path.text);
                    let mut edited = self.unknown(content.from);
                    // What it puts there is known to be there.
                    if let Some(program) = operands.first().filter(|_| script == 1) {
                        edited.text.push_str(&program.text);
                    }
                    self.write(&path.text, edited, false);
                }
            }
            "dd" => {
                for word in arguments {
                    if let Some(path) = word.text.strip_prefix("of=") {
                        let path = TrackedText { text: path.to_owned(), ..word.clone() };
                        self.writes_to(&path, line);
                        self.write(&path.text, TrackedText::default(), false);
                    }
                }
            }
            "tar" if arguments.iter().take(1).any(|w| w.text.contains('x')) || has("--extract") || has("-x") => {
                let dir = after(&["-C", "--directory"]).unwrap_or(TrackedText::literal("."));
                self.writes_to(&dir, line);
                self.written.push(self.location(&format!("{}/x", dir.text)).key);
            }
            "tar" => {
                if let Some(archive) = after(&["-f", "-cf", "-czf", "cf", "czf", "--file"]) {
                    self.writes_to(&archive, line);
                }
            }
            "unzip" => {
                let dir = after(&["-d"]).unwrap_or(TrackedText::literal("."));
                self.writes_to(&dir, line);
                self.written.push(self.location(&format!("{}/x", dir.text)).key);
            }
            "curl" | "wget" => {
                if let Some(path) = after(&["-o", "--output", "-O", "--output-document"])
                    .filter(|_| !has("-") && (name == "wget" || !has("-O")))
                {
                    self.writes_to(&path, line);
                }
            }
            "find" => {
                let root = arguments.first().filter(|word| !word.text.starts_with('-'));
                let root = root.cloned().unwrap_or(TrackedText::literal("."));
                if has("-delete") {
                    self.writes_to(&root, line);
                }
                for flag in ["-exec", "-execdir", "-ok"] {
                    if let Some(at) = arguments.iter().position(|word| word.text == flag) {
                        let inner =
                            arguments[at + 1..].iter().take_while(|word| !matches!(word.text.as_str(), ";" | "+"));
                        let inner: Vec<TrackedText> = inner
                            .map(|word| {
                                if word.text == "{}" {
                                    TrackedText { from: Origins::FILES, ..root.clone() }
                                } else {
                                    word.clone()
                                }
                            })
                            .collect();
                        self.run(&inner, line);
                    }
                }
            }
            "git" => self.git(arguments, line),
            "mktemp" => {
                if let Some(template) = operands.first().filter(|_| !short('t')) {
                    let path = match after(&["-p", "--tmpdir"]) {
                        Some(dir) => TrackedText { text: format!("{}/{}", dir.text, template.text), ..dir },
                        None => template.clone(),
                    };
                    self.writes_to(&path, line);
                }
            }
            "split" | "csplit" | "ed" | "ex" | "vi" | "vim" | "nano" => {
                for path in operands.iter().take(1) {
                    self.writes_to(path, line);
                }
            }
            _ => {}
        }
    }

    fn copies(&mut self, name: &str, arguments: &[TrackedText], operands: &[TrackedText], line: u32) {
        let at = arguments.iter().position(|word| matches!(word.text.as_str(), "-t" | "--target-directory"));
        let directory = at.and_then(|at| arguments.get(at + 1));
        let (target, origins) = match (directory, operands.split_last()) {
            (Some(dir), _) => (dir, operands),
            (None, Some((last, rest))) => (last, rest),
            (None, None) => return,
        };
        if name == "install" && arguments.iter().any(|word| word.text == "-d") {
            operands.iter().for_each(|path| self.writes_to(path, line));
            return;
        }
        self.writes_to(target, line);
        let key = self.location(&target.text).key;
        let made = self.files.get(&key).is_some_and(|file| file.content == TrackedText::default());
        let into = directory.is_some() || origins.len() > 1 || target.text.ends_with('/') || made;
        for source in origins {
            if name == "mv" {
                self.writes_to(source, line);
            }
            let content = self.content(&source.text);
            let file = source.text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_owned();
            let path = if into { format!("{}/{file}", target.text) } else { target.text.clone() };
            self.write(&path, content, false);
            let key = self.location(&path).key;
            self.fills_path(&key, line);
            if name == "mv" {
                let key = self.location(&source.text).key;
                self.files.remove(&key);
            }
        }
    }

    fn git(&mut self, arguments: &[TrackedText], line: u32) {
        const CHANGING: [&str; 26] = [
            "add",
            "am",
            "apply",
            "bisect",
            "branch",
            "checkout",
            "cherry-pick",
            "clean",
            "commit",
            "config",
            "fetch",
            "gc",
            "init",
            "merge",
            "mv",
            "notes",
            "pull",
            "push",
            "rebase",
            "reset",
            "restore",
            "revert",
            "rm",
            "stash",
            "submodule",
            "switch",
        ];
        let mut at = 0;
        let mut dir = TrackedText::literal(".");
        while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-')) {
            let takes = matches!(word.text.as_str(), "-C" | "-c" | "--git-dir" | "--work-tree");
            if let (true, Some(next)) = (matches!(word.text.as_str(), "-C" | "--work-tree"), arguments.get(at + 1)) {
                dir = next.clone();
            }
            at += 1 + usize::from(takes);
        }
        let Some(command) = arguments.get(at) else { return };
        let rest = &arguments[at + 1..];
        let operand = rest.iter().rfind(|word| !word.text.starts_with('-'));
        let lists =
            rest.iter().any(|word| matches!(word.text.as_str(), "--list" | "-l" | "--show-current" | "--get" | "list"));
        match command.text.as_str() {
            "init" => {
                let path = operand.map_or(dir.clone(), |path| TrackedText {
                    text: format!("{}/{}", dir.text, path.text),
                    ..path.clone()
                });
                let path = operand
                    .filter(|path| !path.text.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
                    .cloned()
                    .unwrap_or(path);
                self.writes_to(&path, line);
            }
            "clone" | "worktree" => {
                if let Some(path) = operand {
                    self.writes_to(path, line);
                    self.written.push(self.location(&format!("{}/x", path.text)).key);
                }
            }
            "config" if rest.iter().any(|word| word.text == "--global") => {}
            name if CHANGING.contains(&name) && !lists && !(name == "branch" && rest.is_empty()) => {
                self.writes_to(&dir, line);
            }
            _ => {}
        }
    }

    /// `mktemp`: a new path, in the scratch directory unless it says otherwise.
    pub(crate) fn fresh_path(&mut self, arguments: &[TrackedText]) -> TrackedText {
        let operand = operands("mktemp", arguments).into_iter().next();
        let elsewhere = operand.filter(|path| path.text.contains('/'));
        let root = match elsewhere.map(|path| self.location(&path.text).kind) {
            None | Some(LocationKind::Scratch) => HoleRoot::Scratch,
            Some(_) => HoleRoot::Unknown,
        };
        let text = self.hole(root).to_string();
        // The file exists, and is empty.
        self.files.insert(
            text.clone(),
            super::state::ScriptFile { content: TrackedText::default(), calls: self.calls.len() },
        );
        TrackedText { text, from: Origins::NONE }
    }
}

fn in_place(name: &str, option: &str) -> bool {
    match name {
        "sed" => {
            option.starts_with("-i") || option.starts_with("--in-place") || (is_short(option) && option.contains('i'))
        }
        _ => is_short(option) && option.contains('i') && !option.contains('I'),
    }
}

fn is_short(option: &str) -> bool {
    option.len() > 1 && option.starts_with('-') && !option.starts_with("--")
}

/// Returns the arguments that are neither options nor their values.
pub(super) fn operands(name: &str, arguments: &[TrackedText]) -> Vec<TrackedText> {
    let taking: &[&str] = match name {
        "sed" => &["-e", "-f", "-l", "--expression", "--file"],
        "truncate" | "shred" => &["-s", "--size", "-n", "-r"],
        "touch" => &["-d", "-t", "-r", "--date", "--reference"],
        "mkdir" | "mkfifo" => &["-m", "--mode"],
        "install" => &["-m", "--mode", "-o", "-g", "-t", "--target-directory"],
        "cp" | "mv" | "ln" => &["-t", "--target-directory", "-S"],
        "mktemp" => &["-p", "--suffix"],
        "patch" => &["-i", "-p", "-d", "-o"],
        "head" | "tail" => &["-n", "-c", "--lines", "--bytes"],
        "cut" => &["-d", "-f", "-c", "-b", "--delimiter", "--fields"],
        "sort" => &["-k", "-t", "-o", "-S", "--key"],
        "paste" | "column" => &["-d", "-s", "-t"],
        "awk" | "gawk" | "mawk" => &["-F", "-v", "-f"],
        "stat" => &["-c", "-f", "--format", "--printf"],
        "grep" | "egrep" | "fgrep" | "rg" | "zgrep" => {
            &["-e", "-f", "-m", "-A", "-B", "-C", "--regexp", "--max-count", "--include", "--exclude", "--exclude-dir"]
        }
        _ => &[],
    };
    let mut found = Vec::new();
    let mut at = 0;
    let mut open = true;
    while let Some(word) = arguments.get(at) {
        at += 1;
        if open && word.text == "--" {
            open = false;
        } else if open && word.text.len() > 1 && word.text.starts_with('-') {
            at += usize::from(taking.contains(&word.text.as_str()));
        } else {
            found.push(word.clone());
        }
    }
    found
}
