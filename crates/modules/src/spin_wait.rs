//! Polls for a short time before the thread sleeps. Waking a thread takes longer than most
//! handlers run, and several times as long on a virtual machine whose processors are idle.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longer than an ordinary handler takes, too short to be noticed.
const LIMIT: Duration = Duration::from_micros(100);

/// Polls until `poll` returns a value or the limit is reached. With one processor it polls
/// once: the thread that is waited for could not run in the meantime.
pub(crate) fn spin_wait<T>(mut poll: impl FnMut() -> Option<T>) -> Option<T> {
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    let several = SEVERAL.get_or_init(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));
    let since = Instant::now();
    loop {
        let found = poll();
        if found.is_some() || !several || since.elapsed() > LIMIT {
            return found;
        }
        std::hint::spin_loop();
    }
}
