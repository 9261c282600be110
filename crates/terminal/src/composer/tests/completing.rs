//! Menus: commands, arguments, files, paths of shell lines.

use super::Hand;
use crate::composer::{ComposerEvent, Mention, PathEntry};

#[test]
fn the_command_menu_narrows_as_it_is_typed() {
    let mut hand = Hand::new().with_commands();
    hand.types("/");
    assert_eq!(
        hand.screen(),
        "❯ /▏\n› /add-dir <path>   Add a folder\n  /clear            Start anew (new)\n  /compact [words]  Summarise\n  \
         /model [model]    Choose a model\n  /tidy             A skill"
    );
    hand.types("c");
    assert_eq!(hand.screen(), "❯ /c▏\n› /clear            Start anew (new)\n  /compact [words]  Summarise");
    hand.types("pt");
    assert_eq!(hand.screen(), "❯ /cpt▏\n  /compact [words]  Summarise", "a typo highlights nothing");
    hand.types("xyz");
    assert_eq!(hand.screen(), "❯ /cptxyz▏\n  No commands match \"/cptxyz\"");
}

#[test]
fn choosing_a_command() {
    for (keys, sent, left) in [
        ("/ c l enter", &["/clear"][..], "|"),
        ("/ c down enter", &["/compact"], "|"),
        ("/ n e w enter", &["/clear"], "|"),
        ("/ d i r enter", &[], "/add-dir |"),
        ("/ c l e r enter", &["/cler"], "|"),
        ("/ z z enter", &["/zz"], "|"),
        ("/ c l tab", &[], "/clear |"),
        ("/ c l escape enter", &["/cl"], "|"),
        ("/ m o tab down enter", &[], "/model opus|"),
        ("/ m o tab o tab enter", &["/model opus"], "|"),
        ("/ m o tab o enter", &["/model o"], "|"),
        ("/ t i tab / c l", &[], "/tidy /cl|"),
        ("/ t i tab / t tab", &[], "/tidy /tidy |"),
        ("a space / c enter", &["a /c"], "|"),
        ("/ u s r / b i n enter", &["/usr/bin"], "|"),
    ] {
        let mut hand = Hand::new().with_commands();
        hand.keys(keys);
        assert_eq!(
            (hand.sent().as_slice(), hand.shown().as_str()),
            (sent.iter().map(ToString::to_string).collect::<Vec<_>>().as_slice(), left),
            "{keys}"
        );
    }
}

#[test]
fn arguments_are_hinted() {
    let mut hand = Hand::new().with_commands();
    hand.types("/compact ");
    assert_eq!(hand.screen(), "❯ /compact ▏[words]");
    hand.types("k");
    assert_eq!(hand.screen(), "❯ /compact k▏");
    let mut hand = Hand::new().with_commands();
    hand.types("/model ");
    assert_eq!(hand.screen(), "❯ /model ▏\n  opus      the largest\n  haiku     the fastest");
}

#[test]
fn files_are_completed_anywhere() {
    let files = &["src/", "src/main.rs", "src/my file.rs", "README.md"];
    for (keys, left) in [
        ("@ m a i tab", "@src/main.rs |"),
        ("@ m a i enter x", "@src/main.rs x|"),
        ("s e e space ( @ r e a d tab", "see (@README.md |"),
        ("@ f i l e tab", "@\"src/my file.rs\" |"),
        ("@ s r c tab m a i tab", "@src/main.rs |"),
        ("a @ m a i tab", "a@mai|"),
        ("@ m a i escape n tab tab", "@src/main.rs |"),
    ] {
        let mut hand = Hand::new().with_files(files);
        hand.keys(keys);
        assert_eq!(hand.shown(), left, "{keys}");
    }
    let mut hand = Hand::new().with_files(files);
    hand.types("@mai");
    assert_eq!(hand.screen(), "❯ @mai▏\n› src/main.rs");
    hand.keys("escape");
    assert_eq!(hand.screen(), "❯ @mai▏");
    hand.types("n");
    assert_eq!(hand.screen(), "❯ @main▏", "a menu that was closed stays closed for this word");
}

#[test]
fn files_that_come_later_fill_the_menu_that_is_open() {
    let mut hand = Hand::new();
    assert!(!hand.composer.wants_files());
    hand.types("@mai");
    assert!(hand.composer.wants_files());
    assert_eq!(hand.screen(), "❯ @mai▏\n  Looking at the files…");
    hand = hand.with_files(&["src/main.rs"]);
    assert_eq!(hand.screen(), "❯ @mai▏\n› src/main.rs");
}

#[test]
fn agents_and_resources_are_in_the_same_menu() {
    let mut hand = Hand::new().with_files(&["src/reviewer.rs"]);
    hand.composer.set_sources(|sources| {
        sources.agents = vec![Mention { name: "agent-reviewer".into(), help: "Reviews".into() }];
        sources.resources = vec![Mention { name: "docs:file:///review.md".into(), help: "The docs".into() }];
    });
    hand.types("@rev");
    assert_eq!(
        hand.screen(),
        "❯ @rev▏\n› agent-reviewer          Reviews\n  docs:file:///review.md  The docs\n  src/reviewer.rs"
    );
}

#[test]
fn text_of_a_driver_opens_no_menu() {
    let mut hand = Hand::new().with_commands().with_files(&["see.md"]);
    hand.chunk("look at @see").wait(500).keys("enter");
    assert_eq!(hand.sent(), ["look at @see"]);
    hand.chunk("/mod");
    assert!(hand.screen().contains("/model"), "the beginning of a command is one, however it arrives");
}

#[test]
fn tab_completes_a_shell_line() {
    let listing = |names: &[&str]| -> Vec<PathEntry> {
        let entry = |name: &&str| PathEntry { name: name.trim_end_matches('/').into(), folder: name.ends_with('/') };
        names.iter().map(entry).collect()
    };
    for (typed, folder, word, names, left) in [
        ("!cat src/ma", "src/", "src/ma", &["main.rs", "lib.rs"][..], "!cat src/main.rs |"),
        ("!cat sr", "", "sr", &["src/", "Cargo.toml"], "!cat src/|"),
        ("!cat my\\ f", "", "my f", &["my file (1).txt"], "!cat my\\ file\\ \\(1\\).txt |"),
        ("!cat t", "", "t", &["test_a.rs", "test_b.rs"], "!cat test_|"),
        ("!a;cat x", "", "x", &["y"], "!a;cat x|"),
    ] {
        let mut hand = Hand::new();
        hand.types(typed).keys("tab");
        assert_eq!(hand.events, [ComposerEvent::ListFolder { folder: folder.into(), typed: word.into() }], "{typed}");
        hand.composer.offer_paths(word, &listing(names));
        assert_eq!(hand.shown(), left, "{typed}");
    }
    let mut hand = Hand::new();
    hand.types("!cat test_").keys("tab");
    hand.composer.offer_paths("test_", &listing(&["test_b.rs", "test_a.rs", "test_c/"]));
    assert_eq!(hand.screen(), "! cat test_▏\n› test_a.rs\n  test_b.rs\n  test_c/");
    hand.keys("down tab");
    assert_eq!(hand.shown(), "!cat test_b.rs |");
    hand.composer.offer_paths("test_", &listing(&["test_late"]));
    assert_eq!(hand.shown(), "!cat test_b.rs |", "an answer that comes too late changes nothing");
}

#[test]
fn tab_completes_an_older_shell_line() {
    let mut hand = Hand::new();
    let entries = vec!["!cargo test -p core".to_owned(), "cargo".to_owned()];
    hand.composer.set_history(entries.clone(), entries);
    hand.types("!car").keys("tab enter");
    assert_eq!(hand.shown(), "!cargo test -p core|");
    hand.keys("enter");
    assert_eq!(hand.sent(), ["!cargo test -p core"]);
}
