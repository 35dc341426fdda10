//! Tasks that may be ending their workers are worked on alone.
//!
//! A worker that dies takes every delivery in its hands with it, and the broker counts that against each of them. Were a task
//! that kills its worker always next to others, these would be given up with it.

use std::hash::{BuildHasher as _, RandomState};
use std::time::Duration;

use tokio::sync::{RwLock, RwLockReadGuard, RwLockWriteGuard};

/// A delivery that lost this many holders is suspicious: one loss is a restart, or a connection.
const SUSPICIOUS: u32 = 3;

/// Longest wait, in milliseconds, before a suspicious delivery asks to be alone. Of several, another one so goes first each time.
const LONGEST_WAIT_MS: u64 = 200;

/// Who works next to whom in one process.
#[derive(Debug, Default)]
pub(super) struct Quarantine {
    lock: RwLock<()>,
}

/// Leave to work, for as long as this value.
#[derive(Debug)]
pub(super) enum Leave<'a> {
    Together { _guard: RwLockReadGuard<'a, ()> },
    Alone { _guard: RwLockWriteGuard<'a, ()> },
}

impl Quarantine {
    /// Waits until a delivery that lost `returned` holders may be worked on.
    pub(super) async fn enter(&self, returned: u32) -> Leave<'_> {
        if returned < SUSPICIOUS {
            let guard = self.lock.read().await;
            return Leave::Together { _guard: guard };
        }
        tokio::time::sleep(random_wait()).await;
        let guard = self.lock.write().await;
        Leave::Alone { _guard: guard }
    }
}

/// Orders tasks and changes no result, so it need not be repeatable.
fn random_wait() -> Duration {
    Duration::from_millis(RandomState::new().hash_one(0) % LONGEST_WAIT_MS)
}

#[cfg(test)]
mod tests {
    use tokio::time::timeout;

    use super::*;

    const SOON: Duration = Duration::from_millis(LONGEST_WAIT_MS + 20);
    const LATE: Duration = Duration::from_secs(10);

    #[tokio::test]
    async fn a_suspicious_delivery_waits_for_others_and_others_for_it() {
        let quarantine = Quarantine::default();
        let one = quarantine.enter(0).await;
        let two = timeout(LATE, quarantine.enter(SUSPICIOUS - 1)).await;
        assert!(timeout(SOON, quarantine.enter(SUSPICIOUS)).await.is_err());
        drop((one, two));
        let alone = timeout(LATE, quarantine.enter(SUSPICIOUS)).await;
        assert!(matches!(alone, Ok(Leave::Alone { .. })));
        assert!(timeout(SOON, quarantine.enter(0)).await.is_err());
        drop(alone);
        assert!(timeout(LATE, quarantine.enter(0)).await.is_ok());
    }
}
