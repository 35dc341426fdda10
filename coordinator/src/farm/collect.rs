//! Results from the object store to the coordinator's own copy of a job's folder.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use evalfarm_domain::{
    Candidate, CandidateId, EvaluateTask, FailureKind, QueryId, RerankStatus, RewriteStatus, TaskId,
};
use evalfarm_results::{
    JobFolder, QueryRow, ResultsError, RowBlock, TaskFile, means_to_bytes, timings_to_bytes,
};
use evalfarm_store::{Store, StoreError, TaskObjects};

use tokio::sync::Mutex;

use super::work::Work;
use crate::Job;
use crate::unfinished::{self, worst};

/// A result that could not be collected.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CollectError {
    /// The store failed, or the local folder.
    #[error("a task's result could not be fetched")]
    Store(#[from] StoreError),
    /// The rows of a task that was given up could not be written.
    #[error("the rows of a task that was given up could not be written")]
    Results(#[from] ResultsError),
    /// What an examine task finds has no substitute.
    #[error("task `{task}` was given up: {reason}")]
    GivenUp {
        /// The task.
        task: TaskId,
        /// Why.
        reason: String,
    },
}

/// What became of a task that was to be given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum GivenUp {
    /// Its queries are unfinished.
    Unfinished,
    /// It has a result after all, which counts.
    HasResult,
}

/// Takes in what tasks gave.
#[async_trait]
pub(crate) trait Collect: Send + Sync + Debug {
    /// Returns the tasks whose file of this kind is committed.
    async fn committed(&self, marker: TaskFile) -> Result<BTreeSet<TaskId>, CollectError>;

    /// Takes in what a task gave; says whether there was anything.
    async fn collect(&self, marker: TaskFile, task: &TaskId) -> Result<bool, CollectError>;

    /// Commits, for a task that was given up, that its queries are unfinished, unless it has a result after all; and takes
    /// in what is committed then.
    async fn give_up(&self, work: &Work<'_>, reason: &str) -> Result<GivenUp, CollectError>;
}

/// Keeps a local copy of a job's folder that has every file that judging reads.
#[derive(Debug)]
pub(crate) struct Mirror {
    store: Store,
    folder: Arc<JobFolder>,
    job: Arc<Job>,
    /// What was committed when the first step of each kind began. What came later was asked for by this run, and a listing
    /// gets longer with every step.
    listed: Mutex<BTreeMap<TaskFile, BTreeSet<TaskId>>>,
}

impl Mirror {
    pub(crate) fn new(store: Store, folder: Arc<JobFolder>, job: Arc<Job>) -> Self {
        Self {
            store,
            folder,
            job,
            listed: Mutex::default(),
        }
    }
}

#[async_trait]
impl Collect for Mirror {
    async fn committed(&self, marker: TaskFile) -> Result<BTreeSet<TaskId>, CollectError> {
        let mut listed = self.listed.lock().await;
        if let Some(tasks) = listed.get(&marker) {
            return Ok(tasks.clone());
        }
        let tasks = self.store.committed(self.folder.job(), marker).await?;
        listed.insert(marker, tasks.clone());
        Ok(tasks)
    }

    async fn collect(&self, marker: TaskFile, task: &TaskId) -> Result<bool, CollectError> {
        let job = self.folder.job();
        Ok(self
            .store
            .fetch_task(&self.folder, job, marker, task)
            .await?)
    }

    async fn give_up(&self, work: &Work<'_>, reason: &str) -> Result<GivenUp, CollectError> {
        let objects = match work {
            Work::Evaluate(task) => self.unfinished_rows(task)?,
            Work::Average(task) => self.unfinished_means(task)?,
            Work::Examine(task) => {
                return Err(CollectError::GivenUp {
                    task: task.id(),
                    reason: reason.to_owned(),
                });
            }
        };
        let (job, task) = (self.folder.job(), work.id());
        let given_up = match self.store.commit_task(job, &task, objects).await {
            Ok(_) => GivenUp::Unfinished,
            // A worker was first, and the first commit counts.
            Err(StoreError::Differs { .. }) => GivenUp::HasResult,
            Err(error) => return Err(error.into()),
        };
        self.collect(work.marker(), &task).await?;
        Ok(given_up)
    }
}

impl Mirror {
    fn unfinished_rows(&self, task: &EvaluateTask) -> Result<TaskObjects, CollectError> {
        let metrics = &self.job.settings.measurement.metrics;
        let scored: Vec<f64> = metrics.iter().copied().map(worst).collect();
        let queries = self
            .job
            .settings
            .queries(task.fold, task.first_query, task.query_count);
        let queries = queries.unwrap_or_default();
        let row = |candidate: &CandidateId, query: &QueryId| QueryRow {
            candidate: candidate.clone(),
            query: query.clone(),
            values: vec![None; scored.len()],
            scored: scored.clone(),
            judged_share: None,
            zero_result: false,
            hits_returned: 0,
            top_digest: 0,
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotRequested,
            failure: Some(FailureKind::Unfinished),
        };
        let ids: Vec<CandidateId> = task.candidates.iter().map(Candidate::id).collect();
        let block = RowBlock {
            job: task.job.clone(),
            fold: task.fold,
            metrics: metrics.clone(),
            rows: ids
                .iter()
                .flat_map(|id| queries.iter().map(|query| row(id, query)))
                .collect(),
        };
        Ok(TaskObjects::Evaluated {
            rows: Bytes::from(block.to_bytes()?),
            timings: Bytes::from(timings_to_bytes(&task.job, &[])?),
        })
    }

    fn unfinished_means(&self, task: &EvaluateTask) -> Result<TaskObjects, CollectError> {
        let metrics = &self.job.settings.measurement.metrics;
        let queries = task.query_count as usize;
        let means: Vec<_> = task
            .candidates
            .iter()
            .map(|candidate| unfinished::means(&candidate.id(), metrics, queries))
            .collect();
        Ok(TaskObjects::Averaged {
            means: Bytes::from(means_to_bytes(&task.job, task.fold, metrics, &means)?),
            timings: Bytes::from(timings_to_bytes(&task.job, &[])?),
        })
    }
}
