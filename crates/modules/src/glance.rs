//! A short look before sleep. Waking a thread takes longer than most handlers run, and on a
//! virtual machine whose processors doze several times as long.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// Longer than an ordinary handler takes, shorter than anybody notices.
const PATIENCE: Duration = Duration::from_micros(100);

/// What `look` finds within a moment. With one processor there is nothing to look for: whoever
/// is waited for could not run meanwhile.
pub fn briefly<T>(mut look: impl FnMut() -> Option<T>) -> Option<T> {
    static SEVERAL: OnceLock<bool> = OnceLock::new();
    let several = SEVERAL.get_or_init(|| std::thread::available_parallelism().is_ok_and(|cores| cores.get() > 1));
    let since = Instant::now();
    loop {
        let found = look();
        if found.is_some() || !several || since.elapsed() > PATIENCE {
            return found;
        }
        std::hint::spin_loop();
    }
}
