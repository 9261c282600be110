//! Programs that run another program: removes them to find the inner command.

use super::flow::StatementResult;
use super::rule::LintRule;
use super::state::ScriptState;
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    pub(crate) fn wrapper(&mut self, words: &[TrackedText], line: u32) -> Option<StatementResult> {
        let name = words[0].text.rsplit('/').next().unwrap_or_default().to_owned();
        let arguments = &words[1..];
        let text = |at: usize| arguments.get(at).map_or("", |word| word.text.as_str());
        let at = match name.as_str() {
            "env" => return Some(self.env(arguments, line)),
            "command" | "type" | "which" if name != "command" || matches!(text(0), "-v" | "-V") => {
                return Some(self.looked_up(arguments));
            }
            // A function of that name is stepped over.
            "command" | "builtin" => {
                let at = usize::from(text(0) == "-p" || text(0) == "--");
                let program = arguments.get(at)?;
                let kept = self.shell.functions.remove(&program.text);
                let outcome = self.run(&arguments[at..], line);
                if let Some(function) = kept {
                    self.shell.functions.insert(program.text.clone(), function);
                }
                return Some(outcome);
            }
            "time" | "nohup" | "setsid" | "unbuffer" | "chronic" => skip(arguments, &["-f", "-o"], 0),
            "exec" => skip(arguments, &["-a"], 0),
            "nice" => skip(arguments, &["-n", "--adjustment"], 0),
            "ionice" => skip(arguments, &["-c", "-n"], 0),
            "stdbuf" => skip(arguments, &["-i", "-o", "-e"], 0),
            "timeout" => skip(arguments, &["-k", "-s", "--kill-after", "--signal"], 1),
            "xargs" => {
                let at = skip(arguments, &["-I", "-n", "-P", "-L", "-d", "-s", "-a"], 0);
                if at >= arguments.len() {
                    return None;
                }
                let mut inner = arguments[at..].to_vec();
                let read = self.stdin.clone();
                inner.push(read);
                return Some(self.run(&inner, line));
            }
            "strace" | "ltrace" if arguments.iter().any(|word| word.text.contains("inject=")) => {
                let line = self.outermost(line);
                self.find(LintRule::L09, line, format_args!("`{name}` changes what system calls answer"));
                skip(arguments, &["-e", "-o"], 0)
            }
            _ => return None,
        };
        if at >= arguments.len() {
            return (name != "exec").then(StatementResult::default);
        }
        let mut outcome = self.run(&arguments[at..], line);
        if name == "exec" {
            outcome.flow = self.ends_with(std::mem::take(&mut outcome.status));
        }
        Some(outcome)
    }

    /// `command -v`, `type -P`, `which`: the name stands for the path.
    fn looked_up(&mut self, arguments: &[TrackedText]) -> StatementResult {
        let operand = arguments.iter().rfind(|word| !word.text.starts_with('-'));
        let out = operand.cloned().unwrap_or_default();
        let status = super::status::ExitStatus::of(super::status::Comparison::plain(Origins::AMBIENT, self.line));
        StatementResult { out, status, ..StatementResult::default() }
    }

    fn env(&mut self, arguments: &[TrackedText], line: u32) -> StatementResult {
        let before = self.shell.variables.clone();
        let mut at = 0;
        while let Some(word) = arguments.get(at) {
            let text = word.text.as_str();
            let split = text.strip_prefix("-S").or_else(|| text.strip_prefix("--split-string"));
            if let Some(rest) = split {
                let mut rest = TrackedText { text: rest.trim_start_matches('=').to_owned(), ..word.clone() };
                if rest.text.is_empty() {
                    at += 1;
                    rest = arguments.get(at).cloned().unwrap_or_default();
                }
                let mut words: Vec<TrackedText> = rest
                    .text
                    .split_whitespace()
                    .map(|text| TrackedText { text: text.to_owned(), ..rest.clone() })
                    .collect();
                words.extend(arguments[(at + 1).min(arguments.len())..].iter().cloned());
                let outcome = self.env(&words, line);
                self.shell.variables = before;
                return outcome;
            }
            if matches!(text, "-u" | "--unset" | "-C" | "--chdir") {
                at += 2;
            } else if text.starts_with('-') {
                at += 1;
            } else if let Some((name, value)) = text.split_once('=') {
                let value = TrackedText { text: value.to_owned(), ..word.clone() };
                let name = name.to_owned();
                if !is_name(&name) {
                    let line = self.outermost(line);
                    self.find(LintRule::L09, line, "Which variable `env` sets cannot be determined");
                }
                self.set(&name, vec![value], false, line);
                at += 1;
            } else {
                break;
            }
        }
        let outcome = match arguments.get(at..) {
            Some([]) | None => StatementResult { out: self.unknown(Origins::AMBIENT), ..StatementResult::default() },
            Some(rest) => self.run(rest, line),
        };
        self.shell.variables = before;
        outcome
    }
}

/// Returns where the program starts behind options, some of which take a word, and other operands.
fn skip(arguments: &[TrackedText], taking: &[&str], operands: usize) -> usize {
    let mut at = 0;
    while let Some(word) = arguments.get(at).filter(|word| word.text.starts_with('-') && word.text.len() > 1) {
        at += 1 + usize::from(taking.contains(&word.text.as_str()));
        if word.text == "--" {
            break;
        }
    }
    at + operands
}

pub(super) fn is_name(text: &str) -> bool {
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b == b'_' || b.is_ascii_alphabetic())
        && bytes.all(|b| b == b'_' || b.is_ascii_alphanumeric())
}
