//! One simple command: assignments, wrappers, functions, the product, other programs.

use super::entry::{Entry, shown};
use super::flow::{Flow, Outcome};
use super::foreign::{Language, look};
use super::rule::Rule;
use super::status::{Atom, Status, add};
use super::syntax::Command;
use super::value::{Sources, Value, is_hole};
use super::world::{Frame, World};

/// Functions in functions.
const DEEPEST: usize = 12;

impl World<'_> {
    pub fn command(&mut self, command: &Command, line: u32) -> Outcome {
        if command.words.is_empty() {
            self.substituted = Status::default();
            self.assignments(command, line);
            // Its status is that of the last `$(…)` in it.
            let mut status = std::mem::take(&mut self.substituted);
            status.atoms.iter_mut().for_each(|atom| atom.guard = true);
            return Outcome { status, ..Outcome::default() };
        }
        let names = command.assignments.iter().map(|assignment| assignment.name.as_str());
        let before: Vec<_> = names.map(|name| (name, self.shell.variables.get(name).cloned())).collect();
        self.assignments(command, line);
        let words: Vec<Value> = command.words.iter().flat_map(|word| self.fields(word)).collect();
        let mut outcome = self.run(&words, line);
        for (name, value) in before {
            match value {
                Some(value) => self.shell.variables.insert(name.to_owned(), value),
                None => self.shell.variables.remove(name),
            };
        }
        let controlled = self.controlled();
        if !controlled.is_none() && !outcome.out.text.is_empty() {
            // That it is printed at all depends on what the branch does.
            outcome.out = self.unknown(outcome.out.from | controlled);
        }
        outcome
    }

    fn assignments(&mut self, command: &Command, line: u32) {
        use super::syntax::Part;
        for assignment in &command.assignments {
            let values = match assignment.value.parts.as_slice() {
                [Part::List(_)] => self.fields_of_list(&assignment.value),
                _ => vec![self.single(&assignment.value)],
            };
            self.set(&assignment.name, values, assignment.adds, line);
        }
    }

    fn fields_of_list(&mut self, word: &super::syntax::Word) -> Vec<Value> {
        let Some(super::syntax::Part::List(words)) = word.parts.first() else { return Vec::new() };
        words.iter().flat_map(|word| self.fields(word)).collect()
    }

    /// Sets a variable, and says so if it is one that changes what runs.
    pub fn set(&mut self, name: &str, values: Vec<Value>, adds: bool, line: u32) {
        let all = values.iter().fold(Value::default(), |mut all, value| {
            all.push(value);
            all
        });
        self.variable_is_set(name, &all, adds, line);
        if matches!(name, "AGENT_SDLC_DB" | "HOME" | "TMPDIR") {
            self.seed(&all.text);
        }
        self.assign(name, values, adds);
    }

    /// Words that are known, but for their holes.
    pub fn run(&mut self, words: &[Value], line: u32) -> Outcome {
        let Some(program) = words.first() else { return Outcome::default() };
        if !self.step(line) {
            return Outcome::default();
        }
        let name = program.text.clone();
        if self.shell.functions.contains_key(&name) {
            return self.function(&name, &words[1..], line);
        }
        if self.is_double(words, line) {
            return self.other(words, line);
        }
        if self.entry(words) == Entry::Product {
            return self.product(words, line);
        }
        if name.contains(is_hole) && !name.contains('/') {
            // A name that is made up while running.
            let line = self.outermost(line);
            self.find(Rule::L02, line, format_args!("What `{}` runs can not be told", shown(program)));
            return self.other(words, line);
        }
        if let Some(outcome) = self.wrapper(words, line) {
            return outcome;
        }
        if let Some(outcome) = self.builtin(words, line) {
            return outcome;
        }
        self.network(words, line);
        self.changes(words, line);
        if let Some(outcome) = self.interpreter(words, line) {
            return outcome;
        }
        if let Some(outcome) = self.tool(words, line) {
            return outcome;
        }
        self.other(words, line)
    }

    /// A program nothing is known about.
    fn other(&mut self, words: &[Value], line: u32) -> Outcome {
        let mut from = Sources::AMBIENT;
        for word in &words[1..] {
            from |= word.from;
            let key = self.place(&word.text).key;
            if let Some(file) = self.files.get(&key).cloned() {
                from |= self.content(&word.text).from;
                if let Some(language) = Language::of_file(&key) {
                    let seen = look(&file.content.text, language);
                    self.report(&seen, line);
                }
            }
        }
        if !self.stdin.from.has(Sources::AMBIENT) {
            from |= self.stdin.from;
        }
        let out = self.unknown(from);
        Outcome { out, status: Status::of(Atom::plain(Sources::AMBIENT, line)), ..Outcome::default() }
    }

    fn product(&mut self, words: &[Value], line: u32) -> Outcome {
        let mut text: String = words.iter().map(|word| word.text.as_str()).collect::<Vec<_>>().join(" ");
        text.push(' ');
        text.push_str(&self.stdin.text);
        let home = self.environment("PWD").text;
        if !self.shell.cwd.starts_with(self.project_root()) {
            text.push(' ');
            text.push_str(&home);
        }
        let variables = self.shell.variables.iter();
        let exported: Vec<&str> = variables
            .filter(|(name, _)| name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_' || b.is_ascii_digit()))
            .flat_map(|(_, values)| values.iter().map(|value| value.text.as_str()))
            .filter(|text| text.contains('/'))
            .collect();
        for value in exported {
            text.push(' ');
            text.push_str(value);
        }
        self.call(text);
        let flag = |name: &str| words.iter().any(|word| word.text == name);
        let result = if flag("--eval") { Sources::RESULT } else { Sources::NONE };
        let hooks = if flag("--fire-hook") { Sources::HOOKS } else { Sources::NONE };
        let out = self.unknown(Sources::OUTPUT | result | hooks);
        Outcome { out, status: Status::of(Atom::plain(Sources::STATUS, line)), ..Outcome::default() }
    }

    /// A function of the script, with these arguments.
    pub fn function(&mut self, name: &str, arguments: &[Value], line: u32) -> Outcome {
        let Some(body) = self.shell.functions.get(name).cloned() else { return Outcome::default() };
        if self.called_at.len() >= DEEPEST {
            return Outcome::default();
        }
        let parameters = std::mem::replace(&mut self.shell.parameters, arguments.to_vec());
        self.called_at.push(line);
        self.frames.push((Frame::Function, Vec::new()));
        let outcome = self.statement(&body);
        let (_, kept) = self.frames.pop().expect("pushed above");
        self.called_at.pop();
        self.shell.parameters = parameters;
        let flow = match outcome.flow {
            Flow::Exit(code) => Flow::Exit(code),
            Flow::On | Flow::Return(_) | Flow::Break => Flow::On,
        };
        let mut atoms = outcome.status.all();
        add(&mut atoms, kept);
        Outcome { out: outcome.out, status: Status { atoms, ..Status::default() }, flow }
    }
}
