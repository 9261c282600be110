//! What is known at one point of a script: variables, files, functions, what the
//! product was called with, and what was asserted so far.
//!
//! The script is followed from top to bottom with values instead of a shell; nothing is
//! run. Branches are both taken, loops over written words once per word.

use super::LintContext;
use super::location::{HoleRoot, LocationKind, PathLocation, location};
use super::rule::{LintFinding, LintRule};
use super::status::{Comparison, ExitStatus, StatusAssertion};
use super::syntax::Statement;
use super::value::{MOST_HOLES, Origins, TrackedText, hole, hole_number};
use std::collections::HashMap;
use std::fmt;
use std::rc::Rc;

/// What a subshell has a copy of.
#[derive(Clone)]
pub(super) struct ShellState {
    pub variables: HashMap<String, Vec<TrackedText>>,
    pub functions: HashMap<String, Rc<Statement>>,
    pub parameters: Vec<TrackedText>,
    pub cwd: String,
    pub errexit: bool,
    pub pipefail: bool,
}

/// A file the script had a hand in.
#[derive(Clone, Debug, Default)]
pub(super) struct ScriptFile {
    pub content: TrackedText,
    /// How many product calls came before it was last written.
    pub calls: usize,
}

/// What a failure ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FailureScope {
    Function,
    Subshell,
}

pub(super) struct ScriptState<'a> {
    pub context: &'a LintContext<'a>,
    pub findings: Vec<LintFinding>,
    pub shell: ShellState,
    pub files: HashMap<String, ScriptFile>,
    /// Directories programs are looked for in, beside the usual ones.
    pub search_path: Vec<String>,
    /// Everything written to, in order.
    pub written: Vec<String>,
    holes: Vec<HoleRoot>,
    names: HashMap<String, TrackedText>,
    home: char,
    project: char,
    /// The words of each product call, resolved, with what it was fed.
    pub calls: Vec<String>,
    /// Other texts the product gets to see: settings, prompts, files.
    pub seeds: String,
    pub stdin: TrackedText,
    /// The status `$?` stands for, and how often it was asked for.
    pub last: ExitStatus,
    /// The status of the last `$(…)`.
    pub substituted: ExitStatus,
    pub asks: usize,
    /// Inside conditions `set -e` does not count.
    pub lenient: u32,
    /// Inside `$(…)` output is what counts, not status.
    pub captured: u32,
    pub loops: u32,
    pub frames: Vec<(FailureScope, Vec<Comparison>)>,
    /// What the branches and loops around this point depend on.
    pub control: Vec<Origins>,
    pub branches: u32,
    /// How often a variable was set.
    pub assigned: usize,
    /// Where functions were called from.
    pub called_at: Vec<u32>,
    pub background: Vec<Comparison>,
    /// The product, or something else, was left running.
    pub product_serves: bool,
    pub script_serves: bool,
    /// `… && exit 0`, with what it depended on.
    pub early: Vec<Comparison>,
    /// Assertions on a surface, and on the exit status of the product alone.
    pub good: usize,
    /// What the former look at.
    pub observed: Origins,
    pub smoke: Option<StatusAssertion>,
    /// Scripts in arguments of scripts.
    pub nesting: u8,
    /// Of the statement that is looked at.
    pub line: u32,
    /// Inside what never happens.
    pub dead: u32,
    steps: usize,
    bytes: usize,
}

/// Commands one script may come to when its loops and functions are followed.
const STEPS: usize = 20_000;
/// Bytes it may hand to the product.
const BYTES: usize = 4 << 20;
/// The longest value that is kept.
const LONGEST: usize = 64 << 10;

impl<'a> ScriptState<'a> {
    pub(crate) fn new(context: &'a LintContext<'a>) -> Self {
        let mut state = Self {
            context,
            findings: Vec::new(),
            shell: ShellState {
                variables: HashMap::new(),
                functions: HashMap::new(),
                parameters: Vec::new(),
                cwd: String::new(),
                errexit: false,
                pipefail: false,
            },
            files: HashMap::new(),
            search_path: Vec::new(),
            written: Vec::new(),
            holes: Vec::new(),
            names: HashMap::new(),
            home: hole(0),
            project: hole(1),
            calls: Vec::new(),
            seeds: String::new(),
            stdin: TrackedText { text: String::new(), from: Origins::AMBIENT },
            last: ExitStatus::default(),
            substituted: ExitStatus::default(),
            asks: 0,
            lenient: 0,
            captured: 0,
            loops: 0,
            frames: Vec::new(),
            control: Vec::new(),
            branches: 0,
            assigned: 0,
            called_at: Vec::new(),
            background: Vec::new(),
            product_serves: false,
            script_serves: false,
            early: Vec::new(),
            good: 0,
            observed: Origins::NONE,
            smoke: None,
            nesting: 0,
            line: 1,
            dead: 0,
            steps: 0,
            bytes: 0,
        };
        state.home = state.hole(HoleRoot::Scratch);
        state.project = state.hole(HoleRoot::Project);
        state.shell.cwd = state.project.to_string();
        let home = TrackedText { text: state.home.to_string(), from: Origins::AMBIENT };
        state.names.insert("HOME".into(), home);
        state
    }

    pub(crate) fn find(&mut self, rule: LintRule, line: u32, what: impl fmt::Display) {
        let finding = LintFinding::new(rule, line, what);
        if !self.findings.iter().any(|found| found.rule == rule && found.line == line) {
            self.findings.push(finding);
        }
    }

    /// Returns the line a reader looks for: of the call, not of the function's inside.
    pub(crate) fn outermost(&self, line: u32) -> u32 {
        self.called_at.first().copied().unwrap_or(line)
    }

    /// Every hole in it is a directory or file that is known to be one.
    pub(crate) fn is_told(&self, value: &TrackedText) -> bool {
        let known = |number: u32| self.holes.get(number as usize).is_some_and(|root| *root != HoleRoot::Unknown);
        value.text.chars().filter_map(hole_number).all(known)
    }

    /// One more command followed; false when there were too many.
    pub(crate) fn step(&mut self, line: u32) -> bool {
        self.steps += 1;
        self.line = line;
        if self.steps == STEPS {
            let line = self.outermost(line);
            self.find(LintRule::L02, line, "It comes to too many commands to be followed");
        }
        self.steps < STEPS
    }

    pub(crate) fn hole(&mut self, root: HoleRoot) -> char {
        let number = (self.holes.len() as u32).min(MOST_HOLES);
        if number < MOST_HOLES {
            self.holes.push(root);
        }
        hole(number)
    }

    /// Returns a text only a running shell could tell.
    pub(crate) fn unknown(&mut self, from: Origins) -> TrackedText {
        TrackedText { text: self.hole(HoleRoot::Unknown).to_string(), from }
    }

    /// Returns what the branches and loops around this point depend on.
    pub(crate) fn controlled(&self) -> Origins {
        self.control.iter().fold(Origins::NONE, |all, from| all | *from)
    }

    pub(crate) fn project_root(&self) -> char {
        self.project
    }

    pub(crate) fn in_function(&self) -> bool {
        self.frames.iter().any(|(frame, _)| *frame == FailureScope::Function)
    }

    pub(crate) fn location(&self, path: &str) -> PathLocation {
        let root = |number: u32| self.holes.get(number as usize).copied().unwrap_or(HoleRoot::Unknown);
        location(path, &self.shell.cwd, self.home, root)
    }

    /// Returns a variable the script has not set, as the runner leaves it (DEC-122).
    pub(crate) fn environment(&mut self, name: &str) -> TrackedText {
        if name == "PWD" {
            return TrackedText { text: self.shell.cwd.clone(), from: Origins::AMBIENT };
        }
        if let Some(value) = self.names.get(name) {
            return value.clone();
        }
        let root = match name {
            "SDLC_TEST_TMP" | "TMPDIR" | "TMP" | "TEMP" | "XDG_RUNTIME_DIR" => HoleRoot::Scratch,
            "AGENT_SDLC_DB" => HoleRoot::Database,
            _ => HoleRoot::Unknown,
        };
        let value = TrackedText { text: self.hole(root).to_string(), from: Origins::AMBIENT };
        self.names.insert(name.to_owned(), value.clone());
        value
    }

    pub(crate) fn variable(&mut self, name: &str) -> TrackedText {
        match self.shell.variables.get(name).map(Vec::as_slice) {
            Some([]) => TrackedText::default(),
            Some([first, ..]) => first.clone(),
            None => self.environment(name),
        }
    }

    pub(crate) fn assign(&mut self, name: &str, mut values: Vec<TrackedText>, adds: bool) {
        let controlled = self.controlled();
        self.assigned += 1;
        let old = self.shell.variables.get(name).cloned();
        for value in &mut values {
            value.from |= controlled;
            self.limit(value);
        }
        // Whether it is set says what the branch depended on.
        if controlled.has(Origins::SURFACES | Origins::STATUS | Origins::SOURCE)
            && let ([value], None) = (values.as_mut_slice(), &old)
        {
            let scratch = self.location(&value.text).kind == LocationKind::Scratch;
            let hole = self.hole(if scratch { HoleRoot::Scratch } else { HoleRoot::Unknown });
            value.text = hole.to_string();
        }
        // After a branch it is one or the other.
        if self.branches > 0
            && let ([value], Some([before, ..])) = (values.as_mut_slice(), old.as_deref())
            && value.text != before.text
        {
            let from = value.from | before.from;
            let roots = (self.location(&value.text).kind, self.location(&before.text).kind);
            let root = if roots == (LocationKind::Scratch, LocationKind::Scratch) {
                HoleRoot::Scratch
            } else {
                HoleRoot::Unknown
            };
            *value = TrackedText { text: self.hole(root).to_string(), from };
        }
        let values = match (adds, old) {
            (true, Some(mut old)) => {
                if old.len() == 1 && values.len() == 1 {
                    old[0].push(&values[0]);
                    self.limit(&mut old[0]);
                } else if old.len() < 1_000 {
                    old.extend(values);
                }
                old
            }
            _ => values,
        };
        self.shell.variables.insert(name.to_owned(), values);
    }

    fn limit(&mut self, value: &mut TrackedText) {
        if value.text.len() > LONGEST {
            *value = self.unknown(value.from);
        }
    }

    /// Remembers a text the product gets to see.
    pub(crate) fn seed(&mut self, text: &str) {
        self.bytes += text.len();
        if self.bytes < BYTES {
            self.seeds.push_str(text);
            self.seeds.push('\n');
        }
    }

    pub(crate) fn call(&mut self, mut text: String) {
        if self.dead > 0 {
            return;
        }
        self.bytes += text.len();
        if self.bytes > BYTES {
            text.clear();
        }
        self.calls.push(text);
    }
}
