//! Hooks written for Claude Code settings files, row by row of the dialect's acceptance
//! scenarios: a test carries the id of its row (`c14_…` is row C14).
//!
//! Hooks stand where their installers put them, in the user's `.claude/settings.json`; a
//! person is a program that answers `can_use_tool`. C2 and C3 need a server of tools and C32
//! a skill: they are proven with those.

mod configuration;
mod decisions;
mod events;
mod output;
mod questions;
mod setups;

use ona_testkit::Ona;
use serde_json::{Value, json};

/// What gstack's installer writes: its own tool name and the same of any server.
const QUESTION_MATCHER: &str = "(AskUserQuestion|mcp__.*__AskUserQuestion)";

/// The user's settings file with these hooks and nothing else.
fn install(ona: &Ona, hooks: Value) {
    install_with(ona, hooks, json!({}));
}

/// The same with settings beside them.
fn install_with(ona: &Ona, hooks: Value, more: Value) {
    let mut settings = json!({ "hooks": hooks });
    settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    ona.home_file(".claude/settings.json", settings.to_string());
}

/// A group of command handlers.
fn group(matcher: &str, commands: &[&str]) -> Value {
    let handlers: Vec<_> =
        commands.iter().map(|command| json!({"type": "command", "command": command, "timeout": 20})).collect();
    json!({"matcher": matcher, "hooks": handlers})
}

/// A command that prints this.
fn print(answer: &Value) -> String {
    format!("printf '%s' '{answer}'")
}

/// A command that prints the envelope of an event with these fields.
fn says(event: &str, fields: Value) -> String {
    let mut specific = json!({ "hookEventName": event });
    specific.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    print(&json!({ "hookSpecificOutput": specific }))
}

fn decides(decision: &str) -> String {
    says("PreToolUse", json!({"permissionDecision": decision, "permissionDecisionReason": format!("{decision} it")}))
}

/// One JSON value per line of a file hooks have dumped their stdin into.
fn dumped(ona: &Ona, file: &str) -> Vec<Value> {
    ona.read(file)
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|bad| panic!("{bad}: {line}")))
        .collect()
}

fn question(text: &str) -> Value {
    json!({"question": text, "header": "H", "multiSelect": false,
        "options": [{"label": "A (recommended)", "description": "a"}, {"label": "B", "description": "b"}]})
}

/// What is worth a notice: kinds of `events` rows about hooks.
fn notices(ona: &Ona) -> Vec<Value> {
    ona.column("SELECT event_type FROM events WHERE event_type LIKE 'hook_%' ORDER BY id")
}
