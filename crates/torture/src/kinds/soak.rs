//! Thousands of turns in one process: memory, time per turn and size of the database.

use super::{Next, Round};
use crate::invariants;
use crate::scene::Scene;
use crate::violation::{Checked, Class};
use ona_testkit::model::{call, say};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::Child;
use std::time::{Duration, Instant};

const TURNS: u64 = 10_000;
const SHORT_TURNS: u64 = 100;
/// How much more memory may be resident at the end than after the first tenth.
const MOST_GROWTH: f64 = 2.0;

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    let turns = if round.context.short { SHORT_TURNS } else { TURNS };
    let scene = Scene::new(round.context).with_forgetful_script(|body| {
        // What the newest message is, without reading the whole conversation.
        let last = |text: &str| body.windows(text.len()).rposition(|window| window == text.as_bytes());
        match (last("\"tool_result\""), last("\"prompt ")) {
            (result, prompt) if result < prompt => call("Read", json!({"file_path": "a.txt"})),
            _ => say("done"),
        }
    });
    let mut command =
        scene.ona.command(["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]);
    let mut child =
        command.stdin(std::process::Stdio::piped()).stderr(std::process::Stdio::null()).spawn().expect("it starts");
    let measured = run_turns(&mut child, turns);
    if measured.is_err() {
        // It may have ended already; what counts is the violation.
        child.kill().ok();
    }
    child.wait().expect("a child can be waited for");
    let Measured { times, memory } = measured?;
    invariants::check(&scene)?;
    let size = std::fs::metadata(scene.ona.db()).map_or(0, |file| file.len());
    let part = part_of(turns);
    let per_turn = |time: Option<&Duration>| time.map_or(0, |time| time.as_micros() as u64 / part);
    round.tally.add("turns", turns);
    round.tally.set_max("µs per turn in the first tenth", per_turn(times.first()));
    round.tally.set_max("µs per turn in the last tenth", per_turn(times.last()));
    round.tally.set_max("KiB resident after the first tenth", memory.first().copied().unwrap_or(0));
    round.tally.set_max("KiB resident at the end", memory.last().copied().unwrap_or(0));
    round.tally.set_max("KiB of database", size / 1024);
    let first = memory.first().copied().unwrap_or(0);
    if memory.last().is_some_and(|last| *last as f64 > first as f64 * MOST_GROWTH) {
        return Err(Class::Law.of(format!("memory grew from {first} KiB: {memory:?}")));
    }
    Ok(Next::Over)
}

/// What each tenth of the turns took, and what was resident after it.
#[derive(Default)]
struct Measured {
    times: Vec<Duration>,
    memory: Vec<u64>,
}

fn part_of(turns: u64) -> u64 {
    (turns / 10).max(1)
}

fn run_turns(child: &mut Child, turns: u64) -> Checked<Measured> {
    let mut stdin = child.stdin.take().expect("a pipe");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let (mut measured, mut began) = (Measured::default(), Instant::now());
    for turn in 1..=turns {
        let prompt = json!({"type": "user", "message": {"role": "user", "content": format!("prompt {turn}")}});
        // If the program has ended, its answer is missing below.
        writeln!(stdin, "{prompt}").ok();
        let is_error = loop {
            let Some(Ok(line)) = lines.next() else { return Err(ended(turn)) };
            let message: Value = serde_json::from_str(&line).unwrap_or_default();
            if message["type"] == "result" {
                break message["is_error"].clone();
            }
        };
        if is_error != false {
            return Err(Class::Law.of(format!("turn {turn} failed")));
        }
        if turn % part_of(turns) == 0 {
            measured.times.push(began.elapsed());
            measured.memory.push(resident_kib(child.id()));
            began = Instant::now();
        }
    }
    Ok(measured)
}

fn ended(turn: u64) -> crate::violation::Violation {
    Class::Panic.of(format!("the program ended in turn {turn}"))
}

/// Without /proc 0.
fn resident_kib(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
