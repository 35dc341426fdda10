//! What is said, in the words of the domain.

use std::time::Duration;

use evalfarm_domain::{Digest, EngineName, EvaluateTask, ExamineTask, JobId, TaskId, WorkerId};

use crate::{EncodeError, Unreadable, convert};

/// Most engines that a worker may name.
pub const MAX_ENGINES: usize = 256;

/// Most causes that a failure may carry, the outermost included.
pub const MAX_CAUSES: usize = 32;

/// Anything that travels.
#[derive(Debug, Clone, PartialEq)]
pub enum Message {
    /// Coordinator to workers: measure these candidates on these queries.
    Evaluate(EvaluateTask),
    /// Coordinator to workers: report what these candidates retrieve.
    Examine(ExamineTask),
    /// Worker to coordinator: the rows of a task are committed.
    Finished(TaskFinished),
    /// Worker to coordinator: an attempt at a task failed.
    Failed(TaskFailed),
    /// Worker to coordinator: I am here.
    Hello(WorkerHello),
    /// Coordinator to every worker: stop working on a job.
    Cancel(Cancel),
    /// Coordinator to workers: measure these candidates on these queries and commit their means only. Its id is that of the same
    /// task evaluated: which of the two is committed has to be asked for each.
    Average(EvaluateTask),
}

impl Message {
    /// Writes the message, at most [`crate::MAX_MESSAGE_BYTES`].
    pub fn encode(&self) -> Result<Vec<u8>, EncodeError> {
        convert::encode(self)
    }

    /// Reads a message; every byte has to belong to it.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        convert::decode(bytes)
    }

    /// Returns the id under which a transport carries the message: the task's for everything about a task, so that a
    /// duplicate is seen to be one; else the worker's or the job's.
    pub fn id(&self) -> String {
        match self {
            Self::Evaluate(task) | Self::Average(task) => task.id().into(),
            Self::Examine(task) => task.id().into(),
            Self::Finished(finished) => finished.task.clone().into(),
            Self::Failed(failed) => failed.task.clone().into(),
            Self::Hello(hello) => hello.worker.clone().into(),
            Self::Cancel(cancel) => cancel.job.clone().into(),
        }
    }

    /// Returns the job that the message is about, nothing for a worker's hello.
    pub fn job(&self) -> Option<&JobId> {
        match self {
            Self::Evaluate(task) | Self::Average(task) => Some(&task.job),
            Self::Examine(task) => Some(&task.job),
            Self::Finished(finished) => Some(&finished.job),
            Self::Failed(failed) => Some(&failed.job),
            Self::Hello(_) => None,
            Self::Cancel(cancel) => Some(&cancel.job),
        }
    }
}

/// The rows of a task are committed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFinished {
    /// The task's job.
    pub job: JobId,
    /// The task.
    pub task: TaskId,
    /// Which attempt this was, from 1.
    pub attempt: u32,
    /// Who did the work.
    pub worker: WorkerId,
    /// What the store said.
    pub commit: Commit,
    /// SHA-256 of the rows that the worker computed.
    pub rows: Digest,
    /// From receiving the task to its commit, in whole microseconds on the wire.
    pub elapsed: Duration,
}

/// What became of a commit. The first one counts, whoever made it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// The task had no rows yet.
    First,
    /// The same rows were there already.
    Identical,
    /// Other rows were there already and stay; allowed where a stage is declared non-deterministic, and counted.
    Different,
}

/// An attempt at a task failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TaskFailed {
    /// The task's job.
    pub job: JobId,
    /// The task.
    pub task: TaskId,
    /// Which attempt this was, from 1.
    pub attempt: u32,
    /// Whose attempt it was.
    pub worker: WorkerId,
    /// Why.
    pub kind: TaskFailureKind,
    /// What becomes of the task.
    pub fate: Fate,
    /// What failed, then its causes, outermost first; for people, never read by a program.
    pub causes: Vec<String>,
}

/// Why an attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskFailureKind {
    /// The engine was slow, overloaded or away: another attempt may succeed.
    Retryable,
    /// The same input will fail again.
    Permanent,
    /// The farm's own parts failed (store, broker, disk): says nothing about the task, and uses up no attempt.
    Infrastructure,
    /// Our own code panicked; the text is among the causes.
    Panic,
    /// The hard deadline of a task passed.
    Deadline,
    /// Other rows are committed for the task, although its evaluation is deterministic.
    Conflict,
}

/// What becomes of a task after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// It comes back after a delay.
    Retried,
    /// It is in the dead-letter queue.
    Dead,
}

/// A worker introduces itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerHello {
    /// The worker.
    pub worker: WorkerId,
    /// The release it runs, e.g. `0.1.0`.
    pub release: String,
    /// Newest [`crate::PROTOCOL_VERSION`] it speaks.
    pub protocol: u16,
    /// Tasks it works on at a time, at least 1.
    pub slots: u32,
    /// Engines it may reach, at most [`MAX_ENGINES`].
    pub engines: Vec<EngineName>,
}

/// Stop working on a job.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cancel {
    /// The job.
    pub job: JobId,
    /// Who or what wants it, for people.
    pub reason: String,
}
