//! Files that were made elsewhere and are copied into a job's folder byte for byte.

use std::fs;
use std::io::ErrorKind;

use evalfarm_domain::TaskId;

use super::job::{
    CANDIDATES, CONDENSED, HITS, JUDGE_NEXT, JobFolder, MEANS, QUERIES, RELEVANT, ROWS, TIMINGS,
    UNJUDGED, VERDICT,
};
use super::publish::Commit;
use crate::ResultsError;

/// A kind of file of which every task has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum TaskFile {
    /// Rows of an evaluated task.
    Rows,
    /// Means of an averaged task.
    Means,
    /// Hits of an examined task.
    Hits,
    /// Ranks of relevant documents of an examined task.
    Relevant,
    /// Condensed values of an examined task.
    Condensed,
    /// Unjudged documents of an examined task.
    Unjudged,
    /// How long a task took.
    Timings,
}

impl TaskFile {
    /// Every kind, in the order in which a reader should look for them.
    pub const ALL: [Self; 7] = [
        Self::Rows,
        Self::Means,
        Self::Hits,
        Self::Relevant,
        Self::Condensed,
        Self::Unjudged,
        Self::Timings,
    ];

    /// Returns the name of the folder that holds files of this kind and nothing else.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Rows => ROWS,
            Self::Means => MEANS,
            Self::Hits => HITS,
            Self::Relevant => RELEVANT,
            Self::Condensed => CONDENSED,
            Self::Unjudged => UNJUDGED,
            Self::Timings => TIMINGS,
        }
    }
}

/// A file of which a job has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum BesideFile {
    /// The queries of the job.
    Queries,
    /// The table of candidates.
    Candidates,
    /// What should be judged next.
    JudgeNext,
    /// The verdict.
    Verdict,
}

impl BesideFile {
    /// Every file, the verdict last: where it is, the others are.
    pub const ALL: [Self; 4] = [
        Self::Queries,
        Self::Candidates,
        Self::JudgeNext,
        Self::Verdict,
    ];

    /// Returns the file's name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queries => QUERIES,
            Self::Candidates => CANDIDATES,
            Self::JudgeNext => JUDGE_NEXT,
            Self::Verdict => VERDICT,
        }
    }
}

impl JobFolder {
    /// Returns the size in bytes of a task's file, or nothing when it is not there.
    pub fn size_of(&self, kind: TaskFile, task: &TaskId) -> Result<Option<u64>, ResultsError> {
        let path = self.place(kind.folder(), task)?;
        match fs::metadata(&path) {
            Ok(metadata) => Ok(Some(metadata.len())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(ResultsError::io("look for", &path)(error)),
        }
    }

    /// Publishes a task's file as it was made elsewhere: the same bytes may come any number of times, others are refused.
    /// What the bytes say is not looked at, see [`Self::finished`] and its like.
    pub fn copy_in(
        &self,
        kind: TaskFile,
        task: &TaskId,
        bytes: &[u8],
    ) -> Result<Commit, ResultsError> {
        self.commit(kind.folder(), task, bytes)
    }

    /// Publishes a file of the job as it was made elsewhere, in place of what may be there.
    pub fn copy_in_beside(&self, file: BesideFile, bytes: &[u8]) -> Result<(), ResultsError> {
        self.publish_beside(file.name(), bytes)
    }
}
