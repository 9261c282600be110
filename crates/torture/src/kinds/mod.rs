//! What can be done to the program: one file per kind, and the table of them.
//!
//! A kind is a function that does one round. A round has a number and a random stream made of it,
//! depends on nothing else, and can be repeated alone with `--only KIND --seed N --round N`.

mod clock;
mod crash;
mod fault;
mod hook;
mod lock;
mod provider;
mod soak;

use crate::fuzz;
use crate::random::Random;
use crate::tally::Tally;
use crate::violation::{Checked, Class};
use std::path::PathBuf;

pub(crate) struct Kind {
    pub name: &'static str,
    /// Of the time there is, relative to the others.
    pub share: u32,
    /// One round at a time, because it measures time.
    pub alone: bool,
    /// It lets calls of the C library fail.
    pub needs_linux: bool,
    pub round: fn(&mut Round<'_>) -> Checked<Next>,
}

impl Kind {
    const fn new(name: &'static str, share: u32, round: fn(&mut Round<'_>) -> Checked<Next>) -> Self {
        Self { name, share, alone: false, needs_linux: false, round }
    }
}

/// What a round is given, and where it counts.
pub(crate) struct Round<'a> {
    pub context: &'a Context,
    pub number: u64,
    pub random: Random,
    pub tally: &'a mut Tally,
}

pub(crate) struct Context {
    /// The program.
    pub ona: PathBuf,
    pub seed: u64,
    /// Where the folders of scenes are copied.
    pub keep: Option<PathBuf>,
    /// Whether this is the short run of scripts/test.
    pub short: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    Round,
    /// There is nothing more to try.
    Over,
}

pub(crate) const KINDS: &[Kind] = &[
    Kind::new("crash", 48, crash::round),
    Kind { needs_linux: true, ..Kind::new("fault", 48, fault::round) },
    Kind::new("lock", 6, lock::round),
    Kind { needs_linux: true, ..Kind::new("clock", 3, clock::round) },
    Kind::new("provider", 6, provider::round),
    Kind::new("hook", 6, hook::round),
    Kind::new("fuzz-settings", 3, fuzz::settings),
    Kind::new("fuzz-hook-output", 3, fuzz::hook_output),
    Kind::new("fuzz-matcher", 3, fuzz::matcher),
    Kind::new("fuzz-rules", 3, fuzz::rules),
    Kind::new("fuzz-shell", 3, fuzz::shell),
    Kind::new("fuzz-sse", 3, fuzz::sse),
    Kind::new("fuzz-mcp", 3, fuzz::mcp),
    Kind::new("fuzz-stream-json", 3, fuzz::stream_json),
    Kind::new("fuzz-plan", 3, fuzz::plan),
    Kind::new("fuzz-notebook", 3, fuzz::notebook),
    Kind::new("fuzz-redactor", 3, fuzz::redactor),
    Kind { alone: true, ..Kind::new("soak", 1, soak::round) },
];

/// The session must go on after what was done to it.
fn finished(code: Option<i32>) -> Checked {
    match code {
        Some(0) => Ok(()),
        code => Err(Class::Lost.of(format!("the session could not be continued to its end: exit {code:?}"))),
    }
}
