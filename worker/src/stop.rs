//! A word from outside to a computation: nobody waits for you any more.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// The computation was told to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("stopped because nobody waits for the result any more")]
pub struct Stopped;

/// Whether to go on. Clones are one flag, which is set once and stays set; looking at it costs next to nothing.
#[derive(Debug, Clone)]
pub struct Stop(Option<Arc<Flag>>);

#[derive(Debug, Default)]
struct Flag {
    set: AtomicBool,
    /// Held while the flag is set, so that no sleeper misses it.
    gate: Mutex<()>,
    changed: Condvar,
}

impl Default for Stop {
    fn default() -> Self {
        Self::new()
    }
}

impl Stop {
    /// Returns a flag that is not set yet.
    pub fn new() -> Self {
        Self(Some(Arc::default()))
    }

    /// Returns what never stops anything, for callers that always wait for the result.
    pub const fn never() -> Self {
        Self(None)
    }

    /// Sets the flag and wakes whoever sleeps on it. Of [`Self::never`], nothing happens.
    pub fn set(&self) {
        if let Some(flag) = &self.0 {
            let gate = flag.gate.lock().unwrap_or_else(PoisonError::into_inner);
            flag.set.store(true, Ordering::Release);
            drop(gate);
            flag.changed.notify_all();
        }
    }

    /// Whether the flag is set.
    pub fn is_set(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|flag| flag.set.load(Ordering::Acquire))
    }

    /// Fails once the flag is set.
    pub fn check(&self) -> Result<(), Stopped> {
        if self.is_set() { Err(Stopped) } else { Ok(()) }
    }

    /// Blocks the thread for so long, or until the flag is set.
    pub fn sleep(&self, time: Duration) -> Result<(), Stopped> {
        let Some(flag) = &self.0 else {
            thread::sleep(time);
            return Ok(());
        };
        let gate = flag.gate.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = flag
            .changed
            .wait_timeout_while(gate, time, |()| !flag.set.load(Ordering::Acquire));
        drop(waited.unwrap_or_else(PoisonError::into_inner));
        self.check()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clones_are_one_flag_and_never_is_none() {
        let stop = Stop::new();
        let other = stop.clone();
        assert_eq!(other.check(), Ok(()));
        stop.set();
        assert_eq!(other.check(), Err(Stopped));
        let never = Stop::never();
        never.set();
        assert!(!never.is_set());
    }

    #[test]
    fn setting_the_flag_ends_a_sleep() {
        let stop = Stop::new();
        let sleeper = stop.clone();
        let thread = thread::spawn(move || sleeper.sleep(Duration::from_hours(1)));
        stop.set();
        assert_eq!(thread.join().unwrap(), Err(Stopped));
        assert_eq!(Stop::new().sleep(Duration::from_millis(1)), Ok(()));
    }
}
