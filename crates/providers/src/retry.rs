//! Whether and when a failed call is tried again (DEC-089). Waiting is the caller's.

use ona_api::model::ModelFailure;
use ona_api::{Env, environment};
use std::time::Duration;

const DEFAULT_LIMIT: u32 = 4;
/// The first wait is between this and twice this; each further one doubles.
const SHORTEST: Duration = Duration::from_millis(500);
const LONGEST: Duration = Duration::from_secs(8);
/// A server that wants more patience is not waited for: the person decides.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    limit: u32,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT }
    }
}

impl RetryPolicy {
    /// ONA_MAX_RETRIES; what is not a number is ignored.
    pub fn from_env(env: &Env) -> Self {
        let limit = env.get(environment::ONA_MAX_RETRIES).and_then(|text| text.trim().parse().ok());
        Self { limit: limit.unwrap_or(DEFAULT_LIMIT) }
    }

    pub fn limit(self) -> u32 {
        self.limit
    }

    /// Returns how long to wait before trying again, or `None` to give up. `attempt` counts the
    /// retries made so far, `random` is between 0 and 1.
    pub fn next_delay(self, attempt: u32, failure: &ModelFailure, random: f64) -> Option<Duration> {
        if !failure.transient || attempt >= self.limit {
            return None;
        }
        if let Some(asked) = failure.retry_after {
            return (asked <= MAX_RETRY_AFTER).then_some(asked);
        }
        let longest = SHORTEST.saturating_mul(2u32.saturating_pow(attempt.saturating_add(1))).min(LONGEST);
        Some(longest.mul_f64(0.5 + 0.5 * random.clamp(0.0, 1.0)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::classify;

    fn failure(retry_after: Option<u64>) -> ModelFailure {
        let retry_after = retry_after.map(Duration::from_secs);
        ModelFailure { retry_after, ..classify::server("x".into()) }
    }

    #[test]
    fn waits_double_from_half_a_second_to_eight() {
        let wait = |attempt, random| {
            let delay = RetryPolicy { limit: 100 }.next_delay(attempt, &failure(None), random);
            delay.unwrap().as_millis()
        };
        let shortest: Vec<_> = (0..6).map(|attempt| wait(attempt, 0.0)).collect();
        let longest: Vec<_> = (0..6).map(|attempt| wait(attempt, 1.0)).collect();
        assert_eq!(shortest, [500, 1000, 2000, 4000, 4000, 4000]);
        assert_eq!(longest, [1000, 2000, 4000, 8000, 8000, 8000]);
        assert_eq!(wait(99, 7.0), 8000);
    }

    #[test]
    fn four_retries_unless_the_environment_says_otherwise() {
        let tries = |env: &Env| {
            let retry = RetryPolicy::from_env(env);
            (0..).take_while(|attempt| retry.next_delay(*attempt, &failure(None), 0.0).is_some()).count()
        };
        assert_eq!(tries(&Env::default()), 4);
        assert_eq!(tries(&Env::default().with("ONA_MAX_RETRIES", "0")), 0);
        assert_eq!(tries(&Env::default().with("ONA_MAX_RETRIES", "7")), 7);
        assert_eq!(tries(&Env::default().with("ONA_MAX_RETRIES", "many")), 4);
    }

    #[test]
    fn the_server_is_believed_for_a_minute() {
        let delay = |seconds| RetryPolicy::default().next_delay(0, &failure(Some(seconds)), 0.5);
        assert_eq!(delay(0), Some(Duration::ZERO));
        assert_eq!(delay(60), Some(Duration::from_secs(60)));
        assert_eq!(delay(61), None);
    }

    #[test]
    fn what_will_not_pass_is_not_tried_again() {
        let refused = ModelFailure { transient: false, ..failure(Some(1)) };
        assert_eq!(RetryPolicy::default().next_delay(0, &refused, 0.5), None);
    }
}
