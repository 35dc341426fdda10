//! The farm's counts, which may be away: then work goes on without them.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use evalfarm_domain::JobId;
use evalfarm_state::{JobStore, StateError};
use tracing::{info, warn};

use super::failure::told;

/// Longest wait for one answer: a frozen server must not hold up tasks.
const PATIENCE: Duration = Duration::from_secs(1);

/// After a failure nothing is asked for so long.
const PAUSE: Duration = Duration::from_secs(2);

/// How long a broadcast cancellation is remembered, for when the counts cannot be asked. Not longer: the same job may be
/// submitted again.
const MEMORY: Duration = Duration::from_mins(1);

/// How long a job that is not cancelled counts as such without asking again: many tasks of a second share one answer.
const FRESH: Duration = Duration::from_millis(100);

/// What is counted, and what is known when it cannot be asked.
#[derive(Debug)]
pub(super) struct Counts {
    store: Option<Arc<dyn JobStore>>,
    inner: Mutex<Inner>,
}

#[derive(Debug, Default)]
struct Inner {
    /// Set while the store is away: when to ask again.
    away_until: Option<Instant>,
    cancelled: BTreeMap<JobId, Instant>,
    /// When the store last said that a job is not cancelled.
    wanted: BTreeMap<JobId, Instant>,
}

impl Counts {
    pub(super) fn new(store: Option<Arc<dyn JobStore>>) -> Self {
        Self {
            store,
            inner: Mutex::default(),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks the store, or returns nothing when it is away or there is none. That is logged once, not for each call.
    pub(super) async fn ask<'a, T, F>(
        &'a self,
        call: impl FnOnce(&'a dyn JobStore) -> F,
    ) -> Option<T>
    where
        F: Future<Output = Result<T, StateError>>,
    {
        let store = self.store.as_deref()?;
        let away = self.inner().away_until;
        if away.is_some_and(|until| Instant::now() < until) {
            return None;
        }
        match tokio::time::timeout(PATIENCE, call(store)).await {
            Ok(Ok(answer)) => {
                if self.inner().away_until.take().is_some() {
                    info!("counts can be reached again");
                }
                return Some(answer);
            }
            Ok(Err(error)) => self.is_away(&error),
            Err(_) => self.is_away(&StateError::Timeout { limit: PATIENCE }),
        }
        None
    }

    fn is_away(&self, error: &StateError) {
        let until = Instant::now() + PAUSE;
        if self.inner().away_until.replace(until).is_none() {
            let error = told(error);
            warn!(error, "counts cannot be reached, going on without them");
        }
    }

    /// Remembers that a job was cancelled.
    pub(super) fn heard_cancel(&self, job: &JobId) {
        let now = Instant::now();
        let mut inner = self.inner();
        inner.cancelled.retain(|_, heard| now - *heard < MEMORY);
        inner.cancelled.insert(job.clone(), now);
        inner.wanted.remove(job);
    }

    /// Whether a job is cancelled, as far as is known. The store knows best: what was heard may be of an earlier submission.
    pub(super) async fn is_cancelled(&self, job: &JobId) -> bool {
        let said = self.inner().wanted.get(job).copied();
        if said.is_some_and(|said| said.elapsed() < FRESH) {
            return false;
        }
        let Some(reason) = self.ask(|store| store.cancelled(job)).await else {
            let heard = self.inner().cancelled.get(job).copied();
            return heard.is_some_and(|heard| heard.elapsed() < MEMORY);
        };
        if reason.is_none() {
            let now = Instant::now();
            let mut inner = self.inner();
            inner.wanted.retain(|_, said| now - *said < FRESH);
            inner.wanted.insert(job.clone(), now);
        }
        reason.is_some()
    }
}
