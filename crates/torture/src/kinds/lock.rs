//! Something else holds the database's write lock while a turn runs. What was printed as final is
//! committed also then; a turn waits, and one that waits in vain ends with an error.

use super::{Next, Round, finished};
use crate::invariants;
use crate::scene::{Commands, Scene};
use crate::violation::{Checked, Class};
use std::time::Duration;

/// Longer than a turn waits for the lock (DEC-018).
const TOO_LONG: Duration = Duration::from_secs(66);
/// EX_TEMPFAIL.
const GAVE_UP: i32 = 75;

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    if round.number == 3 && !round.context.short {
        return in_vain(round);
    }
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    let args = scene.turn_args("main")?;
    let whole = scene.run(&args, &[])?.took;
    let other = scene.connection()?;
    let args = scene.turn_args("main")?;
    let running = scene.start(&args, &[]);
    std::thread::sleep(whole.mul_f64(round.random.below(1_000) as f64 / 1_000.0));
    other.execute_batch("BEGIN IMMEDIATE")?;
    std::thread::sleep(Duration::from_millis(100 + round.random.below(900) as u64));
    round.tally.add("locks held", 1);
    let killed = round.random.one_in(2);
    if killed {
        round.tally.add("kills", u64::from(running.kill_after(Duration::ZERO)?));
        invariants::check(&scene)?;
        other.execute_batch("ROLLBACK")?;
    } else {
        invariants::check(&scene)?;
        other.execute_batch("ROLLBACK")?;
        finished(running.finish()?.code)?;
    }
    scene.settle();
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    scene.audit()?;
    let seen = invariants::check(&scene)?;
    round.tally.add("messages checked", seen.messages);
    Ok(Next::Round)
}

/// The lock is not released.
fn in_vain(round: &mut Round<'_>) -> Checked<Next> {
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    let args = scene.turn_args("main")?;
    scene.run(&args, &[])?;
    let other = scene.connection()?;
    other.execute_batch("BEGIN IMMEDIATE")?;
    let args = scene.turn_args("main")?;
    let running = scene.start(&args, &[]);
    std::thread::sleep(TOO_LONG);
    let code = running.finish()?.code;
    invariants::check(&scene)?;
    other.execute_batch("ROLLBACK")?;
    if code != Some(GAVE_UP) {
        return Err(Class::Law.of(format!("a lock that is not released: exit {code:?} instead of {GAVE_UP}")));
    }
    round.tally.add("waits in vain", 1);
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    invariants::check(&scene)?;
    Ok(Next::Round)
}
