//! Permission rules and calls. Laws: a deny rule more never widens access; an ask rule more and an
//! allow rule less never allow anything; a rule's text in two parts is the same text when they are
//! joined. An ask rule may turn a mode's denial into a question (5.12, step 2 before step 4).

use super::mutate;
use super::world::WORLD;
use crate::random::Random;
use ona_api::permission_update::{Behavior, RuleText};
use ona_api::{Access, Ruling};
use ona_permissions::{Condition, PermissionEngine, Rule};
use serde_json::Value;

const PIECES: [&str; 52] = [
    "Bash",
    "Read",
    "Edit",
    "Write",
    "WebFetch",
    "Agent",
    "Skill",
    "mcp__a",
    "mcp__a__*",
    "mcp__*",
    "(",
    ")",
    "*",
    ":*",
    "**",
    "/",
    "//",
    "./",
    "~/",
    "../",
    "ls",
    "rm",
    "rm:*",
    "git push",
    " ",
    ".env",
    "src/**",
    "*.txt",
    "domain:",
    "example.com",
    "f.txt",
    "link",
    "[a",
    "{a,b}",
    "?",
    "!",
    "\\",
    "\\(",
    "\\)",
    "é",
    "@read-only",
    "&&",
    "|",
    ";",
    "a",
    "%2e",
    "state/ona.db",
    ".claude/settings.json",
    "$HOME",
    "#",
    "\n",
    "Bash(ls:*)",
];
const CALLS: [&str; 30] = [
    "f.txt",
    ".env",
    "src/a.js",
    "link",
    "../state/ona.db",
    "/etc/passwd",
    "~/x",
    "./f.txt",
    "src/../.env",
    "//etc",
    "ls",
    "rm -rf x",
    "git push",
    "https://example.com/a",
    "http://EXAMPLE.com:80/../b",
    "https://a@example.com",
    "ftp://x",
    " ",
    "&&",
    ";",
    "|",
    "$(",
    ")",
    "cat ",
    "\n",
    ">",
    ".claude/settings.json",
    "é",
    "%2e%2e/",
    "\\",
];
const TOOLS: [&str; 9] = ["Bash", "Read", "Edit", "Write", "Grep", "WebFetch", "mcp__a__b", "Agent", "Dance"];
const MODES: [&str; 5] = ["default", "acceptEdits", "bypassPermissions", "plan", "dontAsk"];

fn rule(random: &mut Random) -> String {
    let tool = *random.pick(&TOOLS);
    match random.below(5) {
        0 => mutate::text(random, &PIECES, 6),
        1 => tool.to_owned(),
        _ => format!("{tool}({})", mutate::text(random, &PIECES[10..], 4)),
    }
}

fn rules(random: &mut Random) -> Vec<String> {
    (0..random.below(4)).map(|_| rule(random)).collect()
}

pub(super) fn decide(random: &mut Random, input: &mut String) -> Result<(), String> {
    let (mut allow, mut ask, mut deny, more) = (rules(random), rules(random), rules(random), rule(random));
    let (tool, mode) = (*random.pick(&TOOLS), *random.pick(&MODES));
    let (call, access) = WORLD.call(tool, &mutate::text(random, &CALLS, 5));
    *input = format!("{mode} allow {allow:?} ask {ask:?} deny {deny:?} more {more:?} on {tool} {call}");
    for text in allow.iter().chain(&ask).chain(&deny).chain([&more]) {
        for list in [Behavior::Allow, Behavior::Ask, Behavior::Deny] {
            // Whether it can be read is the text's own affair; it must not panic.
            Rule::parse(text, list).ok();
        }
        if RuleText::split(text).joined() != *text {
            return Err(format!("the rule {text:?} is not the text of its parts"));
        }
        if let Some(condition) = Condition::parse(text) {
            condition.matches(tool, &call, &access, WORLD.dirs());
        }
    }
    let ruling = |engine: Option<PermissionEngine>| Some(ruled(&engine?, tool, &call, &access));
    let before = ruling(WORLD.engine(&allow, &ask, &deny, mode));
    let denies = random.one_in(3);
    match random.below(2) {
        _ if denies => deny.push(more),
        0 => ask.push(more),
        _ => drop(allow.pop()),
    }
    let after = ruling(WORLD.engine(&allow, &ask, &deny, mode));
    let (Some(before), Some(after)) = (before, after) else { return Ok(()) };
    if denies && after < before || after == Ruling::Allow && before != Ruling::Allow {
        return Err(format!("a stricter configuration widened {before:?} to {after:?}"));
    }
    Ok(())
}

fn ruled(engine: &PermissionEngine, tool: &str, call: &Value, access: &[Access]) -> Ruling {
    engine.decide(tool, call, access, None).ruling
}
