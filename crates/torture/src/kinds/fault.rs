//! The n-th file operation of a turn fails, for every n: with EIO, with a full disk from then on, in
//! the middle of a write, or by a kill in the middle of a write. The turn has tools, hooks and a
//! subagent. Afterwards the session is continued on a sound disk.

use super::{Next, Round, finished};
use crate::injector::{Fault, Injection};
use crate::invariants;
use crate::scene::{Commands, Scene};
use crate::violation::{Checked, Class};

const FAULTS: [(Fault, &str); 4] = [
    (Fault::Error, "EIO"),
    (Fault::DiskFull, "disk full"),
    (Fault::Torn, "torn writes"),
    (Fault::Die, "kills in a write"),
];
/// The short run takes each of the faults at one of so many operations.
const SHORT_STEP: u64 = 97;

pub(crate) fn round(round: &mut Round<'_>) -> Checked<Next> {
    let (fault, name) = FAULTS[(round.number % 4) as usize];
    let step = if round.context.short { SHORT_STEP } else { 1 };
    let at = round.number / 4 * step + 1 + if step > 1 { round.random.below(step as usize) as u64 } else { 0 };
    let mut scene = Scene::new(round.context).with_model(Commands::Short);
    let args = scene.turn_args("main")?;
    let injection = Injection::fault(&scene, &round.context.ona, fault, at);
    let running = scene.start(&args, &injection.env);
    let code = if fault == Fault::Die { running.finish_killed()? } else { running.finish()?.code };
    let (calls, faults) = (injection.calls(), injection.faults());
    if calls == 0 {
        return Err(Class::Law.of("no file operation was counted: LD_PRELOAD has no effect on this program"));
    }
    if faults == 0 {
        finished(code)?;
        return Ok(if calls < at { Next::Over } else { Next::Round });
    }
    round.tally.add(name, 1);
    round.tally.set_max("of operations", calls);
    scene.settle();
    invariants::check(&scene)?;
    let args = scene.turn_args("main")?;
    finished(scene.run(&args, &[])?.code)?;
    scene.audit()?;
    let seen = invariants::check(&scene)?;
    round.tally.add("messages checked", seen.messages);
    round.tally.add("bodies checked", seen.bodies);
    Ok(Next::Round)
}
