//! The store of one process: embedded mode and tests.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_domain::{EngineName, JobId, TaskId, WorkerId};

use crate::{
    Budget, Claim, Claimant, JobStore, Lease, Permit, PermitId, Progress, StateError, TaskEnd,
    WorkerReport,
};

/// Counts in memory, by a clock that the caller gives.
pub struct MemoryStore {
    clock: Box<dyn Fn() -> Duration + Send + Sync>,
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    jobs: BTreeMap<JobId, Job>,
    workers: BTreeMap<WorkerId, WorkerReport>,
    engines: BTreeMap<EngineName, Engine>,
}

#[derive(Debug, Default)]
struct Job {
    steps: BTreeMap<u32, u64>,
    ends: BTreeMap<TaskId, TaskEnd>,
    leases: BTreeMap<TaskId, Held>,
    fences: BTreeMap<TaskId, u64>,
    cancelled: Option<String>,
}

#[derive(Debug)]
struct Held {
    claimant: Claimant,
    fence: u64,
    until: Duration,
}

#[derive(Debug, Default)]
struct Engine {
    held: BTreeMap<PermitId, Duration>,
    /// When the next permit would come if they came one an interval.
    next: Duration,
}

impl MemoryStore {
    /// Returns an empty store. The clock gives the time since any fixed moment, and never goes back.
    pub fn new(clock: impl Fn() -> Duration + Send + Sync + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            counts: Mutex::default(),
        }
    }

    // No call leaves the counts half changed, so a panic elsewhere does not spoil them.
    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemoryStore")
            .field("counts", &self.counts)
            .finish_non_exhaustive()
    }
}

impl Job {
    fn claim(&mut self, mut lease: Lease, until: Duration, now: Duration) -> Claim {
        if let Some(held) = self.leases.get(&lease.task)
            && held.until > now
        {
            let (by, fence) = (held.claimant.clone(), held.fence);
            if by != lease.claimant {
                return Claim::Held { by, fence };
            }
            lease.fence = fence;
        } else {
            let fence = self.fences.entry(lease.task.clone()).or_default();
            *fence += 1;
            lease.fence = *fence;
        }
        let held = Held {
            claimant: lease.claimant.clone(),
            fence: lease.fence,
            until,
        };
        self.leases.insert(lease.task.clone(), held);
        Claim::Granted(lease)
    }

    fn held(&mut self, lease: &Lease) -> Option<&mut Held> {
        let held = self.leases.get_mut(&lease.task)?;
        (held.fence == lease.fence && held.claimant == lease.claimant).then_some(held)
    }
}

impl Engine {
    fn acquire(
        &mut self,
        budget: &Budget,
        permit: &PermitId,
        until: Duration,
        now: Duration,
    ) -> Permit {
        self.held.retain(|_, expiry| *expiry > now);
        if let Some(expiry) = self.held.get_mut(permit) {
            *expiry = until;
            return Permit::Granted;
        }
        if self.held.len() >= budget.concurrent.get() as usize {
            let next = self.held.values().min().copied().unwrap_or(now);
            let expires_in = next.saturating_sub(now);
            return Permit::AllHeld { expires_in };
        }
        if let Some(pace) = budget.pace {
            let interval = pace.interval.max(Duration::from_micros(1));
            let next = self.next.max(now);
            let tolerance = interval * (pace.burst.get() - 1);
            if let Some(wait) = next.saturating_sub(now).checked_sub(tolerance)
                && !wait.is_zero()
            {
                return Permit::TooSoon { wait };
            }
            self.next = next + interval;
        }
        self.held.insert(permit.clone(), until);
        Permit::Granted
    }
}

#[async_trait]
impl JobStore for MemoryStore {
    async fn expect(&self, job: &JobId, step: u32, tasks: u64) -> Result<(), StateError> {
        let mut counts = self.counts();
        let job = counts.jobs.entry(job.clone()).or_default();
        job.steps.insert(step, tasks);
        Ok(())
    }

    async fn end(&self, job: &JobId, task: &TaskId, end: TaskEnd) -> Result<(), StateError> {
        let mut counts = self.counts();
        let job = counts.jobs.entry(job.clone()).or_default();
        if job.ends.get(task) != Some(&TaskEnd::Done) {
            job.ends.insert(task.clone(), end);
        }
        Ok(())
    }

    async fn progress(&self, job: &JobId) -> Result<Option<Progress>, StateError> {
        let counts = self.counts();
        let Some(job) = counts.jobs.get(job) else {
            return Ok(None);
        };
        let ended = |end| job.ends.values().filter(|&&one| one == end).count() as u64;
        let known = !job.steps.is_empty() || !job.ends.is_empty();
        Ok(known.then(|| Progress {
            planned: job.steps.values().sum(),
            done: ended(TaskEnd::Done),
            dead: ended(TaskEnd::Dead),
        }))
    }

    async fn claim(
        &self,
        job: &JobId,
        task: &TaskId,
        claimant: &Claimant,
        lease: Duration,
    ) -> Result<Claim, StateError> {
        let now = (self.clock)();
        let wanted = Lease {
            job: job.clone(),
            task: task.clone(),
            claimant: claimant.clone(),
            fence: 0,
        };
        let mut counts = self.counts();
        let job = counts.jobs.entry(job.clone()).or_default();
        Ok(job.claim(wanted, now + lease, now))
    }

    async fn renew(&self, lease: &Lease, time: Duration) -> Result<bool, StateError> {
        let until = (self.clock)() + time;
        let mut counts = self.counts();
        let held = counts
            .jobs
            .get_mut(&lease.job)
            .and_then(|job| job.held(lease));
        let renewed = held.map(|held| held.until = until);
        Ok(renewed.is_some())
    }

    async fn release(&self, lease: &Lease) -> Result<(), StateError> {
        let mut counts = self.counts();
        if let Some(job) = counts.jobs.get_mut(&lease.job)
            && job.held(lease).is_some()
        {
            job.leases.remove(&lease.task);
        }
        Ok(())
    }

    async fn attempts(&self, job: &JobId, task: &TaskId) -> Result<u64, StateError> {
        let counts = self.counts();
        let fence = counts.jobs.get(job).and_then(|job| job.fences.get(task));
        Ok(fence.copied().unwrap_or(0))
    }

    async fn cancel(&self, job: &JobId, reason: &str) -> Result<(), StateError> {
        let mut counts = self.counts();
        let job = counts.jobs.entry(job.clone()).or_default();
        job.cancelled.get_or_insert_with(|| reason.to_owned());
        Ok(())
    }

    async fn cancelled(&self, job: &JobId) -> Result<Option<String>, StateError> {
        let counts = self.counts();
        Ok(counts.jobs.get(job).and_then(|job| job.cancelled.clone()))
    }

    async fn forget_job(&self, job: &JobId) -> Result<(), StateError> {
        self.counts().jobs.remove(job);
        Ok(())
    }

    async fn beat(&self, report: &WorkerReport) -> Result<(), StateError> {
        let mut counts = self.counts();
        let last = counts.workers.get(&report.worker);
        if last.is_none_or(|last| last.seen <= report.seen) {
            counts.workers.insert(report.worker.clone(), report.clone());
        }
        Ok(())
    }

    async fn workers(&self) -> Result<Vec<WorkerReport>, StateError> {
        Ok(self.counts().workers.values().cloned().collect())
    }

    async fn forget_worker(&self, worker: &WorkerId) -> Result<(), StateError> {
        self.counts().workers.remove(worker);
        Ok(())
    }

    async fn acquire(
        &self,
        engine: &EngineName,
        budget: &Budget,
        permit: &PermitId,
        hold: Duration,
    ) -> Result<Permit, StateError> {
        let now = (self.clock)();
        let mut counts = self.counts();
        let engine = counts.engines.entry(engine.clone()).or_default();
        Ok(engine.acquire(budget, permit, now + hold, now))
    }

    async fn give_back(&self, engine: &EngineName, permit: &PermitId) -> Result<(), StateError> {
        let mut counts = self.counts();
        if let Some(engine) = counts.engines.get_mut(engine) {
            engine.held.remove(permit);
        }
        Ok(())
    }
}
