//! What an exit status depends on, and whether the script checks it.

use super::rule::LintRule;
use super::state::{FailureScope, ScriptState};
use super::value::Origins;

/// One comparison an exit status depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Comparison {
    pub from: Origins,
    pub line: u32,
    /// It cannot come out otherwise.
    pub always: bool,
    /// Made by a command whose purpose is to compare.
    pub dedicated: bool,
    /// Guards an action; its failure is not expected to end the script.
    pub guard: bool,
}

impl Comparison {
    pub(crate) fn check(from: Origins, line: u32) -> Self {
        Self { from, line, always: false, dedicated: true, guard: false }
    }

    pub(crate) fn plain(from: Origins, line: u32) -> Self {
        Self { dedicated: false, ..Self::check(from, line) }
    }
}

/// An assertion on nothing but the product's exit status.
#[derive(Clone, Copy, Debug)]
pub(super) struct StatusAssertion {
    pub line: u32,
    /// It is written in the script; otherwise `set -e` implies it.
    pub written: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct ExitStatus {
    pub atoms: Vec<Comparison>,
    /// Those whose failure `set -e` does not notice.
    pub exempt: Vec<Comparison>,
    /// It is the same every time, because the script says so.
    pub constant: Option<bool>,
}

/// How a failure comes to end the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureReason {
    /// `|| exit 1`
    Written,
    /// `set -e`, or it is the last command
    Implied,
}

impl ExitStatus {
    pub(crate) fn of(atom: Comparison) -> Self {
        Self { atoms: vec![atom], ..Self::default() }
    }

    /// `true`, `false` and what is like them.
    pub(crate) fn always(result: bool) -> Self {
        Self { constant: Some(result), ..Self::default() }
    }

    pub(crate) fn origins(&self) -> Origins {
        self.atoms.iter().chain(&self.exempt).fold(Origins::NONE, |all, atom| all | atom.from)
    }

    /// A command whose purpose is to compare has a say in it.
    pub(crate) fn compares(&self) -> bool {
        self.atoms.iter().chain(&self.exempt).any(|atom| atom.dedicated)
    }

    pub(crate) fn all(self) -> Vec<Comparison> {
        let mut atoms = self.atoms;
        add(&mut atoms, self.exempt);
        atoms
    }
}

const UNNOTICED: &str = "A check can fail without failing the test";

/// More than one status can depend on.
const MOST: usize = 64;

pub(super) fn add(atoms: &mut Vec<Comparison>, more: Vec<Comparison>) {
    for atom in more {
        if atoms.len() < MOST && !atoms.contains(&atom) {
            atoms.push(atom);
        }
    }
}

/// Either of two will do, so the pair is worth what the weaker one is.
pub(super) fn either(left: Vec<Comparison>, right: Vec<Comparison>, line: u32) -> ExitStatus {
    let Some(first) = left.first().or(right.first()).cloned() else { return ExitStatus::default() };
    let all = left.iter().chain(&right);
    let empty = |atom: &Comparison| atom.dedicated && (atom.always || atom.from.is_none());
    ExitStatus::of(Comparison {
        from: all.clone().fold(Origins::NONE, |from, atom| from | atom.from),
        line: first.line.min(line),
        always: all.clone().any(empty),
        dedicated: all.clone().any(|atom| atom.dedicated),
        guard: false,
    })
}

impl ScriptState<'_> {
    /// Failing ends the shell this runs in.
    pub(crate) fn fails(&mut self, atoms: Vec<Comparison>, reason: FailureReason) {
        let atoms: Vec<_> = match reason {
            FailureReason::Written => atoms,
            FailureReason::Implied => {
                atoms.into_iter().filter(|atom| atom.dedicated || atom.from.has(Origins::STATUS)).collect()
            }
        };
        match self.frames.iter_mut().rev().find(|(frame, _)| *frame == FailureScope::Subshell) {
            Some((_, kept)) => add(kept, atoms),
            None => atoms.iter().for_each(|atom| self.asserted(atom, reason)),
        }
    }

    /// Failing ends the function.
    pub(crate) fn returns(&mut self, atoms: Vec<Comparison>) {
        if let Some((_, kept)) = self.frames.last_mut() {
            add(kept, atoms);
        }
    }

    /// An assertion of the script.
    fn asserted(&mut self, atom: &Comparison, reason: FailureReason) {
        if self.dead > 0 {
            return;
        }
        let line = self.outermost(atom.line);
        if atom.from.has(Origins::SOURCE) {
            self.find(LintRule::L12, line, "An assertion looks at source the implementation touched");
        } else if atom.always {
            self.find(LintRule::L06, line, "An assertion holds whatever the product does");
        } else if atom.from.has(Origins::SURFACES) {
            self.good += 1;
            self.observed |= atom.from;
        } else if atom.from.has(Origins::STATUS) {
            let written = reason == FailureReason::Written || atom.dedicated;
            if self.smoke.is_none_or(|smoke| written && !smoke.written) {
                self.smoke = Some(StatusAssertion { line, written });
            }
        } else if atom.from.has(Origins::OWN) && self.calls.is_empty() {
            // The fixture was made; that is worth knowing before the product is called.
        } else if !atom.from.has(Origins::AMBIENT) {
            let what = match atom.from.has(Origins::OWN) {
                true => "An assertion looks at a file only the script itself has written",
                false => "An assertion compares nothing but what the script itself says",
            };
            self.find(LintRule::L06, line, what);
        }
    }

    /// Where the script fails anyway, a check only tells why.
    pub(crate) fn forget_unnoticed(&mut self, since: usize) {
        let mut at = 0;
        self.findings.retain(|finding| {
            at += 1;
            at <= since || finding.rule != LintRule::L13 || !finding.message.starts_with(UNNOTICED)
        });
    }

    /// Records a status that is not checked.
    pub(crate) fn dropped(&mut self, atoms: &[Comparison]) {
        if self.captured > 0 || self.dead > 0 {
            return;
        }
        for atom in atoms.iter().filter(|atom| atom.dedicated && !atom.guard) {
            if atom.from.has(Origins::SURFACES | Origins::SOURCE | Origins::STATUS) {
                let line = self.outermost(atom.line);
                self.find(LintRule::L13, line, UNNOTICED);
            }
        }
    }
}
