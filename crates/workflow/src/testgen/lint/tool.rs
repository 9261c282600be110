//! Programs tests look at things with: what they print, and what their status says.

use super::changes::operands;
use super::condition::{matches_anything, plain_part};
use super::flow::StatementResult;
use super::location::LocationKind;
use super::rule::LintRule;
use super::state::ScriptState;
use super::status::{Comparison, ExitStatus};
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    pub(crate) fn tool(&mut self, words: &[TrackedText], line: u32) -> Option<StatementResult> {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = &words[1..];
        let paths = operands(&name, arguments);
        let mut outcome = StatementResult::default();
        let weak = |from: Origins| ExitStatus::of(Comparison::plain(from, line));
        match name.as_str() {
            "cat" => {
                outcome.out = self.contents(&paths);
                outcome.status = weak(self.existences(&paths));
            }
            "head" | "tail" | "sort" | "uniq" | "wc" | "cut" | "nl" | "rev" | "tac" | "paste" | "fold" | "column"
            | "xxd" | "od" | "base64" | "md5sum" | "sha1sum" | "sha256sum" | "sha512sum" | "cksum" | "strings"
            | "shuf" | "iconv" | "hexdump" | "comm" | "join" | "gunzip" | "zcat" | "gzip" | "less" | "more" | "fmt"
            | "expand" => {
                let from = self.contents(&paths).from;
                let checks = name.ends_with("sum")
                    && arguments.iter().any(|word| matches!(word.text.as_str(), "-c" | "--check"));
                outcome.out = self.unknown(from);
                outcome.status =
                    if checks { ExitStatus::of(Comparison::check(from, line)) } else { weak(self.existences(&paths)) };
            }
            "tee" => outcome.out = self.stdin.clone(),
            "tr" => outcome.out = self.unknown(self.stdin.from),
            "sed" | "awk" | "gawk" | "mawk" => {
                let given = arguments.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--expression"));
                let program = paths.first().filter(|_| !given).cloned().unwrap_or_default();
                let program_words: Vec<&TrackedText> = arguments.iter().filter(|word| !word.from.is_none()).collect();
                let mut from = program_words.iter().fold(Origins::NONE, |all, word| all | word.from);
                let files: Vec<TrackedText> = paths.into_iter().skip(usize::from(!given)).collect();
                // `BEGIN { … }` alone reads nothing.
                let reads = !(program.text.trim_start().starts_with("BEGIN")
                    && files.is_empty()
                    && !program.text.contains("END"));
                if reads {
                    from |= self.contents(&files).from;
                }
                if name != "sed" && (program.text.contains("system(") || program.text.contains("getline")) {
                    let line = self.outermost(line);
                    self.find(LintRule::L02, line, format_args!("What `{name}` starts cannot be determined"));
                }
                outcome.out = match replacement(&program.text).filter(|_| name == "sed") {
                    // Whatever it read, this is what it says afterwards.
                    Some((".*" | "^.*" | "^.*$" | ".*$", by)) => TrackedText { text: by.to_owned(), from },
                    Some((_, by)) => {
                        let mut edited = self.unknown(from);
                        edited.text.push_str(by);
                        edited
                    }
                    None => self.unknown(from),
                };
                outcome.status = match program.text.contains("exit") || (name == "sed" && program.text.contains("q1")) {
                    true => ExitStatus::of(Comparison::check(from, line)),
                    false => weak(Origins::AMBIENT),
                };
            }
            "grep" | "egrep" | "fgrep" | "rg" | "zgrep" | "ag" | "ack" => outcome = self.grep(arguments, &paths, line),
            "diff" | "cmp" | "colordiff" => outcome = self.diff(&paths, line),
            "jq" | "yq" | "xmllint" => outcome = self.jq(arguments, line),
            "sqlite3" => outcome = self.sqlite(arguments, line),
            "ls" | "stat" | "du" | "file" | "readlink" | "realpath" | "getfacl" | "tree" => {
                let from = match paths.is_empty() {
                    true => self.existence("."),
                    false => self.existences(&paths),
                };
                outcome.out = match (name.as_str(), paths.as_slice()) {
                    ("realpath" | "readlink", [path]) => path.clone(),
                    _ => self.unknown(from),
                };
                outcome.status = weak(from);
            }
            "find" | "fd" => {
                let root = arguments
                    .iter()
                    .find(|word| !word.text.starts_with('-'))
                    .map_or(".", |word| word.text.as_str())
                    .to_owned();
                let from = match self.location(&root).kind {
                    // Its own files may be among them, but what the product left there is too.
                    LocationKind::Scratch if !self.calls.is_empty() => Origins::FILES,
                    _ => self.existence(&root),
                };
                outcome.out = self.unknown(from);
            }
            "basename" | "dirname" => {
                let path = paths.first().cloned().unwrap_or_default();
                let (dir, base) = path.text.rsplit_once('/').unwrap_or((".", &path.text));
                outcome.out =
                    TrackedText { text: if name == "dirname" { dir.into() } else { base.into() }, from: path.from };
            }
            "mktemp" => outcome.out = self.fresh_path(arguments),
            "expr" => {
                let from = arguments.iter().fold(Origins::NONE, |all, word| all | word.from);
                outcome.out = self.unknown(from | if self.loops > 0 { Origins::AMBIENT } else { Origins::NONE });
                outcome.status = ExitStatus::of(Comparison::check(from, line));
            }
            "curl" | "wget" | "nc" | "ncat" | "http" => {
                // What answers is the product, unless the script left something else running.
                let product = self.product_serves || (!self.calls.is_empty() && !self.script_serves);
                let from = if product { Origins::OUTPUT } else { Origins::AMBIENT };
                outcome.out = self.unknown(from);
                outcome.status = weak(if product { Origins::STATUS } else { Origins::AMBIENT });
            }
            "seq" => outcome.out = self.unknown(Origins::AMBIENT),
            "git" => {
                let reads = arguments.iter().any(|word| {
                    matches!(word.text.as_str(), "diff" | "show" | "blame" | "grep" | "cat-file" | "archive")
                });
                let dir = arguments
                    .windows(2)
                    .find(|pair| pair[0].text == "-C")
                    .map_or(".", |pair| pair[1].text.as_str())
                    .to_owned();
                let top = arguments.iter().any(|word| word.text == "--show-toplevel");
                let location = self.location(&dir);
                let from = match location.kind {
                    LocationKind::Scratch if !self.calls.is_empty() => Origins::FILES,
                    LocationKind::Project if reads && !self.context.touched.is_empty() => Origins::SOURCE,
                    _ => Origins::AMBIENT,
                };
                outcome.out = match top && location.kind == LocationKind::Project {
                    true => TrackedText { text: self.project_root().to_string(), from: Origins::NONE },
                    false => self.unknown(from),
                };
                let quiet = arguments.iter().any(|word| matches!(word.text.as_str(), "--quiet" | "--exit-code" | "-q"));
                outcome.status =
                    if quiet { ExitStatus::of(Comparison::check(from, line)) } else { weak(Origins::AMBIENT) };
            }
            "cp" | "mv" | "ln" | "install" | "rsync" | "touch" | "mkdir" | "rm" | "rmdir" | "chmod" | "chown"
            | "truncate" | "dd" | "tar" | "unzip" | "zip" | "mkfifo" | "patch" => {
                outcome.status = weak(Origins::AMBIENT)
            }
            _ => return None,
        }
        Some(outcome)
    }

    /// Files one after the other, or what is read from stdin.
    fn contents(&mut self, paths: &[TrackedText]) -> TrackedText {
        if paths.is_empty() {
            return self.stdin.clone();
        }
        let mut all = TrackedText::default();
        for path in paths {
            let part = if path.text == "-" { self.stdin.clone() } else { self.content(&path.text) };
            all.push(&part);
        }
        all
    }

    fn existences(&mut self, paths: &[TrackedText]) -> Origins {
        let mut from = Origins::NONE;
        for path in paths.iter().filter(|path| path.text != "-") {
            from |= self.existence(&path.text);
        }
        if from.is_none() { Origins::AMBIENT } else { from }
    }

    fn grep(&mut self, arguments: &[TrackedText], operands: &[TrackedText], line: u32) -> StatementResult {
        let value_of = |flags: &[&str]| {
            let at = arguments.iter().position(|word| flags.contains(&word.text.as_str()))?;
            arguments.get(at + 1).cloned()
        };
        let short = |letter: char| {
            arguments.iter().any(|word| {
                word.text.starts_with('-') && !word.text.starts_with("--") && word.text[1..].contains(letter)
            })
        };
        let (pattern, files) = match value_of(&["-e", "--regexp"]) {
            Some(pattern) => (pattern, operands),
            None => match value_of(&["-f"]) {
                Some(list) => (self.content(&list.text), operands),
                None => match operands.split_first() {
                    Some((pattern, files)) => (pattern.clone(), files),
                    None => return StatementResult::default(),
                },
            },
        };
        let deep = short('r') || short('R');
        let subject = match files {
            [] if deep => self.content("."),
            files => self.contents(files),
        };
        let mut atom = Comparison::check(subject.from | pattern.from, line);
        let inverted = short('v') || arguments.iter().any(|word| word.text == "--invert-match");
        let looked_for = plain_part(&pattern.text).replace('\\', "");
        let seen = subject.from.has(Origins::SURFACES | Origins::STATUS);
        atom.always = seen && !inverted && (matches_anything(&pattern.text) || subject.says(&looked_for));
        let quiet = short('q') || arguments.iter().any(|word| matches!(word.text.as_str(), "--quiet" | "--silent"));
        let out = if quiet { TrackedText::default() } else { self.unknown(atom.from) };
        StatementResult { out, status: ExitStatus::of(atom), ..StatementResult::default() }
    }

    fn diff(&mut self, paths: &[TrackedText], line: u32) -> StatementResult {
        let (mut from, mut keys) = (Origins::NONE, Vec::new());
        let mut texts = Vec::new();
        for path in paths {
            let content = if path.text == "-" { self.stdin.clone() } else { self.content(&path.text) };
            from |= content.from;
            keys.push(self.location(&path.text).key);
            texts.push(content.text);
        }
        let mut atom = Comparison::check(from, line);
        let same = |list: &[String]| list.len() == 2 && list[0] == list[1];
        atom.always = from.has(Origins::SURFACES) && (same(&keys) || (same(&texts) && !texts[0].is_empty()));
        let out = self.unknown(from);
        StatementResult { out, status: ExitStatus::of(atom), ..StatementResult::default() }
    }

    fn jq(&mut self, arguments: &[TrackedText], line: u32) -> StatementResult {
        let mut from = Origins::NONE;
        let mut operands = Vec::new();
        let (mut empty, mut strict) = (false, false);
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let text = word.text.as_str();
            at += 1;
            let taken = match text {
                "--arg" | "--argjson" => 2,
                "--slurpfile" | "--rawfile" => {
                    if let Some(path) = arguments.get(at + 1) {
                        from |= self.content(&path.text.clone()).from;
                    }
                    2
                }
                "-f" | "--from-file" | "--indent" | "-L" | "--xpath" => 1,
                _ => 0,
            };
            arguments.iter().skip(at).take(taken).for_each(|word| from |= word.from);
            if taken == 0 {
                let short = text.starts_with('-') && !text.starts_with("--");
                empty |= text == "--null-input" || (short && text.contains('n'));
                strict |= text == "--exit-status" || (short && text.contains('e'));
                if !text.starts_with('-') || text == "-" {
                    operands.push(word.clone());
                }
            }
            at += taken;
        }
        let text: Vec<&str> = arguments.iter().map(|word| word.text.as_str()).collect();
        let text = text.join(" ");
        self.seed(&text);
        let (filter, files) =
            operands.split_first().map_or((TrackedText::default(), &[][..]), |(f, rest)| (f.clone(), rest));
        from |= filter.from;
        if !empty {
            from |= self.contents(files).from;
        }
        let mut atom = if strict { Comparison::check(from, line) } else { Comparison::plain(from, line) };
        // A filter that looks at nothing: `jq -e 'true'`.
        let looks = filter.text.contains(['.', '$']) || filter.text.contains("input") || !filter.is_known();
        let forgives =
            ["or true", ", true", "// true"].iter().any(|end| filter.text.trim_end_matches([' ', ')']).ends_with(end));
        atom.always = strict && from.has(Origins::SURFACES) && (!looks || forgives);
        let mut out = self.unknown(from);
        // What it was made of can be told, so that a product call can be seen to name a file.
        if empty {
            out.text.push_str(&text);
        }
        StatementResult { out, status: ExitStatus::of(atom), ..StatementResult::default() }
    }

    fn sqlite(&mut self, arguments: &[TrackedText], line: u32) -> StatementResult {
        let mut operands = Vec::new();
        let mut at = 0;
        let mut sql = TrackedText::default();
        while let Some(word) = arguments.get(at) {
            at += 1;
            match word.text.as_str() {
                "-cmd" | "-separator" | "-newline" | "-nullvalue" | "-init" | "-maxsize" | "-vfs" => {
                    if let Some(next) = arguments.get(at).filter(|_| word.text == "-cmd") {
                        sql.push(next);
                        sql.text.push('\n');
                    }
                    at += 1;
                }
                text if text.starts_with('-') => {}
                _ => operands.push(word.clone()),
            }
        }
        let mut operands = operands.into_iter();
        let Some(database) = operands.next() else { return StatementResult::default() };
        let given: Vec<TrackedText> = operands.collect();
        match given.is_empty() {
            true => sql.push(&self.stdin.clone()),
            false => given.iter().for_each(|part| sql.push(part)),
        }
        self.seed(&sql.text);
        let lower = sql.text.to_ascii_lowercase();
        if lower.contains(".shell") || lower.contains(".system") {
            let line = self.outermost(line);
            self.find(LintRule::L02, line, "What sqlite3 runs cannot be determined");
        }
        let has = |word: &str| lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word);
        let changes = ["insert", "update", "delete", "create", "drop", "alter", "replace"].iter().any(|word| has(word));
        let reads = has("from") || has("pragma") || lower.contains("\n.") || lower.starts_with('.') || !sql.is_known();
        let location = self.location(&database.text);
        if changes {
            self.writes_to(&database, line);
        }
        let mut from = match location.kind {
            _ if database.text == ":memory:" => Origins::OWN,
            _ if !reads && has("select") && !changes => sql.from,
            LocationKind::Database => self.existence(&database.text),
            _ => self.content(&database.text).from,
        };
        if from.has(Origins::DATABASE) {
            from |= if lower.contains("tool_result") { Origins::RESULT } else { Origins::NONE };
            from |= if has("hook_invocations") { Origins::HOOKS } else { Origins::NONE };
        }
        if changes && location.kind != LocationKind::Database && !self.files.contains_key(&location.key) {
            self.write(&database.text, TrackedText::default(), false);
        }
        let out = self.unknown(from);
        StatementResult {
            out,
            status: ExitStatus::of(Comparison::plain(Origins::AMBIENT, line)),
            ..StatementResult::default()
        }
    }
}

/// Pattern and replacement of `s/…/…/`.
fn replacement(program: &str) -> Option<(&str, &str)> {
    let rest = program.trim_start().strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && c.is_ascii())?;
    let mut parts = rest[1..].split(mark);
    Some((parts.next()?, parts.next().filter(|by| by.len() > 1)?))
}
