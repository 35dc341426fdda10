//! Time, with as little of what else the machine does as possible.

use std::fs;
use std::time::{Duration, Instant};

/// A running measurement of this thread.
pub(crate) struct Clock {
    start: Instant,
    used: Option<Duration>,
}

impl Clock {
    /// Starts measuring.
    pub(crate) fn start() -> Self {
        Self {
            used: used(),
            start: Instant::now(),
        }
    }

    /// Returns how long this thread has run since: the time on its processor where the system tells it (Linux), else the time
    /// that has passed. On a machine that does nothing else the two are the same.
    pub(crate) fn ran(&self) -> Duration {
        match (self.used, used()) {
            (Some(before), Some(now)) => now.saturating_sub(before),
            (None, _) | (_, None) => self.passed(),
        }
    }

    /// Returns how much time has passed since.
    pub(crate) fn passed(&self) -> Duration {
        self.start.elapsed()
    }
}

/// Returns how long this thread has been on a processor.
fn used() -> Option<Duration> {
    let schedule = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    let used = schedule.split_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(used))
}
