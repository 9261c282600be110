//! Escape, Ctrl+C and Ctrl+D, alone and twice, idle and busy.

use super::Hand;
use crate::composer::ComposerEvent;

/// What is left in the text, what was asked for, and what stands below.
fn press(busy: bool, text: &str, keys: &str) -> (String, Vec<ComposerEvent>, String) {
    let mut hand = Hand::new();
    hand.busy = busy;
    hand.types(text).keys(keys);
    let screen = hand.screen();
    let below = screen.lines().nth(1).unwrap_or_default().trim().to_owned();
    (hand.shown(), hand.events, below)
}

#[test]
fn the_ways_out() {
    use ComposerEvent::{Exit, Interrupt, Rewind};
    let nothing = Vec::new;
    for (what, busy, text, keys, left, events, below) in [
        ("Ctrl+C clears first", false, "draft", "ctrl+c", "|", nothing(), ""),
        ("then it asks", false, "draft", "ctrl+c ctrl+c", "|", nothing(), "Press Ctrl+C again to leave"),
        ("then it leaves", false, "draft", "ctrl+c ctrl+c ctrl+c", "|", vec![Exit], ""),
        ("busy: clears", true, "draft", "ctrl+c", "|", nothing(), ""),
        ("busy: then stops", true, "draft", "ctrl+c ctrl+c", "|", vec![Interrupt], ""),
        ("a key between", false, "", "ctrl+c x backspace ctrl+c", "|", nothing(), "Press Ctrl+C again to leave"),
        ("Ctrl+D leaves", false, "", "ctrl+d", "|", vec![Exit], ""),
        ("Ctrl+D deletes", false, "ab", "ctrl+a ctrl+d", "|b", nothing(), ""),
        ("busy: Ctrl+D asks", true, "", "ctrl+d", "|", nothing(), "Work is going on: Ctrl+D again leaves"),
        ("busy: Ctrl+D twice", true, "", "ctrl+d ctrl+d", "|", vec![Exit], ""),
        ("busy: Esc stops", true, "", "escape", "|", vec![Interrupt], ""),
        ("busy: Esc with text does not", true, "draft", "escape", "draft|", nothing(), "Esc again clears the text"),
        ("Esc twice clears", false, "draft", "escape escape", "|", nothing(), ""),
        ("Esc twice rewinds", false, "", "escape escape", "|", vec![Rewind], ""),
        ("Esc once does not", false, "", "escape", "|", nothing(), "Esc again to rewind"),
        ("Esc leaves the shell line", false, "!", "escape", "|", nothing(), ""),
        ("Backspace leaves it", false, "!", "backspace", "|", nothing(), ""),
        ("Ctrl+U leaves it", false, "!", "ctrl+u", "|", nothing(), ""),
        ("Backspace in it does not", false, "!l", "backspace", "!|", nothing(), ""),
    ] {
        assert_eq!(press(busy, text, keys), (left.to_owned(), events, below.to_owned()), "{what}");
    }
}

#[test]
fn two_keys_far_apart_are_two_first_keys() {
    let mut hand = Hand::new();
    hand.keys("escape").wait(700).keys("escape");
    assert_eq!(hand.events, []);
    hand.types("x").keys("escape").wait(700).keys("escape");
    assert_eq!(hand.shown(), "x|");
    hand.keys("backspace ctrl+c").wait(2_500).keys("ctrl+c");
    assert_eq!(hand.events, []);
}

#[test]
fn what_was_cleared_is_in_the_history() {
    let mut hand = Hand::new();
    hand.types("a long thought").keys("ctrl+c up");
    assert_eq!(hand.shown(), "a long thought|");
}

#[test]
fn a_hint_goes_away_by_itself() {
    let mut hand = Hand::new();
    hand.keys("ctrl+c");
    let until = hand.composer.deadline().unwrap();
    assert!(!hand.composer.expire(hand.now()));
    assert!(hand.composer.expire(until));
    assert_eq!((hand.screen(), hand.composer.deadline()), ("❯ ▏".to_owned(), None));
}

/// What Gastown does to reach an agent: text in pieces, a pause, Escape, 600 ms, Enter.
#[test]
fn a_driver_types_escape_before_enter() {
    let text = "Check your mail.\nThere is \"work\" for you: @see /the list! ".repeat(15);
    assert!(text.len() > 800);
    for busy in [false, true] {
        let mut hand = Hand::new().with_commands().with_files(&["see.md"]);
        hand.busy = busy;
        for piece in text.as_bytes().chunks(512) {
            hand.chunk(std::str::from_utf8(piece).unwrap());
        }
        hand.wait(500).keys("escape").wait(600).keys("enter");
        assert_eq!(hand.sent(), [text.trim()], "busy: {busy}");
        assert_eq!(hand.shown(), "|");
    }
}
