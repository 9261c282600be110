//! Choices and loops: which way a status sends the script, and what that amounts to.

use super::flow::{ControlFlow, ExitCode, StatementResult, name};
use super::rule::LintRule;
use super::state::{FailureScope, ScriptState};
use super::status::{Comparison, ExitStatus, FailureReason, add, either};
use super::syntax::{Arm, Expansion, RedirectTarget, Redirection, ScriptWord, Statement, StatementKind, WordPart};
use super::value::{Origins, TrackedText};

impl ScriptState<'_> {
    pub(crate) fn and(&mut self, left: &Statement, right: &Statement) -> StatementResult {
        let first = self.condition(|state| state.statement(left));
        if first.flow != ControlFlow::On {
            return first;
        }
        let (mut out, from, constant) = (first.out, first.status.origins(), first.status.constant);
        let mut atoms = first.status.all();
        let second = self.unless(constant == Some(false), |state| state.branch(from, |state| state.statement(right)));
        if constant == Some(false) {
            return StatementResult { out, status: ExitStatus::always(false), flow: ControlFlow::On };
        }
        if constant == Some(true) {
            out.push(&second.out);
            return StatementResult { out, ..second };
        }
        out.push(&second.out);
        let mut status = ExitStatus::default();
        match second.flow {
            ControlFlow::Exit(ExitCode::Zero) => self.succeeds_early(atoms),
            ControlFlow::Exit(ExitCode::Other) => self.fails(atoms, FailureReason::Written),
            ControlFlow::Return(_) => self.returns(atoms),
            ControlFlow::Break => self.leaves_loop(from),
            ControlFlow::On => {
                let compares = second.status.atoms.iter().any(|atom| atom.dedicated);
                if !compares && !only_prints(std::slice::from_ref(right)) {
                    atoms.iter_mut().for_each(|atom| atom.guard = true);
                }
                add(&mut atoms, second.status.exempt);
                status = ExitStatus { atoms: second.status.atoms, exempt: atoms, constant: None };
            }
        }
        StatementResult { out, status, flow: ControlFlow::On }
    }

    pub(crate) fn or(&mut self, left: &Statement, right: &Statement) -> StatementResult {
        let first = self.condition(|state| state.statement(left));
        if first.flow != ControlFlow::On {
            return first;
        }
        let (mut out, from, constant) = (first.out, first.status.origins(), first.status.constant);
        let atoms = first.status.all();
        let assigned = self.assigned;
        let second = self.unless(constant == Some(true), |state| state.branch(from, |state| state.statement(right)));
        if constant == Some(true) {
            // A tautology in front of `|| exit 1` is still meant as an assertion.
            let meant = matches!(second.flow, ControlFlow::Exit(ExitCode::Other));
            if meant {
                self.fails(atoms, FailureReason::Written);
            } else if second.flow == ControlFlow::Return(ExitCode::Other) {
                self.returns(atoms);
            }
            return StatementResult { out, status: ExitStatus::always(true), flow: ControlFlow::On };
        }
        if constant == Some(false) && atoms.is_empty() {
            out.push(&second.out);
            return StatementResult { out, ..second };
        }
        out.push(&second.out);
        let mut status = ExitStatus::default();
        match second.flow {
            ControlFlow::Exit(ExitCode::Zero) => self.succeeds_early(atoms),
            ControlFlow::Exit(ExitCode::Other) => self.fails(atoms, FailureReason::Written),
            ControlFlow::Return(ExitCode::Zero) => self.dropped(&atoms),
            ControlFlow::Return(ExitCode::Other) => self.returns(atoms),
            ControlFlow::Break => self.leaves_loop(from),
            ControlFlow::On if only_prints(std::slice::from_ref(right)) => self.dropped(&atoms),
            // Its failure is written down for later.
            ControlFlow::On if self.assigned > assigned => {}
            ControlFlow::On if is_false(right) => status = ExitStatus { atoms, ..ExitStatus::default() },
            // It prints and goes on, or it does something else instead.
            ControlFlow::On if second.status.atoms.is_empty() && second.status.exempt.is_empty() => {
                self.dropped(&atoms)
            }
            ControlFlow::On if !second.status.compares() => status = second.status,
            ControlFlow::On => status = either(atoms, second.status.all(), left.line),
        }
        StatementResult { out, status, flow: ControlFlow::On }
    }

    /// `exit 0` under a condition. Whether that is how the test succeeds or how it
    /// gets around its assertions shows at its end.
    fn succeeds_early(&mut self, mut atoms: Vec<Comparison>) {
        if self.frames.iter().any(|(frame, _)| *frame == FailureScope::Subshell) {
            return;
        }
        if atoms.is_empty() {
            atoms.push(Comparison::plain(Origins::AMBIENT, self.line));
        }
        // Only what the product did may decide that the test has passed.
        for atom in atoms {
            match atom.from.has(Origins::SURFACES | Origins::SOURCE) {
                true => {
                    let line = self.outermost(atom.line);
                    add(&mut self.early, vec![Comparison { line, ..atom }]);
                }
                false => {
                    let line = self.outermost(atom.line);
                    self.find(LintRule::L13, line, "It can succeed before its assertions were made");
                }
            }
        }
    }

    /// What follows in the loop happens only because of this.
    fn leaves_loop(&mut self, from: Origins) {
        if let Some(control) = self.control.last_mut() {
            *control |= from;
        }
    }

    pub(crate) fn choice(
        &mut self,
        arms: &[(Vec<Statement>, Vec<Statement>)],
        otherwise: &[Statement],
    ) -> StatementResult {
        let mut all = StatementResult::default();
        let mut asked: Vec<Comparison> = Vec::new();
        let mut flows = Vec::new();
        let depth = self.control.len();
        self.branches += 1;
        let mut never = 0;
        for (condition, body) in arms {
            let outcome = self.condition(|state| state.list(condition));
            all.out.push(&outcome.out);
            self.control.push(outcome.status.origins());
            let constant = outcome.status.constant;
            add(&mut asked, outcome.status.all());
            let outcome = self.unless(constant == Some(false), |state| state.list(body));
            if constant == Some(true) {
                // Nothing behind it is ever reached.
                never += 1;
                self.dead += 1;
            }
            all.out.push(&outcome.out);
            add(&mut all.status.atoms, outcome.status.atoms);
            add(&mut all.status.exempt, outcome.status.exempt);
            flows.push(outcome.flow);
        }
        let outcome = self.list(otherwise);
        self.dead -= never;
        all.out.push(&outcome.out);
        add(&mut all.status.atoms, outcome.status.atoms);
        add(&mut all.status.exempt, outcome.status.exempt);
        flows.push(outcome.flow);
        self.control.truncate(depth);
        self.branches -= 1;
        let prints = arms.iter().all(|(_, body)| only_prints(body)) && only_prints(otherwise);
        all.flow = self.decided(asked, &flows, prints);
        all
    }

    /// Returns what a choice between these ways amounts to.
    fn decided(&mut self, asked: Vec<Comparison>, flows: &[ControlFlow], only_prints: bool) -> ControlFlow {
        let any = |flow: ControlFlow| flows.contains(&flow);
        let ends = !any(ControlFlow::On) && !any(ControlFlow::Break);
        let same = flows.windows(2).all(|pair| pair[0] == pair[1]);
        if same {
            if flows[0] == ControlFlow::On && only_prints {
                self.dropped(&asked);
            }
            return flows[0];
        }
        if any(ControlFlow::Break) {
            let from = asked.iter().fold(Origins::NONE, |all, atom| all | atom.from);
            self.leaves_loop(from);
        }
        if any(ControlFlow::Exit(ExitCode::Other)) {
            self.fails(asked, FailureReason::Written);
        } else if any(ControlFlow::Return(ExitCode::Other)) {
            self.returns(asked);
        } else if any(ControlFlow::Exit(ExitCode::Zero)) {
            self.succeeds_early(asked);
        }
        match ends {
            true if any(ControlFlow::Exit(ExitCode::Other)) || any(ControlFlow::Exit(ExitCode::Zero)) => {
                ControlFlow::Exit(ExitCode::Other)
            }
            true => ControlFlow::Return(ExitCode::Other),
            false => ControlFlow::On,
        }
    }

    pub(crate) fn repeat(&mut self, condition: &[Statement], body: &[Statement]) -> StatementResult {
        self.loops += 1;
        let mut asked = self.condition(|state| state.list(condition));
        let from = asked.status.origins();
        let constant = asked.status.constant;
        let atoms = std::mem::take(&mut asked.status).all();
        let never = constant == Some(false) && atoms.is_empty();
        let outcome = self.unless(never, |state| state.branch(from, |state| state.list(body)));
        self.loops -= 1;
        match outcome.flow {
            ControlFlow::Exit(ExitCode::Other) => self.fails(atoms, FailureReason::Written),
            ControlFlow::Return(ExitCode::Other) => self.returns(atoms),
            // Waiting without an end: the runner's deadline is the failure.
            ControlFlow::On if only_waits(body) => self.fails(atoms, FailureReason::Written),
            _ => {}
        }
        // Of the last command in a loop only the last round's status is left.
        match self.shell.errexit && self.lenient == 0 {
            true => self.fails(outcome.status.atoms, FailureReason::Implied),
            false => self.dropped(&outcome.status.all()),
        }
        asked.out.push(&outcome.out);
        StatementResult { out: asked.out, ..StatementResult::default() }
    }

    pub(crate) fn each(&mut self, name: &str, words: Option<&[ScriptWord]>, body: &[Statement]) -> StatementResult {
        /// Beyond that a loop is followed once, with any of its values.
        const MOST: usize = 16;
        let mut items: Vec<TrackedText> = match words {
            Some([]) => self.shell.parameters.clone(),
            Some(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
            None => vec![self.unknown(Origins::AMBIENT)],
        };
        if items.len() > MOST {
            let from = items.iter().fold(Origins::NONE, |all, value| all | value.from);
            items = vec![self.unknown(from)];
        }
        self.loops += 1;
        let mut all = StatementResult::default();
        for (at, item) in items.iter().enumerate() {
            self.shell.variables.insert(name.to_owned(), vec![item.clone()]);
            self.control.push(Origins::NONE);
            let outcome = self.list(body);
            self.control.pop();
            all.out.push(&outcome.out);
            if at + 1 < items.len() {
                match self.shell.errexit && self.lenient == 0 {
                    true => self.fails(outcome.status.atoms, FailureReason::Implied),
                    false => self.dropped(&outcome.status.all()),
                }
            } else {
                all.status = outcome.status;
            }
        }
        self.loops -= 1;
        all
    }

    pub(crate) fn case(&mut self, subject: &ScriptWord, arms: &[Arm], line: u32) -> StatementResult {
        let value = self.single(subject);
        let mut atom = Comparison::check(value.from, line);
        if value.from.is_none() && self.in_function() {
            // A function looks at what it was asked to do.
            atom.from = Origins::AMBIENT;
        }
        let mut all = StatementResult::default();
        let mut flows = Vec::new();
        let mut open = true;
        self.control.push(value.from);
        self.branches += 1;
        for arm in arms {
            let patterns: Vec<TrackedText> = arm.patterns.iter().map(|word| self.single(word)).collect();
            let outcome = self.list(&arm.body);
            for pattern in &patterns {
                atom.from |= pattern.from;
                let anything = pattern.text.chars().all(|c| c == '*') && !pattern.text.is_empty();
                let own = value.says(pattern.text.trim_matches('*'));
                atom.always |= open && outcome.flow == ControlFlow::On && (anything || own) && flows.is_empty();
                open &= !anything;
            }
            all.out.push(&outcome.out);
            add(&mut all.status.atoms, outcome.status.atoms);
            add(&mut all.status.exempt, outcome.status.exempt);
            flows.push(outcome.flow);
        }
        self.branches -= 1;
        self.control.pop();
        if open {
            flows.push(ControlFlow::On);
        }
        let prints = arms.iter().all(|arm| only_prints(&arm.body));
        all.flow = if flows.is_empty() { ControlFlow::On } else { self.decided(vec![atom], &flows, prints) };
        all
    }

    /// `(( … ))`: a comparison, or a count.
    pub(crate) fn arithmetic(&mut self, word: &ScriptWord, sets: bool, line: u32) -> StatementResult {
        let value = self.single(word);
        let status = |atom| StatementResult { status: ExitStatus::of(atom), ..StatementResult::default() };
        if !sets {
            return status(Comparison::check(value.from, line));
        }
        let names = word.parts.iter().flat_map(|part| match part {
            WordPart::Number(parts) => parts.as_slice(),
            _ => &[],
        });
        let names: Vec<String> = names
            .filter_map(|part| match part {
                WordPart::Variable { name, how: Expansion::Plain, .. } => Some(name.clone()),
                _ => None,
            })
            .collect();
        for name in &names {
            if !self.shell.variables.contains_key(name) {
                continue;
            }
            let old = self.variable(name);
            let loops = if self.loops > 0 { Origins::AMBIENT } else { Origins::NONE };
            let counted = self.unknown(old.from | loops);
            self.assign(name, vec![counted], false);
        }
        status(Comparison::plain(Origins::AMBIENT, line))
    }
}

fn is_false(statement: &Statement) -> bool {
    name(statement).as_deref() == Some("false")
}

/// Nothing happens here that the test's outcome could depend on.
fn only_prints(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        StatementKind::Group(body) | StatementKind::Subshell(body) => only_prints(body),
        StatementKind::Command(_) => {
            let to_file = |redirect: &Redirection| match &redirect.to {
                RedirectTarget::Write { word, .. } => word.literal().is_none_or(|path| !path.starts_with("/dev/")),
                _ => false,
            };
            let silent = matches!(name(statement).as_deref(), Some("true" | ":" | "echo" | "printf" | "cat" | "sleep"));
            silent && !statement.redirects.iter().any(to_file)
        }
        _ => false,
    })
}

fn only_waits(statements: &[Statement]) -> bool {
    !statements.is_empty()
        && statements
            .iter()
            .all(|statement| matches!(name(statement).as_deref(), Some("sleep" | "true" | ":" | "echo" | "printf")))
}
