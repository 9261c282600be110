//! The values a script gives its variables, as far as its text shows them.
//!
//! A variable may have several: assignments in both branches, the words of a
//! loop, the arguments of a function. A command is then read once for each, up
//! to a bound; beyond it, and where a value comes from a running program, the
//! word has a hole. When an assignment happens is not looked at.

use super::lex::{self, LexOutput, SimpleCommand, assigned};
use super::nesting::close_brace;
use super::words::{self, HOLE, ShellWord};
use std::collections::HashMap;
use std::rc::Rc;

/// One value of a variable.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ShellValue {
    pub text: String,
    /// The text hangs below the home directory.
    pub home: bool,
    /// The text is a file name pattern that was expanded before.
    pub glob: bool,
    /// Part of it was computed by the script.
    pub derived: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ValueSet {
    pub known: Vec<ShellValue>,
    /// There may be others.
    pub open: bool,
}

/// Values kept of one variable; with more, some are unknown.
const VALUES: usize = 16;
/// Readings of one command.
const READINGS: usize = 16;

impl From<ShellWord> for ShellValue {
    fn from(word: ShellWord) -> Self {
        Self { text: word.text, home: word.home, glob: word.glob, derived: word.derived }
    }
}

impl ValueSet {
    fn add(&mut self, value: ShellValue) {
        if self.known.contains(&value) {
            return;
        }
        match self.known.len() < VALUES {
            true => self.known.push(value),
            false => self.open = true,
        }
    }

    fn possibilities(&self) -> usize {
        self.known.len() + usize::from(self.open)
    }
}

/// A choice of one value for each of some variables; `None` is an unknown value.
type Choice = Vec<(String, Option<ShellValue>)>;

/// What is known while a word is read.
#[derive(Clone, Debug, Default)]
pub(super) struct Variables {
    all: Rc<HashMap<String, ValueSet>>,
    chosen: Choice,
    /// Something may set variables invisibly (`eval`, `source`).
    opaque: bool,
    /// Something may change or split values in a way that is not followed.
    doubtful: bool,
}

/// What a name stands for.
pub(super) enum Meaning<'v> {
    /// The script says so.
    Value(&'v ShellValue),
    /// The script computes it.
    Derived,
    /// It comes with the environment.
    Environment,
}

impl Variables {
    pub(crate) fn get(&self, name: &str) -> Meaning<'_> {
        if let Some((_, value)) = self.chosen.iter().rev().find(|(chosen, _)| chosen == name) {
            return value.as_ref().map_or(Meaning::Derived, Meaning::Value);
        }
        match self.all.get(name) {
            Some(ValueSet { known, open: false }) if known.len() == 1 => Meaning::Value(&known[0]),
            Some(_) => Meaning::Derived,
            None if self.opaque => Meaning::Derived,
            None => Meaning::Environment,
        }
    }

    /// Returns whether variables may have other values than the text shows.
    pub(crate) fn are_doubtful(&self) -> bool {
        self.opaque || self.doubtful
    }

    fn with(&self, choice: Choice) -> Self {
        let chosen = self.chosen.iter().cloned().chain(choice).collect();
        Self { all: Rc::clone(&self.all), chosen, opaque: self.opaque, doubtful: self.doubtful }
    }

    /// Returns the readings of a text that names these variables: one, unless some have several values.
    pub(crate) fn readings<'r>(&self, raws: impl Iterator<Item = &'r str>) -> Vec<Self> {
        let mut names: Vec<&str> = raws.filter(|raw| raw.contains('$')).flat_map(mentions).collect();
        names.sort_unstable();
        names.dedup();
        let mut choices: Vec<Choice> = vec![Vec::new()];
        for name in names {
            if self.chosen.iter().any(|(chosen, _)| chosen == name) {
                continue;
            }
            let Some(values) = self.all.get(name).filter(|values| values.possibilities() > 1) else { continue };
            if choices.len() * values.possibilities() > READINGS {
                continue;
            }
            let each: Vec<Option<ShellValue>> =
                values.known.iter().cloned().map(Some).chain(values.open.then_some(None)).collect();
            choices = choices
                .iter()
                .flat_map(|choice| {
                    each.iter().map(|value| choice.iter().cloned().chain([(name.to_owned(), value.clone())]).collect())
                })
                .collect();
        }
        choices.into_iter().map(|choice| if choice.is_empty() { self.clone() } else { self.with(choice) }).collect()
    }

    /// The same with the arguments a shell gets: `$0`, `$1` and so on.
    pub(crate) fn with_arguments(&self, args: &[ShellWord]) -> Self {
        let mut all = (*self.all).clone();
        let mut set = |name: &str, value: ShellValue| {
            all.insert(name.to_owned(), ValueSet { known: vec![value], open: false });
        };
        if let [zero, rest @ ..] = args {
            set("0", zero.clone().into());
            positional(rest, &mut set);
        }
        Self { all: Rc::new(all), chosen: self.chosen.clone(), opaque: self.opaque, doubtful: self.doubtful }
    }

    /// What the script itself says, on top of what holds around it.
    pub(crate) fn of(found: &LexOutput, outer: &Self) -> Self {
        let mut collected = Collected { all: (*outer.all).clone() };
        let opaque = outer.opaque || found.commands.iter().any(is_opaque);
        let (chosen, mut doubtful) = (&outer.chosen, outer.doubtful);
        // A value may be made of another one that is given later in the text.
        for _ in 0..2 {
            let known = Self { all: Rc::new(collected.all.clone()), chosen: chosen.clone(), opaque, doubtful };
            doubtful |= found.commands.iter().any(|command| is_doubtful(command, &known));
            collected.take(found, &known);
        }
        Self { all: Rc::new(collected.all), chosen: chosen.clone(), opaque, doubtful }
    }
}

/// Returns the names of variables a text mentions.
fn mentions(raw: &str) -> impl Iterator<Item = &str> {
    raw.match_indices('$').filter_map(|(at, _)| {
        let rest = &raw[at + 1..];
        let rest = match rest.strip_prefix('{') {
            Some(_) => raw[at + 2..close_brace(raw, at + 2).min(raw.len())].trim_start_matches(['!', '#']),
            None => rest,
        };
        let end = match rest.bytes().next()? {
            b'0'..=b'9' | b'@' | b'*' => 1,
            _ => rest.find(|c: char| c != '_' && !c.is_ascii_alphanumeric()).unwrap_or(rest.len()),
        };
        (end > 0).then(|| &rest[..end])
    })
}

/// Commands that set variables by a name or a text that is not looked at.
fn is_opaque(command: &SimpleCommand) -> bool {
    let raw = |at: usize| command.words.get(at).map_or("", |piece| piece.raw.as_str());
    match raw(0) {
        "eval" | "source" | "." | "mapfile" | "readarray" | "getopts" => true,
        "declare" | "typeset" | "local" => {
            command.words.iter().any(|piece| is_nameref(&piece.raw) || piece.raw.starts_with(['$', '"', '\'']))
        }
        "export" | "readonly" | "read" => {
            command.words.iter().skip(1).any(|piece| piece.raw.starts_with(['$', '"', '\'']))
        }
        "printf" => raw(1).starts_with("-v"),
        _ => false,
    }
}

/// Builtins that set variables.
const SETTERS: [&str; 14] = [
    "declare",
    "typeset",
    "local",
    "export",
    "readonly",
    "read",
    "unset",
    "printf",
    "eval",
    "source",
    ".",
    "mapfile",
    "readarray",
    "getopts",
];

/// Commands that change variables, or how values are split, in a way that is not followed.
fn is_doubtful(command: &SimpleCommand, known: &Variables) -> bool {
    // With another separator, values fall into other words.
    let splits = |piece: &lex::RawWord| assigned(&piece.raw).is_some_and(|(name, _)| name == "IFS");
    // `${x:=value}`
    let assigns = |piece: &lex::RawWord| piece.raw.contains("${") && piece.raw.contains('=');
    if command.env.iter().chain(&command.words).any(assigns) {
        return true;
    }
    let [program, arguments @ ..] = command.words.as_slice() else { return command.env.iter().any(splits) };
    let sets = |word: &ShellWord| SETTERS.contains(&&*word.text);
    let named = || arguments.iter().filter(|piece| !piece.raw.starts_with('-'));
    match program.raw.as_str() {
        "unset" => true,
        "trap" => arguments.first().is_some_and(|text| text.raw.contains('=')),
        "declare" | "typeset" | "local" | "export" | "readonly" => {
            named().any(|piece| splits(piece) || assigned(&piece.raw).is_none() && !is_name(&piece.raw))
        }
        "read" => named().any(|piece| !is_name(&piece.raw)),
        "builtin" | "command" | "time" | "exec" => {
            arguments.iter().flat_map(|piece| words_of(&piece.raw, known)).any(|word| sets(&word))
        }
        raw if SETTERS.contains(&raw) => false,
        // `\declare`, `"read"`, `$setter`
        raw => words_of(raw, known).iter().any(sets),
    }
}

/// `declare -n`: the variable is another name of the one it names.
fn is_nameref(raw: &str) -> bool {
    raw.starts_with('-') && raw.contains('n')
}

/// `$1` to `$9`, `$@` and `$*`.
fn positional(args: &[ShellWord], set: &mut impl FnMut(&str, ShellValue)) {
    for (at, word) in args.iter().enumerate().take(9) {
        set(&(at + 1).to_string(), word.clone().into());
    }
    let text = args.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
    let [home, glob, derived] = [
        args.first().is_some_and(|word| word.home),
        args.iter().any(|word| word.glob),
        args.iter().any(|word| word.derived),
    ];
    for name in ["@", "*"] {
        set(name, ShellValue { text: text.clone(), home, glob, derived });
    }
}

struct Collected {
    all: HashMap<String, ValueSet>,
}

impl Collected {
    fn add(&mut self, name: &str, word: ShellWord) {
        self.all.entry(name.to_owned()).or_default().add(word.into());
    }

    fn open(&mut self, name: &str) {
        self.all.entry(name.to_owned()).or_default().open = true;
    }

    fn take(&mut self, found: &LexOutput, known: &Variables) {
        for command in &found.commands {
            self.command(command, found, known);
        }
        let lists = found.loops.iter().chain(&found.lists);
        for (name, raws) in lists.filter(|(name, _)| !name.is_empty()) {
            for word in raws.iter().flat_map(|raw| words_of(raw, known)) {
                self.add(name, word);
            }
            if raws.is_empty() {
                self.open(name);
            }
        }
    }

    fn command(&mut self, command: &SimpleCommand, found: &LexOutput, known: &Variables) {
        let program = command.words.first().map_or("", |piece| piece.raw.as_str());
        let arguments = command.words.get(1..).unwrap_or_default();
        let args = || arguments.iter().flat_map(|piece| words_of(&piece.raw, known)).collect::<Vec<_>>();
        match program {
            "" => command.env.iter().for_each(|piece| self.assignment(&piece.raw, known)),
            "declare" | "local" | "typeset" if arguments.iter().any(|piece| is_nameref(&piece.raw)) => {
                for (name, of) in arguments.iter().filter_map(|piece| assigned(&piece.raw)) {
                    let values = known.all.get(of).map(|values| values.known.clone()).unwrap_or_default();
                    values.into_iter().for_each(|value| self.all.entry(name.to_owned()).or_default().add(value));
                    self.open(name);
                }
            }
            "export" | "declare" | "local" | "readonly" | "typeset" => {
                arguments.iter().for_each(|piece| self.assignment(&piece.raw, known));
            }
            "read" | "mapfile" | "readarray" => {
                let names: Vec<&str> =
                    arguments.iter().map(|piece| piece.raw.as_str()).filter(|raw| is_name(raw)).collect();
                let separators = command.env.iter().filter_map(|piece| assigned(&piece.raw));
                let separators: String = separators.filter(|(name, _)| *name == "IFS").map(|(_, text)| text).collect();
                for (at, name) in names.iter().enumerate() {
                    for word in printed_lines(found, known) {
                        if names.len() > 1 {
                            let splits = |c: char| c.is_whitespace() || separators.contains(c);
                            let part = word.text.splitn(names.len(), splits).nth(at).unwrap_or_default();
                            self.add(name, word.with(part));
                        }
                        self.add(name, word);
                    }
                    self.open(name);
                }
            }
            "printf" if arguments.first().is_some_and(|piece| piece.raw == "-v") => {
                let words = args();
                if let [_, name, format, rest @ ..] = words.as_slice() {
                    let value = if rest.is_empty() { vec![format] } else { rest.iter().collect() };
                    value.into_iter().for_each(|word| self.add(&name.text, word.clone()));
                    self.open(&name.text);
                }
            }
            "set" => {
                let words = args();
                if let Some(at) = words.iter().position(|word| word.text == "--") {
                    self.arguments(&words[at + 1..], found);
                }
            }
            name if found.functions.iter().any(|function| function == name) => self.arguments(&args(), found),
            _ => {}
        }
    }

    /// The arguments of the script or of a function; `shift` moves them on.
    fn arguments(&mut self, words: &[ShellWord], found: &LexOutput) {
        let shifts = |command: &SimpleCommand| command.words.first().is_some_and(|piece| piece.raw == "shift");
        let last = if found.commands.iter().any(shifts) { words.len() } else { 1 };
        for from in 0..last.min(VALUES) {
            let words = words.get(from..).unwrap_or_default();
            positional(words, &mut |name, value| self.all.entry(name.to_owned()).or_default().add(value));
        }
    }

    fn assignment(&mut self, raw: &str, known: &Variables) {
        let Some((name, value)) = assigned(raw) else { return };
        let appends = raw[name.len()..].starts_with("+=");
        for variables in known.readings(std::iter::once(value)) {
            let word = words::read_whole(value, &variables);
            if !appends {
                self.add(name, word);
                continue;
            }
            let before = known.all.get(name).map(|values| values.known.clone()).unwrap_or_default();
            let parts: Vec<ShellValue> = before.into_iter().filter(|part| !part.text.contains(HOLE)).collect();
            for part in &parts {
                let text = format!("{}{}", part.text, word.text);
                if text.len() < lex::LONGEST_VALUE {
                    self.add(name, ShellWord { text, home: part.home, glob: word.glob || part.glob, ..word.clone() });
                }
            }
            if parts.is_empty() {
                self.add(name, ShellWord { text: format!("{HOLE}{}", word.text), derived: true, ..word });
            }
        }
    }
}

fn is_name(raw: &str) -> bool {
    !raw.is_empty() && raw.bytes().all(|b| b == b'_' || b.is_ascii_alphanumeric())
}

/// Returns the words a text becomes, for every reading of it.
fn words_of(raw: &str, known: &Variables) -> Vec<ShellWord> {
    known.readings(std::iter::once(raw)).iter().flat_map(|variables| words::read(raw, variables)).collect()
}

/// Returns what `read` may find on its input: here-documents, here-strings and what `echo` and `printf` print.
fn printed_lines(found: &LexOutput, known: &Variables) -> Vec<ShellWord> {
    const MOST: usize = 8;
    let fed = found.fed.iter().flat_map(|fed| match fed.body.contains('\n') {
        true => fed.body.lines().take(MOST).map(|line| ShellWord::computed(line.trim())).collect(),
        false => vec![words::read_whole(&fed.body, known)],
    });
    let prints =
        |command: &&SimpleCommand| command.words.first().is_some_and(|name| matches!(&*name.raw, "echo" | "printf"));
    let printed = found.commands.iter().filter(prints).flat_map(|command| &command.words[1..]);
    let printed = printed.flat_map(|piece| words_of(&piece.raw, known)).flat_map(|word| {
        let lines: Vec<ShellWord> =
            word.text.split("\\n").map(|line| ShellWord { derived: true, ..word.with(line) }).collect();
        lines
    });
    fed.chain(printed).filter(|word| !word.text.is_empty() && !word.is_option()).take(2 * MOST).collect()
}
