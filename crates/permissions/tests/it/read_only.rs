//! `Bash(@read-only)` as a rule: what it covers depends on the folder, on links and on git's configuration.

use crate::world::{World, permissions};
use ona_api::{Mode, Ruling};
use std::fs;

const RULE: [&str; 1] = ["Bash(@read-only)"];

/// A repository whose configuration says nothing unusual, with links that lead in and out.
fn world() -> World {
    let world = World::new();
    config(&world, "[core]\n\tbare = false\n");
    world.link(&world.outside.join("o.txt"), &world.project.join("leads-out"));
    world.link(&world.outside, &world.project.join("folder-out"));
    world.link(&world.project.join("f.txt"), &world.project.join("leads-in"));
    world
}

fn config(world: &World, text: &str) {
    fs::write(world.project.join(".git/config"), text).unwrap();
}

fn ruling(world: &World, script: &str) -> Ruling {
    world.bash(&permissions(Mode::Default, &RULE, &[]), script)
}

#[test]
fn it_covers_looking_below_the_working_directories() {
    let world = world();
    for script in [
        "ls",
        "ls -la src | head -5",
        "cat f.txt leads-in",
        "cat ${PROJECT}/f.txt",
        "grep -rn S src",
        "rg S",
        "find . -name '*.js'",
        "cd src && ls && cat a.js",
        "sed -n '1,5p' f.txt",
        "wc -l < f.txt",
        "cat src/*.js",
        "git status --short",
        "git log --oneline -5 && git diff HEAD~1 -- f.txt",
        "ls nothing-here 2>/dev/null",
    ] {
        assert_eq!(ruling(&world, script), Ruling::Allow, "{script}");
        let none = world.bash(&permissions(Mode::Default, &["Read(./**)"], &[]), script);
        assert_eq!(none, Ruling::Ask, "without the rule: {script}");
    }
}

#[test]
fn it_covers_nothing_outside_and_nothing_that_leads_there() {
    let world = world();
    for script in [
        "cat ${OUTSIDE}/o.txt",
        "cat ../outside/o.txt",
        "cat leads-out",
        "cat folder-out/o.txt",
        "ls folder-out",
        "cat leads-*",
        "cat ~/homefile.txt",
        "ls ~",
        "ls /",
        "ls ..",
        "cd .. && ls",
        "cd folder-out && cat o.txt",
        "cat src/../../outside/o.txt",
        "grep -r S ..",
        "grep S leads-out",
        "rg S folder-out",
        "find / -name x",
        "find folder-out/",
        "wc -l < leads-out",
        "head -n 1 leads-out",
        "sort -u leads-out",
        "git diff ${OUTSIDE}/o.txt f.txt",
        "diff f.txt leads-out",
        "cat f.txt; cat ${OUTSIDE}/o.txt",
        "du ${HOME}",
        "stat /etc/passwd",
        "tac leads-out",
        "sed -n 1p leads-out",
    ] {
        assert_eq!(ruling(&world, script), Ruling::Ask, "{script}");
    }
}

#[test]
fn deny_and_ask_rules_and_the_parts_of_a_script_come_first() {
    let world = world();
    let with = |deny: &[&str], script: &str| world.bash(&permissions(Mode::Default, &RULE, deny), script);
    assert_eq!(with(&["Read(./f.txt)"], "cat f.txt"), Ruling::Deny);
    assert_eq!(with(&["Read(./secrets/**)"], "grep -r S ."), Ruling::Deny);
    assert_eq!(with(&["Bash(git log:*)"], "git log"), Ruling::Deny);
    assert_eq!(with(&[], "ls && rm f.txt"), Ruling::Ask);
    assert_eq!(with(&[], "ls > listing"), Ruling::Ask);
    assert_eq!(world.bash(&permissions(Mode::AcceptEdits, &RULE, &[]), "ls > listing"), Ruling::Ask);
    assert_eq!(world.bash(&permissions(Mode::DontAsk, &RULE, &[]), "ls"), Ruling::Allow);
}

#[test]
fn git_is_covered_only_where_no_configuration_names_a_program() {
    let world = world();
    let look = "git status";
    for bad in [
        "[core]\n\tfsmonitor = ./x\n",
        "[diff]\n\texternal = ./x\n",
        "[include]\n\tpath = x\n",
        "[filter \"x\"]\n\tclean = x\n",
    ] {
        config(&world, bad);
        assert_eq!(ruling(&world, look), Ruling::Ask, "{bad}");
        assert_eq!(ruling(&world, "ls"), Ruling::Allow);
    }
    config(&world, "[core]\n\tbare = false\n");
    assert_eq!(ruling(&world, look), Ruling::Allow);
    for (file, text) in [
        (world.home.join(".gitconfig"), "[diff \"x\"]\n\ttextconv = ./x\n"),
        (world.home.join(".config/git/config"), "[core]\n\tfsmonitor = ./x\n"),
        (world.project.join(".gitmodules"), "[submodule \"x\"]\n"),
        (world.project.join(".git/hooks/post-index-change"), "#!/bin/sh\n"),
        (world.project.join(".git/commondir"), "..\n"),
        // A folder that git takes for a bare repository.
        (world.project.join("HEAD"), "ref: refs/heads/main\n"),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
        fs::create_dir_all(world.project.join("objects")).unwrap();
        assert_eq!(ruling(&world, look), Ruling::Ask, "{}", file.display());
        fs::remove_file(&file).unwrap();
        assert_eq!(ruling(&world, look), Ruling::Allow, "{}", file.display());
    }
    // Another repository further down.
    world.file(&world.project.join("sub/.git/config"));
    assert_eq!(ruling(&world, "cd sub && git status"), Ruling::Ask);
}
