//! Questions of the model.

use super::super::{AskedOption, AskedQuestion, DialogReply, QuestionDialog, QuestionReply};
use super::Hand;

fn question(text: &str, header: &str, labels: &[&str], multiple: bool) -> AskedQuestion {
    let option = |label: &&str| AskedOption {
        label: (*label).into(),
        description: format!("means {label}"),
        preview: String::new(),
    };
    AskedQuestion {
        question: text.into(),
        header: header.into(),
        options: labels.iter().map(option).collect(),
        multiple,
    }
}

fn answered(pairs: &[(&str, &str)]) -> Vec<DialogReply> {
    let pairs = pairs.iter().map(|(question, answer)| ((*question).to_owned(), (*answer).to_owned()));
    vec![DialogReply::Question(QuestionReply::Answered(pairs.collect()))]
}

#[test]
fn one_question() {
    let one = || vec![question("Which database?", "DB", &["SQLite", "Postgres"], false)];
    for (keys, answer) in [
        ("1", "SQLite"),
        ("2", "Postgres"),
        ("enter", "SQLite"),
        ("down enter", "Postgres"),
        ("space", "SQLite"),
        ("3 d u c k enter", "duck"),
        ("up 1 2 enter", "12"),
        ("3 enter x enter", "x"),
    ] {
        let mut hand = Hand::new(QuestionDialog::new(one()));
        assert_eq!(hand.keys(keys), answered(&[("Which database?", answer)]), "{keys}");
    }
    for keys in ["escape", "ctrl+c", "3 x escape"] {
        let mut hand = Hand::new(QuestionDialog::new(one()));
        assert_eq!(hand.keys(keys), [DialogReply::Question(QuestionReply::Declined)], "{keys}");
    }
    let mut hand = Hand::new(QuestionDialog::new(one()));
    hand.keys("down");
    assert_eq!(
        hand.screen(40, 20),
        "Which database?\n\n  1. SQLite\n     means SQLite\n› ▏2. Postgres\n     means Postgres\n  3. Something else\n\n\
         ↑↓ Enter choose · Esc do not answer"
    );
    hand.keys("down m y");
    assert!(hand.screen(40, 20).contains("› 3. Something else: my▏\n"), "{}", hand.screen(40, 20));
}

#[test]
fn several_options_may_be_marked() {
    let many = || vec![question("Which checks?", "", &["lint", "test", "bench"], true)];
    for (keys, answer) in [
        ("space down down space enter", "lint, bench"),
        ("1 3 1 enter", "bench"),
        ("down enter", "test"),
        ("1 4 m o r e enter", "lint, more"),
    ] {
        let mut hand = Hand::new(QuestionDialog::new(many()));
        assert_eq!(hand.keys(keys), answered(&[("Which checks?", answer)]), "{keys}");
    }
    let mut hand = Hand::new(QuestionDialog::new(many()));
    hand.keys("2");
    assert!(hand.screen(40, 20).contains("› ▏2. [x] test"), "{}", hand.screen(40, 20));
    assert_eq!(
        hand.keys("up up up enter"),
        answered(&[("Which checks?", "test")]),
        "marked ones count, wherever the cursor is"
    );
}

#[test]
fn several_questions_are_tabs() {
    let two = || vec![question("First?", "A", &["a1", "a2"], false), question("Second?", "B", &["b1", "b2"], true)];
    for (keys, a, b) in [
        ("1 2 enter", "a1", "b2"),
        ("right 1 enter 2", "a2", "b1"),
        ("tab 1 2 enter 1", "a1", "b1, b2"),
        ("1 left 2 1 enter", "a2", "b1"),
    ] {
        let mut hand = Hand::new(QuestionDialog::new(two()));
        assert_eq!(hand.keys(keys), answered(&[("First?", a), ("Second?", b)]), "{keys}");
    }
    let mut hand = Hand::new(QuestionDialog::new(two()));
    hand.keys("1");
    assert!(hand.screen(40, 20).starts_with(" ✓ A   B\n\nSecond?\n"), "{}", hand.screen(40, 20));
}

#[test]
fn what_a_model_writes_moves_no_cursor() {
    let mut asked = question("Clear\x1b[2J the\nscreen?", "\x1b]0;x\x07", &["a\x1b[Ab", "c"], false);
    asked.options[0].preview = "\u{9b}2J".into();
    let hand = Hand::new(QuestionDialog::new(vec![asked.clone(), asked]));
    let shown = hand.screen(40, 20);
    assert!(!shown.contains(['\x1b', '\u{9b}', '\x07']), "{shown:?}");
}
