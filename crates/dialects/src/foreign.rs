//! Hooks of other programs, translated into ona's settings (`ona hooks import`). Pure.
//!
//! All three programs write hooks as event -> groups with a matcher -> handlers. Codex uses the
//! event names and seconds of Claude Code; Gemini has its own names for events and
//! tools and counts in milliseconds. What has no counterpart is reported and not
//! translated: a guard that silently does not run is the worst outcome, and one that runs
//! without its condition is the next.

use crate::lint;
use ona_api::EventName;
use serde_json::{Map, Value, json};

/// The program that hooks were written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForeignProgram {
    Claude,
    Codex,
    Gemini,
}

impl ForeignProgram {
    /// Where the program keeps its hooks, below a project or the home folder.
    pub fn settings_file(self) -> &'static str {
        match self {
            ForeignProgram::Claude => ".claude/settings.json",
            ForeignProgram::Codex => ".codex/hooks.json",
            ForeignProgram::Gemini => ".gemini/settings.json",
        }
    }
}

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

/// Handlers of `.claude` files that run here; the other programs only have commands.
const KINDS: [&str; 5] = ["command", "http", "prompt", "agent", "mcp_tool"];

/// The translation, and what could not be translated.
#[derive(Debug, Default)]
pub struct TranslatedHooks {
    /// Groups by event, as `hooks` in ona's settings.
    pub hooks: Map<String, Value>,
    /// A sentence for each part without a counterpart.
    pub skipped: Vec<String>,
    /// Scripts see other tool names than those they were written for.
    pub renames_tools: bool,
}

/// Translates the hooks of a settings file of another program.
pub fn translate_hooks(from: ForeignProgram, content: &Value) -> TranslatedHooks {
    let mut translated = TranslatedHooks::default();
    let hooks = &content["hooks"];
    let lists = [&content["hooksConfig"]["disabled"], &hooks["disabled"]];
    let lists = lists.into_iter().filter(|_| from == ForeignProgram::Gemini).filter_map(Value::as_array).flatten();
    let disabled: Vec<_> = lists.filter_map(Value::as_str).collect();
    for (name, groups) in hooks.as_object().into_iter().flatten() {
        // Switches that Gemini once kept beside the events.
        if from == ForeignProgram::Gemini && ["disabled", "enabled", "notifications"].contains(&name.as_str()) {
            continue;
        }
        let event = match from {
            ForeignProgram::Claude | ForeignProgram::Codex => name.parse::<EventName>().ok().map(|_| name.as_str()),
            ForeignProgram::Gemini => GEMINI_EVENTS.iter().find(|(theirs, _)| theirs == name).map(|(_, ours)| *ours),
        };
        let Some(event) = event else {
            translated.skipped.push(format!("the event {name} has no counterpart"));
            continue;
        };
        let Some(groups) = groups.as_array() else {
            translated.skipped.push(format!("{name} is not a list of groups"));
            continue;
        };
        let groups: Vec<_> =
            groups.iter().filter_map(|one| group(from, event, one, &disabled, &mut translated.skipped)).collect();
        if !groups.is_empty() {
            translated.hooks.insert(event.into(), Value::Array(groups));
        }
    }
    let of_tools = ["PreToolUse", "PostToolUse"];
    translated.renames_tools =
        from == ForeignProgram::Gemini && of_tools.iter().any(|event| translated.hooks.contains_key(*event));
    translated
}

fn group(
    from: ForeignProgram,
    event: &str,
    group: &Value,
    disabled: &[&str],
    skipped: &mut Vec<String>,
) -> Option<Value> {
    let Some(written) = group["hooks"].as_array() else {
        skipped.push(format!("a group of {event} without hooks: {group}"));
        return None;
    };
    let handlers: Vec<_> =
        written.iter().filter_map(|handler| self::handler(from, event, handler, disabled, skipped)).collect();
    if handlers.is_empty() {
        return None;
    }
    let mut ours = json!({"dialect": "claude"});
    match &group["matcher"] {
        Value::Null => {}
        Value::String(matcher) => {
            ours["matcher"] = match from {
                ForeignProgram::Gemini if event.ends_with("ToolUse") => renamed(matcher, skipped).into(),
                ForeignProgram::Claude | ForeignProgram::Codex | ForeignProgram::Gemini => matcher.as_str().into(),
            };
        }
        other => {
            // Without it the hooks would run everywhere.
            skipped.push(format!("a group of {event} whose matcher is not text: {other}"));
            return None;
        }
    }
    ours["hooks"] = Value::Array(handlers);
    Some(ours)
}

fn handler(
    from: ForeignProgram,
    event: &str,
    handler: &Value,
    disabled: &[&str],
    skipped: &mut Vec<String>,
) -> Option<Value> {
    let kind = handler["type"].as_str().unwrap_or("command");
    let runs = if from == ForeignProgram::Claude { KINDS.contains(&kind) } else { kind == "command" };
    let written = handler.as_object().filter(|_| runs && (kind != "command" || handler["command"].is_string()));
    let Some(written) = written else {
        skipped.push(format!("a {kind} handler of {event}"));
        return None;
    };
    let called = |name: &&str| handler["name"] == **name || handler["command"] == **name;
    if let Some(name) = disabled.iter().find(|name| called(name)) {
        skipped.push(format!("a handler of {event} that is disabled: {name}"));
        return None;
    }
    let mut ours = written.clone();
    ours.insert("type".into(), kind.into());
    for field in lint::unknown_handler_fields(written) {
        skipped.push(format!("the field {field:?} of a handler of {event}"));
        ours.shift_remove(field);
    }
    if let Some(timeout) = handler["timeout"].as_f64().filter(|_| from == ForeignProgram::Gemini) {
        ours.insert("timeout".into(), json!(timeout / 1000.0));
    }
    Some(Value::Object(ours))
}

/// A matcher with the tools' names as they are here.
fn renamed(matcher: &str, skipped: &mut Vec<String>) -> String {
    let mut ours = String::new();
    let mut rest = matcher;
    while !rest.is_empty() {
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        match GEMINI_TOOLS.iter().find(|(theirs, _)| *theirs == word) {
            Some((_, name)) => ours.push_str(name),
            None => {
                if !word.is_empty() && !word.starts_with("mcp_") {
                    skipped.push(format!("{word:?} in the matcher {matcher:?} has no counterpart and stays as it is"));
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

/// Adds the groups to settings and keeps everything else in them. Groups that are there already
/// are not added again.
pub fn add_hooks(settings: &mut Value, hooks: Map<String, Value>) -> Result<(), String> {
    let all = settings.as_object_mut().ok_or("it does not hold a JSON object")?;
    let present = all.entry("hooks").or_insert_with(|| json!({}));
    let present = present.as_object_mut().ok_or("its hooks are a list; add them by hand")?;
    for (event, groups) in hooks {
        let Value::Array(groups) = groups else { continue };
        let there = present.entry(event.as_str()).or_insert_with(|| json!([]));
        let there = there.as_array_mut().ok_or_else(|| format!("its {event} is not a list"))?;
        there.extend(groups.into_iter().filter(|group| !there.contains(group)).collect::<Vec<_>>());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(matcher: &str, handlers: Value) -> Value {
        json!([{"matcher": matcher, "hooks": handlers}])
    }

    #[test]
    fn groups_and_handlers_are_translated() {
        let command = json!([{"type": "command", "command": "x", "timeout": 5000}]);
        let seconds = json!([{"type": "command", "command": "x", "timeout": 5.0}]);
        for (from, theirs, event, ours) in [
            (
                ForeignProgram::Gemini,
                json!({"BeforeTool": group("run_shell_command|write_file", command.clone())}),
                "PreToolUse",
                json!([{"dialect": "claude", "matcher": "Bash|Write", "hooks": seconds}]),
            ),
            // Only matchers of tools are names of tools.
            (
                ForeignProgram::Gemini,
                json!({"SessionStart": group("replace", command.clone())}),
                "SessionStart",
                json!([{"dialect": "claude", "matcher": "replace", "hooks": seconds}]),
            ),
            (
                ForeignProgram::Codex,
                json!({"Stop": [{"hooks": command}]}),
                "Stop",
                json!([{"dialect": "claude", "hooks": command}]),
            ),
            (
                ForeignProgram::Claude,
                json!({"Stop": [{"hooks": [{"command": "x"}]}]}),
                "Stop",
                json!([{"dialect": "claude", "hooks": [{"command": "x", "type": "command"}]}]),
            ),
        ] {
            let translated = translate_hooks(from, &json!({"hooks": theirs}));
            assert_eq!(translated.hooks.get(event), Some(&ours), "{theirs}");
            assert!(translated.skipped.is_empty(), "{:?}", translated.skipped);
        }
    }

    #[test]
    fn what_has_no_counterpart_is_reported() {
        let command = json!([{"type": "command", "command": "x"}]);
        for (from, theirs, sentence) in [
            (
                ForeignProgram::Gemini,
                json!({"BeforeModel": group("", command.clone())}),
                "the event BeforeModel has no counterpart",
            ),
            (ForeignProgram::Claude, json!({"Stop": {}}), "Stop is not a list of groups"),
            (
                ForeignProgram::Claude,
                json!({"Stop": [{"command": "flat"}]}),
                "a group of Stop without hooks: {\"command\":\"flat\"}",
            ),
            (
                ForeignProgram::Claude,
                json!({"Stop": [{"matcher": ["a"], "hooks": command}]}),
                "a group of Stop whose matcher is not text: [\"a\"]",
            ),
            (ForeignProgram::Claude, json!({"Stop": group("", json!([{"type": "dance"}]))}), "a dance handler of Stop"),
            (
                ForeignProgram::Codex,
                json!({"Stop": group("", json!([{"type": "http", "url": "x"}]))}),
                "a http handler of Stop",
            ),
            (
                ForeignProgram::Gemini,
                json!({"disabled": ["x"], "AfterAgent": group("", command.clone())}),
                "a handler of Stop that is disabled: x",
            ),
        ] {
            let translated = translate_hooks(from, &json!({"hooks": theirs}));
            assert_eq!((translated.hooks.len(), translated.skipped), (0, vec![sentence.to_owned()]), "{theirs}");
        }
        let kept = translate_hooks(ForeignProgram::Gemini, &json!({"hooks": {"AfterTool": group("my_tool", command)}}));
        assert_eq!(kept.skipped, ["\"my_tool\" in the matcher \"my_tool\" has no counterpart and stays as it is"]);
        assert!(kept.renames_tools && kept.hooks.contains_key("PostToolUse"));
    }

    #[test]
    fn hooks_are_added_once_and_the_rest_stays() {
        let hooks = || Map::from_iter([("Stop".to_owned(), json!([{"hooks": []}]))]);
        let mut settings = json!({"theme": "dark", "hooks": {"Stop": [1]}});
        add_hooks(&mut settings, hooks()).unwrap();
        add_hooks(&mut settings, hooks()).unwrap();
        assert_eq!(settings, json!({"theme": "dark", "hooks": {"Stop": [1, {"hooks": []}]}}));
        for (wrong, why) in [
            (json!([]), "it does not hold a JSON object"),
            (json!({"hooks": []}), "its hooks are a list; add them by hand"),
            (json!({"hooks": {"Stop": 1}}), "its Stop is not a list"),
        ] {
            assert_eq!(add_hooks(&mut wrong.clone(), hooks()), Err(why.to_owned()), "{wrong}");
        }
    }
}
