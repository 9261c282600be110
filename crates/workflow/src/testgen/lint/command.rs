//! One simple command: assignments, wrappers, functions, the product, other programs.

use super::entry::{EntryPoint, shown};
use super::flow::{ControlFlow, StatementResult};
use super::foreign::{Language, look};
use super::rule::LintRule;
use super::state::{FailureScope, ScriptState};
use super::status::{Comparison, ExitStatus, add};
use super::syntax::SimpleStatement;
use super::value::{Origins, TrackedText, is_hole};

/// Functions in functions.
const DEEPEST: usize = 12;

impl ScriptState<'_> {
    pub(crate) fn command(&mut self, command: &SimpleStatement, line: u32) -> StatementResult {
        if command.words.is_empty() {
            self.substituted = ExitStatus::default();
            self.assignments(command, line);
            // Its status is that of the last `$(…)` in it.
            let mut status = std::mem::take(&mut self.substituted);
            status.atoms.iter_mut().for_each(|atom| atom.guard = true);
            return StatementResult { status, ..StatementResult::default() };
        }
        let names = command.assignments.iter().map(|assignment| assignment.name.as_str());
        let before: Vec<_> = names.map(|name| (name, self.shell.variables.get(name).cloned())).collect();
        self.assignments(command, line);
        let words: Vec<TrackedText> = command.words.iter().flat_map(|word| self.fields(word)).collect();
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

    fn assignments(&mut self, command: &SimpleStatement, line: u32) {
        use super::syntax::WordPart;
        for assignment in &command.assignments {
            let values = match assignment.value.parts.as_slice() {
                [WordPart::List(_)] => self.fields_of_list(&assignment.value),
                _ => vec![self.single(&assignment.value)],
            };
            self.set(&assignment.name, values, assignment.adds, line);
        }
    }

    fn fields_of_list(&mut self, word: &super::syntax::ScriptWord) -> Vec<TrackedText> {
        let Some(super::syntax::WordPart::List(words)) = word.parts.first() else { return Vec::new() };
        words.iter().flat_map(|word| self.fields(word)).collect()
    }

    /// Sets a variable, and says so if it is one that changes what runs.
    pub(crate) fn set(&mut self, name: &str, values: Vec<TrackedText>, adds: bool, line: u32) {
        let all = values.iter().fold(TrackedText::default(), |mut all, value| {
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
    pub(crate) fn run(&mut self, words: &[TrackedText], line: u32) -> StatementResult {
        let Some(program) = words.first() else { return StatementResult::default() };
        if !self.step(line) {
            return StatementResult::default();
        }
        let name = program.text.clone();
        if self.shell.functions.contains_key(&name) {
            return self.function(&name, &words[1..], line);
        }
        if self.is_double(words, line) {
            return self.other(words, line);
        }
        if self.entry(words) == EntryPoint::Product {
            return self.product(words, line);
        }
        if name.contains(is_hole) && !name.contains('/') {
            // A name that is made up while running.
            let line = self.outermost(line);
            self.find(LintRule::L02, line, format_args!("What `{}` runs cannot be determined", shown(program)));
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

    /// Follows a program nothing is known about.
    fn other(&mut self, words: &[TrackedText], line: u32) -> StatementResult {
        let mut from = Origins::AMBIENT;
        for word in &words[1..] {
            from |= word.from;
            let key = self.location(&word.text).key;
            if let Some(file) = self.files.get(&key).cloned() {
                from |= self.content(&word.text).from;
                if let Some(language) = Language::of_file(&key) {
                    let seen = look(&file.content.text, language);
                    self.report(&seen, line);
                }
            }
        }
        if !self.stdin.from.has(Origins::AMBIENT) {
            from |= self.stdin.from;
        }
        let out = self.unknown(from);
        StatementResult {
            out,
            status: ExitStatus::of(Comparison::plain(Origins::AMBIENT, line)),
            ..StatementResult::default()
        }
    }

    fn product(&mut self, words: &[TrackedText], line: u32) -> StatementResult {
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
        let result = if flag("--eval") { Origins::RESULT } else { Origins::NONE };
        let hooks = if flag("--fire-hook") { Origins::HOOKS } else { Origins::NONE };
        let out = self.unknown(Origins::OUTPUT | result | hooks);
        StatementResult {
            out,
            status: ExitStatus::of(Comparison::plain(Origins::STATUS, line)),
            ..StatementResult::default()
        }
    }

    /// Follows a function of the script, with these arguments.
    pub(crate) fn function(&mut self, name: &str, arguments: &[TrackedText], line: u32) -> StatementResult {
        let Some(body) = self.shell.functions.get(name).cloned() else { return StatementResult::default() };
        if self.called_at.len() >= DEEPEST {
            return StatementResult::default();
        }
        let parameters = std::mem::replace(&mut self.shell.parameters, arguments.to_vec());
        self.called_at.push(line);
        self.frames.push((FailureScope::Function, Vec::new()));
        let outcome = self.statement(&body);
        let (_, kept) = self.frames.pop().expect("pushed above");
        self.called_at.pop();
        self.shell.parameters = parameters;
        let flow = match outcome.flow {
            ControlFlow::Exit(code) => ControlFlow::Exit(code),
            ControlFlow::On | ControlFlow::Return(_) | ControlFlow::Break => ControlFlow::On,
        };
        let mut atoms = outcome.status.all();
        add(&mut atoms, kept);
        StatementResult { out: outcome.out, status: ExitStatus { atoms, ..ExitStatus::default() }, flow }
    }
}
