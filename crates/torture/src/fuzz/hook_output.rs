//! What hooks print, in every dialect. Laws: reading is a function of the output; an allow and a
//! rewritten input are never invented; an output that counts as unreadable decides nothing; blanks
//! and a byte order mark before an object change nothing (DEC-048).

use super::{mutate, same};
use crate::random::Random;
use ona_api::{EventName, Ruling};
use ona_dialects::omp::Omp;
use ona_dialects::pi::{Pi, PiSource};
use ona_dialects::{Claude, Sdlc};
use ona_hookplane::{Dialect, Exit, HookExecution};
use serde_json::{Value, json};
use std::sync::LazyLock;

const WORDS: [&str; 50] = [
    "continue",
    "stopReason",
    "suppressOutput",
    "systemMessage",
    "decision",
    "reason",
    "hookSpecificOutput",
    "hookEventName",
    "permissionDecision",
    "permissionDecisionReason",
    "updatedInput",
    "additionalContext",
    "updatedMCPToolOutput",
    "allow",
    "deny",
    "ask",
    "approve",
    "block",
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "SessionStart",
    "Stop",
    "PermissionRequest",
    "behavior",
    "interrupt",
    "message",
    "async",
    "asyncTimeout",
    "updatedPermissions",
    "type",
    "addRules",
    "rules",
    "toolName",
    "destination",
    "session",
    "inject",
    "content",
    "strategy",
    "tool_result",
    "isError",
    "metadata",
    "hook_errors",
    "modified_args",
    "allowed",
    "command",
    "watchPaths",
    "retry",
    "{",
    "\n",
];

static EXAMPLES: LazyLock<Vec<Value>> = LazyLock::new(|| {
    vec![
        json!({"continue": false, "stopReason": "enough", "suppressOutput": true, "systemMessage": "hi"}),
        json!({"decision": "block", "reason": "no"}),
        json!({"decision": "approve"}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny",
            "permissionDecisionReason": "no", "updatedInput": {"command": "ls"}, "additionalContext": "c"}}),
        json!({"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "allow", "updatedInput": {"a": 1}}}),
        json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest", "decision": {"behavior": "allow",
            "updatedInput": {}, "updatedPermissions": [{"type": "addRules", "rules": [{"toolName": "Bash"}],
            "behavior": "allow", "destination": "session"}]}}}),
        json!({"hookSpecificOutput": {"hookEventName": "PostToolUse", "additionalContext": "x", "updatedMCPToolOutput": [1]}}),
        json!({"hookSpecificOutput": {"hookEventName": "SessionStart", "additionalContext": "x", "watchPaths": ["a"]}}),
        json!({"async": true, "asyncTimeout": 5}),
        json!({"allowed": false, "decision": "deny", "reason": "r", "modified_args": {"a": 1},
            "inject": {"content": "c", "strategy": "tool_result"}, "hook_errors": ["e"]}),
        json!({"block": true, "reason": "r"}),
        json!({"content": [{"type": "text", "text": "t"}], "isError": true}),
    ]
});

fn dialects() -> [Box<dyn Dialect>; 4] {
    let claude = || Claude { effort: "medium".to_owned() };
    [Box::new(Sdlc), Box::new(claude()), Box::new(Pi { source: PiSource::Cli, others: claude() }), Box::new(Omp)]
}

pub(super) fn read(random: &mut Random, input: &mut String) -> Result<(), String> {
    let value = mutate::json(random, &EXAMPLES, &WORDS).to_string();
    *input = match random.below(4) {
        0 => mutate::words(random, &[&value], &WORDS),
        1 => format!("{}{value}", mutate::text(random, &WORDS, 2)),
        _ => value,
    };
    let event = *random.pick(EventName::ALL);
    let code = *random.pick(&[0, 0, 0, 0, 2, 1, 255]);
    let dialects = dialects();
    let dialect = random.pick(&dialects);
    let ran = |stdout: &str| HookExecution {
        exit: Exit::Code(code),
        stdout: stdout.to_owned(),
        stderr: "said".to_owned(),
        truncated: false,
        ends_turn: None,
        started_at: String::new(),
        completed_at: String::new(),
    };
    let output = dialect.parse_output(event, &ran(input));
    let label = format!("{} {} exit {code}", dialect.name(), event.as_str());
    same(&format!("{label}: read alike twice"), &output, &dialect.parse_output(event, &ran(input)))?;
    dialect.block_message(&ran(input));
    // JSON may write any letter as an escape.
    let has = |word: &str| input.contains(word) || input.contains("\\u");
    if output.ruling == Some(Ruling::Allow) && !has("allow") && !has("approve") {
        return Err(format!("{label}: an allow was invented"));
    }
    if output.input.is_some() && !has("pdatedInput") && !has("input") {
        return Err(format!("{label}: an input was invented"));
    }
    let decides = output.ruling.is_some() || output.input.is_some() || output.stop.is_some() || output.block.is_some();
    if output.unreadable && decides {
        return Err(format!("{label}: an unreadable output decides: {output:?}"));
    }
    if dialect.name() == "sdlc" && input.starts_with('{') {
        let padded = dialect.parse_output(event, &ran(&format!("\u{feff} \n\t{input}")));
        same(&format!("{label}: blanks before an object"), &output, &padded)?;
    }
    Ok(())
}
