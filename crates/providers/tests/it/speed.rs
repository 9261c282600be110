//! What one more iteration costs in a long session. Run by hand, optimised:
//! `cargo test --release -p ona-providers --test it -- --ignored --nocapture`.

use crate::{asking, assistant, call, result, text, user};
use ona_providers::{Dialogue, Sight, Wire};
use serde_json::json;
use std::time::{Duration, Instant};

const MESSAGES: usize = 20_000;
const RUNS: usize = 9;

#[test]
#[ignore = "says something in an optimised build only"]
fn one_more_iteration_at_20_000_messages_takes_milliseconds() {
    let file = "a line of an ordinary source file\n".repeat(15);
    let mut messages = vec![user([text("begin")])];
    for i in 0..MESSAGES / 2 {
        let id = format!("c{i}");
        messages.push(assistant([call(&id, "Read", json!({"file_path": format!("/project/src/{i}.rs")}))]));
        messages.push(user([result(&id, &file)]));
    }
    for wire in [Wire::Messages, Wire::Chat(Sight::Pictures)] {
        let mut dialogue = Dialogue::new(wire);
        dialogue.sync(&messages[..MESSAGES - 2 * RUNS]);
        let mut best = Duration::MAX;
        for run in (0..RUNS).rev() {
            let began = Instant::now();
            assert_eq!(dialogue.sync(&messages[..MESSAGES - 2 * run]), 2);
            let body = dialogue.body(&asking());
            best = best.min(began.elapsed());
            assert!(body.len() > 6_000_000);
        }
        assert!(best < Duration::from_millis(10), "{wire:?}: {best:?}");
    }
}
