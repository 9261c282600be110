//! Keeps keys that were typed before a dialog appeared from answering it.
//!
//! A dialog that the program opens may come up in the middle of a word. Nobody reads a question and answers it
//! in less than [`UNSEEN`], so a key that comes sooner, or that follows such a key without a pause,
//! belongs to what the user was writing. Escape is the exception: it always means no.

use std::time::Duration;

const UNSEEN: Duration = Duration::from_millis(300);

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Guard {
    /// When the dialog appeared, or the last key was turned away.
    since: Option<Duration>,
}

impl Guard {
    /// For a dialog that opened by itself.
    pub(super) fn from(appeared: Duration) -> Guard {
        Guard { since: Some(appeared) }
    }

    /// Returns whether an input of this time was meant for the dialog.
    pub(super) fn admits(&mut self, at: Duration) -> bool {
        let Some(since) = self.since else { return true };
        if at < since + UNSEEN {
            self.since = Some(at.max(since));
            return false;
        }
        self.since = None;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::Guard;
    use std::time::Duration;

    #[test]
    fn a_key_counts_after_a_pause() {
        let admitted = |appeared: u64, keys: &[u64]| {
            let mut guard = Guard::from(Duration::from_millis(appeared));
            keys.iter().map(|at| guard.admits(Duration::from_millis(*at))).collect::<Vec<_>>()
        };
        assert_eq!(admitted(1_000, &[900, 1_000, 1_299]), [false; 3]);
        assert_eq!(admitted(1_000, &[1_300, 1_310]), [true; 2]);
        assert_eq!(admitted(1_000, &[1_100, 1_350, 1_600, 1_900, 1_910]), [false, false, false, true, true]);
        assert!(Guard::default().admits(Duration::ZERO));
    }
}
