//! What an exit status says, and what becomes of it.

use super::rule::Rule;
use super::value::Sources;
use super::world::{Frame, World};

/// One comparison an exit status depends on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Atom {
    pub from: Sources,
    pub line: u32,
    /// It can not come out otherwise.
    pub always: bool,
    /// Made by a command whose purpose is to compare.
    pub dedicated: bool,
    /// Guards an action; nobody expects its failure to end the script.
    pub guard: bool,
}

impl Atom {
    pub fn check(from: Sources, line: u32) -> Self {
        Self { from, line, always: false, dedicated: true, guard: false }
    }

    pub fn plain(from: Sources, line: u32) -> Self {
        Self { dedicated: false, ..Self::check(from, line) }
    }
}

/// An assertion on nothing but the product's exit status.
#[derive(Clone, Copy, Debug)]
pub(super) struct Smoke {
    pub line: u32,
    /// Somebody wrote it down; otherwise `set -e` made it.
    pub written: bool,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Status {
    pub atoms: Vec<Atom>,
    /// Those whose failure `set -e` does not notice.
    pub exempt: Vec<Atom>,
    /// It is the same every time, because the script says so.
    pub constant: Option<bool>,
}

/// How a failure comes to end the script.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    /// `|| exit 1`
    Written,
    /// `set -e`, or it is the last command
    Implied,
}

impl Status {
    pub fn of(atom: Atom) -> Self {
        Self { atoms: vec![atom], ..Self::default() }
    }

    /// `true`, `false` and what is like them.
    pub fn always(result: bool) -> Self {
        Self { constant: Some(result), ..Self::default() }
    }

    pub fn sources(&self) -> Sources {
        self.atoms.iter().chain(&self.exempt).fold(Sources::NONE, |all, atom| all | atom.from)
    }

    /// A command whose purpose is to compare has a say in it.
    pub fn compares(&self) -> bool {
        self.atoms.iter().chain(&self.exempt).any(|atom| atom.dedicated)
    }

    pub fn all(self) -> Vec<Atom> {
        let mut atoms = self.atoms;
        add(&mut atoms, self.exempt);
        atoms
    }
}

const UNNOTICED: &str = "A check can fail without failing the test";

/// More than one status can depend on.
const MOST: usize = 64;

pub(super) fn add(atoms: &mut Vec<Atom>, more: Vec<Atom>) {
    for atom in more {
        if atoms.len() < MOST && !atoms.contains(&atom) {
            atoms.push(atom);
        }
    }
}

/// Either of two will do, so the pair is worth what the weaker one is.
pub(super) fn either(left: Vec<Atom>, right: Vec<Atom>, line: u32) -> Status {
    let Some(first) = left.first().or(right.first()).cloned() else { return Status::default() };
    let all = left.iter().chain(&right);
    let empty = |atom: &Atom| atom.dedicated && (atom.always || atom.from.is_none());
    Status::of(Atom {
        from: all.clone().fold(Sources::NONE, |from, atom| from | atom.from),
        line: first.line.min(line),
        always: all.clone().any(empty),
        dedicated: all.clone().any(|atom| atom.dedicated),
        guard: false,
    })
}

impl World<'_> {
    /// Failing ends the shell this runs in.
    pub fn fails(&mut self, atoms: Vec<Atom>, reason: Reason) {
        let atoms: Vec<_> = match reason {
            Reason::Written => atoms,
            Reason::Implied => {
                atoms.into_iter().filter(|atom| atom.dedicated || atom.from.has(Sources::STATUS)).collect()
            }
        };
        match self.frames.iter_mut().rev().find(|(frame, _)| *frame == Frame::Subshell) {
            Some((_, kept)) => add(kept, atoms),
            None => atoms.iter().for_each(|atom| self.asserted(atom, reason)),
        }
    }

    /// Failing ends the function.
    pub fn returns(&mut self, atoms: Vec<Atom>) {
        if let Some((_, kept)) = self.frames.last_mut() {
            add(kept, atoms);
        }
    }

    /// An assertion of the script.
    fn asserted(&mut self, atom: &Atom, reason: Reason) {
        if self.dead > 0 {
            return;
        }
        let line = self.outermost(atom.line);
        if atom.from.has(Sources::SOURCE) {
            self.find(Rule::L12, line, "An assertion looks at source the implementation touched");
        } else if atom.always {
            self.find(Rule::L06, line, "An assertion holds whatever the product does");
        } else if atom.from.has(Sources::SURFACES) {
            self.good += 1;
            self.observed |= atom.from;
        } else if atom.from.has(Sources::STATUS) {
            let written = reason == Reason::Written || atom.dedicated;
            if self.smoke.is_none_or(|smoke| written && !smoke.written) {
                self.smoke = Some(Smoke { line, written });
            }
        } else if atom.from.has(Sources::OWN) && self.calls.is_empty() {
            // The fixture was made; that is worth knowing before the product is called.
        } else if !atom.from.has(Sources::AMBIENT) {
            let what = match atom.from.has(Sources::OWN) {
                true => "An assertion looks at a file only the script itself has written",
                false => "An assertion compares nothing but what the script itself says",
            };
            self.find(Rule::L06, line, what);
        }
    }

    /// Where the script fails anyway, a check only tells why.
    pub fn forget_unnoticed(&mut self, since: usize) {
        let mut at = 0;
        self.findings.retain(|finding| {
            at += 1;
            at <= since || finding.rule != Rule::L13 || !finding.message.starts_with(UNNOTICED)
        });
    }

    /// A status nobody looks at.
    pub fn dropped(&mut self, atoms: &[Atom]) {
        if self.captured > 0 || self.dead > 0 {
            return;
        }
        for atom in atoms.iter().filter(|atom| atom.dedicated && !atom.guard) {
            if atom.from.has(Sources::SURFACES | Sources::SOURCE | Sources::STATUS) {
                let line = self.outermost(atom.line);
                self.find(Rule::L13, line, UNNOTICED);
            }
        }
    }
}
