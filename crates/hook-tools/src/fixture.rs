//! Fixtures of `ona hooks test`: an event, and the expected decision of the hooks.
//!
//! ```json
//! {"name": "a force push is refused", "event": "PreToolUse",
//!  "payload": {"tool_name": "Bash", "tool_input": {"command": "git push -f"}},
//!  "expect": {"decision": "deny", "message": "force"}}
//! ```
//!
//! A file holds one of them or an array. `expect` may have any of `decision` (allow, ask,
//! deny, none), `message` and `context` (a part of the text), `input` (the tool's input
//! afterwards, whole), `continue` and `ran` (how many hooks ran). What is not named may be
//! anything. Reading and comparing only; running is done in `test`. What hook modules offer
//! beside hooks on calls has fixtures of its own (`module_fixture`).

use crate::bench::decision;
use crate::event_input::{EventInput, parse};
use crate::module_fixture::{self, ModuleFixture};
use ona_hookplane::HookOutcome;
use ona_runtime::Failure;
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::{Path, PathBuf};

pub struct Fixture {
    pub name: String,
    pub tried: Trial,
}

/// What a fixture tries.
pub enum Trial {
    /// The hooks of an event.
    Event(Box<EventTrial>),
    /// Something of a hook module.
    Module(Box<ModuleFixture>),
}

pub struct EventTrial {
    pub asked: EventInput,
    /// The input the event came with.
    input: Value,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    name: Option<String>,
    event: String,
    #[serde(default)]
    payload: Map<String, Value>,
    expect: Expect,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    decision: Option<Decision>,
    message: Option<String>,
    context: Option<String>,
    input: Option<Value>,
    r#continue: Option<bool>,
    ran: Option<usize>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Decision {
    Allow,
    Ask,
    Deny,
    None,
}

impl Decision {
    fn as_str(self) -> &'static str {
        match self {
            Decision::Allow => "allow",
            Decision::Ask => "ask",
            Decision::Deny => "deny",
            Decision::None => "none",
        }
    }
}

/// Reads the fixtures of these files and folders, in the order of their names.
pub fn load_fixtures(paths: &[PathBuf]) -> Result<Vec<Fixture>, Failure> {
    let mut files = Vec::new();
    for path in paths {
        collect(path, &mut files)?;
    }
    let mut fixtures = Vec::new();
    for file in &files {
        let wrong = |place: &str, what: String| Failure::usage(format_args!("{place}: {what}"));
        let name = file.display().to_string();
        let text = if paths.contains(file) { ona_files::read_named(file) } else { ona_files::read_text(file) };
        let text = text.map_err(|why| Failure::usage(format_args!("{name} {why}")))?;
        let value: Value =
            serde_json::from_str(&text).map_err(|error| wrong(&name, format!("not valid JSON: {error}")))?;
        let all = if let Value::Array(all) = value { all } else { vec![value] };
        if all.is_empty() {
            return Err(wrong(&name, "it has no fixtures".into()));
        }
        let several = all.len() > 1;
        for (number, one) in all.into_iter().enumerate() {
            let place = if several { format!("{name} #{}", number + 1) } else { name.clone() };
            // The sentence alone: the hint of `--fire-hook` is about something else.
            fixtures.push(fixture(one, &place).map_err(|bad| wrong(&place, bad.message))?);
        }
    }
    if fixtures.is_empty() {
        return Err(Failure::usage("no fixtures (files that end in .json) were found"));
    }
    Ok(fixtures)
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error| Failure::usage(format_args!("{} cannot be read: {error}", path.display()));
    if !path.is_dir() {
        std::fs::metadata(path).map_err(unreadable)?;
        files.push(path.to_owned());
        return Ok(());
    }
    let listed: Result<Vec<_>, _> =
        std::fs::read_dir(path).map_err(unreadable)?.map(|one| one.map(|one| one.path())).collect();
    let mut listed = listed.map_err(unreadable)?;
    listed.sort();
    for inner in listed {
        if inner.is_dir() || inner.extension().is_some_and(|ending| ending == "json") {
            collect(&inner, files)?;
        }
    }
    Ok(())
}

fn fixture(value: Value, place: &str) -> Result<Fixture, Failure> {
    if module_fixture::is_one(&value) {
        let tried: ModuleFixture = serde_json::from_value(value).map_err(Failure::usage)?;
        return Ok(Fixture {
            name: tried.name.clone().unwrap_or_else(|| place.to_owned()),
            tried: Trial::Module(Box::new(tried)),
        });
    }
    let written: Written = serde_json::from_value(value).map_err(Failure::usage)?;
    let mut event = written.payload;
    let input = event.get("tool_input").cloned().unwrap_or(Value::Null);
    if event.contains_key("tool_name") && !event.contains_key("tool_use_id") && written.event != "PermissionRequest" {
        event.insert("tool_use_id".into(), "toolu_fixture".into());
    }
    event.insert("hook_event_name".into(), written.event.into());
    let asked = parse(&Value::Object(event).to_string())?;
    let tried = Trial::Event(Box::new(EventTrial { asked, input, expect: written.expect }));
    Ok(Fixture { name: written.name.unwrap_or_else(|| place.to_owned()), tried })
}

impl EventTrial {
    /// What is not as expected, a sentence each.
    pub fn differences(&self, outcome: &HookOutcome) -> Vec<String> {
        let mut differences = Vec::new();
        let mut check = |what: &str, expected: String, found: String| {
            if expected != found {
                differences.push(format!("{what}: expected {expected}, found {found}"));
            }
        };
        let expect = &self.expect;
        if let Some(expected) = expect.decision {
            check("decision", expected.as_str().into(), decision(outcome).into());
        }
        if let Some(expected) = &expect.input {
            check("input", expected.to_string(), outcome.input.as_ref().unwrap_or(&self.input).to_string());
        }
        if let Some(expected) = expect.r#continue {
            check("continue", expected.to_string(), outcome.stop.is_none().to_string());
        }
        if let Some(expected) = expect.ran {
            let ran = outcome.runs.iter().filter(|run| run.skipped.is_none()).count();
            check("hooks that ran", expected.to_string(), ran.to_string());
        }
        let mut contains = |what: &str, part: &Option<String>, whole: String| {
            if let Some(part) = part.as_ref().filter(|part| !whole.contains(part.as_str())) {
                differences.push(format!("{what}: {part:?} is not in {whole:?}"));
            }
        };
        contains("message", &expect.message, outcome.message());
        let context: Vec<_> = outcome.context.iter().map(|one| one.context.text.as_str()).collect();
        contains("context", &expect.context, context.join("\n"));
        differences
    }
}
