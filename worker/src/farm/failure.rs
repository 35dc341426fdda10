//! Why an attempt failed, as data: what becomes of a task follows from this and never from a text.

use std::error::Error;
use std::time::Duration;

use evalfarm_process::ErrorChain;
use evalfarm_proto::{Fate, MAX_CAUSES, TaskFailureKind};
use evalfarm_retrieval::IndexError;
use evalfarm_store::StoreError;

use super::opening::OpenError;
use super::work::ComputeError;

/// Longest text of a cause, in bytes.
const MAX_CAUSE_BYTES: usize = 2_000;

/// Returns an error and its causes for a log, without holding on to it.
pub(super) fn told(error: &(dyn Error + 'static)) -> String {
    ErrorChain(error).to_string()
}

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    pub(super) kind: TaskFailureKind,
    /// What failed, then its causes, outermost first.
    pub(super) causes: Vec<String>,
}

impl Failure {
    pub(super) fn new(kind: TaskFailureKind, error: &(dyn Error + 'static)) -> Self {
        let mut causes = Vec::new();
        let mut cause = Some(error);
        while let Some(error) = cause
            && causes.len() < MAX_CAUSES
        {
            causes.push(cut(error.to_string()));
            cause = error.source();
        }
        Self { kind, causes }
    }

    pub(super) fn said(kind: TaskFailureKind, text: impl Into<String>) -> Self {
        Self {
            kind,
            causes: vec![cut(text.into())],
        }
    }

    pub(super) fn of_store(error: &StoreError) -> Self {
        Self::new(kind_of_store(error), error)
    }

    pub(super) fn of_compute(error: &ComputeError) -> Self {
        // Neither a refused candidate nor a corrupt index gets better here; the index is verified when it is opened.
        Self::new(TaskFailureKind::Permanent, error)
    }

    pub(super) fn of_opening(error: &OpenError) -> Self {
        let kind = match error {
            OpenError::Settings(error)
            | OpenError::Dataset(error)
            | OpenError::KeepIndex(error) => kind_of_store(error),
            OpenError::Index(error) => kind_of_index(error),
            OpenError::Evaluator(_) => TaskFailureKind::Permanent,
            OpenError::Panic(_) => TaskFailureKind::Panic,
            OpenError::UnknownEngine(_) | OpenError::Thread(_) | OpenError::ShuttingDown => {
                TaskFailureKind::Infrastructure
            }
        };
        Self::new(kind, error)
    }

    /// Returns one line for a dead letter and for logs.
    pub(super) fn line(&self) -> String {
        self.causes.join(": ")
    }
}

fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(MAX_CAUSE_BYTES));
    text
}

fn kind_of_store(error: &StoreError) -> TaskFailureKind {
    match error {
        StoreError::Differs { .. } => TaskFailureKind::Conflict,
        // They are about this task or its job, and stay as they are.
        StoreError::Name { .. }
        | StoreError::TooLarge { .. }
        | StoreError::Json { .. }
        | StoreError::OtherDataset { .. }
        | StoreError::Results(_)
        | StoreError::Dataset(_)
        | StoreError::OtherBytes { .. }
        | StoreError::Manifest(_) => TaskFailureKind::Permanent,
        // What is not there may be on its way, and what is damaged may be repaired; but not for ever.
        StoreError::Missing { .. }
        | StoreError::NoDataset { .. }
        | StoreError::Damaged { .. }
        | StoreError::Incomplete { .. }
        | StoreError::DamagedDataset { .. } => TaskFailureKind::Retryable,
        StoreError::Scheme { .. }
        | StoreError::Address { .. }
        | StoreError::Settings { .. }
        | StoreError::NoConditionalCreate { .. }
        | StoreError::Truncated { .. }
        | StoreError::Refused { .. }
        | StoreError::Failed { .. }
        | StoreError::Timeout { .. }
        | StoreError::GaveUp { .. }
        | StoreError::Io { .. }
        | StoreError::CacheTooSmall { .. }
        | StoreError::CacheInUse { .. }
        | StoreError::CacheBusy { .. }
        | StoreError::ShuttingDown => TaskFailureKind::Infrastructure,
    }
}

fn kind_of_index(error: &IndexError) -> TaskFailureKind {
    match error {
        IndexError::Cache { .. } => TaskFailureKind::Infrastructure,
        IndexError::Engine(_) => TaskFailureKind::Retryable,
        _ => TaskFailureKind::Permanent,
    }
}

/// What becomes of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Next {
    /// Another attempt, after at least this long.
    Retry(Duration),
    /// The same attempt again, after at least this long: the failure says nothing about the task.
    Postpone(Duration),
    /// Nobody tries again.
    Dead,
}

/// Wait after the first failed attempt, ten times as long after each further one: the delays of the topology.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Wait until parts of the farm that failed may be back.
pub(super) const POSTPONED: Duration = Duration::from_secs(10);

impl Next {
    /// Returns what becomes of a task whose attempt of this number, from 1, failed in this way.
    pub(super) fn after(kind: TaskFailureKind, attempt: u32, attempts: u32) -> Self {
        match kind {
            TaskFailureKind::Permanent | TaskFailureKind::Conflict => Self::Dead,
            TaskFailureKind::Infrastructure => Self::Postpone(POSTPONED),
            TaskFailureKind::Retryable | TaskFailureKind::Panic | TaskFailureKind::Deadline => {
                if attempt >= attempts {
                    return Self::Dead;
                }
                let factor = 10_u32.saturating_pow(attempt.saturating_sub(1));
                Self::Retry(FIRST_WAIT.saturating_mul(factor).min(LONGEST_WAIT))
            }
        }
    }

    /// Returns what the coordinator is told.
    pub(super) fn fate(self) -> Fate {
        match self {
            Self::Retry(_) | Self::Postpone(_) => Fate::Retried,
            Self::Dead => Fate::Dead,
        }
    }
}

/// Returns the name of a kind in logs and instruments.
pub(super) fn kind_name(kind: TaskFailureKind) -> &'static str {
    match kind {
        TaskFailureKind::Retryable => "retryable",
        TaskFailureKind::Permanent => "permanent",
        TaskFailureKind::Infrastructure => "infrastructure",
        TaskFailureKind::Panic => "panic",
        TaskFailureKind::Deadline => "deadline",
        TaskFailureKind::Conflict => "conflict",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_becomes_of_a_task_follows_from_the_kind_and_the_attempt() {
        let seconds = |kind, attempt| match Next::after(kind, attempt, 4) {
            Next::Retry(wait) => Some(wait.as_secs()),
            Next::Postpone(_) | Next::Dead => None,
        };
        for kind in [
            TaskFailureKind::Retryable,
            TaskFailureKind::Panic,
            TaskFailureKind::Deadline,
        ] {
            let waits: Vec<_> = (1..=5).map(|attempt| seconds(kind, attempt)).collect();
            assert_eq!(waits, [Some(1), Some(10), Some(60), None, None]);
            assert_eq!(Next::after(kind, 4, 4), Next::Dead);
        }
        for kind in [TaskFailureKind::Permanent, TaskFailureKind::Conflict] {
            assert_eq!(Next::after(kind, 1, 4), Next::Dead);
        }
        let next = Next::after(TaskFailureKind::Infrastructure, 99, 4);
        assert_eq!(next, Next::Postpone(POSTPONED));
    }

    #[test]
    fn causes_are_bounded() {
        let failure = Failure::said(TaskFailureKind::Panic, "ä".repeat(5_000));
        assert_eq!(failure.line().len(), MAX_CAUSE_BYTES);
    }
}
