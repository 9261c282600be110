//! Programs tests look at things with: what they print, and what their status says.

use super::changes::operands;
use super::condition::{matches_anything, plain_part};
use super::flow::Outcome;
use super::place::Where;
use super::rule::Rule;
use super::status::{Atom, Status};
use super::value::{Sources, Value};
use super::world::World;

impl World<'_> {
    pub fn tool(&mut self, words: &[Value], line: u32) -> Option<Outcome> {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = &words[1..];
        let paths = operands(&name, arguments);
        let mut outcome = Outcome::default();
        let weak = |from: Sources| Status::of(Atom::plain(from, line));
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
                    if checks { Status::of(Atom::check(from, line)) } else { weak(self.existences(&paths)) };
            }
            "tee" => outcome.out = self.stdin.clone(),
            "tr" => outcome.out = self.unknown(self.stdin.from),
            "sed" | "awk" | "gawk" | "mawk" => {
                let given = arguments.iter().any(|word| matches!(word.text.as_str(), "-e" | "-f" | "--expression"));
                let program = paths.first().filter(|_| !given).cloned().unwrap_or_default();
                let program_words: Vec<&Value> = arguments.iter().filter(|word| !word.from.is_none()).collect();
                let mut from = program_words.iter().fold(Sources::NONE, |all, word| all | word.from);
                let files: Vec<Value> = paths.into_iter().skip(usize::from(!given)).collect();
                // `BEGIN { … }` alone reads nothing.
                let reads = !(program.text.trim_start().starts_with("BEGIN")
                    && files.is_empty()
                    && !program.text.contains("END"));
                if reads {
                    from |= self.contents(&files).from;
                }
                if name != "sed" && (program.text.contains("system(") || program.text.contains("getline")) {
                    let line = self.outermost(line);
                    self.find(Rule::L02, line, format_args!("What `{name}` starts can not be told"));
                }
                outcome.out = match replacement(&program.text).filter(|_| name == "sed") {
                    // Whatever it read, this is what it says afterwards.
                    Some((".*" | "^.*" | "^.*$" | ".*$", by)) => Value { text: by.to_owned(), from },
                    Some((_, by)) => {
                        let mut edited = self.unknown(from);
                        edited.text.push_str(by);
                        edited
                    }
                    None => self.unknown(from),
                };
                outcome.status = match program.text.contains("exit") || (name == "sed" && program.text.contains("q1")) {
                    true => Status::of(Atom::check(from, line)),
                    false => weak(Sources::AMBIENT),
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
                let from = match self.place(&root).kind {
                    // Its own files may be among them, but what the product left there is too.
                    Where::Scratch if !self.calls.is_empty() => Sources::FILES,
                    _ => self.existence(&root),
                };
                outcome.out = self.unknown(from);
            }
            "basename" | "dirname" => {
                let path = paths.first().cloned().unwrap_or_default();
                let (dir, base) = path.text.rsplit_once('/').unwrap_or((".", &path.text));
                outcome.out = Value { text: if name == "dirname" { dir.into() } else { base.into() }, from: path.from };
            }
            "mktemp" => outcome.out = self.fresh_path(arguments),
            "expr" => {
                let from = arguments.iter().fold(Sources::NONE, |all, word| all | word.from);
                outcome.out = self.unknown(from | if self.loops > 0 { Sources::AMBIENT } else { Sources::NONE });
                outcome.status = Status::of(Atom::check(from, line));
            }
            "curl" | "wget" | "nc" | "ncat" | "http" => {
                // What answers is the product, unless the script left something else running.
                let product = self.product_serves || (!self.calls.is_empty() && !self.script_serves);
                let from = if product { Sources::OUTPUT } else { Sources::AMBIENT };
                outcome.out = self.unknown(from);
                outcome.status = weak(if product { Sources::STATUS } else { Sources::AMBIENT });
            }
            "seq" => outcome.out = self.unknown(Sources::AMBIENT),
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
                let place = self.place(&dir);
                let from = match place.kind {
                    Where::Scratch if !self.calls.is_empty() => Sources::FILES,
                    Where::Project if reads && !self.around.touched.is_empty() => Sources::SOURCE,
                    _ => Sources::AMBIENT,
                };
                outcome.out = match top && place.kind == Where::Project {
                    true => Value { text: self.project_root().to_string(), from: Sources::NONE },
                    false => self.unknown(from),
                };
                let quiet = arguments.iter().any(|word| matches!(word.text.as_str(), "--quiet" | "--exit-code" | "-q"));
                outcome.status = if quiet { Status::of(Atom::check(from, line)) } else { weak(Sources::AMBIENT) };
            }
            "cp" | "mv" | "ln" | "install" | "rsync" | "touch" | "mkdir" | "rm" | "rmdir" | "chmod" | "chown"
            | "truncate" | "dd" | "tar" | "unzip" | "zip" | "mkfifo" | "patch" => {
                outcome.status = weak(Sources::AMBIENT)
            }
            _ => return None,
        }
        Some(outcome)
    }

    /// Files one after the other, or what is read from stdin.
    fn contents(&mut self, paths: &[Value]) -> Value {
        if paths.is_empty() {
            return self.stdin.clone();
        }
        let mut all = Value::default();
        for path in paths {
            let part = if path.text == "-" { self.stdin.clone() } else { self.content(&path.text) };
            all.push(&part);
        }
        all
    }

    fn existences(&mut self, paths: &[Value]) -> Sources {
        let mut from = Sources::NONE;
        for path in paths.iter().filter(|path| path.text != "-") {
            from |= self.existence(&path.text);
        }
        if from.is_none() { Sources::AMBIENT } else { from }
    }

    fn grep(&mut self, arguments: &[Value], operands: &[Value], line: u32) -> Outcome {
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
                    None => return Outcome::default(),
                },
            },
        };
        let deep = short('r') || short('R');
        let subject = match files {
            [] if deep => self.content("."),
            files => self.contents(files),
        };
        let mut atom = Atom::check(subject.from | pattern.from, line);
        let inverted = short('v') || arguments.iter().any(|word| word.text == "--invert-match");
        let looked_for = plain_part(&pattern.text).replace('\\', "");
        let seen = subject.from.has(Sources::SURFACES | Sources::STATUS);
        atom.always = seen && !inverted && (matches_anything(&pattern.text) || subject.says(&looked_for));
        let quiet = short('q') || arguments.iter().any(|word| matches!(word.text.as_str(), "--quiet" | "--silent"));
        let out = if quiet { Value::default() } else { self.unknown(atom.from) };
        Outcome { out, status: Status::of(atom), ..Outcome::default() }
    }

    fn diff(&mut self, paths: &[Value], line: u32) -> Outcome {
        let (mut from, mut keys) = (Sources::NONE, Vec::new());
        let mut texts = Vec::new();
        for path in paths {
            let content = if path.text == "-" { self.stdin.clone() } else { self.content(&path.text) };
            from |= content.from;
            keys.push(self.place(&path.text).key);
            texts.push(content.text);
        }
        let mut atom = Atom::check(from, line);
        let same = |list: &[String]| list.len() == 2 && list[0] == list[1];
        atom.always = from.has(Sources::SURFACES) && (same(&keys) || (same(&texts) && !texts[0].is_empty()));
        let out = self.unknown(from);
        Outcome { out, status: Status::of(atom), ..Outcome::default() }
    }

    fn jq(&mut self, arguments: &[Value], line: u32) -> Outcome {
        let mut from = Sources::NONE;
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
        let (filter, files) = operands.split_first().map_or((Value::default(), &[][..]), |(f, rest)| (f.clone(), rest));
        from |= filter.from;
        if !empty {
            from |= self.contents(files).from;
        }
        let mut atom = if strict { Atom::check(from, line) } else { Atom::plain(from, line) };
        // A filter that looks at nothing: `jq -e 'true'`.
        let looks = filter.text.contains(['.', '$']) || filter.text.contains("input") || !filter.is_known();
        let forgives =
            ["or true", ", true", "// true"].iter().any(|end| filter.text.trim_end_matches([' ', ')']).ends_with(end));
        atom.always = strict && from.has(Sources::SURFACES) && (!looks || forgives);
        let mut out = self.unknown(from);
        // What it was made of can be told, so that a product call can be seen to name a file.
        if empty {
            out.text.push_str(&text);
        }
        Outcome { out, status: Status::of(atom), ..Outcome::default() }
    }

    fn sqlite(&mut self, arguments: &[Value], line: u32) -> Outcome {
        let mut operands = Vec::new();
        let mut at = 0;
        let mut sql = Value::default();
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
        let Some(database) = operands.next() else { return Outcome::default() };
        let given: Vec<Value> = operands.collect();
        match given.is_empty() {
            true => sql.push(&self.stdin.clone()),
            false => given.iter().for_each(|part| sql.push(part)),
        }
        self.seed(&sql.text);
        let lower = sql.text.to_ascii_lowercase();
        if lower.contains(".shell") || lower.contains(".system") {
            let line = self.outermost(line);
            self.find(Rule::L02, line, "What sqlite3 is told to run can not be told");
        }
        let has = |word: &str| lower.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').any(|part| part == word);
        let changes = ["insert", "update", "delete", "create", "drop", "alter", "replace"].iter().any(|word| has(word));
        let reads = has("from") || has("pragma") || lower.contains("\n.") || lower.starts_with('.') || !sql.is_known();
        let place = self.place(&database.text);
        if changes {
            self.writes_to(&database, line);
        }
        let mut from = match place.kind {
            _ if database.text == ":memory:" => Sources::OWN,
            _ if !reads && has("select") && !changes => sql.from,
            Where::Database => self.existence(&database.text),
            _ => self.content(&database.text).from,
        };
        if from.has(Sources::DATABASE) {
            from |= if lower.contains("tool_result") { Sources::RESULT } else { Sources::NONE };
            from |= if has("hook_invocations") { Sources::HOOKS } else { Sources::NONE };
        }
        if changes && place.kind != Where::Database && !self.files.contains_key(&place.key) {
            self.write(&database.text, Value::default(), false);
        }
        let out = self.unknown(from);
        Outcome { out, status: Status::of(Atom::plain(Sources::AMBIENT, line)), ..Outcome::default() }
    }
}

/// Pattern and replacement of `s/…/…/`.
fn replacement(program: &str) -> Option<(&str, &str)> {
    let rest = program.trim_start().strip_prefix('s')?;
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric() && c.is_ascii())?;
    let mut parts = rest[1..].split(mark);
    Some((parts.next()?, parts.next().filter(|by| by.len() > 1)?))
}
