//! Results from the object store to the coordinator's own copy of a job's folder.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use evalfarm_domain::{
    CandidateId, Direction, EvaluateTask, FailureKind, Metric, RerankStatus, RewriteStatus, TaskId,
};
use evalfarm_results::{
    JobFolder, MeansRow, QueryRow, ResultsError, RowBlock, TaskFile, means_to_bytes,
    timings_to_bytes,
};
use evalfarm_store::{Store, StoreError, TaskObjects};

use super::work::Work;
use crate::Job;

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

/// Takes in what tasks gave.
#[async_trait]
pub(crate) trait Collect: Send + Sync + Debug {
    /// Returns the tasks whose file of this kind is committed.
    async fn committed(&self, marker: TaskFile) -> Result<BTreeSet<TaskId>, CollectError>;

    /// Takes in what a task gave; says whether there was anything.
    async fn collect(&self, marker: TaskFile, task: &TaskId) -> Result<bool, CollectError>;

    /// Commits, for a task that was given up, that its queries are unfinished, unless it has a result after all; and takes
    /// in what is committed then.
    async fn give_up(&self, work: &Work<'_>, reason: &str) -> Result<(), CollectError>;
}

/// Keeps a local copy of a job's folder that has every file that judging reads.
#[derive(Debug)]
pub(crate) struct Mirror {
    pub(crate) store: Store,
    pub(crate) folder: Arc<JobFolder>,
    pub(crate) job: Arc<Job>,
}

#[async_trait]
impl Collect for Mirror {
    async fn committed(&self, marker: TaskFile) -> Result<BTreeSet<TaskId>, CollectError> {
        Ok(self.store.committed(self.folder.job(), marker).await?)
    }

    async fn collect(&self, marker: TaskFile, task: &TaskId) -> Result<bool, CollectError> {
        let job = self.folder.job();
        Ok(self
            .store
            .fetch_task(&self.folder, job, marker, task)
            .await?)
    }

    async fn give_up(&self, work: &Work<'_>, reason: &str) -> Result<(), CollectError> {
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
        let task = work.id();
        match self
            .store
            .commit_task(self.folder.job(), &task, objects)
            .await
        {
            // There is a result after all, and it stays.
            Ok(_) | Err(StoreError::Differs { .. }) => {}
            Err(error) => return Err(error.into()),
        }
        self.collect(work.marker(), &task).await?;
        Ok(())
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
        let row = |candidate: &CandidateId, query: &evalfarm_domain::QueryId| QueryRow {
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
        let ids: Vec<CandidateId> = task
            .candidates
            .iter()
            .map(evalfarm_domain::Candidate::id)
            .collect();
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
        let columns: Vec<Vec<f64>> = metrics
            .iter()
            .map(|&metric| vec![worst(metric); queries])
            .collect();
        let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
        let (digests, weights) = (vec![0; queries], vec![1.0; queries]);
        let means: Vec<MeansRow> = task
            .candidates
            .iter()
            .map(|candidate| MeansRow::new(candidate.id(), &columns, &digests, &weights))
            .collect();
        Ok(TaskObjects::Averaged {
            means: Bytes::from(means_to_bytes(&task.job, task.fold, metrics, &means)?),
            timings: Bytes::from(timings_to_bytes(&task.job, &[])?),
        })
    }
}

/// The value that a query without a ranking is scored with.
fn worst(metric: Metric) -> f64 {
    match metric.direction() {
        Direction::Higher => 0.0,
        Direction::Lower => 1.0,
    }
}
