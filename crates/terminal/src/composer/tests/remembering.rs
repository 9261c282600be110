//! Older prompts: arrows and Ctrl+R.

use super::Hand;

fn hand() -> Hand {
    let mut hand = Hand::new();
    let all = ["fix the parser", "!cargo test", "two\nlines"];
    let entries = all.iter().map(|entry| (*entry).to_owned()).collect::<Vec<_>>();
    hand.composer.set_history(entries[1..].to_vec(), entries);
    hand
}

#[test]
fn arrows_walk_through_older_prompts() {
    let mut hand = hand();
    hand.types("draft");
    let mut seen = Vec::new();
    for key in ["up", "up", "up", "down", "down", "down", "down"] {
        hand.keys(key);
        seen.push(hand.shown());
    }
    assert_eq!(seen, ["|two\nlines", "!cargo test|", "!cargo test|", "two\nlines|", "draft|", "draft|", "draft|"]);
}

#[test]
fn a_changed_entry_is_a_new_draft() {
    let mut hand = hand();
    hand.keys("up up x up");
    assert_eq!(hand.shown(), "|two\nlines", "the walk begins anew");
    hand.keys("down down");
    assert_eq!(hand.shown(), "!cargo testx|");
}

#[test]
fn the_search_finds_prompts_of_all_folders() {
    let mut hand = hand();
    hand.types("draft").keys("ctrl+r").types("par");
    assert_eq!(hand.screen(), "❯ fix the ▏parser\n  search: par  · Ctrl+R older · Enter s…");
    hand.keys("enter");
    assert_eq!(hand.sent(), ["fix the parser"]);
    for (keys, expected) in [
        ("ctrl+r c a tab", "!|cargo test"),
        ("ctrl+r c a escape", "!|cargo test"),
        ("ctrl+r c a ctrl+c", "draft|"),
        ("ctrl+r c a ctrl+g", "draft|"),
        ("ctrl+r c backspace backspace", "draft|"),
        ("ctrl+r q q", "draft|"),
        ("ctrl+r i ctrl+r escape", "f|ix the parser"),
        ("ctrl+r i ctrl+r ctrl+s escape", "two\nl|ines"),
    ] {
        let mut hand = self::hand();
        hand.types("draft").keys(keys);
        assert_eq!(hand.shown(), expected, "{keys}");
    }
}

#[test]
fn what_was_sent_before_the_history_came_is_the_newest() {
    let mut hand = Hand::new();
    hand.types("at once").keys("enter");
    hand.composer.set_history(vec!["older".into()], vec!["older".into()]);
    hand.keys("up up");
    assert_eq!(hand.shown(), "older|");
    hand.keys("down");
    assert_eq!(hand.shown(), "at once|");
}
