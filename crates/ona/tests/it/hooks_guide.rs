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
    let mut ona = ona();
    // The guide names its own trust.
    ona.env("ONA_TRUST", "");
    let script = format!("set -e\n{}\n", blocks("sh").join("\n"));
    let ran = ona.lenient_shell(&script).expect_code(0);
    for part in [
        "ok 1 - a force push is refused",
        "ok 3 - a branch may be called anything",
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

#[test]
fn the_guard_of_the_guide_refuses_forced_pushes_and_no_branch_names() {
    let ona = ona();
    ona.lenient_shell(blocks("sh")[0]).expect_code(0);
    let refused = [
        "git push -f",
        "git push --force origin main",
        "git push origin my-feature -f",
        "git push origin +main",
        "git push -uf origin x",
        "cd x && git push --force; ls",
    ];
    let passed = [
        "git push origin fix-f",
        "git push origin feature--force",
        "git push --force-with-lease",
        "rm -f x",
        "git push origin main && rm -f x",
        "git push --follow-tags",
        "git push -u origin my-f",
        "git push origin a+b",
    ];
    let all = refused.iter().map(|command| (command, 2)).chain(passed.iter().map(|command| (command, 0)));
    for (command, code) in all {
        let stdin = serde_json::json!({"tool_input": {"command": command}});
        let ran = ona.lenient_shell(&format!("hooks/no-force-push <<'EOF'\n{stdin}\nEOF\n"));
        assert_eq!(ran.code, code, "{command}: {ran:?}");
    }
}
