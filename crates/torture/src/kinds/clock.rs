//! The clock jumps while a turn runs: back and forth, by a second or by decades.

use super::{Next, Round, finished};
use crate::injector::Injection;
use crate::invariants;
use crate::scene::{Commands, Scene};
use crate::violation::{Checked, Class};

/// A leap second, summer time, a day, thirty years, and before 1970.
const JUMPS: [i64; 9] = [-1, 1, -3_600, 3_600, -86_400, 86_400, 30 * 31_557_600, -30 * 31_557_600, -60 * 31_557_600];

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    let jump = JUMPS[(round.number % JUMPS.len() as u64) as usize];
    let at = 1 + round.random.below(120) as u64;
    let args = scene.turn_args("main")?;
    let injection = Injection::jump(&scene, &round.context.ona, at, jump);
    finished(scene.run(&args, &injection.env)?.code)?;
    if injection.clock_readings() == 0 {
        return Err(Class::Law.of("no reading of the clock was counted: LD_PRELOAD has no effect on this program"));
    }
    round.tally.add("jumps", u64::from(injection.jumped()));
    invariants::check(&scene)?;
    // Continued at the real time.
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    invariants::check(&scene)?;
    Ok(Next::Round)
}
