//! Decides whether a deny or ask rule hits a call: any part is enough.
//!
//! A part of a script that cannot be determined may be what the rule means; then the
//! answer is `Maybe`, and a person is asked.

use crate::bash::files::{FileReach, FileRole};
use crate::bash::words::HOLE;
use crate::call::{CallPart, ParsedCall, ResolvedUse, ShellPart};
use crate::grammar::{CommandPattern, PathKind, RuleTarget};
use crate::overlap::{self, Overlap};
use crate::path::PathRule;
use crate::resolve::{Forms, SearchBelow, search_below};
use crate::rules::CompiledRule;
use crate::text::folded;
use crate::wildcard::Wildcard;
use serde_json::Value;

impl CompiledRule {
    pub(crate) fn matches(&self, call: &ParsedCall<'_>) -> Overlap {
        let yes = |hit: bool| if hit { Overlap::Yes } else { Overlap::No };
        match &self.rule.target {
            RuleTarget::Tool(name) => yes(same_tool(name, call.tool) || self.reaches(name, call)),
            RuleTarget::Names(names) | RuleTarget::Mcp { names, .. } => yes(names.fits_in_any_case(call.tool)),
            RuleTarget::Command(pattern) => {
                call.shells().map(|shell| commands(pattern, shell)).max().unwrap_or(Overlap::No)
            }
            // It can only be allowed.
            RuleTarget::ReadOnly => Overlap::No,
            RuleTarget::Path { kind, .. } => match &self.path {
                Some(path) => call.parts.iter().map(|part| paths(*kind, path, part)).max().unwrap_or(Overlap::No),
                None => Overlap::No,
            },
            RuleTarget::Domain(domain) => yes(call.parts.iter().any(|part| match part {
                CallPart::Fetch(Some(url)) => domain.matches(url),
                CallPart::Fetch(None)
                | CallPart::Read(_)
                | CallPart::Search(_)
                | CallPart::Edit(_)
                | CallPart::Shell(_)
                | CallPart::Plain => false,
            })),
            RuleTarget::Agent(name) => yes(call.tool == "Agent" && same_name(agent(call.input), name)),
            // Arguments do not change which skill it is.
            RuleTarget::Skill { name, .. } => {
                yes(call.tool == "Skill" && skill(call.input).is_some_and(|skill| same_name(skill, name)))
            }
            RuleTarget::Parameter { tool, name, value } => yes(call.tool == tool && parameter(call.input, name, value)),
        }
    }

    /// A script is Bash and a fetch is WebFetch, whichever tool asks for it.
    fn reaches(&self, name: &str, call: &ParsedCall<'_>) -> bool {
        call.parts.iter().any(|part| match part {
            CallPart::Shell(_) => name == "Bash",
            CallPart::Fetch(_) => name == "WebFetch",
            CallPart::Read(_) | CallPart::Search(_) | CallPart::Edit(_) | CallPart::Plain => false,
        })
    }

    pub(crate) fn is_read_rule(&self) -> bool {
        matches!(self.rule.target, RuleTarget::Path { kind: PathKind::Read, .. })
    }

    /// Returns whether reading this file is what a `Read` rule means.
    pub(crate) fn matches_read(&self, path: &Forms) -> bool {
        self.is_read_rule() && self.path.as_ref().is_some_and(|rule| rule.matches_either_form(path))
    }

    /// Returns whether the rule is about the tool as such.
    pub(crate) fn hides_tool(&self, tool: &str) -> bool {
        match &self.rule.target {
            RuleTarget::Tool(name) => same_tool(name, tool),
            RuleTarget::Names(names) | RuleTarget::Mcp { names, .. } => names.fits_in_any_case(tool),
            RuleTarget::Command(_)
            | RuleTarget::ReadOnly
            | RuleTarget::Path { .. }
            | RuleTarget::Domain(_)
            | RuleTarget::Agent(_)
            | RuleTarget::Skill { .. }
            | RuleTarget::Parameter { .. } => false,
        }
    }
}

/// Names of agents, skills, servers and their tools are chosen by their authors;
/// a deny rule finds them in any case.
fn same_name(name: &str, named: &str) -> bool {
    folded(name.trim()) == folded(named.trim())
}

/// `mcp__a__b` may also be a server called `a__b`.
fn same_tool(name: &str, tool: &str) -> bool {
    if !name.starts_with("mcp__") {
        return name == tool;
    }
    folded(tool).strip_prefix(&folded(name)).is_some_and(|rest| rest.is_empty() || rest.starts_with("__"))
}

/// Returns the kind of agent a call starts.
pub(crate) fn agent(input: &Value) -> &str {
    input.get("subagent_type").and_then(Value::as_str).unwrap_or("general-purpose")
}

pub(crate) fn skill(input: &Value) -> Option<&str> {
    Some(input.get("skill")?.as_str()?.trim_start_matches('/'))
}

fn parameter(input: &Value, name: &str, value: &Wildcard) -> bool {
    match input.get(name) {
        Some(Value::String(text)) => value.fits(text),
        Some(scalar @ (Value::Bool(_) | Value::Number(_))) => value.fits(&scalar.to_string()),
        Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => false,
    }
}

fn commands(pattern: &CommandPattern, shell: &ShellPart) -> Overlap {
    if pattern.fits(shell.text.trim()) {
        return Overlap::Yes;
    }
    let mut result = if shell.script.broken { Overlap::Maybe } else { Overlap::No };
    for command in &shell.script.commands {
        if command.words.is_empty() {
            continue;
        }
        let readings = command.readings();
        if readings.iter().any(|reading| pattern.fits(reading)) {
            return Overlap::Yes;
        }
        // A program that comes out of an expansion may be any program, unless all values are there.
        let could = !command.program_is_told()
            || readings.iter().any(|reading| reading.contains(HOLE) && pattern.could_fit(reading, HOLE));
        if could {
            result = Overlap::Maybe;
        }
    }
    result
}

fn paths(kind: PathKind, rule: &PathRule, part: &CallPart) -> Overlap {
    let hit = match (part, kind) {
        // A file that may not be read may not be replaced either.
        (CallPart::Edit(path), PathKind::Read | PathKind::Edit) => rule.matches_either_form(path),
        (CallPart::Read(path) | CallPart::Search(path), PathKind::Read) => rule.matches_either_form(path),
        (CallPart::Read(_) | CallPart::Search(_), PathKind::Edit) => false,
        (CallPart::Shell(shell), _) => {
            return shell.uses.iter().map(|file| file_use(kind, rule, file)).max().unwrap_or(Overlap::No);
        }
        (CallPart::Fetch(_) | CallPart::Plain, _) => false,
    };
    if hit { Overlap::Yes } else { Overlap::No }
}

fn file_use(kind: PathKind, rule: &PathRule, used: &ResolvedUse) -> Overlap {
    let concerned = match (kind, used.file.role) {
        (PathKind::Read, _) => true,
        (PathKind::Edit, FileRole::Write | FileRole::Remove | FileRole::Alias) => true,
        (PathKind::Edit, FileRole::Read | FileRole::Any) => false,
    };
    if !concerned {
        return Overlap::No;
    }
    let hit = |candidate: &crate::call::CandidatePath| {
        if candidate.wild {
            return rule.could_match(&candidate.path.given);
        }
        let directly = match &used.file.reach {
            FileReach::One => rule.matches_either_form(&candidate.path),
            FileReach::Listing | FileReach::Below { .. } | FileReach::Replaced => {
                rule.matches_either_form(&candidate.path) || rule.matches_content(&candidate.path)
            }
        };
        match (&used.file.reach, directly) {
            (_, true) => Overlap::Yes,
            (FileReach::Below { names, hidden }, false) => below(rule, &candidate.path, names, *hidden),
            (FileReach::One | FileReach::Listing | FileReach::Replaced, false) => Overlap::No,
        }
    };
    used.candidates.iter().map(hit).max().unwrap_or(Overlap::No)
}

/// Returns whether a walk through a directory would come across a file the rule means.
fn below(rule: &PathRule, dir: &Forms, names: &[String], hidden: bool) -> Overlap {
    if !rule.is_near(&dir.given) {
        return Overlap::No;
    }
    let Some(real) = &dir.real else { return Overlap::Maybe };
    if !names.is_empty() {
        let fits = |path: &std::path::Path| {
            let name = path.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
            names.iter().any(|pattern| overlap::could_be_name(pattern, &name)) && rule.matches(path)
        };
        return match names.iter().map(|name| rule.could_match_name(name)).max().unwrap_or(Overlap::No) {
            // Only the files that are there can tell.
            Overlap::Maybe => match search_below(real, usize::MAX, fits) {
                SearchBelow::Found => Overlap::Yes,
                SearchBelow::TooMany => Overlap::Maybe,
                SearchBelow::Nothing => Overlap::No,
            },
            overlap => overlap,
        };
    }
    let shown = |path: &std::path::Path| {
        hidden || !path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
    };
    match search_below(real, usize::MAX, |path| shown(path) && rule.matches(path)) {
        SearchBelow::Found => Overlap::Yes,
        SearchBelow::TooMany => Overlap::Maybe,
        SearchBelow::Nothing => Overlap::No,
    }
}
