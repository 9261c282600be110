//! How often a lost connection is made anew. A server that ends again and again is left alone.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

const MOST: usize = 5;
const WITHIN: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
pub(crate) struct Restarts(VecDeque<Instant>);

impl Restarts {
    /// Counts another one; an error says why it must not be made.
    pub(crate) fn begin(&mut self) -> Result<(), String> {
        self.begin_at(Instant::now())
    }

    fn begin_at(&mut self, now: Instant) -> Result<(), String> {
        while self.0.front().is_some_and(|at| now.saturating_duration_since(*at) >= WITHIN) {
            self.0.pop_front();
        }
        if self.0.len() >= MOST {
            let seconds = WITHIN.as_secs();
            return Err(format!(
                "it was connected again {MOST} times within {seconds} s; it is left alone for a while"
            ));
        }
        self.0.push_back(now);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn five_in_a_minute_are_enough() {
        let (mut restarts, start) = (Restarts::default(), Instant::now());
        for second in 0..5 {
            assert!(restarts.begin_at(start + Duration::from_secs(second)).is_ok());
        }
        assert!(restarts.begin_at(start + Duration::from_secs(59)).is_err());
        assert!(restarts.begin_at(start + Duration::from_secs(61)).is_ok());
    }
}
