//! Follows the statements of a script: which failures end it, which go unnoticed.

use super::location::LocationKind;
use super::rule::LintRule;
use super::state::{FailureScope, ScriptState};
use super::status::{Comparison, ExitStatus, FailureReason, add};
use super::syntax::{RedirectTarget, Redirection, Statement, StatementKind};
use super::value::{Origins, TrackedText};

/// What a statement printed, what its status says, and where the script goes from there.
#[derive(Debug, Default)]
pub(super) struct StatementResult {
    pub out: TrackedText,
    pub status: ExitStatus,
    pub flow: ControlFlow,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ControlFlow {
    #[default]
    On,
    Exit(ExitCode),
    Return(ExitCode),
    Break,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExitCode {
    Zero,
    /// Not zero, or what was asserted decides.
    Other,
}

impl ScriptState<'_> {
    /// The whole script.
    pub(crate) fn script(&mut self, statements: &[Statement]) {
        let outcome = self.list(statements);
        let line = statements.last().map_or(1, |last| last.line);
        match outcome.flow {
            ControlFlow::On => {
                if statements.last().is_some_and(succeeds) && statements.len() > 1 {
                    self.find(LintRule::L13, line, "It ends with a command that always succeeds");
                }
                self.fails(outcome.status.all(), FailureReason::Implied);
            }
            ControlFlow::Exit(ExitCode::Zero) => {
                self.find(LintRule::L13, line, "It ends with `exit 0` whatever its checks said")
            }
            ControlFlow::Exit(ExitCode::Other) => {
                let early = std::mem::take(&mut self.early);
                self.fails(early, FailureReason::Written);
            }
            ControlFlow::Return(_) | ControlFlow::Break => {}
        }
        for atom in std::mem::take(&mut self.early) {
            self.find(LintRule::L13, atom.line, "It can succeed before its assertions were made");
        }
        let background = std::mem::take(&mut self.background);
        self.dropped(&background);
    }

    pub(crate) fn list(&mut self, statements: &[Statement]) -> StatementResult {
        let mut all = StatementResult::default();
        let known = self.findings.len();
        let mut waiting: Vec<Comparison> = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let asks = self.asks;
            let outcome = self.statement(statement);
            if asks == self.asks {
                self.dropped(&waiting);
            }
            waiting.clear();
            all.out.push(&outcome.out);
            self.last = outcome.status.clone();
            if outcome.flow != ControlFlow::On {
                if self.branches > 0 && outcome.flow == ControlFlow::Exit(ExitCode::Other) {
                    self.forget_unnoticed(known);
                }
                all.flow = outcome.flow;
                all.status = outcome.status;
                break;
            }
            if at + 1 == statements.len() {
                all.status = outcome.status;
            } else if self.shell.errexit && self.lenient == 0 {
                self.fails(outcome.status.atoms, FailureReason::Implied);
                waiting = outcome.status.exempt;
            } else {
                waiting = outcome.status.all();
            }
        }
        all
    }

    /// Follows a part where a failure is an answer and does not end the script.
    pub(crate) fn condition(&mut self, run: impl FnOnce(&mut Self) -> StatementResult) -> StatementResult {
        self.lenient += 1;
        let outcome = run(self);
        self.lenient -= 1;
        self.last = outcome.status.clone();
        outcome
    }

    /// Follows a part that never runs for what it would do; it asserts nothing.
    pub(crate) fn unless(&mut self, never: bool, run: impl FnOnce(&mut Self) -> StatementResult) -> StatementResult {
        self.dead += u32::from(never);
        let outcome = run(self);
        self.dead -= u32::from(never);
        outcome
    }

    /// Follows a part that runs only if a condition had one result.
    pub(crate) fn branch(&mut self, from: Origins, run: impl FnOnce(&mut Self) -> StatementResult) -> StatementResult {
        self.control.push(from);
        self.branches += 1;
        let outcome = run(self);
        self.branches -= 1;
        self.control.pop();
        outcome
    }

    /// In a shell of its own: nothing it sets is left, and `exit` ends only it.
    pub(crate) fn subshell(&mut self, run: impl FnOnce(&mut Self) -> StatementResult) -> StatementResult {
        let shell = self.shell.clone();
        self.frames.push((FailureScope::Subshell, Vec::new()));
        let mut outcome = run(self);
        let (_, kept) = self.frames.pop().expect("pushed above");
        self.shell = shell;
        let mut atoms = std::mem::take(&mut outcome.status).all();
        add(&mut atoms, kept);
        StatementResult { status: ExitStatus { atoms, ..ExitStatus::default() }, flow: ControlFlow::On, ..outcome }
    }

    pub(crate) fn statement(&mut self, statement: &Statement) -> StatementResult {
        if !self.step(statement.line) {
            return StatementResult::default();
        }
        if statement.background {
            self.captured += 1;
            let calls = self.calls.len();
            let outcome = self.subshell(|state| state.connected(statement));
            self.captured -= 1;
            match self.calls.len() > calls {
                true => self.product_serves = true,
                false => self.script_serves = true,
            }
            add(&mut self.background, outcome.status.all());
            return StatementResult { out: outcome.out, ..StatementResult::default() };
        }
        self.connected(statement)
    }

    /// With its redirections.
    fn connected(&mut self, statement: &Statement) -> StatementResult {
        if statement.redirects.is_empty() {
            return self.kind(statement);
        }
        let stdin = self.stdin.clone();
        let calls = self.calls.len();
        let mut writes = Vec::new();
        let (mut kept, mut errors) = (true, false);
        for Redirection { descriptor, to, line } in &statement.redirects {
            match to {
                RedirectTarget::Read(word) => {
                    let path = self.single(word);
                    self.reaches(&path, *line);
                    self.stdin = self.content(&path.text);
                }
                RedirectTarget::Text(word) => self.stdin = self.single(word),
                RedirectTarget::Write { word, append, both } => {
                    let path = self.single(word);
                    self.reaches(&path, *line);
                    self.writes_to(&path, *line);
                    let out = *both || descriptor.is_none_or(|number| number == 1);
                    kept &= !out;
                    writes.push((path, *append, out));
                }
                RedirectTarget::Descriptor(to) => {
                    // `2>&1 >file`: errors take the place of output.
                    errors |= *descriptor == Some(2) && to == "1" && kept;
                    kept &= descriptor.is_some_and(|number| number != 1) || to == "1";
                }
            }
        }
        let mut outcome = self.kind(statement);
        self.stdin = stdin;
        let called = self.calls.len() > calls;
        for (path, append, out) in writes {
            let content = match out {
                true => outcome.out.clone(),
                false if called => self.unknown(Origins::OUTPUT),
                false => self.unknown(Origins::AMBIENT),
            };
            self.write(&path.text, content, append);
            if out && self.location(&path.text).kind != LocationKind::Device {
                // A filter: what it printed is what matters.
                outcome.status.atoms.iter_mut().for_each(|atom| atom.guard = true);
            }
        }
        // What the product says on stderr is among it, wherever its output went.
        let joined = |redirect: &Redirection| matches!(&redirect.to, RedirectTarget::Descriptor(to) if to == "1");
        if called && kept && statement.redirects.iter().any(joined) && !outcome.out.from.has(Origins::OUTPUT) {
            let said = self.unknown(Origins::OUTPUT);
            outcome.out.push(&said);
        }
        if !kept {
            outcome.out = match errors {
                true => self.unknown(if called { Origins::OUTPUT } else { Origins::AMBIENT }),
                false => TrackedText::default(),
            };
        }
        outcome
    }

    fn kind(&mut self, statement: &Statement) -> StatementResult {
        let line = statement.line;
        match &statement.kind {
            StatementKind::Command(command) => self.command(command, line),
            StatementKind::Pipeline(stages) => self.pipeline(stages),
            StatementKind::And(left, right) => self.and(left, right),
            StatementKind::Or(left, right) => self.or(left, right),
            StatementKind::Not(inner) => {
                let outcome = self.condition(|state| state.statement(inner));
                let constant = outcome.status.constant.map(|result| !result);
                let status = ExitStatus { exempt: outcome.status.all(), constant, ..ExitStatus::default() };
                StatementResult { status, ..outcome }
            }
            StatementKind::If(arms, otherwise) => self.choice(arms, otherwise),
            StatementKind::While(condition, body) => self.repeat(condition, body),
            StatementKind::For { name, words, body } => self.each(name, words.as_deref(), body),
            StatementKind::Case { subject, arms } => self.case(subject, arms, line),
            StatementKind::Group(body) => self.list(body),
            StatementKind::Subshell(body) => self.subshell(|state| state.list(body)),
            StatementKind::Function { name, body } => {
                self.defines(name, body, line);
                self.shell.functions.insert(name.clone(), body.clone());
                StatementResult::default()
            }
            StatementKind::Test { tokens, double } => {
                let operands = self.operands(tokens);
                let status = self.test(&operands, *double, line);
                StatementResult { status, ..StatementResult::default() }
            }
            StatementKind::Arithmetic { word, sets } => self.arithmetic(word, *sets, line),
        }
    }

    fn pipeline(&mut self, stages: &[Statement]) -> StatementResult {
        let stdin = self.stdin.clone();
        let mut before: Vec<Comparison> = Vec::new();
        let mut last = StatementResult::default();
        for (at, stage) in stages.iter().enumerate() {
            let printed = self.captured;
            // What an inner stage prints is the input of the next; what it checks is not lost by that.
            let outcome = self.subshell(|state| state.statement(stage));
            self.captured = printed;
            if at + 1 < stages.len() {
                self.stdin = outcome.out.clone();
                add(&mut before, outcome.status.all());
            } else {
                last = outcome;
            }
        }
        self.stdin = stdin;
        if self.shell.pipefail {
            add(&mut last.status.atoms, before);
        } else if !last.status.atoms.iter().any(|atom| atom.dedicated) {
            // `grep … | cat`: the last command decides, and it has no opinion.
            self.dropped(&before);
        }
        last
    }
}

/// Returns the name of a plain command.
pub(super) fn name(statement: &Statement) -> Option<String> {
    match &statement.kind {
        StatementKind::Command(command) => command.words.first()?.literal(),
        _ => None,
    }
}

/// `true`, `:`
fn succeeds(statement: &Statement) -> bool {
    !statement.background && matches!(name(statement).as_deref(), Some("true" | ":"))
}
