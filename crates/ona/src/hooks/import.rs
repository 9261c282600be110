//! `ona hooks import`: hooks of another program, in the words of ona's settings.
//!
//! All three write hooks as event -> groups with a matcher -> handlers. Codex uses the
//! event names and seconds of Claude Code; Gemini has names of its own for events and
//! tools and counts in milliseconds. What has no counterpart is named on stderr and left
//! out: a guard that silently does not run is the worst outcome.

use super::command::Foreign;
use crate::failure::Failure;
use crate::output;
use crate::program::Program;
use ona_api::EventName;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// Events of Gemini that happen here too.
const GEMINI_EVENTS: [(&str, &str); 8] = [
    ("BeforeTool", "PreToolUse"),
    ("AfterTool", "PostToolUse"),
    ("BeforeAgent", "UserPromptSubmit"),
    ("AfterAgent", "Stop"),
    ("SessionStart", "SessionStart"),
    ("SessionEnd", "SessionEnd"),
    ("PreCompress", "PreCompact"),
    ("Notification", "Notification"),
];

/// Tools of Gemini by the names they have here.
const GEMINI_TOOLS: [(&str, &str); 9] = [
    ("run_shell_command", "Bash"),
    ("search_file_content", "Grep"),
    ("google_web_search", "WebSearch"),
    ("grep_search", "Grep"),
    ("write_file", "Write"),
    ("read_file", "Read"),
    ("web_fetch", "WebFetch"),
    ("replace", "Edit"),
    ("glob", "Glob"),
];

/// The translation, and what could not be translated.
#[derive(Default)]
struct Translated {
    hooks: Map<String, Value>,
    left_out: Vec<String>,
}

pub fn run(program: &Program, from: Foreign, file: Option<&Path>, write: bool) -> Result<u8, Failure> {
    if write {
        program.operator_only("hooks")?;
    }
    let file = file.map_or_else(|| usual(program, from), |file| Ok(program.cwd.join(file)))?;
    let wrong = |what: String| Failure::usage(format_args!("{}: {what}", file.display()));
    let text = std::fs::read_to_string(&file).map_err(|error| wrong(error.to_string()))?;
    let settings: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("not valid JSON: {error}")))?;
    let translated = translate(from, &settings["hooks"]);
    for what in &translated.left_out {
        output::note(format_args!("ona: left out: {what}"));
    }
    if translated.hooks.is_empty() {
        return Err(Failure::refused(format_args!("{} has no hooks that could run here", file.display())));
    }
    if write {
        return add(&program.project.join(".ona/settings.json"), translated.hooks);
    }
    output::pretty(&json!({"hooks": translated.hooks}));
    Ok(0)
}

/// Where the program keeps its hooks, the project's before the user's.
fn usual(program: &Program, from: Foreign) -> Result<PathBuf, Failure> {
    let name = match from {
        Foreign::Claude => ".claude/settings.json",
        Foreign::Codex => ".codex/hooks.json",
        Foreign::Gemini => ".gemini/settings.json",
    };
    let places = [program.project.join(name), program.env.home().join(name)];
    let [project, _] = &places;
    let missing = || Failure::usage(format_args!("there is no {} and none in your home folder", project.display()));
    places.iter().find(|place| place.is_file()).cloned().ok_or_else(missing)
}

fn translate(from: Foreign, hooks: &Value) -> Translated {
    let mut translated = Translated::default();
    for (name, groups) in hooks.as_object().into_iter().flatten() {
        let event = match from {
            Foreign::Claude | Foreign::Codex => name.parse::<EventName>().ok().map(|_| name.as_str()),
            Foreign::Gemini => GEMINI_EVENTS.iter().find(|(theirs, _)| theirs == name).map(|(_, ours)| *ours),
        };
        let (Some(event), Some(groups)) = (event, groups.as_array()) else {
            translated.left_out.push(format!("the event {name} has no counterpart"));
            continue;
        };
        let groups: Vec<_> =
            groups.iter().filter_map(|one| group(from, event, one, &mut translated.left_out)).collect();
        if !groups.is_empty() {
            translated.hooks.insert(event.into(), Value::Array(groups));
        }
    }
    translated
}

fn group(from: Foreign, event: &str, group: &Value, left_out: &mut Vec<String>) -> Option<Value> {
    let mut handlers = Vec::new();
    for handler in group["hooks"].as_array().into_iter().flatten() {
        let kind = handler["type"].as_str().unwrap_or("command");
        let Some(command) = handler["command"].as_str().filter(|_| kind == "command") else {
            left_out.push(format!("a {kind} handler of {event}"));
            continue;
        };
        let mut ours = json!({"type": "command", "command": command});
        if let Some(timeout) = handler["timeout"].as_f64() {
            ours["timeout"] =
                if from == Foreign::Gemini { json!(timeout / 1000.0) } else { handler["timeout"].clone() };
        }
        handlers.push(ours);
    }
    if handlers.is_empty() {
        return None;
    }
    let mut ours = json!({"dialect": "claude"});
    if let Some(matcher) = group["matcher"].as_str() {
        ours["matcher"] = match from {
            Foreign::Gemini => renamed(matcher).into(),
            Foreign::Claude | Foreign::Codex => matcher.into(),
        };
    }
    ours["hooks"] = Value::Array(handlers);
    Some(ours)
}

/// A matcher with the tools' names as they are here.
fn renamed(matcher: &str) -> String {
    GEMINI_TOOLS.iter().fold(matcher.to_owned(), |matcher, (theirs, ours)| matcher.replace(theirs, ours))
}

/// Adds the groups to a settings file and keeps everything else in it.
fn add(file: &Path, hooks: Map<String, Value>) -> Result<u8, Failure> {
    let wrong = |what: String| Failure::refused(format_args!("{} was left as it is: {what}", file.display()));
    let mut settings: Value = match std::fs::read_to_string(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| wrong(format!("it is not valid JSON: {error}")))?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => json!({}),
        Err(error) => return Err(wrong(error.to_string())),
    };
    let all = settings.as_object_mut().ok_or_else(|| wrong("it does not hold a JSON object".into()))?;
    let present = all.entry("hooks").or_insert_with(|| json!({}));
    let present = present.as_object_mut().ok_or_else(|| wrong("its hooks are a list; add them by hand".into()))?;
    for (event, groups) in hooks {
        let Value::Array(groups) = groups else { unreachable!("built as an array above") };
        let there = present.entry(event.as_str()).or_insert_with(|| json!([]));
        let there = there.as_array_mut().ok_or_else(|| wrong(format!("its {event} is no list")))?;
        there.extend(groups.into_iter().filter(|group| !there.contains(group)).collect::<Vec<_>>());
    }
    let write = || {
        std::fs::create_dir_all(file.parent().unwrap_or(Path::new("/")))?;
        let temporary = file.with_extension("json.new");
        std::fs::write(&temporary, format!("{settings:#}\n"))?;
        std::fs::rename(&temporary, file)
    };
    write().map_err(|error: std::io::Error| wrong(error.to_string()))?;
    output::note(format_args!("The hooks were added to {}", file.display()));
    Ok(0)
}
