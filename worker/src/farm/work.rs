//! What a task asks for and what it gives.

use std::time::Instant;

use bytes::Bytes;
use evalfarm_domain::{Digest, EvaluateTask, ExamineTask, JobId, TaskId, WorkerId};
use evalfarm_proto::Message;
use evalfarm_results::{
    ResultsError, TaskFile, TimingRow, condensed_to_bytes, hits_to_bytes, means_to_bytes,
    relevant_to_bytes, timings_to_bytes, unjudged_to_bytes,
};
use evalfarm_store::TaskObjects;

use crate::{EvaluateError, Evaluator, Stop};

/// A task.
#[derive(Debug)]
pub(super) enum Work {
    Evaluate(EvaluateTask),
    Average(EvaluateTask),
    Examine(ExamineTask),
}

/// Whose attempt it is.
#[derive(Debug, Clone)]
pub(super) struct Attempt {
    pub(super) worker: WorkerId,
    /// From 1.
    pub(super) number: u32,
}

/// What a task gave.
#[derive(Debug)]
pub(super) struct Computed {
    pub(super) objects: TaskObjects,
    /// Of the object that commits the task.
    pub(super) digest: Digest,
}

/// Why a task gave nothing.
#[derive(Debug, thiserror::Error)]
pub(super) enum ComputeError {
    #[error("the task could not be evaluated")]
    Evaluate(#[from] EvaluateError),
    #[error("the result could not be written as Parquet")]
    Encode(#[from] ResultsError),
}

impl Work {
    /// Returns the task of a message, or nothing when it is something else.
    pub(super) fn of(message: Message) -> Option<Self> {
        match message {
            Message::Evaluate(task) => Some(Self::Evaluate(task)),
            Message::Average(task) => Some(Self::Average(task)),
            Message::Examine(task) => Some(Self::Examine(task)),
            Message::Finished(_) | Message::Failed(_) | Message::Hello(_) | Message::Cancel(_) => {
                None
            }
        }
    }

    pub(super) fn job(&self) -> &JobId {
        match self {
            Self::Evaluate(task) | Self::Average(task) => &task.job,
            Self::Examine(task) => &task.job,
        }
    }

    pub(super) fn id(&self) -> TaskId {
        match self {
            Self::Evaluate(task) | Self::Average(task) => task.id(),
            Self::Examine(task) => task.id(),
        }
    }

    /// Returns the kind of object that commits the task.
    pub(super) fn marker(&self) -> TaskFile {
        match self {
            Self::Evaluate(_) => TaskFile::Rows,
            Self::Average(_) => TaskFile::Means,
            Self::Examine(_) => TaskFile::Unjudged,
        }
    }

    /// Returns what the task is called in instruments and logs.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Evaluate(_) => "evaluate",
            Self::Average(_) => "average",
            Self::Examine(_) => "examine",
        }
    }

    /// Returns the number of candidates and of queries.
    pub(super) fn size(&self) -> (u32, u32) {
        let (candidates, queries) = match self {
            Self::Evaluate(task) | Self::Average(task) => (task.candidates.len(), task.query_count),
            Self::Examine(task) => (task.candidates.len(), task.query_count),
        };
        (u32::try_from(candidates).unwrap_or(u32::MAX), queries)
    }

    /// Computes what the task gives. `started` is when its work began.
    pub(super) fn compute(
        &self,
        evaluator: &Evaluator<'_>,
        attempt: &Attempt,
        started: Instant,
        stop: &Stop,
    ) -> Result<Computed, ComputeError> {
        let job = self.job();
        let timings = || {
            let (candidates, queries) = self.size();
            let row = TimingRow {
                task: self.id(),
                attempt: attempt.number,
                worker: attempt.worker.as_str().to_owned(),
                queries,
                candidates,
                seconds: started.elapsed().as_secs_f64(),
            };
            Ok::<_, ResultsError>(Bytes::from(timings_to_bytes(job, &[row])?))
        };
        match self {
            Self::Evaluate(task) => {
                let block = evaluator.evaluate(task, stop)?;
                let timings = timings()?;
                let rows = Bytes::from(block.to_bytes()?);
                Ok(Computed {
                    digest: Digest::of(&rows),
                    objects: TaskObjects::Evaluated { rows, timings },
                })
            }
            Self::Average(task) => {
                let means = evaluator.average(task, stop)?;
                let timings = timings()?;
                let means = means_to_bytes(job, task.fold, evaluator.metrics(), &means)?;
                let means = Bytes::from(means);
                Ok(Computed {
                    digest: Digest::of(&means),
                    objects: TaskObjects::Averaged { means, timings },
                })
            }
            Self::Examine(task) => {
                let found = evaluator.examine(task, stop)?;
                let condensed = condensed_to_bytes(job, evaluator.metrics(), &found.condensed)?;
                let unjudged = Bytes::from(unjudged_to_bytes(job, &found.unjudged)?);
                Ok(Computed {
                    digest: Digest::of(&unjudged),
                    objects: TaskObjects::Examined {
                        hits: Bytes::from(hits_to_bytes(job, &found.hits)?),
                        relevant: Bytes::from(relevant_to_bytes(job, &found.relevant)?),
                        condensed: Bytes::from(condensed),
                        unjudged,
                    },
                })
            }
        }
    }
}
