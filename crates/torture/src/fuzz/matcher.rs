//! Matchers of hooks. Laws: everything matches all; a list of names matches what one of its names
//! matches (5.1); adding a hook takes no other away.

use super::mutate;
use crate::random::Random;
use ona_api::{ConversationId, EventName, SessionId};
use ona_dialects::settings_hooks;
use ona_hookplane::{Base, Firing};
use ona_permissions::SessionDirs;
use ona_settings::Settings;
use serde_json::json;
use std::path::PathBuf;

const PIECES: [&str; 44] = [
    "Bash",
    "Edit",
    "Write",
    "Read",
    "NotebookEdit",
    "mcp__",
    "mcp__a__b",
    "|",
    ",",
    " ",
    "*",
    ".",
    ".*",
    "+",
    "?",
    "^",
    "$",
    "(",
    ")",
    "(?!",
    "(?=",
    "(?i)",
    "(?:",
    "[",
    "]",
    "[^",
    "a-z",
    "\\w",
    "\\b",
    "\\",
    "\\1",
    "{2}",
    "{2,",
    "}",
    "é",
    "_",
    "-",
    "Task",
    "startup",
    "rm:*",
    "Bash(rm *)",
    "\\p{L}",
    "\\u{1F600}",
    "[!a]",
];
const TOOLS: [&str; 8] = ["Bash", "Edit", "NotebookEdit", "mcp__a__b", "mcp__a-b__c_d", "Agent", "", "Bäsh"];

fn applies(matcher: &str, dialect: &str, condition: &str, tool: &str) -> Option<bool> {
    let hook = json!({"hook_event_name": "PreToolUse", "matcher": matcher, "command": "true", "dialect": dialect, "if": condition});
    let settings = Settings::read(&json!({"hooks": [hook]}));
    let dirs = SessionDirs { project: "/p".into(), start: "/p".into(), home: "/h".into(), extra: Vec::new() };
    let loaded = settings_hooks(&settings, &dirs, &|_| Err("none here".to_owned()));
    let base = Base {
        session: SessionId::from("s"),
        conversation: ConversationId::from("c"),
        database: "/d".to_owned(),
        cwd: PathBuf::from("/p"),
        mode: None,
        agent_id: None,
        agent_type: None,
    };
    let input = json!({"command": "rm -rf x"});
    let firing = Firing::new(EventName::PreToolUse, base, json!({"tool_name": tool, "tool_input": input}));
    loaded.hooks.first().map(|hook| (hook.applies)(&firing, &input))
}

pub(super) fn matches(random: &mut Random, input: &mut String) -> Result<(), String> {
    let tool = *random.pick(&TOOLS);
    let dialect = *random.pick(&["sdlc", "claude"]);
    let condition = if random.one_in(4) { mutate::text(random, &PIECES, 4) } else { String::new() };
    let matcher = mutate::text(random, &PIECES, 7);
    *input = format!("{dialect} {matcher:?} if {condition:?} on {tool:?}");
    let matched = applies(&matcher, dialect, &condition, tool);
    if matched != applies(&matcher, dialect, &condition, tool) {
        return Err("a matcher decides alike twice".to_owned());
    }
    if (matcher.is_empty() || matcher == "*") && condition.is_empty() && matched != Some(true) {
        return Err(format!("everything does not match {tool}: {matched:?}"));
    }
    let names: Vec<&str> =
        (0..2 + random.below(3)).map(|_| *random.pick(&["Bash", "Edit", "Write", "NotebookEdit", "x"])).collect();
    let list = names.join("|");
    let expected = Some(names.contains(&tool));
    if tool != "Agent" && applies(&list, dialect, "", tool) != expected {
        return Err(format!("the list {list} on {tool}: not {expected:?}"));
    }
    Ok(())
}
