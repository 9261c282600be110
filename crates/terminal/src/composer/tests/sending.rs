//! What is sent, what waits, and what stands for something longer.

use super::Hand;
use crate::composer::{ComposerEvent, Image, ImageSource, InputMode};

#[test]
fn the_first_character_says_what_it_is_for() {
    for (typed, mode, text) in [
        ("hello", InputMode::Prompt, "hello"),
        ("!ls -l", InputMode::Shell, "ls -l"),
        ("#always use tabs", InputMode::Memory, "always use tabs"),
        ("a!b", InputMode::Prompt, "a!b"),
        (" !b", InputMode::Prompt, "!b"),
    ] {
        let mut hand = Hand::new();
        hand.types(typed).keys("enter");
        let Some(ComposerEvent::Submit(sent)) = hand.events.pop() else { panic!("{typed} is sent") };
        assert_eq!((sent.mode, sent.text.as_str()), (mode, text), "{typed}");
        assert_eq!(hand.screen(), "❯ ▏");
    }
    let mut hand = Hand::new();
    hand.types("!ls");
    assert_eq!(hand.screen(), "! ls▏");
    let mut hand = Hand::new();
    hand.paste("!ls").keys("enter").paste("# A heading").keys("enter");
    assert_eq!(hand.sent(), ["!ls", "# A heading"], "a pasted heading is not a memory");
}

#[test]
fn nothing_is_not_sent_and_a_question_mark_alone_is_help() {
    let mut hand = Hand::new();
    hand.keys("enter").types("  \n ").keys("enter");
    assert_eq!(hand.events, []);
    let mut hand = Hand::new();
    hand.types("?");
    assert_eq!((hand.events.as_slice(), hand.shown().as_str()), (&[ComposerEvent::Help][..], "|"));
    hand.types("why?");
    assert_eq!(hand.shown(), "why?|");
}

#[test]
fn a_long_paste_is_folded_and_sent_in_full() {
    let twelve: String = (1..=12).map(|n| format!("line {n}\n")).collect();
    let mut hand = Hand::new();
    hand.types("see ").paste(&twelve).types("please");
    assert_eq!(hand.screen(), "❯ see [Pasted text #1 +12 lines] please▏");
    hand.keys("enter");
    let Some(ComposerEvent::Submit(sent)) = hand.events.pop() else { panic!("it is sent") };
    assert_eq!(sent.text, format!("see {twelve} please"));
    assert_eq!(sent.shown, "see [Pasted text #1 +12 lines] please");
    hand.keys("up");
    assert_eq!(hand.screen(), "❯ see [Pasted text #1 +12 lines] please▏", "it is folded in the history, too");
}

#[test]
fn a_folded_paste_is_one_character_and_can_be_unfolded() {
    let twelve: String = (1..=12).map(|n| format!("{n}\n")).collect();
    let mut hand = Hand::new();
    hand.paste(&twelve).keys("backspace backspace");
    assert_eq!(hand.text(), "");
    hand.keys("ctrl+_");
    assert_eq!(hand.shown(), "[Pasted text #1 +12 lines]|");
    hand.keys("alt+o");
    assert_eq!(hand.text(), twelve);
    hand.keys("ctrl+_");
    assert_eq!(hand.shown(), "[Pasted text #1 +12 lines]|");
    let mut hand = Hand::new();
    hand.paste(&twelve).paste(&twelve);
    assert_eq!(hand.shown(), format!("{twelve}| "), "pasting the same again unfolds it");
}

#[test]
fn images_stand_as_chips() {
    let mut hand = Hand::new();
    hand.types("compare ").paste("'/tmp/a b.png'").paste("/tmp/c.jpg");
    hand.composer.insert_image("image/png", vec![1, 2].into());
    assert_eq!(hand.shown(), "compare [Image #1] [Image #2] [Image #3] |");
    let first = Image { number: 1, source: ImageSource::File("/tmp/a b.png".into()) };
    assert_eq!(hand.events[0], ComposerEvent::CheckImages(vec![first.clone()]));
    hand.composer.reject_image(&first);
    hand.events.clear();
    hand.keys("enter");
    let Some(ComposerEvent::Submit(sent)) = hand.events.pop() else { panic!("it is sent") };
    assert_eq!(sent.text, "compare /tmp/a b.png [Image #2] [Image #3]");
    let sources: Vec<_> = sent.images.into_iter().map(|image| (image.number, image.source)).collect();
    let data = ImageSource::Data { media_type: "image/png".into(), data: vec![1, 2].into() };
    assert_eq!(sources, [(2, ImageSource::File("/tmp/c.jpg".into())), (3, data)]);
}

#[test]
fn what_is_sent_while_the_agent_works_waits_in_sight() {
    let mut hand = Hand::new();
    hand.busy = true;
    for text in ["first\nof two", "!ls", "third", "fourth"] {
        hand.types(text).keys("enter");
        let Some(ComposerEvent::Submit(sent)) = hand.events.pop() else { panic!("{text} is sent") };
        hand.composer.enqueue(sent);
    }
    assert_eq!(hand.screen(), "⋯ first ⏎ of two\n⋯ !ls\n⋯ third (+1 more)\n❯ ▏");
    hand.keys("up");
    assert_eq!(hand.shown(), "fourth|");
    hand.keys("home up");
    assert_eq!(hand.shown(), "third\nfourth|", "what is being written stays");
    hand.keys("ctrl+c");
    let first = hand.composer.dequeue_prompts();
    assert_eq!(
        first.iter().map(|sent| sent.text.as_str()).collect::<Vec<_>>(),
        ["first\nof two"],
        "a shell line waits"
    );
    hand.types("new").keys("escape escape escape");
    assert_eq!(hand.events, [ComposerEvent::Interrupt]);
    assert_eq!(hand.shown(), "!ls|", "stopping gives what waits back");
    assert_eq!(hand.composer.queued().len(), 0);
}

#[test]
fn control_characters_are_not_taken_over() {
    let mut hand = Hand::new();
    hand.paste("a\x1b[2Jb\x07\u{100005}c");
    assert_eq!(hand.text(), "a[2Jb\u{fffd}c");
}
