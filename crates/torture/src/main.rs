//! Kills, faults, fuzz and soak against the program, from outside.
//!
//! `kinds` says what can be done, `scene` what it is done to, `invariants` what must hold
//! afterwards. This file divides the time among the kinds, runs their rounds, and prints counts.
//! Everything random comes from one seed, so a violation is repeated with the numbers it prints.

mod fuzz;
mod injector;
mod invariants;
mod kinds;
mod options;
mod random;
mod scene;
mod tally;
mod violation;

use clap::Parser;
use kinds::{Context, KINDS, Kind, Next, Round};
use options::Options;
use random::Random;
use std::any::Any;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};
use tally::Tally;
use violation::{Checked, Class, Violation};

/// How long `--short` takes, builds aside.
const SHORT: Duration = Duration::from_secs(45);
/// More of them say nothing new.
const MOST_VIOLATIONS: usize = 20;

fn main() -> ExitCode {
    let options = Options::parse();
    // A panic ends its round and is reported as a violation.
    std::panic::set_hook(Box::new(|_| {}));
    let Ok(ona) = options.ona.canonicalize() else {
        say(&format!("{} does not exist; build it with: cargo build -p ona", options.ona.display()));
        return ExitCode::from(2);
    };
    let chosen: Vec<&Kind> = KINDS.iter().filter(|kind| options.takes(kind.name)).collect();
    if chosen.is_empty() {
        say(&format!("unknown kind {}; --help lists them", options.only.join(", ")));
        return ExitCode::from(2);
    }
    let context = Context { ona, seed: options.seed, keep: options.keep.clone(), short: options.short };
    let whole = if options.short { SHORT } else { Duration::from_secs_f64(options.minutes.max(0.0) * 60.0) };
    let shares: u32 = chosen.iter().map(|kind| kind.share).sum();
    let mut classes = BTreeMap::new();
    for kind in chosen {
        if kind.needs_linux && cfg!(not(target_os = "linux")) {
            say(&format!("== {}: left out, it needs LD_PRELOAD of Linux", kind.name));
            continue;
        }
        let time = whole.mul_f64(f64::from(kind.share) / f64::from(shares));
        for found in run(kind, &context, &options, time) {
            *classes.entry(found.class).or_insert(0) += 1;
        }
    }
    let counts = Class::ALL.map(|class| format!("{} {}", class.as_str(), classes.get(&class).copied().unwrap_or(0)));
    say(&format!("== all: {}", counts.join(", ")));
    ExitCode::from(u8::from(!classes.is_empty()))
}

/// Runs rounds of one kind until its time is over.
fn run(kind: &Kind, context: &Context, options: &Options, time: Duration) -> Vec<Violation> {
    let began = Instant::now();
    let (next, over) = (AtomicU64::new(options.round.unwrap_or(0)), AtomicBool::new(false));
    let (tally, violations) = (Mutex::new(Tally::default()), Mutex::new(Vec::new()));
    let work = || {
        while !over.load(Ordering::Relaxed) {
            let number = next.fetch_add(1, Ordering::Relaxed);
            // The first round is done however little time there is.
            if number > 0 && options.round.is_none() && began.elapsed() >= time {
                break;
            }
            let mut counted = Tally::default();
            counted.add("rounds", 1);
            let outcome = one_round(kind, context, number, &mut counted);
            lock(&tally).merge(counted);
            match outcome {
                Ok(Next::Round) => {}
                Ok(Next::Over) => over.store(true, Ordering::Relaxed),
                Err(violation) => {
                    say(&format!(
                        "VIOLATION ({}) in {} --seed {} --round {number}: {}",
                        violation.class.as_str(),
                        kind.name,
                        context.seed,
                        shortened(&violation.what)
                    ));
                    let mut violations = lock(&violations);
                    violations.push(violation);
                    if violations.len() >= MOST_VIOLATIONS {
                        over.store(true, Ordering::Relaxed);
                    }
                }
            }
            if options.round.is_some() {
                break;
            }
        }
    };
    let jobs = if options.round.is_some() || kind.alone { 1 } else { options.jobs.max(1) };
    std::thread::scope(|threads| (0..jobs).for_each(|_| drop(threads.spawn(work))));
    let tally = lock(&tally).text();
    say(&format!("== {}: {} s; {tally}", kind.name, began.elapsed().as_secs()));
    violations.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn one_round(kind: &Kind, context: &Context, number: u64, tally: &mut Tally) -> Checked<Next> {
    let random = Random::of(context.seed, kind.name, number);
    let mut round = Round { context, number, random, tally };
    catch_unwind(AssertUnwindSafe(|| (kind.round)(&mut round)))
        .unwrap_or_else(|panic| Err(Class::Panic.of(words_of(&*panic))))
}

/// The beginning of a long text; the round can be repeated.
fn shortened(text: &str) -> &str {
    &text[..text.floor_char_boundary(4_000)]
}

/// What a panic said.
fn words_of(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
    text.unwrap_or_else(|| "a panic without words".to_owned())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The only place that prints.
#[expect(clippy::print_stdout, reason = "a program for people who develop ona")]
fn say(line: &str) {
    println!("{line}");
}
