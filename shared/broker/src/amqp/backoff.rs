//! How long to wait before trying again.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

const SHORTEST: Duration = Duration::from_millis(200);
const LONGEST: Duration = Duration::from_secs(15);

/// A connection that lasted this long was a good one: the next waits begin short again.
pub(super) const HEALTHY: Duration = Duration::from_mins(1);

/// Waits that double from 0.2 s to 15 s.
#[derive(Debug)]
pub(super) struct Backoff {
    next: Duration,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { next: SHORTEST }
    }

    /// Returns the next wait: between half of it and all of it, so that many workers do not return in the same moment.
    pub(super) fn wait(&mut self) -> Duration {
        let all = self.next;
        self.next = (all * 2).min(LONGEST);
        // The hasher's keys are random for each process: enough to keep workers apart, and no result depends on it.
        let share = RandomState::new().hash_one(()) % 1_000;
        let share = u32::try_from(share).expect("less than 1,000");
        all / 2 + all / 2 * share / 1_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_longest() {
        let mut backoff = Backoff::new();
        let mut expected = 0.2;
        for _ in 0..10 {
            let wait = backoff.wait().as_secs_f64();
            assert!(
                (expected / 2.0 - 1e-9..=expected).contains(&wait),
                "{wait} of {expected}"
            );
            expected = f64::min(expected * 2.0, 15.0);
        }
        assert!(backoff.next == LONGEST);
    }
}
