//! All jobs of a coordinator: taken in, joined, cancelled, and run a few at a time.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use evalfarm_broker::Letter;
use evalfarm_domain::{Digest, JobId};
use evalfarm_proto::{Cancel, Message};
use evalfarm_store::{Creation, JobObject, ObjectPath, StoreError};
use evalfarm_telemetry::TraceContext;
use tokio::runtime::Handle;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;

use super::credentials::{Actor, Role};
use super::dispatch::Going;
use super::entry::{Entry, lock};
use super::farm::Farm;
use super::prepare::{PrepareError, prepare};
use super::records::{SUBMISSION_SCHEMA, StoredSubmission, parsed, written};
use crate::Job;
use crate::api::{EndOfJob, JobState, JobStatus, Submission, Submitted};

/// Jobs that are over and still listed.
const MOST_LISTED: usize = 1_000;

/// Pause between two attempts to lower the flag of a job that was cancelled and goes on.
const FLAG_EVERY: Duration = Duration::from_secs(2);

/// Jobs get this long to pause; one that is just being judged may take longer, and is judged again by the next coordinator.
const PAUSING: Duration = Duration::from_secs(30);

/// A request about jobs that was not done.
#[derive(Debug, thiserror::Error)]
pub enum JobsError {
    /// The submission cannot become a job.
    #[error("the submission cannot become a job")]
    Prepare(#[from] PrepareError),
    /// There is no such job.
    #[error("there is no job `{job}`")]
    Unknown {
        /// What was asked for.
        job: String,
    },
    /// The job is over.
    #[error("job `{job}` is over")]
    Over {
        /// The job.
        job: JobId,
    },
    /// The job is just being cancelled.
    #[error("job `{job}` is being cancelled; submit it again in a moment")]
    Cancelling {
        /// The job.
        job: JobId,
    },
    /// Somebody else's job, and the role is too weak.
    #[error("job `{job}` was submitted by `{submitter}`: cancelling it needs the role operator")]
    NotYours {
        /// The job.
        job: JobId,
        /// Who submitted it.
        submitter: String,
    },
    /// The store failed.
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
    /// What is stored cannot be read.
    #[error("what is stored of job `{job}` cannot be read")]
    Json {
        /// The job.
        job: JobId,
        /// Why.
        #[source]
        source: serde_json::Error,
    },
}

/// All jobs.
#[derive(Debug)]
pub(crate) struct Jobs {
    pub(crate) farm: Arc<Farm>,
    pub(super) runtime: Handle,
    pub(super) entries: Mutex<BTreeMap<JobId, Arc<Entry>>>,
    /// One of them is held while a job is taken in, so that two equal submissions are one job; others go on meanwhile.
    taking_in: [tokio::sync::Mutex<()>; 64],
    pub(super) turns: Arc<Semaphore>,
    runs: Mutex<JoinSet<()>>,
    /// Whether the coordinator stops: what is taken in from now on waits for the next one.
    stopping: AtomicBool,
}

impl Jobs {
    /// Returns no jobs, of which `running` may run at a time later.
    pub(crate) fn new(farm: Arc<Farm>, running: usize) -> Self {
        Self {
            farm,
            runtime: Handle::current(),
            entries: Mutex::default(),
            taking_in: std::array::from_fn(|_| tokio::sync::Mutex::default()),
            turns: Arc::new(Semaphore::new(running)),
            runs: Mutex::default(),
            stopping: AtomicBool::new(false),
        }
    }

    /// Returns the jobs, newest first: all that are not over, and the newest of the others.
    pub(crate) fn list(&self) -> Vec<JobStatus> {
        let entries: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        let mut jobs: Vec<JobStatus> = entries.iter().map(|entry| entry.board.status()).collect();
        jobs.sort_by(|a, b| (b.submitted, &b.job).cmp(&(a.submitted, &a.job)));
        let mut over = 0;
        jobs.retain(|job| {
            over += usize::from(job.state.is_over());
            !job.state.is_over() || over <= MOST_LISTED
        });
        jobs
    }

    /// Returns a job.
    pub(crate) fn get(&self, job: &str) -> Result<(JobId, Arc<Entry>), JobsError> {
        let unknown = || JobsError::Unknown {
            job: job.to_owned(),
        };
        let id = JobId::try_from(job.to_owned()).map_err(|_| unknown())?;
        let entry = lock(&self.entries).get(&id).cloned();
        Ok((id, entry.ok_or_else(unknown)?))
    }

    /// Takes a job in, or joins the one that is there.
    pub(crate) async fn submit(
        self: &Arc<Self>,
        actor: &Actor,
        submission: Submission,
        now: u64,
        trace: &TraceContext,
    ) -> Result<Submitted, JobsError> {
        let job = Arc::new(prepare(&self.farm, &submission).await?);
        let id = job.settings.job.clone();
        let taking_in = self.taking_in(&id).lock().await;
        if let Ok((_, entry)) = self.get(id.as_str()) {
            drop(taking_in);
            return self.join(&id, &entry, &job).await;
        }
        let stored = StoredSubmission {
            schema_version: SUBMISSION_SCHEMA,
            name: job.sweep.name.to_string(),
            submission,
            submitter: actor.clone(),
            submitted: now,
            traceparent: trace.parent().map(ToOwned::to_owned),
        };
        if !self.store(&id, &job, &stored).await? {
            // Another coordinator took it in, or this one could not read what is stored of it when it started.
            self.take_up(&id).await?;
            drop(taking_in);
            let (_, entry) = self.get(id.as_str())?;
            return self.join(&id, &entry, &job).await;
        }
        let entry = Arc::new(Entry::new(&id, stored));
        self.keep(&entry, &job);
        lock(&self.entries).insert(id.clone(), Arc::clone(&entry));
        self.start(id.clone(), entry);
        Ok(Submitted {
            job: id,
            created: true,
        })
    }

    fn taking_in(&self, id: &JobId) -> &tokio::sync::Mutex<()> {
        let digest = Digest::of(id.as_str().as_bytes());
        &self.taking_in[usize::from(digest.as_bytes()[0]) % self.taking_in.len()]
    }

    /// Joins a job that is there; one that ended without a verdict starts again.
    async fn join(
        self: &Arc<Self>,
        id: &JobId,
        entry: &Arc<Entry>,
        job: &Arc<Job>,
    ) -> Result<Submitted, JobsError> {
        let _changing = entry.changing.lock().await;
        let created = match entry.board.state() {
            JobState::Queued | JobState::Running if entry.is_cancelled() => {
                return Err(JobsError::Cancelling { job: id.clone() });
            }
            JobState::Queued | JobState::Running | JobState::Judged => false,
            JobState::Cancelled | JobState::Failed => {
                let ended = ObjectPath::job(id, JobObject::Ended)?;
                self.farm.store.remove(&ended).await?;
                self.keep(entry, job);
                entry.going.send_replace(Going::On);
                entry.board.enter(JobState::Queued);
                self.lower_flag(id, entry).await;
                self.start(id.clone(), Arc::clone(entry));
                true
            }
        };
        Ok(Submitted {
            job: id.clone(),
            created,
        })
    }

    /// Keeps a job that runs at once. One that waits is made again when it is its turn: it holds every query of its dataset,
    /// and any number may wait.
    fn keep(&self, entry: &Entry, job: &Arc<Job>) {
        if self.turns.available_permits() > 0 {
            entry.keep(job);
        }
    }

    /// Takes back that workers are told to drop a job's tasks, later when the counts do not answer: they were lost then, or
    /// will tell workers again what is no longer true.
    async fn lower_flag(self: &Arc<Self>, id: &JobId, entry: &Arc<Entry>) {
        let Err(error) = self.farm.lines.state.forget_job(id).await else {
            return;
        };
        tracing::warn!(%error, job = %id, "the job's counts could not be forgotten yet");
        let (jobs, id, entry) = (Arc::clone(self), id.clone(), Arc::clone(entry));
        self.runtime.spawn(async move {
            loop {
                tokio::select! {
                    () = tokio::time::sleep(FLAG_EVERY) => {}
                    () = entry.halted() => return,
                }
                let _changing = entry.changing.lock().await;
                let goes_on = *entry.going.borrow() == Going::On && !entry.board.state().is_over();
                if !goes_on || jobs.farm.lines.state.forget_job(&id).await.is_ok() {
                    return;
                }
            }
        });
    }

    /// Stores a job before anything is done for it; says whether it is new. The submission comes last: with it the job counts.
    async fn store(
        &self,
        id: &JobId,
        job: &Job,
        stored: &StoredSubmission,
    ) -> Result<bool, JobsError> {
        let store = &self.farm.store;
        store.create_settings(id, &job.settings).await?;
        let record = written(id, &job.record())?;
        store
            .create_for_job(id, JobObject::Record, Bytes::from(record))
            .await?;
        let submission = written(id, stored)?;
        let created = store
            .create_for_job(id, JobObject::Submission, Bytes::from(submission))
            .await?;
        Ok(created == Creation::Created)
    }

    /// Cancels a job.
    pub(crate) async fn cancel(
        &self,
        actor: &Actor,
        job: &str,
        reason: &str,
    ) -> Result<JobStatus, JobsError> {
        let (id, entry) = self.get(job)?;
        let own = entry.submission.submitter.name == actor.name;
        if !own && !actor.may(Role::Operator) {
            return Err(JobsError::NotYours {
                job: id,
                submitter: entry.submission.submitter.name.clone(),
            });
        }
        let _changing = entry.changing.lock().await;
        if entry.board.state().is_over() {
            return Err(JobsError::Over { job: id });
        }
        let end = EndOfJob::Cancelled {
            by: actor.name.clone(),
            reason: reason.to_owned(),
        };
        match self.store_end(&id, end).await? {
            EndOfJob::Cancelled { by, reason } => {
                entry.going.send_replace(Going::Cancelled { by, reason });
            }
            EndOfJob::Judged { .. } | EndOfJob::Failed { .. } => {
                return Err(JobsError::Over { job: id });
            }
        }
        self.tell_workers(&id, reason).await;
        Ok(entry.board.status())
    }

    /// Tells workers that a job is cancelled. When nobody hears it, its tasks are done for nothing and harm nobody.
    async fn tell_workers(&self, id: &JobId, reason: &str) {
        let lines = &self.farm.lines;
        if let Err(error) = lines.state.cancel(id, reason).await {
            tracing::warn!(%error, job = %id, "the cancel flag could not be raised");
        }
        let message = Message::Cancel(Cancel {
            job: id.clone(),
            reason: reason.to_owned(),
        });
        match Letter::new(&message) {
            Ok(letter) => {
                if let Err(error) = lines.broker.broadcast(&letter).await {
                    tracing::warn!(%error, job = %id, "workers could not be told");
                }
            }
            Err(error) => tracing::warn!(%error, job = %id, "workers could not be told"),
        }
    }

    /// Stores how a job ended, and returns the end that stays: the first one.
    pub(super) async fn store_end(&self, id: &JobId, end: EndOfJob) -> Result<EndOfJob, JobsError> {
        let bytes = Bytes::from(written(id, &end)?);
        let store = &self.farm.store;
        let created = store.create_for_job(id, JobObject::Ended, bytes).await?;
        if matches!(created, Creation::Created | Creation::Same) {
            return Ok(end);
        }
        match store.read_of_job(id, JobObject::Ended).await? {
            Some(earlier) => parsed(id, &earlier),
            None => Ok(end),
        }
    }

    /// Has a job run when it is its turn.
    pub(super) fn start(self: &Arc<Self>, id: JobId, entry: Arc<Entry>) {
        // Looked at after the entry is among all others, which are paused after this is set.
        if self.stopping.load(Ordering::SeqCst) {
            entry.pause();
        }
        let (jobs, turn) = (Arc::clone(self), self.line_up());
        let mut runs = lock(&self.runs);
        while runs.try_join_next().is_some() {}
        runs.spawn_on(
            async move { jobs.take_turn(id, entry, turn).await },
            &self.runtime,
        );
    }

    /// Pauses every job and waits until all threads are back, or for half a minute: what is cut off then is done again, as
    /// after a power failure.
    pub(crate) async fn pause(&self) {
        self.stopping.store(true, Ordering::SeqCst);
        let entries: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        for entry in entries {
            entry.pause();
        }
        let mut runs = std::mem::take(&mut *lock(&self.runs));
        let all = async { while runs.join_next().await.is_some() {} };
        if tokio::time::timeout(PAUSING, all).await.is_err() {
            tracing::warn!(jobs = runs.len(), "jobs are cut off");
        }
    }
}
