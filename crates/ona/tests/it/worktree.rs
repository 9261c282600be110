//! git commands that throw work away, in real repositories (DEC-192, attack case A-4).

use ona_testkit::Ona;
use serde_json::json;

fn repository() -> Ona {
    let ona = crate::ona();
    ona.settings(json!({"permissions": {"allow": ["Bash"]}}));
    ona.file("f.txt", "one\n");
    let made = bash(
        &ona,
        "git init -q -b main . && git config user.email a@a.test && git config user.name a && git add f.txt && git commit -qm one",
    );
    assert_eq!(made["is_error"], false, "{made}");
    ona
}

fn bash(ona: &Ona, command: &str) -> serde_json::Value {
    ona.eval("Bash", json!({"command": command}))
}

#[test]
fn changes_are_not_thrown_away_unasked_and_a_clean_tree_is_not_asked_about() {
    let ona = repository();
    // Whatever the harness left in the project is not a change.
    bash(&ona, "git status --porcelain | cut -c4- >> .git/info/exclude");
    assert_eq!(bash(&ona, "git reset --hard")["is_error"], false);
    ona.file("f.txt", "two, which is longer\n");
    for command in ["git reset --hard", "git checkout -- f.txt", "git restore .", "git stash -u", "git push --force"] {
        let line = bash(&ona, command);
        assert_eq!(line["is_error"], true, "{command}: {line}");
        assert_eq!(ona.read("f.txt"), "two, which is longer\n", "{command}");
    }
    let mut allow = vec!["Bash", "Bash(git reset:*)"];
    ona.settings(json!({"permissions": {"allow": allow}}));
    assert_eq!(bash(&ona, "git checkout -- f.txt")["is_error"], true);
    assert_eq!(bash(&ona, "git reset --hard")["is_error"], false);
    assert_eq!(ona.read("f.txt"), "one\n");
    // An untracked file is work as well.
    allow.pop();
    ona.settings(json!({"permissions": {"allow": allow}}));
    ona.file("new.txt", "x");
    assert_eq!(bash(&ona, "git clean -fd")["is_error"], true);
    assert!(ona.exists("new.txt"));
}

#[test]
fn guards_that_git_does_not_know_stay_where_they_are() {
    let ona = repository();
    ona.file(".claude/settings.local.json", "{}");
    ona.settings(json!({"permissions": {"allow": ["Bash", "Bash(git stash:*)", "Bash(git clean:*)"]}}));
    for command in ["git stash -u", "git stash push --include-untracked", "git clean -fdx", "cd . && git clean -ffd"] {
        let line = bash(&ona, command);
        assert_eq!(line["is_error"], true, "{command}: {line}");
        assert!(ona.exists(".claude/settings.local.json"), "{command}");
    }
}
