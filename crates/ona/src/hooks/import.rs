//! `ona hooks import`: hooks of another program, in the words of ona's settings.
//!
//! All three write hooks as event -> groups with a matcher -> handlers. Codex uses the
//! event names and seconds of Claude Code; Gemini has names of its own for events and
//! tools and counts in milliseconds. What has no counterpart is named on stderr and left
//! out: a guard that silently does not run is the worst outcome, and one that runs where
//! its condition was left behind is the next.

use super::command::Foreign;
use crate::output;
use ona_api::EventName;
use ona_dialects::lint;
use ona_runtime::{Failure, Launch};
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
const GEMINI_TOOLS: [(&str, &str); 14] = [
    ("run_shell_command", "Bash"),
    ("search_file_content", "Grep"),
    ("google_web_search", "WebSearch"),
    ("grep_search", "Grep"),
    ("write_file", "Write"),
    ("read_file", "Read"),
    ("web_fetch", "WebFetch"),
    ("replace", "Edit"),
    ("glob", "Glob"),
    ("write_todos", "TodoWrite"),
    ("ask_user", "AskUserQuestion"),
    ("activate_skill", "Skill"),
    ("enter_plan_mode", "EnterPlanMode"),
    ("exit_plan_mode", "ExitPlanMode"),
];

const RENAMED: &str = "ona: tools are told by their names here (Bash for run_shell_command, Write for write_file, ...); \
                       a script that looks at tool_name must know them";

/// Handlers of `.claude` files that run here; the others only have commands.
const KINDS: [&str; 5] = ["command", "http", "prompt", "agent", "mcp_tool"];

/// The translation, and what could not be translated.
#[derive(Default)]
struct Translated {
    hooks: Map<String, Value>,
    left_out: Vec<String>,
}

pub fn run(launch: &Launch, from: Foreign, file: Option<&Path>, write: bool) -> Result<u8, Failure> {
    if write {
        launch.operator_only("hooks")?;
    }
    let named = file.is_some();
    let file = file.map_or_else(|| usual(launch, from), |file| Ok(launch.cwd.join(file)))?;
    let wrong = |what: String| Failure::usage(format_args!("{}: {what}", file.display()));
    let text = if named { ona_files::read_named(&file) } else { ona_files::read_text(&file) };
    let text = text.map_err(|why| wrong(why.to_string()))?;
    let settings: Value = serde_json::from_str(&text).map_err(|error| wrong(format!("not valid JSON: {error}")))?;
    let translated = translate(from, &settings);
    for what in &translated.left_out {
        output::note(format_args!("ona: left out: {what}"));
    }
    if from == Foreign::Gemini
        && ["PreToolUse", "PostToolUse"].iter().any(|event| translated.hooks.contains_key(*event))
    {
        output::note(RENAMED);
    }
    if translated.hooks.is_empty() {
        return Err(Failure::refused(format_args!("{} has no hooks that could run here", file.display())));
    }
    if write {
        return add(&launch.project.join(".ona/settings.json"), translated.hooks);
    }
    output::pretty(&json!({"hooks": translated.hooks}));
    Ok(0)
}

/// Where the program keeps its hooks, the project's before the user's.
fn usual(launch: &Launch, from: Foreign) -> Result<PathBuf, Failure> {
    let name = match from {
        Foreign::Claude => ".claude/settings.json",
        Foreign::Codex => ".codex/hooks.json",
        Foreign::Gemini => ".gemini/settings.json",
    };
    let places = [launch.project.join(name), launch.env.home().join(name)];
    let [project, _] = &places;
    let missing = || Failure::usage(format_args!("there is no {} and none in your home folder", project.display()));
    places.iter().find(|place| place.is_file()).cloned().ok_or_else(missing)
}

fn translate(from: Foreign, settings: &Value) -> Translated {
    let mut translated = Translated::default();
    let hooks = &settings["hooks"];
    let lists = [&settings["hooksConfig"]["disabled"], &hooks["disabled"]];
    let lists = lists.into_iter().filter(|_| from == Foreign::Gemini).filter_map(Value::as_array).flatten();
    let disabled: Vec<_> = lists.filter_map(Value::as_str).collect();
    for (name, groups) in hooks.as_object().into_iter().flatten() {
        // Switches that Gemini once kept beside the events.
        if from == Foreign::Gemini && ["disabled", "enabled", "notifications"].contains(&name.as_str()) {
            continue;
        }
        let event = match from {
            Foreign::Claude | Foreign::Codex => name.parse::<EventName>().ok().map(|_| name.as_str()),
            Foreign::Gemini => GEMINI_EVENTS.iter().find(|(theirs, _)| theirs == name).map(|(_, ours)| *ours),
        };
        let Some(event) = event else {
            translated.left_out.push(format!("the event {name} has no counterpart"));
            continue;
        };
        let Some(groups) = groups.as_array() else {
            translated.left_out.push(format!("{name} is no list of groups"));
            continue;
        };
        let groups: Vec<_> =
            groups.iter().filter_map(|one| group(from, event, one, &disabled, &mut translated.left_out)).collect();
        if !groups.is_empty() {
            translated.hooks.insert(event.into(), Value::Array(groups));
        }
    }
    translated
}

fn group(from: Foreign, event: &str, group: &Value, disabled: &[&str], left_out: &mut Vec<String>) -> Option<Value> {
    let Some(written) = group["hooks"].as_array() else {
        left_out.push(format!("a group of {event} without hooks: {group}"));
        return None;
    };
    let handlers: Vec<_> =
        written.iter().filter_map(|handler| self::handler(from, event, handler, disabled, left_out)).collect();
    if handlers.is_empty() {
        return None;
    }
    let mut ours = json!({"dialect": "claude"});
    match &group["matcher"] {
        Value::Null => {}
        Value::String(matcher) => {
            ours["matcher"] = match from {
                Foreign::Gemini if event.ends_with("ToolUse") => renamed(matcher, left_out).into(),
                Foreign::Claude | Foreign::Codex | Foreign::Gemini => matcher.as_str().into(),
            };
        }
        other => {
            // Without it the hooks would run everywhere.
            left_out.push(format!("a group of {event} whose matcher is no text: {other}"));
            return None;
        }
    }
    ours["hooks"] = Value::Array(handlers);
    Some(ours)
}

fn handler(
    from: Foreign,
    event: &str,
    handler: &Value,
    disabled: &[&str],
    left_out: &mut Vec<String>,
) -> Option<Value> {
    let kind = handler["type"].as_str().unwrap_or("command");
    let runs = if from == Foreign::Claude { KINDS.contains(&kind) } else { kind == "command" };
    let written = handler.as_object().filter(|_| runs && (kind != "command" || handler["command"].is_string()));
    let Some(written) = written else {
        left_out.push(format!("a {kind} handler of {event}"));
        return None;
    };
    let called = |name: &&str| handler["name"] == **name || handler["command"] == **name;
    if let Some(name) = disabled.iter().find(|name| called(name)) {
        left_out.push(format!("a handler of {event} that is disabled: {name}"));
        return None;
    }
    let mut ours = written.clone();
    ours.insert("type".into(), kind.into());
    for field in lint::unknown_handler_fields(written) {
        left_out.push(format!("the field {field:?} of a handler of {event}"));
        ours.shift_remove(field);
    }
    if let Some(timeout) = handler["timeout"].as_f64().filter(|_| from == Foreign::Gemini) {
        ours.insert("timeout".into(), json!(timeout / 1000.0));
    }
    Some(Value::Object(ours))
}

/// A matcher with the tools' names as they are here.
fn renamed(matcher: &str, left_out: &mut Vec<String>) -> String {
    let mut ours = String::new();
    let mut rest = matcher;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match GEMINI_TOOLS.iter().find(|(theirs, _)| *theirs == word) {
            Some((_, name)) => ours.push_str(name),
            None => {
                if !word.is_empty() && !word.starts_with("mcp_") {
                    left_out.push(format!("{word:?} in the matcher {matcher:?} has no counterpart and stays as it is"));
                }
                ours.push_str(word);
            }
        }
        let other = after.chars().next().map_or(0, char::len_utf8);
        ours.push_str(&after[..other]);
        rest = &after[other..];
    }
    ours
}

/// Adds the groups to a settings file and keeps everything else in it.
fn add(file: &Path, hooks: Map<String, Value>) -> Result<u8, Failure> {
    let wrong = |what: String| Failure::refused(format_args!("{} was left as it is: {what}", file.display()));
    let mut settings: Value = match ona_files::read_text(file) {
        Ok(text) => serde_json::from_str(&text).map_err(|error| wrong(format!("it is not valid JSON: {error}")))?,
        Err(why) if why.is_absent() => json!({}),
        Err(why) => return Err(wrong(format!("it {why}"))),
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
        ona_trust::replace_file(file, &format!("{settings:#}\n"))
    };
    write().map_err(|error: std::io::Error| wrong(error.to_string()))?;
    output::note(format_args!("The hooks were added to {}", file.display()));
    Ok(0)
}
