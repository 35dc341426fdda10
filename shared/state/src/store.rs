//! The seam: what is counted, and what every implementation owes.

use std::fmt::Debug;
use std::num::NonZeroU32;
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_domain::{EngineName, JobId, TaskId, WorkerId};
use serde::{Deserialize, Serialize};

use crate::StateError;

/// Counts for coordinator and workers.
///
/// Every write may be repeated: the second time changes nothing. Leases and permits expire by the store's own clock.
#[async_trait]
pub trait JobStore: Send + Sync + Debug {
    /// Says how many tasks a step of a job has; the last word about a step counts.
    async fn expect(&self, job: &JobId, step: u32, tasks: u64) -> Result<(), StateError>;

    /// Counts a task as ended, once however often it is said. `Done` replaces `Dead`, never the other way round: a task
    /// that was given up can be tried again, rows that are committed stay.
    async fn end(&self, job: &JobId, task: &TaskId, end: TaskEnd) -> Result<(), StateError>;

    /// Returns how far a job is, or nothing when nothing is known of it.
    async fn progress(&self, job: &JobId) -> Result<Option<Progress>, StateError>;

    /// Claims a task for `lease`. A claimant that holds it already gets the same lease again, from now on.
    async fn claim(
        &self,
        job: &JobId,
        task: &TaskId,
        claimant: &Claimant,
        lease: Duration,
    ) -> Result<Claim, StateError>;

    /// Extends a lease from now on. Says whether it is still held: it is lost once somebody else was granted a later one,
    /// or it was released or forgotten.
    async fn renew(&self, lease: &Lease, time: Duration) -> Result<bool, StateError>;

    /// Gives a lease back, if it is still held.
    async fn release(&self, lease: &Lease) -> Result<(), StateError>;

    /// Returns how many leases of a task were granted so far.
    async fn attempts(&self, job: &JobId, task: &TaskId) -> Result<u64, StateError>;

    /// Raises the job's cancel flag. The first reason stays.
    async fn cancel(&self, job: &JobId, reason: &str) -> Result<(), StateError>;

    /// Returns why a job is cancelled, or nothing when it is not.
    async fn cancelled(&self, job: &JobId) -> Result<Option<String>, StateError>;

    /// Forgets everything about a job, its cancel flag included.
    async fn forget_job(&self, job: &JobId) -> Result<(), StateError>;

    /// Stores what a worker says of itself, unless something later is stored.
    async fn beat(&self, report: &WorkerReport) -> Result<(), StateError>;

    /// Returns the last report of every worker that was not forgotten, by id. Who counts as alive is for the caller to
    /// say.
    async fn workers(&self) -> Result<Vec<WorkerReport>, StateError>;

    /// Forgets a worker that left or was given up.
    async fn forget_worker(&self, worker: &WorkerId) -> Result<(), StateError>;

    /// Asks for one of an engine's permits, for at most `hold`. An id that holds a permit already keeps it, for `hold` from
    /// now on, and uses up no further request.
    async fn acquire(
        &self,
        engine: &EngineName,
        budget: &Budget,
        permit: &PermitId,
        hold: Duration,
    ) -> Result<Permit, StateError>;

    /// Gives a permit back, if it is still held.
    async fn give_back(&self, engine: &EngineName, permit: &PermitId) -> Result<(), StateError>;
}

/// Milliseconds since the Unix epoch, by the clock of whoever says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub u64);

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskEnd {
    /// Its rows are committed.
    Done,
    /// It is in the dead-letter queue.
    Dead,
}

/// How far a job is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Progress {
    /// Tasks of the steps known so far.
    pub planned: u64,
    /// Tasks whose rows are committed.
    pub done: u64,
    /// Tasks that were given up.
    pub dead: u64,
}

/// Who claims a task: one slot of one worker, so that two deliveries of a task to one worker are told apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimant {
    /// The worker.
    pub worker: WorkerId,
    /// Which of its slots, from 0.
    pub slot: u32,
}

/// The right to work on a task for a while. Two may work on one task after all, when the first was slow: the fence tells
/// which of them came later.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lease {
    /// The task's job.
    pub job: JobId,
    /// The task.
    pub task: TaskId,
    /// Who holds it.
    pub claimant: Claimant,
    /// Counts the leases of the task, from 1: later ones are higher.
    pub fence: u64,
}

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The claimant holds this lease.
    Granted(Lease),
    /// Somebody else holds one.
    Held {
        /// Who.
        by: Claimant,
        /// Its fence.
        fence: u64,
    },
}

/// What a worker says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkerReport {
    /// The worker.
    pub worker: WorkerId,
    /// When it said so.
    pub seen: Timestamp,
    /// When it started.
    pub started: Timestamp,
    /// The release it runs.
    pub release: String,
    /// Tasks it works on at a time.
    pub slots: u32,
    /// Tasks it works on now.
    pub current: Vec<TaskId>,
}

/// How much of an engine the whole farm may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Permits held at a time.
    pub concurrent: NonZeroU32,
    /// Permits granted over time, where that is limited.
    pub pace: Option<Pace>,
}

/// A rate: one permit for each interval, where up to `burst` may come at once.
///
/// Source: the generic cell rate algorithm, ITU-T I.371, with a tolerance of `burst − 1` intervals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Time for each permit, in whole microseconds; less counts as one.
    pub interval: Duration,
    /// Permits that may come at once after a pause.
    pub burst: NonZeroU32,
}

/// Names one use of an engine; the same id asked for again is the same use.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PermitId(pub String);

/// The answer to a request for a permit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permit {
    /// The caller may go on.
    Granted,
    /// All permits are held; none expires sooner than this, but one may be given back.
    AllHeld {
        /// Until the next one expires.
        expires_in: Duration,
    },
    /// The rate is used up for so long.
    TooSoon {
        /// Until the next one would be granted.
        wait: Duration,
    },
}
