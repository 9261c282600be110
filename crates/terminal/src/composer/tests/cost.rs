//! A key costs the same in a long text and with a long history.

use super::Hand;
use std::time::{Duration, Instant};

/// The shortest of several runs, so that other work on the machine does not count.
fn time(mut run: impl FnMut()) -> Duration {
    (0..7)
        .map(|_| {
            let start = Instant::now();
            run();
            start.elapsed()
        })
        .min()
        .unwrap()
}

#[test]
fn typing_does_not_get_slower_with_the_text_or_the_history() {
    let typing = |hand: &mut Hand| {
        for _ in 0..20 {
            hand.types("word ");
            let _ = hand.screen();
        }
        hand.keys("ctrl+u");
    };
    let mut short = Hand::new();
    short.types("a short text\n");
    let mut long = Hand::new();
    let history: Vec<String> = (0..100_000).map(|n| format!("an older prompt, number {n}")).collect();
    long.composer.set_history(history.clone(), history);
    // One line of a hundred thousand bytes, and behind it as much in short lines.
    long.composer.insert(&"word ".repeat(20_000));
    long.composer.insert(&"\nline".repeat(20_000));
    long.keys("alt+<").types("here ");
    let base = time(|| typing(&mut short));
    let measured = time(|| typing(&mut long));
    // The text is ten thousand times as long.
    assert!(measured < base * 40 + Duration::from_millis(5), "{measured:?} in a long text, {base:?} in a short one");
}
