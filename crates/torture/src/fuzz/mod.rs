//! Readers of hostile text, millions of times: no panic, and laws that hold for any text.
//!
//! A target reads one text made from a random stream, in this process. Each family is a kind of its
//! own; a round is `BATCH` texts. What a law is stands in the target's file.

mod hook_output;
mod matcher;
mod mcp;
mod mutate;
mod notebook;
mod plan;
mod redactor;
mod rules;
mod settings;
mod shell;
mod sse;
mod stream_json;
mod world;

use crate::kinds::{Next, Round};
use crate::random::Random;
use crate::violation::{Checked, Class};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

/// Texts of one round.
const BATCH: u64 = 1_000;
/// Of the short run.
const SHORT_BATCH: u64 = 100;
/// No text takes longer, on a busy machine.
const LONGEST: Duration = Duration::from_secs(10);

/// Reads a text made from this stream. `Err` says which law is broken; the text is left in `input`.
type Target = fn(random: &mut Random, input: &mut String) -> Result<(), String>;

fn batch(round: &mut Round<'_>, target: Target) -> Checked<Next> {
    for _ in 0..if round.context.short { SHORT_BATCH } else { BATCH } {
        let mut input = String::new();
        let mut random = Random::of(round.random.next(), "", 0);
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| target(&mut random, &mut input)));
        round.tally.add("executions", 1);
        match outcome {
            Ok(Ok(())) => {}
            Ok(Err(law)) => return Err(Class::Law.of(format!("{law}\ninput: {input:?}"))),
            Err(panic) => return Err(Class::Panic.of(format!("{}\ninput: {input:?}", crate::words_of(&*panic)))),
        }
        if began.elapsed() > LONGEST {
            return Err(Class::Hang.of(format!("it took {:?}\ninput: {input:?}", began.elapsed())));
        }
    }
    Ok(Next::Round)
}

/// The law that two ways to the same value are the same.
fn same<T: PartialEq + std::fmt::Debug>(law: &str, one: &T, other: &T) -> Result<(), String> {
    if one == other { Ok(()) } else { Err(format!("{law}: {one:?} and {other:?}")) }
}

pub(crate) fn settings(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, settings::read)
}
pub(crate) fn hook_output(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, hook_output::read)
}
pub(crate) fn matcher(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, matcher::matches)
}
pub(crate) fn rules(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, rules::decide)
}
pub(crate) fn shell(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, shell::decide)
}
pub(crate) fn sse(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, sse::decode)
}
pub(crate) fn mcp(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, mcp::read)
}
pub(crate) fn stream_json(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, stream_json::read)
}
pub(crate) fn plan(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, plan::read)
}
pub(crate) fn notebook(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, notebook::edit)
}
pub(crate) fn redactor(round: &mut Round<'_>) -> Checked<Next> {
    batch(round, redactor::redact)
}
