//! What the coordinator needs from outside: workers that measure, and someone who watches.

use std::error::Error;

use evalfarm_domain::{EvaluateTask, ExamineTask};

/// Why workers stopped before they were done.
#[derive(Debug, thiserror::Error)]
pub enum WorkersError {
    /// The user interrupted the job; what was committed is kept.
    #[error("interrupted")]
    Interrupted,
    /// A task could not be evaluated.
    #[error("a task could not be evaluated")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

/// Evaluates tasks. The coordinator hands out work and learns that it is done; it never sees an engine.
pub trait Workers {
    /// Evaluates the tasks and commits the rows of each to the job's folder, then calls `finished`.
    ///
    /// Returns when every task is committed. The order of commits is not defined.
    fn evaluate(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError>;

    /// Evaluates the tasks and commits the means of each instead of its rows, then calls `finished`.
    fn average(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError>;

    /// Examines the tasks and commits hits and ranks of relevant documents of each, then calls `finished`.
    fn examine(
        &self,
        tasks: &[ExamineTask],
        finished: &(dyn Fn(&ExamineTask) + Sync),
    ) -> Result<(), WorkersError>;
}

/// Watches a job. Nothing that it does can change a result.
pub trait Progress: Sync {
    /// A step begins: so many queries of so many candidates.
    fn begin(&self, step: &str, evaluations: u64);
    /// Part of the step is done.
    fn advance(&self, evaluations: u64);
    /// The step is done.
    fn end(&self);
    /// Something worth saying happened.
    fn note(&self, line: &str);
}
