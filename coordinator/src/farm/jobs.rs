//! All jobs of a coordinator: taken in, taken up again after a restart, run a few at a time, cancelled.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use evalfarm_broker::Letter;
use evalfarm_domain::JobId;
use evalfarm_gate::Verdict;
use evalfarm_proto::{Cancel, Message};
use evalfarm_results::BesideFile;
use evalfarm_store::{Creation, JobObject, ObjectPath, StoreError};
use evalfarm_telemetry::TraceContext;
use serde::{Deserialize, Serialize};
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;

use super::board::Board;
use super::credentials::{Actor, Role};
use super::dispatch::Going;
use super::farm::Farm;
use super::prepare::{self, PrepareError};
use super::runner::{Outcome, run_job, stopped};
use crate::api::{EndOfJob, JobState, JobStatus, Submission, Submitted};
use crate::{Job, Progress as _};

/// Runs of a job that break before it counts as failed.
const MAX_BREAKS: u32 = 8;

/// Wait after the first break; it doubles up to a minute.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// What is stored of a submission.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StoredSubmission {
    pub(crate) schema_version: u32,
    pub(crate) name: String,
    pub(crate) submission: Submission,
    pub(crate) submitter: Actor,
    /// Milliseconds since the Unix epoch.
    pub(crate) submitted: u64,
    /// W3C trace context of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) traceparent: Option<String>,
}

/// What of a stored verdict is needed here.
#[derive(Debug, Deserialize)]
struct StoredVerdict {
    verdict: Verdict,
}

/// One job.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) submission: StoredSubmission,
    pub(crate) board: Arc<Board>,
    pub(crate) going: watch::Sender<Going>,
    job: Mutex<Option<Arc<Job>>>,
}

impl Entry {
    fn new(id: &JobId, submission: StoredSubmission) -> Self {
        let board = Board::new(
            id.clone(),
            submission.name.clone(),
            submission.submitter.name.clone(),
            submission.submitted,
        );
        Self {
            submission,
            board: Arc::new(board),
            going: watch::Sender::new(Going::On),
            job: Mutex::new(None),
        }
    }

    /// Returns the job, when it was made before and not yet let go of.
    pub(crate) fn prepared(&self) -> Option<Arc<Job>> {
        lock(&self.job).clone()
    }

    /// Keeps the job for whoever needs it next.
    pub(crate) fn keep(&self, job: &Arc<Job>) {
        *lock(&self.job) = Some(Arc::clone(job));
    }

    fn let_go(&self) {
        *lock(&self.job) = None;
    }
}

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
    runtime: Handle,
    entries: Mutex<BTreeMap<JobId, Arc<Entry>>>,
    /// Held while a job is taken in, so that two equal submissions are one job.
    taking_in: tokio::sync::Mutex<()>,
    turns: Arc<Semaphore>,
    runs: Mutex<JoinSet<()>>,
}

impl Jobs {
    /// Returns no jobs, of which `running` may run at a time later.
    pub(crate) fn new(farm: Arc<Farm>, running: usize) -> Self {
        Self {
            farm,
            runtime: Handle::current(),
            entries: Mutex::default(),
            taking_in: tokio::sync::Mutex::default(),
            turns: Arc::new(Semaphore::new(running)),
            runs: Mutex::default(),
        }
    }

    /// Returns every job, newest first.
    pub(crate) fn list(&self) -> Vec<JobStatus> {
        let entries: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        let mut jobs: Vec<JobStatus> = entries.iter().map(|entry| entry.board.status()).collect();
        jobs.sort_by(|a, b| (b.submitted, &b.job).cmp(&(a.submitted, &a.job)));
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
        let farm = &self.farm;
        let job = prepare::prepare(&submission, &farm.store, &farm.cache, &farm.folder).await?;
        let job = Arc::new(job);
        let id = job.settings.job.clone();
        let _taking_in = self.taking_in.lock().await;
        if let Ok((_, entry)) = self.get(id.as_str()) {
            return self.join(&id, &entry, &job).await;
        }
        let stored = StoredSubmission {
            schema_version: 1,
            name: job.sweep.name.to_string(),
            submission,
            submitter: actor.clone(),
            submitted: now,
            traceparent: trace.parent().map(ToOwned::to_owned),
        };
        let created = self.store(&id, &job, &stored).await?;
        if created {
            let entry = Arc::new(Entry::new(&id, stored));
            entry.keep(&job);
            lock(&self.entries).insert(id.clone(), Arc::clone(&entry));
            self.start(id.clone(), entry);
        } else {
            // Another coordinator took it in, or this one did before it lost its memory.
            self.take_up(&id).await?;
        }
        Ok(Submitted { job: id, created })
    }

    /// Joins a job that is there; one that ended without a verdict starts again.
    async fn join(
        self: &Arc<Self>,
        id: &JobId,
        entry: &Arc<Entry>,
        job: &Arc<Job>,
    ) -> Result<Submitted, JobsError> {
        let state = entry.board.state();
        let cancelling = matches!(*entry.going.borrow(), Going::Cancelled { .. });
        let created = match state {
            JobState::Queued | JobState::Running if cancelling => {
                return Err(JobsError::Cancelling { job: id.clone() });
            }
            JobState::Queued | JobState::Running | JobState::Judged => false,
            JobState::Cancelled | JobState::Failed => {
                self.farm
                    .store
                    .remove(&ObjectPath::job(id, JobObject::Ended)?)
                    .await?;
                if let Err(error) = self.farm.lines.state.forget_job(id).await {
                    tracing::warn!(%error, job = %id, "the job's counts could not be forgotten");
                }
                entry.keep(job);
                entry.going.send_replace(Going::On);
                entry.board.enter(JobState::Queued);
                self.start(id.clone(), Arc::clone(entry));
                true
            }
        };
        Ok(Submitted {
            job: id.clone(),
            created,
        })
    }

    /// Stores a job before anything is done for it; says whether it is new. The submission comes last: with it the job counts.
    async fn store(
        &self,
        id: &JobId,
        job: &Job,
        stored: &StoredSubmission,
    ) -> Result<bool, JobsError> {
        let store = &self.farm.store;
        let json = |source| JobsError::Json {
            job: id.clone(),
            source,
        };
        store.create_settings(id, &job.settings).await?;
        let record = serde_json::to_vec(&job.record()).map_err(json)?;
        store
            .create_for_job(id, JobObject::Record, Bytes::from(record))
            .await?;
        let submission = serde_json::to_vec(stored).map_err(json)?;
        let created = store
            .create_for_job(id, JobObject::Submission, Bytes::from(submission))
            .await?;
        Ok(created == Creation::Created)
    }

    /// Takes up every job of the store: those without an end run again.
    pub(crate) async fn take_up_all(self: &Arc<Self>) -> Result<usize, JobsError> {
        let mut taken_up = 0;
        for id in self.farm.store.jobs().await? {
            match self.take_up(&id).await {
                Ok(found) => taken_up += usize::from(found),
                // One job that cannot be read must not stop the others.
                Err(error @ JobsError::Json { .. }) => {
                    tracing::error!(%error, "a stored job is left alone");
                }
                Err(error) => return Err(error),
            }
        }
        Ok(taken_up)
    }

    /// Takes up one job of the store; says whether it goes on.
    async fn take_up(self: &Arc<Self>, id: &JobId) -> Result<bool, JobsError> {
        let Some(stored) = self
            .read::<StoredSubmission>(id, JobObject::Submission)
            .await?
        else {
            return Ok(false);
        };
        let verdict = JobObject::Beside(BesideFile::Verdict);
        let verdict = self.read::<StoredVerdict>(id, verdict).await?;
        let end = match verdict {
            Some(record) => Some(EndOfJob::Judged {
                verdict: record.verdict,
            }),
            None => self.read::<EndOfJob>(id, JobObject::Ended).await?,
        };
        let entry = Arc::new(Entry::new(id, stored));
        lock(&self.entries).insert(id.clone(), Arc::clone(&entry));
        let goes_on = end.is_none();
        match end {
            Some(end) => entry.board.close(end),
            None => self.start(id.clone(), entry),
        }
        Ok(goes_on)
    }

    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        job: &JobId,
        object: JobObject,
    ) -> Result<Option<T>, JobsError> {
        let Some(bytes) = self.farm.store.read_of_job(job, object).await? else {
            return Ok(None);
        };
        let read = serde_json::from_slice(&bytes);
        read.map(Some).map_err(|source| JobsError::Json {
            job: job.clone(),
            source,
        })
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
        if entry.board.state().is_over() {
            return Err(JobsError::Over { job: id });
        }
        let end = EndOfJob::Cancelled {
            by: actor.name.clone(),
            reason: reason.to_owned(),
        };
        self.store_end(&id, &end).await?;
        entry.going.send_replace(Going::Cancelled {
            by: actor.name.clone(),
            reason: reason.to_owned(),
        });
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

    async fn store_end(&self, id: &JobId, end: &EndOfJob) -> Result<(), JobsError> {
        let bytes = serde_json::to_vec(end).map_err(|source| JobsError::Json {
            job: id.clone(),
            source,
        })?;
        // The first reason stays.
        self.farm
            .store
            .create_for_job(id, JobObject::Ended, Bytes::from(bytes))
            .await?;
        Ok(())
    }

    /// Has a job run when it is its turn.
    fn start(self: &Arc<Self>, id: JobId, entry: Arc<Entry>) {
        let jobs = Arc::clone(self);
        let mut runs = lock(&self.runs);
        while runs.try_join_next().is_some() {}
        runs.spawn_on(async move { jobs.go(id, entry).await }, &self.runtime);
    }

    async fn go(self: Arc<Self>, id: JobId, entry: Arc<Entry>) {
        let mut going = entry.going.subscribe();
        let turn = tokio::select! {
            turn = Arc::clone(&self.turns).acquire_owned() => turn.ok(),
            _ = going.wait_for(|going| *going != Going::On) => None,
        };
        if turn.is_some() {
            entry.board.enter(JobState::Running);
            if let Some(end) = self.until_over(&id, &entry).await {
                self.farm.lines.instruments.job_ended(match &end {
                    EndOfJob::Judged { .. } => "judged",
                    EndOfJob::Cancelled { .. } => "cancelled",
                    EndOfJob::Failed { .. } => "failed",
                });
                entry.board.close(end);
            }
        } else if let Some(end) = stopped(&entry.going.borrow()) {
            entry.board.close(end);
        }
        entry.let_go();
    }

    /// Runs a job until it is over, again after what may pass; nothing when it was paused.
    async fn until_over(&self, id: &JobId, entry: &Arc<Entry>) -> Option<EndOfJob> {
        let mut wait = FIRST_WAIT;
        for breaks in 1.. {
            let (farm, runtime) = (Arc::clone(&self.farm), self.runtime.clone());
            let (of, at) = (id.clone(), Arc::clone(entry));
            let span = tracing::info_span!("job", job = %id);
            let parent = entry.submission.traceparent.as_deref();
            evalfarm_telemetry::continue_trace(&span, &TraceContext::new(parent, None));
            let run = move || span.in_scope(|| run_job(&farm, &runtime, &of, &at));
            let outcome = tokio::task::spawn_blocking(run).await;
            let error = match outcome {
                Ok(Outcome::Judged(verdict)) => return Some(EndOfJob::Judged { verdict }),
                Ok(Outcome::Stopped) => return stopped(&entry.going.borrow()),
                Ok(Outcome::Failed { error, input }) => return self.failed(id, error, input).await,
                Ok(Outcome::Broken { error }) => error,
                Err(panic) => return self.failed(id, panic.to_string(), false).await,
            };
            tracing::warn!(job = %id, error, "a run of the job broke");
            if breaks >= MAX_BREAKS {
                return self.failed(id, error, false).await;
            }
            let line = error.lines().collect::<Vec<_>>().join(";");
            entry
                .board
                .note(&format!("tried again in {} s: {line}", wait.as_secs()));
            let mut going = entry.going.subscribe();
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                _ = going.wait_for(|going| *going != Going::On) => return stopped(&entry.going.borrow()),
            }
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        None
    }

    async fn failed(&self, id: &JobId, error: String, input: bool) -> Option<EndOfJob> {
        let end = EndOfJob::Failed { error, input };
        if let Err(error) = self.store_end(id, &end).await {
            // After a restart the job is tried once more.
            tracing::warn!(%error, job = %id, "the end of the job could not be stored");
        }
        Some(end)
    }

    /// Pauses every job and waits until all threads are back.
    pub(crate) async fn pause(&self) {
        let entries: Vec<Arc<Entry>> = lock(&self.entries).values().cloned().collect();
        for entry in entries {
            entry.going.send_if_modified(|going| {
                let on = *going == Going::On;
                if on {
                    *going = Going::Paused;
                }
                on
            });
        }
        let mut runs = std::mem::take(&mut *lock(&self.runs));
        while runs.join_next().await.is_some() {}
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    // Every change under these locks is whole, so a panic elsewhere leaves nothing half done.
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
