//! docs/HOOKS.md does what it says: its commands are run as they stand, in one folder.

use crate::ona;

const GUIDE: &str = include_str!("../../../../docs/HOOKS.md");

/// The fenced blocks of one language, in order.
fn blocks(language: &str) -> Vec<&'static str> {
    let fence = format!("```{language}\n");
    GUIDE.split(fence.as_str()).skip(1).filter_map(|rest| rest.split("\n```").next()).collect()
}

#[test]
fn the_commands_of_the_guide_work_as_they_stand() {
    let ona = ona();
    let script = format!("set -e\n{}\n", blocks("sh").join("\n"));
    let ran = ona.lenient_shell(&script).expect_code(0);
    for part in [
        "ok 1 - a force push is refused",
        "never ran",
        "the policy would change",
        "no force pushes: rebase and push again",
        "PreToolUse|0|2|",
    ] {
        assert!(ran.stdout.contains(part), "{part}: {ran:?}");
    }
    assert!(ona.read("hooks.d.ts").contains("HookAPI"));
}

#[test]
fn the_settings_of_the_guide_are_settings() {
    assert!(!blocks("json").is_empty());
    for block in blocks("json") {
        serde_json::from_str::<serde_json::Value>(block).unwrap_or_else(|error| panic!("{error}: {block}"));
    }
}
