use crate::World;
use ona_api::Env;
use ona_trust::{DatabasePath, DatabaseSource, database_path, project_root};
use std::fs;
use std::path::Path;

#[test]
fn the_nearest_folder_with_any_git_entry_is_the_root() {
    let world = World::new();
    let inner = world.repo.join("vendor/evil/src");
    fs::create_dir_all(&inner).unwrap();
    assert_eq!(project_root(&inner), world.repo, "no .git on the way up to the repository");

    fs::write(world.repo.join("vendor/evil/.git"), "gitdir: ../../.git/worktrees/x").unwrap();
    assert_eq!(project_root(&inner), world.repo.join("vendor/evil"), "a pointer file makes a root of its own");

    fs::remove_file(world.repo.join("vendor/evil/.git")).unwrap();
    std::os::unix::fs::symlink("/nowhere", world.repo.join("vendor/evil/.git")).unwrap();
    assert_eq!(project_root(&inner), world.repo.join("vendor/evil"), "and so does a broken link");

    let plain = world.home.join("plain");
    fs::create_dir_all(&plain).unwrap();
    assert_eq!(project_root(&plain), plain, "outside any repository the start directory");

    std::os::unix::fs::symlink(&world.repo, world.home.join("link")).unwrap();
    assert_eq!(project_root(&world.home.join("link")), world.repo, "the path is canonical");
}

#[test]
fn the_flag_beats_the_variable_beats_the_default_of_the_project() {
    let root = Path::new("/src/my repo");
    let env = Env::default().with("HOME", "/home/a");
    let from = |flag, env: &Env| database_path(flag, env, root).unwrap();
    let named = |path: &str, source| DatabasePath { path: path.into(), source };

    let set = env.clone().with("AGENT_SDLC_DB", "/tmp/e.db");
    assert_eq!(from(Some("/tmp/f.db"), &set), named("/tmp/f.db", DatabaseSource::Flag));
    assert_eq!(from(None, &set), named("/tmp/e.db", DatabaseSource::Environment));

    let default = "/home/a/.local/state/ona/my-repo-364983c9/ona.db";
    assert_eq!(from(None, &env), named(default, DatabaseSource::ProjectDefault));
    let xdg = env.clone().with("XDG_STATE_HOME", "/state");
    assert_eq!(from(None, &xdg).path, Path::new("/state/ona/my-repo-364983c9/ona.db"));
    let relative = env.clone().with("XDG_STATE_HOME", "state");
    assert_eq!(from(None, &relative).path, Path::new(default));
}

#[test]
fn an_empty_or_relative_path_is_refused_with_a_line_to_copy() {
    let root = Path::new("/src/repo");
    let refused = |flag, value: &str| {
        let env = Env::default().with("AGENT_SDLC_DB", value);
        let error = database_path(flag, &env, root).unwrap_err();
        format!("{error}\n{}", error.hint())
    };
    assert_eq!(
        refused(None, ""),
        "AGENT_SDLC_DB must be an absolute path, not \"\"\nexport AGENT_SDLC_DB=\"$PWD/ona.db\""
    );
    assert_eq!(
        refused(None, "data/x.db"),
        "AGENT_SDLC_DB must be an absolute path, not \"data/x.db\"\nexport AGENT_SDLC_DB=\"$PWD/data/x.db\""
    );
    assert_eq!(
        refused(None, "~/x.db"),
        "AGENT_SDLC_DB must be an absolute path, not \"~/x.db\"\nexport AGENT_SDLC_DB=\"$HOME/x.db\""
    );
    assert_eq!(refused(Some("a.db"), "/x"), "--db must be an absolute path, not \"a.db\"\n--db \"$PWD/a.db\"");
    // A hint is copied into a shell, so a value that is not plain text does not go into it.
    assert!(refused(None, "$(touch canary)").ends_with("export AGENT_SDLC_DB=\"$PWD/ona.db\""));
}
