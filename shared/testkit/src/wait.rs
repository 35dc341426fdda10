//! Waiting for a condition, with a deadline: the one place where tests look again and again.

use std::thread;
use std::time::{Duration, Instant};

/// Pause between two looks.
const LOOK: Duration = Duration::from_millis(2);

/// How long anything may take before a test fails instead of hanging.
const DEADLINE: Duration = Duration::from_mins(5);

/// Asks again and again until there is an answer.
///
/// # Panics
///
/// When there is none within five minutes.
#[track_caller]
pub fn wait_until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(start.elapsed() < DEADLINE, "{what} did not happen");
        thread::sleep(LOOK);
    }
}

/// Asks again and again, beside other futures, until something is so.
///
/// # Panics
///
/// When it is not within five minutes.
pub async fn until(what: &str, mut reached: impl AsyncFnMut() -> bool) {
    let start = Instant::now();
    let mut looks = tokio::time::interval(LOOK);
    while !reached().await {
        assert!(start.elapsed() < DEADLINE, "{what} did not happen");
        looks.tick().await;
    }
}
