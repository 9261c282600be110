//! What a person should see before answering a question (O-2, F-10).
//!
//! The whole of a long script is not read by anyone. This lists what it would
//! run and write, and puts the part that needs the answer first. Every text is
//! safe to print.

use crate::allow::UncoveredPart;
use crate::bash::files::FileRole;
use crate::call::{CallPart, ParsedCall, ShellPart};
use crate::engine::PermissionEngine;
use crate::resolve::Forms;
use crate::text::{brief, printable};
use ona_api::permission_update::{Behavior, Destination};
use ona_api::{Access, Ruling};
use serde_json::Value;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Explanation {
    /// Characters of the script.
    pub length: usize,
    /// Distinct programs, in the order they appear.
    pub programs: Vec<String>,
    /// Files that would be created, changed or removed.
    pub writes: Vec<ChangedFile>,
    /// The first part no allow rule covers, and why not.
    pub uncovered: Option<(String, String)>,
    /// Rules that would let this very call pass from now on; empty if none can.
    pub remember: Vec<String>,
}

/// A file that would change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedFile {
    pub path: String,
    /// Where links lead, if elsewhere.
    pub resolved: Option<String>,
    /// Not in a working directory.
    pub outside: bool,
}

impl PermissionEngine {
    pub fn explain(&self, tool: &str, input: &Value, access: &[Access]) -> Explanation {
        let call = ParsedCall::new(tool, input, access, &self.session_dirs);
        let mut explanation = Explanation::default();
        for part in &call.parts {
            match part {
                CallPart::Edit(path) => explanation.write(self.changed_file(path)),
                CallPart::Shell(shell) => self.explain_shell(shell, &mut explanation),
                CallPart::Read(_) | CallPart::Search(_) | CallPart::Fetch(_) | CallPart::Plain => {}
            }
        }
        if let Err(UncoveredPart { part, why, .. }) = self.allow_rules().rule(&call) {
            explanation.uncovered = Some((brief(&part), why));
        }
        explanation.remember = self.remember(tool, input, access);
        explanation
    }

    fn explain_shell(&self, shell: &ShellPart, explanation: &mut Explanation) {
        explanation.length += shell.text.chars().count();
        for command in shell.script.commands.iter().filter(|command| !command.words.is_empty()) {
            let program = command.name().map_or_else(|| printable(&command.words[0].raw), printable);
            if !explanation.programs.contains(&program) {
                explanation.programs.push(program);
            }
        }
        for used in shell
            .uses
            .iter()
            .filter(|used| matches!(used.file.role, FileRole::Write | FileRole::Remove | FileRole::Alias))
        {
            for candidate in &used.candidates {
                explanation.write(match candidate.wild {
                    true => ChangedFile { path: printable(&used.file.word.raw), resolved: None, outside: true },
                    false => self.changed_file(&candidate.path),
                });
            }
        }
    }

    fn changed_file(&self, path: &Forms) -> ChangedFile {
        let resolved = path.real.as_ref().filter(|real| **real != path.given);
        ChangedFile {
            path: printable(&path.given.to_string_lossy()),
            resolved: resolved.map(|real| printable(&real.to_string_lossy())),
            outside: !self.working_dirs.contains(path),
        }
    }

    /// Adds the missing rules one by one, as a person who always says yes would,
    /// and keeps them only if the call passes then.
    fn remember(&self, tool: &str, input: &Value, access: &[Access]) -> Vec<String> {
        /// The maximum number of rules to approve at once.
        const MOST: usize = 5;
        let mut engine = self.clone();
        let mut added: Vec<String> = Vec::new();
        loop {
            let verdict = engine.decide(tool, input, access, None);
            if verdict.ruling == Ruling::Allow {
                return added;
            }
            let call = ParsedCall::new(tool, input, access, &engine.session_dirs);
            let gap = engine.allow_rules().rule(&call).err().and_then(|gap| gap.rule);
            let Some(rule) = gap.filter(|rule| added.len() < MOST && !added.contains(rule)) else { return Vec::new() };
            if !engine.rules.add(Behavior::Allow, std::slice::from_ref(&rule), Some(Destination::Session)).is_empty() {
                return Vec::new();
            }
            engine.compiled = engine.compiled_rules();
            added.push(rule);
        }
    }
}

impl Explanation {
    fn write(&mut self, changed_file: ChangedFile) {
        if !self.writes.contains(&changed_file) {
            self.writes.push(changed_file);
        }
    }
}
