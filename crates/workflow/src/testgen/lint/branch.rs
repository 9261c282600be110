//! Choices and loops: which way a status sends the script, and what that amounts to.

use super::flow::{Code, Flow, Outcome, name};
use super::rule::Rule;
use super::status::{Atom, Reason, Status, add, either};
use super::syntax::{Arm, How, Kind, Part, Redirect, Statement, Target, Word};
use super::value::{Sources, Value};
use super::world::{Frame, World};

impl World<'_> {
    pub fn and(&mut self, left: &Statement, right: &Statement) -> Outcome {
        let first = self.condition(|world| world.statement(left));
        if first.flow != Flow::On {
            return first;
        }
        let (mut out, from, constant) = (first.out, first.status.sources(), first.status.constant);
        let mut atoms = first.status.all();
        let second = self.unless(constant == Some(false), |world| world.branch(from, |world| world.statement(right)));
        if constant == Some(false) {
            return Outcome { out, status: Status::always(false), flow: Flow::On };
        }
        if constant == Some(true) {
            out.push(&second.out);
            return Outcome { out, ..second };
        }
        out.push(&second.out);
        let mut status = Status::default();
        match second.flow {
            Flow::Exit(Code::Zero) => self.succeeds_early(atoms),
            Flow::Exit(Code::Other) => self.fails(atoms, Reason::Written),
            Flow::Return(_) => self.returns(atoms),
            Flow::Break => self.leaves_loop(from),
            Flow::On => {
                let compares = second.status.atoms.iter().any(|atom| atom.dedicated);
                if !compares && !only_prints(std::slice::from_ref(right)) {
                    atoms.iter_mut().for_each(|atom| atom.guard = true);
                }
                add(&mut atoms, second.status.exempt);
                status = Status { atoms: second.status.atoms, exempt: atoms, constant: None };
            }
        }
        Outcome { out, status, flow: Flow::On }
    }

    pub fn or(&mut self, left: &Statement, right: &Statement) -> Outcome {
        let first = self.condition(|world| world.statement(left));
        if first.flow != Flow::On {
            return first;
        }
        let (mut out, from, constant) = (first.out, first.status.sources(), first.status.constant);
        let atoms = first.status.all();
        let assigned = self.assigned;
        let second = self.unless(constant == Some(true), |world| world.branch(from, |world| world.statement(right)));
        if constant == Some(true) {
            // A tautology in front of `|| exit 1` is still meant as an assertion.
            let meant = matches!(second.flow, Flow::Exit(Code::Other));
            if meant {
                self.fails(atoms, Reason::Written);
            } else if second.flow == Flow::Return(Code::Other) {
                self.returns(atoms);
            }
            return Outcome { out, status: Status::always(true), flow: Flow::On };
        }
        if constant == Some(false) && atoms.is_empty() {
            out.push(&second.out);
            return Outcome { out, ..second };
        }
        out.push(&second.out);
        let mut status = Status::default();
        match second.flow {
            Flow::Exit(Code::Zero) => self.succeeds_early(atoms),
            Flow::Exit(Code::Other) => self.fails(atoms, Reason::Written),
            Flow::Return(Code::Zero) => self.dropped(&atoms),
            Flow::Return(Code::Other) => self.returns(atoms),
            Flow::Break => self.leaves_loop(from),
            Flow::On if only_prints(std::slice::from_ref(right)) => self.dropped(&atoms),
            // Its failure is written down for later.
            Flow::On if self.assigned > assigned => {}
            Flow::On if is_false(right) => status = Status { atoms, ..Status::default() },
            // It prints and goes on, or it does something else instead.
            Flow::On if second.status.atoms.is_empty() && second.status.exempt.is_empty() => self.dropped(&atoms),
            Flow::On if !second.status.compares() => status = second.status,
            Flow::On => status = either(atoms, second.status.all(), left.line),
        }
        Outcome { out, status, flow: Flow::On }
    }

    /// `exit 0` under a condition. Whether that is how the test succeeds or how it
    /// gets around its assertions shows at its end.
    fn succeeds_early(&mut self, mut atoms: Vec<Atom>) {
        if self.frames.iter().any(|(frame, _)| *frame == Frame::Subshell) {
            return;
        }
        if atoms.is_empty() {
            atoms.push(Atom::plain(Sources::AMBIENT, self.line));
        }
        // Only what the product did may decide that the test has passed.
        for atom in atoms {
            match atom.from.has(Sources::SURFACES | Sources::SOURCE) {
                true => {
                    let line = self.outermost(atom.line);
                    add(&mut self.early, vec![Atom { line, ..atom }]);
                }
                false => {
                    let line = self.outermost(atom.line);
                    self.find(Rule::L13, line, "It can succeed before its assertions were made");
                }
            }
        }
    }

    /// What follows in the loop happens only because of this.
    fn leaves_loop(&mut self, from: Sources) {
        if let Some(control) = self.control.last_mut() {
            *control |= from;
        }
    }

    pub fn choice(&mut self, arms: &[(Vec<Statement>, Vec<Statement>)], otherwise: &[Statement]) -> Outcome {
        let mut all = Outcome::default();
        let mut asked: Vec<Atom> = Vec::new();
        let mut flows = Vec::new();
        let depth = self.control.len();
        self.branches += 1;
        let mut never = 0;
        for (condition, body) in arms {
            let outcome = self.condition(|world| world.list(condition));
            all.out.push(&outcome.out);
            self.control.push(outcome.status.sources());
            let constant = outcome.status.constant;
            add(&mut asked, outcome.status.all());
            let outcome = self.unless(constant == Some(false), |world| world.list(body));
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

    /// What a choice between these ways amounts to.
    fn decided(&mut self, asked: Vec<Atom>, flows: &[Flow], only_prints: bool) -> Flow {
        let any = |flow: Flow| flows.contains(&flow);
        let ends = !any(Flow::On) && !any(Flow::Break);
        let same = flows.windows(2).all(|pair| pair[0] == pair[1]);
        if same {
            if flows[0] == Flow::On && only_prints {
                self.dropped(&asked);
            }
            return flows[0];
        }
        if any(Flow::Break) {
            let from = asked.iter().fold(Sources::NONE, |all, atom| all | atom.from);
            self.leaves_loop(from);
        }
        if any(Flow::Exit(Code::Other)) {
            self.fails(asked, Reason::Written);
        } else if any(Flow::Return(Code::Other)) {
            self.returns(asked);
        } else if any(Flow::Exit(Code::Zero)) {
            self.succeeds_early(asked);
        }
        match ends {
            true if any(Flow::Exit(Code::Other)) || any(Flow::Exit(Code::Zero)) => Flow::Exit(Code::Other),
            true => Flow::Return(Code::Other),
            false => Flow::On,
        }
    }

    pub fn repeat(&mut self, condition: &[Statement], body: &[Statement]) -> Outcome {
        self.loops += 1;
        let mut asked = self.condition(|world| world.list(condition));
        let from = asked.status.sources();
        let constant = asked.status.constant;
        let atoms = std::mem::take(&mut asked.status).all();
        let never = constant == Some(false) && atoms.is_empty();
        let outcome = self.unless(never, |world| world.branch(from, |world| world.list(body)));
        self.loops -= 1;
        match outcome.flow {
            Flow::Exit(Code::Other) => self.fails(atoms, Reason::Written),
            Flow::Return(Code::Other) => self.returns(atoms),
            // Waiting without an end: the runner's deadline is the failure.
            Flow::On if only_waits(body) => self.fails(atoms, Reason::Written),
            _ => {}
        }
        // Of the last command in a loop only the last round's status is left.
        match self.shell.errexit && self.lenient == 0 {
            true => self.fails(outcome.status.atoms, Reason::Implied),
            false => self.dropped(&outcome.status.all()),
        }
        asked.out.push(&outcome.out);
        Outcome { out: asked.out, ..Outcome::default() }
    }

    pub fn each(&mut self, name: &str, words: Option<&[Word]>, body: &[Statement]) -> Outcome {
        /// Beyond that a loop is followed once, with any of its values.
        const MOST: usize = 16;
        let mut items: Vec<Value> = match words {
            Some([]) => self.shell.parameters.clone(),
            Some(words) => words.iter().flat_map(|word| self.fields(word)).collect(),
            None => vec![self.unknown(Sources::AMBIENT)],
        };
        if items.len() > MOST {
            let from = items.iter().fold(Sources::NONE, |all, value| all | value.from);
            items = vec![self.unknown(from)];
        }
        self.loops += 1;
        let mut all = Outcome::default();
        for (at, item) in items.iter().enumerate() {
            self.shell.variables.insert(name.to_owned(), vec![item.clone()]);
            self.control.push(Sources::NONE);
            let outcome = self.list(body);
            self.control.pop();
            all.out.push(&outcome.out);
            if at + 1 < items.len() {
                match self.shell.errexit && self.lenient == 0 {
                    true => self.fails(outcome.status.atoms, Reason::Implied),
                    false => self.dropped(&outcome.status.all()),
                }
            } else {
                all.status = outcome.status;
            }
        }
        self.loops -= 1;
        all
    }

    pub fn case(&mut self, subject: &Word, arms: &[Arm], line: u32) -> Outcome {
        let value = self.single(subject);
        let mut atom = Atom::check(value.from, line);
        if value.from.is_none() && self.in_function() {
            // A function looks at what it was asked to do.
            atom.from = Sources::AMBIENT;
        }
        let mut all = Outcome::default();
        let mut flows = Vec::new();
        let mut open = true;
        self.control.push(value.from);
        self.branches += 1;
        for arm in arms {
            let patterns: Vec<Value> = arm.patterns.iter().map(|word| self.single(word)).collect();
            let outcome = self.list(&arm.body);
            for pattern in &patterns {
                atom.from |= pattern.from;
                let anything = pattern.text.chars().all(|c| c == '*') && !pattern.text.is_empty();
                let own = value.says(pattern.text.trim_matches('*'));
                atom.always |= open && outcome.flow == Flow::On && (anything || own) && flows.is_empty();
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
            flows.push(Flow::On);
        }
        let prints = arms.iter().all(|arm| only_prints(&arm.body));
        all.flow = if flows.is_empty() { Flow::On } else { self.decided(vec![atom], &flows, prints) };
        all
    }

    /// `(( … ))`: a comparison, or a count.
    pub fn arithmetic(&mut self, word: &Word, sets: bool, line: u32) -> Outcome {
        let value = self.single(word);
        let status = |atom| Outcome { status: Status::of(atom), ..Outcome::default() };
        if !sets {
            return status(Atom::check(value.from, line));
        }
        let names = word.parts.iter().flat_map(|part| match part {
            Part::Number(parts) => parts.as_slice(),
            _ => &[],
        });
        let names: Vec<String> = names
            .filter_map(|part| match part {
                Part::Variable { name, how: How::Plain, .. } => Some(name.clone()),
                _ => None,
            })
            .collect();
        for name in &names {
            if !self.shell.variables.contains_key(name) {
                continue;
            }
            let old = self.variable(name);
            let loops = if self.loops > 0 { Sources::AMBIENT } else { Sources::NONE };
            let counted = self.unknown(old.from | loops);
            self.assign(name, vec![counted], false);
        }
        status(Atom::plain(Sources::AMBIENT, line))
    }
}

fn is_false(statement: &Statement) -> bool {
    name(statement).as_deref() == Some("false")
}

/// Nothing happens here that the test's outcome could depend on.
fn only_prints(statements: &[Statement]) -> bool {
    statements.iter().all(|statement| match &statement.kind {
        Kind::Group(body) | Kind::Subshell(body) => only_prints(body),
        Kind::Command(_) => {
            let to_file = |redirect: &Redirect| match &redirect.to {
                Target::Write { word, .. } => word.literal().is_none_or(|path| !path.starts_with("/dev/")),
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
