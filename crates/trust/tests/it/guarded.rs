use crate::World;
use ona_trust::{FlagSettings, guarded_files, hook_scripts};
use serde_json::json;
use std::path::PathBuf;

#[test]
fn i14_every_settings_file_that_could_be_read_is_guarded() {
    let mut world = World::new();
    world.how.bare = true;
    world.how.settings = Some(FlagSettings::File("/x/s.json".into()));
    world.env.set("CLAUDE_CONFIG_DIR", world.home.join("cfg"));
    let guarded = guarded_files(&world.how, &world.env);
    let mut expected: Vec<_> = ["managed", "user", "user.claude", "project", "project.claude", "local", "local.claude"]
        .map(|s| world.file(s))
        .into();
    expected.push(world.home.join("cfg/settings.json"));
    expected.push(world.how.managed_dir.join("managed-settings.d"));
    expected.push("/x/s.json".into());
    expected.extend(["installed.json", "cache"].map(|name| world.home.join(".ona/plugins").join(name)));
    expected.sort();
    assert_eq!(guarded, expected, "I-14: also when the file does not exist yet");
}

#[test]
fn what_a_link_leads_to_is_guarded_as_well() {
    let world = World::new();
    let dotfiles = world.home.join("dotfiles/claude.json");
    world.put(&dotfiles, "{}");
    std::fs::create_dir_all(world.home.join(".claude")).unwrap();
    std::os::unix::fs::symlink(&dotfiles, world.file("user.claude")).unwrap();
    let guarded = guarded_files(&world.how, &world.env);
    assert!(guarded.contains(&dotfiles) && guarded.contains(&world.file("user.claude")));
}

#[test]
fn scripts_are_found_behind_variables_quotes_and_interpreters() {
    let world = World::new();
    for name in ["a.sh", "b.py", "c.js", "d e.sh", "data.json", "g.sh", "h.sh"] {
        world.put(&world.repo.join(".claude/hooks").join(name), "");
    }
    world.put(&world.home.join("bin/f.sh"), "");
    let group = |command: &str| json!({"hook_event_name": "Stop", "command": command});
    let effective = json!({
        "hooks": [
            group("\"$CLAUDE_PROJECT_DIR\"/.claude/hooks/a.sh --flag"),
            group("FOO=1 python3 -u ${CLAUDE_PROJECT_DIR}/.claude/hooks/b.py .claude/hooks/data.json"),
            group("cd /tmp && timeout 5 node './.claude/hooks/c.js'"),
            group("'.claude/hooks/d e.sh'"),
            group("cat .claude/hooks/data.json"),
            group("~/bin/f.sh"),
            group("jq . && ./missing.sh"),
            {"hook_event_name": "Stop", "command": "bash", "args": ["${CLAUDE_PROJECT_DIR}/.claude/hooks/g.sh"]},
        ],
        "plugins": {"p": {"hooks": {"Stop": [{"hooks": [{"command": ".claude/hooks/h.sh"}]}]}}},
    });
    let scripts = hook_scripts(&ona_settings::Settings::read(&effective).hooks, &world.repo, &world.home);
    let hooks = |name: &str| world.repo.join(".claude/hooks").join(name);
    let mut expected: Vec<PathBuf> = ["a.sh", "b.py", "c.js", "d e.sh", "g.sh", "h.sh"].map(hooks).into();
    expected.push(world.home.join("bin/f.sh"));
    expected.sort();
    assert_eq!(scripts, expected);
}
