//! git commands that throw work away, on trees that have some and on trees that have none.

use crate::world::{World, permissions};
use ona_api::{Mode, Ruling};
use ona_permissions::WorktreeChanges;
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

fn ruling(world: &World, mode: Mode, allow: &[&str], tree: Option<WorktreeChanges>, script: &str) -> Ruling {
    let input = json!({"command": world.fill(script)});
    let access = world.access(&world.project, "Bash", &input);
    let engine = world.engine(&permissions(mode, allow, &[])).with_worktree(move |_| tree.clone());
    engine.decide("Bash", &input, &access, None).ruling
}

const THROWS: [&str; 16] = [
    "git reset --hard",
    "git reset --hard HEAD~1",
    "git clean -fd",
    "git clean -fdx",
    "git checkout -- .",
    "git checkout .",
    "git checkout -f main",
    "git restore .",
    "git stash -u",
    "git stash push --include-untracked",
    "git branch -D old",
    "git push --force",
    "git push -f origin main",
    "git push origin +main",
    "timeout 5 git reset --hard",
    "sh -c 'cd . && git reset --hard'",
];

#[test]
fn a_changed_tree_is_not_thrown_away_unasked() {
    let world = World::new();
    let changed = || {
        let project = world.project.clone();
        Some(WorktreeChanges {
            changed: vec![project.join("f.txt")],
            untracked: vec![project.join("n")],
            ..Default::default()
        })
    };
    for script in THROWS {
        for mode in [Mode::Default, Mode::AcceptEdits, Mode::BypassPermissions] {
            for allow in [&["Bash"][..], &["Bash", "Bash(git:*)"], &["Bash", "Bash(git *)", "Bash(git log:*)"]] {
                assert_eq!(ruling(&world, mode, allow, changed(), script), Ruling::Ask, "{script} in {mode} {allow:?}");
            }
        }
        assert_ne!(ruling(&world, Mode::Default, &["Bash"], None, script), Ruling::Allow, "cannot tell: {script}");
        let clean = Some(WorktreeChanges::default());
        assert_eq!(ruling(&world, Mode::Default, &["Bash"], clean, script), Ruling::Allow, "clean: {script}");
    }
    for (rule, script) in [
        ("Bash(git reset:*)", "git reset --hard"),
        ("Bash(git reset --hard)", "git reset --hard"),
        ("Bash(git clean *)", "git clean -fd"),
        ("Bash(git checkout:*)", "git checkout -- ."),
        ("Bash(git push:*)", "git push --force"),
        ("Bash(git branch:*)", "git branch -D old"),
        ("Bash(git stash:*)", "git stash -u"),
    ] {
        assert_eq!(ruling(&world, Mode::Default, &["Bash", rule], changed(), script), Ruling::Allow, "{rule} {script}");
        let other = ["Bash", "Bash(git commit:*)"];
        assert_eq!(ruling(&world, Mode::Default, &other, changed(), script), Ruling::Ask, "{script}");
    }
}

#[test]
fn only_what_is_over_changes_counts() {
    let world = World::new();
    let tree = || Some(WorktreeChanges { changed: vec![world.project.join("src/a.js")], ..Default::default() });
    for (script, expected) in [
        ("git restore src/a.js", Ruling::Ask),
        ("git restore src", Ruling::Ask),
        ("git checkout -- src/a.js", Ruling::Ask),
        ("git checkout HEAD src", Ruling::Ask),
        ("git checkout src/a.js", Ruling::Ask),
        ("git checkout -- src/*.js", Ruling::Ask),
        ("git restore f.txt", Ruling::Allow),
        ("git checkout -- f.txt", Ruling::Allow),
        ("git checkout main", Ruling::Allow),
        ("git checkout -b x", Ruling::Allow),
        ("git restore --staged src/a.js", Ruling::Allow),
        ("git stash", Ruling::Allow),
        ("git stash list", Ruling::Allow),
        ("git commit -am x && git push", Ruling::Allow),
        ("git branch -d x", Ruling::Allow),
        ("git reset --soft HEAD~1", Ruling::Allow),
    ] {
        assert_eq!(ruling(&world, Mode::Default, &["Bash"], tree(), script), expected, "{script}");
    }
}

#[test]
fn guarded_files_that_git_does_not_know_are_not_put_aside() {
    let world = World::new();
    let settings = world.project.join(".claude/settings.json");
    let folder = WorktreeChanges { untracked: vec![world.project.join(".claude")], ..Default::default() };
    let file = WorktreeChanges { untracked: vec![settings.clone()], ..Default::default() };
    let ignored = WorktreeChanges { ignored: vec![settings.clone()], ..Default::default() };
    let changed = WorktreeChanges { changed: vec![settings], ..Default::default() };
    // A rule that names the subcommand answers for work, not for guards.
    let allow = ["Bash", "Bash(git stash:*)", "Bash(git clean:*)", "Bash(git reset:*)", "Bash(git restore:*)"];
    let rows: [(&WorktreeChanges, &[&str]); 4] = [
        (&folder, &["git stash -u", "git stash push -a", "git clean -fd", "git clean -fd .claude"]),
        (&file, &["git stash --include-untracked", "git clean -f", "cd src && git stash -u"]),
        (&ignored, &["git clean -fdx", "git clean -fX", "git stash --all"]),
        (&changed, &["git reset --hard", "git stash", "git restore ."]),
    ];
    for (tree, scripts) in rows {
        for script in scripts {
            for mode in [Mode::Default, Mode::BypassPermissions] {
                assert_eq!(
                    ruling(&world, mode, &allow, Some(tree.clone()), script),
                    Ruling::Deny,
                    "{script} in {mode}"
                );
            }
        }
    }
    assert_eq!(ruling(&world, Mode::Default, &allow, Some(ignored), "git clean -fd"), Ruling::Allow);
    assert_eq!(ruling(&world, Mode::Default, &allow, Some(folder), "git clean -fd build"), Ruling::Allow);
    assert_eq!(ruling(&world, Mode::Default, &allow, None, "git stash -u"), Ruling::Deny, "cannot tell");
}

#[test]
fn a_tree_is_looked_at_only_for_such_commands() {
    let world = World::new();
    let looks = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&looks);
    let engine = world.engine(&permissions(Mode::Default, &["Bash"], &[])).with_worktree(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
        Some(WorktreeChanges::default())
    });
    for (script, expected) in [("ls", 0), ("git status", 0), ("git commit -m x && git push", 0), ("git clean -f", 1)] {
        let input = json!({"command": script});
        engine.decide("Bash", &input, &world.access(&world.project, "Bash", &input), None);
        assert_eq!(looks.swap(0, Ordering::Relaxed), expected, "{script}");
    }
}
