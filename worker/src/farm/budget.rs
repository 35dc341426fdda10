//! Permits of an engine: how much the whole farm may ask of it.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_domain::EngineName;
use evalfarm_state::{Budget, JobStore as _, MemoryStore, Permit, PermitId};
use tokio::runtime::Handle;

use super::counts::Counts;
use crate::{Stop, Stopped};

/// How much longer than the engine's latency a permit is held at most, should its holder die.
const LONGEST: Duration = Duration::from_secs(30);

/// Shortest and longest pause before a held permit is asked for again.
const PAUSES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(100));

/// Asks for permits, of the farm's own counts or, while these cannot be asked, of this process's.
#[derive(Debug)]
pub(super) struct Permits {
    counts: Arc<Counts>,
    /// While the farm's counts are away one request at a time is made from here: no more than one for each worker.
    alone: MemoryStore,
}

/// A use of an engine that a permit was granted for.
#[derive(Debug, Clone)]
pub(super) struct Use<'a> {
    pub(super) engine: &'a EngineName,
    pub(super) budget: &'a Budget,
    pub(super) latency: Duration,
    pub(super) permit: PermitId,
}

impl Permits {
    pub(super) fn new(counts: Arc<Counts>) -> Self {
        let start = Instant::now();
        Self {
            counts,
            alone: MemoryStore::new(move || start.elapsed()),
        }
    }

    /// Blocks the thread, which must not be one of the runtime's, until a permit is granted.
    pub(super) fn acquire(
        &self,
        runtime: &Handle,
        asked: &Use<'_>,
        stop: &Stop,
    ) -> Result<(), Stopped> {
        loop {
            stop.check()?;
            let pause = match runtime.block_on(self.ask(asked)) {
                Permit::Granted => return Ok(()),
                Permit::AllHeld { expires_in } => {
                    let pause = (asked.latency / 4).clamp(PAUSES.0, PAUSES.1);
                    pause.min(expires_in.max(PAUSES.0))
                }
                Permit::TooSoon { wait } => wait,
            };
            stop.sleep(pause)?;
        }
    }

    async fn ask(&self, asked: &Use<'_>) -> Permit {
        let hold = asked.latency + LONGEST;
        let farm = self.counts.ask(|store| async move {
            store
                .acquire(asked.engine, asked.budget, &asked.permit, hold)
                .await
        });
        if let Some(permit) = farm.await {
            return permit;
        }
        let budget = Budget {
            concurrent: NonZeroU32::MIN,
            pace: asked.budget.pace,
        };
        let alone = self
            .alone
            .acquire(asked.engine, &budget, &asked.permit, hold);
        // Counting in memory does not fail.
        alone.await.unwrap_or(Permit::Granted)
    }

    /// Gives a permit back. Blocks the thread as [`Self::acquire`] does.
    pub(super) fn give_back(&self, runtime: &Handle, used: &Use<'_>) {
        runtime.block_on(async {
            let farm = self
                .counts
                .ask(|store| async move { store.give_back(used.engine, &used.permit).await });
            let alone = self.alone.give_back(used.engine, &used.permit);
            // A permit that is not given back expires.
            drop(tokio::join!(farm, alone));
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn without_the_farms_counts_one_request_is_made_at_a_time() {
        let permits = Permits::new(Arc::new(Counts::new(None)));
        let engine = EngineName::try_from("engine").unwrap();
        let budget = Budget {
            concurrent: NonZeroU32::MAX,
            pace: None,
        };
        let ask = async |name: &str| {
            let asked = Use {
                engine: &engine,
                budget: &budget,
                latency: Duration::ZERO,
                permit: PermitId(name.to_owned()),
            };
            permits.ask(&asked).await
        };
        assert_eq!(ask("one").await, Permit::Granted);
        assert!(matches!(ask("two").await, Permit::AllHeld { .. }));
        assert_eq!(ask("one").await, Permit::Granted);
    }
}
