//! Tasks of the three kinds, alike to whoever hands them out.

use evalfarm_domain::{EvaluateTask, ExamineTask, TaskId};
use evalfarm_proto::Message;
use evalfarm_results::TaskFile;

/// One task and what is to be done with it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work<'t> {
    /// Commit its rows.
    Evaluate(&'t EvaluateTask),
    /// Commit its means.
    Average(&'t EvaluateTask),
    /// Commit what its candidates retrieve.
    Examine(&'t ExamineTask),
}

impl Work<'_> {
    /// Returns the task's id.
    pub(crate) fn id(&self) -> TaskId {
        match self {
            Self::Evaluate(task) | Self::Average(task) => task.id(),
            Self::Examine(task) => task.id(),
        }
    }

    /// Returns the message that hands the task out.
    pub(crate) fn message(&self) -> Message {
        match self {
            Self::Evaluate(task) => Message::Evaluate((*task).clone()),
            Self::Average(task) => Message::Average((*task).clone()),
            Self::Examine(task) => Message::Examine((*task).clone()),
        }
    }

    /// Returns the kind of file that commits the task.
    pub(crate) fn marker(&self) -> TaskFile {
        match self {
            Self::Evaluate(_) => TaskFile::Rows,
            Self::Average(_) => TaskFile::Means,
            Self::Examine(_) => TaskFile::Unjudged,
        }
    }
}
