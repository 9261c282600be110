//! kill -9 at random points: of single calls, of turns with a subagent, of several processes on one
//! database, and while something else holds the write lock. After each kill the rows are checked;
//! after the last one the session is continued to its end.

use super::{Next, Round, finished};
use crate::invariants;
use crate::scene::{Commands, Running, Scene};
use crate::violation::{Checked, Class};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Whether a command of a tool that outlives a killed program is a violation.
const CHILDREN_END_WITH_US: bool = false;
/// How long commands may need to notice that the program is gone.
const GRACE: Duration = Duration::from_millis(500);

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    match round.number % 8 {
        0 | 4 => calls(round)?,
        1 | 3 | 5 => turns(round, Lock::Free)?,
        2 => processes(round)?,
        6 => turns(round, Lock::Contended)?,
        _ => children(round)?,
    }
    Ok(Next::Round)
}

/// A moment in a run of this length, beyond its end in one of ten cases.
fn moment(round: &mut Round<'_>, whole: Duration) -> Duration {
    whole.mul_f64(round.random.below(1_100) as f64 / 1_000.0)
}

fn killed(round: &mut Round<'_>, running: Running, whole: Duration) -> Checked<bool> {
    let wait = moment(round, whole);
    let cut = running.kill_after(wait)?;
    round.tally.add(if cut { "kills" } else { "runs that ended before" }, 1);
    Ok(cut)
}

/// Single calls of an operator.
fn calls(round: &mut Round<'_>) -> Checked {
    let mut scene = Scene::new(round.context);
    let eval = |scene: &Scene| ["--eval".to_owned(), scene.eval_call()];
    let args = eval(&scene);
    let whole = scene.run(&args, &[])?.took;
    for _ in 0..40 {
        let args = eval(&scene);
        let running = scene.start(&args, &[]);
        killed(round, running, whole)?;
        invariants::check(&scene)?;
    }
    let args = eval(&scene);
    finished(scene.run(&args, &[])?.code)?;
    count(round, &mut scene)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Free,
    /// Another process takes the write lock again and again.
    Contended,
}

/// Turns of one session, each killed and continued.
fn turns(round: &mut Round<'_>, lock: Lock) -> Checked {
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    let args = scene.turn_args("main")?;
    let whole = scene.run(&args, &[])?.took;
    let other = (lock == Lock::Contended).then(|| scene.connection()).transpose()?;
    let ended = AtomicBool::new(false);
    std::thread::scope(|threads| {
        if let Some(other) = other {
            let (mut random, ended) = (round.random.clone(), &ended);
            threads.spawn(move || {
                while !ended.load(Ordering::Relaxed) {
                    let held = Duration::from_millis(random.below(60) as u64);
                    if other.execute_batch("BEGIN IMMEDIATE").is_ok() {
                        std::thread::sleep(held);
                        // Nothing was changed.
                        other.execute_batch("ROLLBACK").ok();
                    }
                    std::thread::sleep(held);
                }
            });
        }
        let result = killed_turns(round, &mut scene, whole);
        ended.store(true, Ordering::Relaxed);
        result
    })?;
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    count(round, &mut scene)
}

fn killed_turns(round: &mut Round<'_>, scene: &mut Scene, whole: Duration) -> Checked {
    for _ in 0..16 {
        let args = scene.turn_args("main")?;
        let running = scene.start(&args, &[]);
        killed(round, running, whole)?;
        invariants::check(scene)?;
    }
    Ok(())
}

/// A turn and single calls on one database, killed one by one.
fn processes(round: &mut Round<'_>) -> Checked {
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    for turn in 0..6 {
        let mut running = Vec::new();
        let args = scene.turn_args(if turn % 2 == 0 { "one" } else { "two" })?;
        running.push(scene.start(&args, &[]));
        for _ in 0..3 {
            let args = ["--eval".to_owned(), scene.eval_call()];
            running.push(scene.start(&args, &[]));
        }
        for running in running {
            killed(round, running, Duration::from_millis(300))?;
        }
        invariants::check(&scene)?;
    }
    for session in ["one", "two"] {
        let args = scene.turn_args(session)?;
        finished(scene.run(&args, &[])?.code)?;
    }
    count(round, &mut scene)
}

/// Kills while a command of a tool runs: the command ends with the program.
fn children(round: &mut Round<'_>) -> Checked {
    for _ in 0..4 {
        let mut scene = Scene::new(round.context).with_model(Commands::Long);
        let args = scene.turn_args("main")?;
        let running = scene.start(&args, &[]);
        killed(round, running, Duration::from_millis(400))?;
        let left = scene.end_children(GRACE);
        round.tally.add("children left after a kill", left as u64);
        if left > 0 && CHILDREN_END_WITH_US {
            return Err(Class::ChildLeft.of(format!("{left} commands were running {GRACE:?} after the kill")));
        }
        invariants::check(&scene)?;
    }
    Ok(())
}

/// The last check of a scene, also by the program itself.
fn count(round: &mut Round<'_>, scene: &mut Scene) -> Checked {
    scene.audit()?;
    let seen = invariants::check(scene)?;
    round.tally.add("messages checked", seen.messages);
    round.tally.add("bodies checked", seen.bodies);
    Ok(())
}
