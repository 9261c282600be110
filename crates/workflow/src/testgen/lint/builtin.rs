//! The shell's own commands.

use super::flow::{ControlFlow, ExitCode, StatementResult};
use super::parse;
use super::rule::LintRule;
use super::state::ScriptState;
use super::status::{Comparison, ExitStatus, FailureReason};
use super::syntax::{Statement, StatementKind};
use super::value::{Origins, TrackedText};
use super::wrapper::is_name;

impl ScriptState<'_> {
    pub(crate) fn builtin(&mut self, words: &[TrackedText], line: u32) -> Option<StatementResult> {
        let arguments = &words[1..];
        let argument = |at: usize| arguments.get(at).map_or("", |word| word.text.as_str());
        let mut outcome = StatementResult::default();
        match words[0].text.as_str() {
            "true" | ":" => outcome.status = ExitStatus::always(true),
            "sleep" | "shift" | "ulimit" | "umask" | "times" | "disown" | "bg" | "fg" | "jobs" => {}
            "false" => outcome.status = ExitStatus::always(false),
            "exit" | "return" => {
                let code = self.code(arguments.first());
                outcome.flow = match words[0].text.as_str() {
                    "exit" => ControlFlow::Exit(code),
                    _ => ControlFlow::Return(code),
                };
            }
            "break" | "continue" => outcome.flow = ControlFlow::Break,
            "echo" => outcome.out = echoed(arguments),
            "printf" => match argument(0) {
                "-v" => {
                    let value = self.formatted(arguments.get(2..).unwrap_or_default());
                    self.set(argument(1), vec![value], false, line);
                }
                _ => outcome.out = self.formatted(arguments),
            },
            "test" | "[" => {
                let inside = match (words[0].text.as_str(), arguments.split_last()) {
                    ("[", Some((last, rest))) if last.text == "]" => rest,
                    _ => arguments,
                };
                let operands = self.arguments_of_test(inside);
                outcome.status = self.test(&operands, false, line);
            }
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.declaration(words, line);
            }
            "unset" => {
                for word in arguments {
                    self.shell.variables.insert(
                        word.text.clone(),
                        vec![TrackedText { from: Origins::AMBIENT, ..TrackedText::default() }],
                    );
                    self.shell.functions.remove(&word.text);
                }
            }
            "read" | "mapfile" | "readarray" => {
                let value = self.unknown(self.stdin.from);
                for word in arguments.iter().filter(|word| is_name(&word.text)) {
                    self.set(&word.text, vec![value.clone()], false, line);
                }
                if arguments.iter().all(|word| !is_name(&word.text)) {
                    self.set("REPLY", vec![value.clone()], false, line);
                    self.set("MAPFILE", vec![value], false, line);
                }
                outcome.status = ExitStatus::of(Comparison::plain(self.stdin.from, line));
            }
            "let" => {
                let names = arguments.iter().map(|word| {
                    word.text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').next().unwrap_or("").to_owned()
                });
                for name in names.filter(|name| is_name(name)).collect::<Vec<_>>() {
                    let old = self.variable(&name);
                    let counted =
                        self.unknown(old.from | if self.loops > 0 { Origins::AMBIENT } else { Origins::NONE });
                    self.set(&name, vec![counted], false, line);
                }
            }
            "set" => self.options(arguments, line),
            "shopt" | "bind" | "complete" | "compgen" | "history" | "getopts" | "logout" | "dirs" | "suspend"
            | "caller" => {}
            "cd" | "pushd" => {
                let to = arguments.iter().find(|word| !word.text.starts_with('-')).cloned();
                let to = to.unwrap_or_else(|| self.environment("HOME"));
                self.shell.cwd = self.location(&to.text).key;
                if argument(0) == "-" {
                    self.shell.cwd = self.project_root().to_string();
                }
                outcome.status = ExitStatus::of(Comparison::plain(Origins::AMBIENT, line));
            }
            "popd" => self.shell.cwd = self.project_root().to_string(),
            "pwd" => outcome.out = TrackedText { text: self.shell.cwd.clone(), from: Origins::NONE },
            "eval" => {
                let mut text = TrackedText::default();
                for (at, word) in arguments.iter().enumerate() {
                    if at > 0 {
                        text.text.push(' ');
                    }
                    text.push(word);
                }
                return Some(self.nested(&text, line, "eval"));
            }
            "source" | "." => return Some(self.sourced(arguments, line)),
            "trap" => self.trap(arguments, line),
            "wait" => {
                if !arguments.is_empty() {
                    outcome.status =
                        ExitStatus { atoms: std::mem::take(&mut self.background), ..ExitStatus::default() };
                }
            }
            "alias" => {
                for word in arguments {
                    if let Some((name, _)) = word.text.split_once('=') {
                        let name = name.to_owned();
                        self.shadows(&name, "an alias", line);
                    }
                }
            }
            "hash" => {
                if argument(0) == "-p" {
                    self.shadows(argument(2), "`hash -p`", line);
                }
            }
            "enable" => {
                let line = self.outermost(line);
                for word in arguments.iter().filter(|word| !word.text.starts_with('-')) {
                    let name = word.text.clone();
                    self.shadows(&name, "`enable`", line);
                }
            }
            "kill" => outcome.status = ExitStatus::of(Comparison::plain(Origins::AMBIENT, line)),
            _ => return None,
        }
        Some(outcome)
    }

    /// Returns what `exit` or `return` with this argument says.
    fn code(&mut self, argument: Option<&TrackedText>) -> ExitCode {
        match argument {
            Some(value) if value.is_known() && !value.from.has(Origins::SURFACES | Origins::STATUS) => {
                if value.text.trim_start_matches('0').is_empty() { ExitCode::Zero } else { ExitCode::Other }
            }
            // A count of failures, or a status kept for the end.
            Some(value) => {
                let from = value.from;
                self.decides(from)
            }
            None => {
                let atoms = std::mem::take(&mut self.last).all();
                if self.branches == 0 {
                    self.leaves_with(atoms);
                }
                ExitCode::Other
            }
        }
    }

    fn decides(&mut self, from: Origins) -> ExitCode {
        if self.branches > 0 {
            return ExitCode::Other;
        }
        if from.is_none() {
            return ExitCode::Zero;
        }
        self.leaves_with(vec![Comparison::check(from, self.line)]);
        ExitCode::Other
    }

    fn leaves_with(&mut self, atoms: Vec<Comparison>) {
        match self.frames.is_empty() {
            true => self.fails(atoms, FailureReason::Implied),
            false => self.returns(atoms),
        }
    }

    /// `exec program`: its status is the script's.
    pub(crate) fn ends_with(&mut self, status: ExitStatus) -> ControlFlow {
        if status.atoms.is_empty() && status.exempt.is_empty() {
            return ControlFlow::Exit(ExitCode::Zero);
        }
        self.fails(status.all(), FailureReason::Implied);
        ControlFlow::Exit(ExitCode::Other)
    }

    fn formatted(&mut self, arguments: &[TrackedText]) -> TrackedText {
        let Some((format, rest)) = arguments.split_first() else { return TrackedText::default() };
        let mut out = TrackedText { text: String::new(), from: format.from };
        let mut rest = rest.iter();
        let mut letters = format.text.chars().peekable();
        while let Some(c) = letters.next() {
            match (c, letters.peek()) {
                ('%', Some('%')) => {
                    letters.next();
                    out.text.push('%');
                }
                ('%', Some(_)) => {
                    for c in letters.by_ref() {
                        if c.is_ascii_alphabetic() {
                            break;
                        }
                    }
                    if let Some(value) = rest.next() {
                        out.push(value);
                    }
                }
                ('\\', Some('n')) => {
                    letters.next();
                    out.text.push('\n');
                }
                _ => out.text.push(c),
            }
        }
        for value in rest {
            out.text.push('\n');
            out.push(value);
        }
        out
    }

    /// `export`, `declare` and their kind.
    fn declaration(&mut self, words: &[TrackedText], line: u32) {
        let name = words[0].text.as_str();
        let options: String = words[1..].iter().filter(|w| w.text.starts_with('-')).map(|w| w.text.as_str()).collect();
        let exports = name == "export" || options.contains('x');
        for word in words[1..].iter().filter(|word| !word.text.starts_with('-')) {
            let (name, value) = match word.text.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (word.text.as_str(), None),
            };
            let (name, adds) = match name.strip_suffix('+') {
                Some(name) => (name.to_owned(), true),
                None => (name.to_owned(), false),
            };
            if exports && !is_name(&name) {
                let line = self.outermost(line);
                self.find(LintRule::L09, line, "Which variable it exports cannot be determined");
                continue;
            }
            match value {
                Some(value) => {
                    let value = TrackedText { text: value.to_owned(), from: word.from };
                    if exports {
                        self.seed(&value.text);
                    }
                    self.set(&name, vec![value], adds, line);
                }
                None if exports => {
                    let value = self.variable(&name);
                    self.seed(&value.text);
                    if self.shell.variables.contains_key(&name) {
                        self.variable_is_set(&name, &value, false, line);
                    }
                }
                None if self.in_function() => {
                    self.shell.variables.insert(name, vec![TrackedText::default()]);
                }
                None => {}
            }
        }
    }

    fn options(&mut self, arguments: &[TrackedText], line: u32) {
        let (mut named, mut sign) = (false, true);
        for word in arguments {
            let text = word.text.as_str();
            let on = !text.starts_with('+');
            if named {
                match text {
                    "errexit" => self.shell.errexit = sign,
                    "pipefail" => self.shell.pipefail = sign,
                    "noexec" if sign => self.reads_only(line),
                    _ => {}
                }
                named = false;
                continue;
            }
            if text == "--" {
                self.shell.parameters = arguments.iter().skip_while(|w| w.text != "--").skip(1).cloned().collect();
                return;
            }
            let Some(letters) = text.strip_prefix(['-', '+']) else { continue };
            sign = on;
            for letter in letters.chars() {
                match letter {
                    'e' => self.shell.errexit = on,
                    'o' => named = true,
                    'n' if on => self.reads_only(line),
                    _ => {}
                }
            }
        }
    }

    fn reads_only(&mut self, line: u32) {
        let line = self.outermost(line);
        self.find(LintRule::L13, line, "`set -n` keeps everything behind it from running");
    }

    /// Text that a shell reads: `eval`, `bash -c`, a here-document for `sh`.
    pub(crate) fn nested(&mut self, text: &TrackedText, line: u32, what: &str) -> StatementResult {
        if !self.is_told(text) {
            let line = self.outermost(line);
            self.find(LintRule::L02, line, format_args!("What `{what}` runs cannot be determined from the script"));
            return StatementResult::default();
        }
        if self.nesting >= 6 {
            let line = self.outermost(line);
            self.find(LintRule::L02, line, "It is nested too deeply");
            return StatementResult::default();
        }
        match parse::read(&text.text, line) {
            Ok(statements) => {
                // A reader finds the command, not a line of its argument.
                self.nesting += 1;
                self.called_at.push(line);
                let outcome = self.list(&statements);
                self.called_at.pop();
                self.nesting -= 1;
                outcome
            }
            Err(unreadable) => {
                let line = self.outermost(line);
                self.find(LintRule::L02, line, unreadable.why);
                StatementResult::default()
            }
        }
    }

    fn trap(&mut self, arguments: &[TrackedText], line: u32) {
        let Some((handler, signals)) = arguments.split_first() else { return };
        let ends = signals.iter().any(|word| matches!(word.text.as_str(), "EXIT" | "0" | "ERR" | "DEBUG" | "RETURN"));
        if matches!(handler.text.as_str(), "-" | "" | "-p" | "-l") {
            return;
        }
        // `trap "rm -rf $work" EXIT` expands now; its holes are letters to the parser.
        match parse::read(&handler.text, line) {
            Ok(statements) => self.handler(&statements, ends, line),
            Err(unreadable) => {
                let line = self.outermost(line);
                self.find(LintRule::L02, line, unreadable.why);
            }
        }
    }

    fn handler(&mut self, statements: &[Statement], ends: bool, line: u32) {
        let functions = self.shell.functions.clone();
        let exits = |statement: &Statement| exits_zero(statement, &functions, 0);
        if ends && statements.iter().any(exits) {
            let line = self.outermost(line);
            self.find(LintRule::L13, line, "A trap turns every failure into success");
        }
        self.captured += 1;
        let early = self.early.len();
        self.called_at.push(line);
        self.subshell(|state| state.list(statements));
        self.called_at.pop();
        self.early.truncate(early);
        self.captured -= 1;
    }
}

/// Somewhere in it stands `exit 0`.
fn exits_zero(
    statement: &Statement,
    functions: &std::collections::HashMap<String, std::rc::Rc<Statement>>,
    depth: u8,
) -> bool {
    let any = |list: &[Statement]| list.iter().any(|inner| exits_zero(inner, functions, depth));
    match &statement.kind {
        StatementKind::Command(command) => {
            let words: Vec<_> = command.words.iter().map(|word| word.literal().unwrap_or_default()).collect();
            match words.as_slice() {
                [exit, code, ..] if exit == "exit" => code == "0",
                [name, ..] if depth < 4 => {
                    functions.get(name).is_some_and(|body| exits_zero(body, functions, depth + 1))
                }
                _ => false,
            }
        }
        StatementKind::Pipeline(stages) => any(stages),
        StatementKind::And(left, right) | StatementKind::Or(left, right) => {
            exits_zero(left, functions, depth) || exits_zero(right, functions, depth)
        }
        StatementKind::Not(inner) => exits_zero(inner, functions, depth),
        StatementKind::If(arms, otherwise) => {
            arms.iter().any(|(condition, body)| any(condition) || any(body)) || any(otherwise)
        }
        StatementKind::While(condition, body) => any(condition) || any(body),
        StatementKind::For { body, .. } | StatementKind::Group(body) => any(body),
        StatementKind::Case { arms, .. } => arms.iter().any(|arm| any(&arm.body)),
        StatementKind::Subshell(_)
        | StatementKind::Function { .. }
        | StatementKind::Test { .. }
        | StatementKind::Arithmetic { .. } => false,
    }
}

fn echoed(arguments: &[TrackedText]) -> TrackedText {
    let mut out = TrackedText::default();
    let data = arguments.iter().skip_while(|word| matches!(word.text.as_str(), "-e" | "-n" | "-E" | "-ne" | "-en"));
    for (at, value) in data.enumerate() {
        if at > 0 {
            out.text.push(' ');
        }
        out.push(value);
    }
    out.text.push('\n');
    out
}
