//! Jobs in requests and answers.

use evalfarm_domain::{Digest, JobId};
use evalfarm_gate::Verdict;
use serde::{Deserialize, Serialize};

/// A sweep to be run. What makes it a job is its content, so submitting it again joins the job that is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Submission {
    /// The text of the sweep file. What it says about where the dataset lies is not looked at.
    pub sweep: String,
    /// Fingerprint of the dataset, which has to be there.
    pub dataset: Digest,
    /// The text of the split manifest, when the sweep file names one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split_manifest: Option<String>,
}

/// What became of a submission.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submitted {
    /// The job.
    pub job: JobId,
    /// Whether it is a new one. A job that was cancelled or failed and is submitted again starts again, with what it had
    /// finished, and counts as new.
    pub created: bool,
}

/// Why a job is to end.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CancelRequest {
    /// For people; at most 1,000 bytes, without control characters.
    #[serde(default)]
    pub reason: String,
}

/// Jobs, newest first: every one that is not over, and the newest 1,000 of the others.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobList {
    /// The jobs.
    pub jobs: Vec<JobStatus>,
}

/// How far a job is.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JobStatus {
    /// The job.
    pub job: JobId,
    /// Name of the sweep.
    pub name: String,
    /// Name of the credential that submitted it.
    pub submitter: String,
    /// When it was first submitted, in milliseconds since the Unix epoch.
    pub submitted: u64,
    /// What it is doing.
    pub state: JobState,
    /// The step at hand, while there is one.
    pub step: Option<Stage>,
    /// Tasks since this coordinator took the job up.
    pub tasks: TaskCounts,
    /// The last things worth saying, oldest first.
    pub notes: Vec<String>,
    /// How it ended, once it has.
    pub end: Option<EndOfJob>,
}

/// What a job is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JobState {
    /// It waits for others to end.
    Queued,
    /// Its tasks are handed out.
    Running,
    /// It has a verdict.
    Judged,
    /// It was cancelled.
    Cancelled,
    /// It cannot be judged.
    Failed,
}

impl JobState {
    /// Whether nothing more will happen.
    pub fn is_over(self) -> bool {
        match self {
            Self::Queued | Self::Running => false,
            Self::Judged | Self::Cancelled | Self::Failed => true,
        }
    }
}

/// A step of a job: one round of its sweep on one fold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Stage {
    /// What it is, e.g. `train scan`.
    pub name: String,
    /// Queries of candidates that are done.
    pub done: u64,
    /// Queries of candidates in all.
    pub total: u64,
    /// Queries of candidates per second since the step began.
    pub rate: f64,
    /// Seconds until it is done at this rate; nothing when nothing is done yet.
    pub eta_seconds: Option<f64>,
}

/// Tasks of a job.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Tasks of the steps so far.
    pub planned: u64,
    /// Tasks whose results are there.
    pub done: u64,
    /// Attempts that failed and are tried again.
    pub retried: u64,
    /// Tasks that were given up; their queries count as failed.
    pub dead: u64,
    /// Tasks that were offered a second time, because they took long or nothing was heard of them.
    pub offered_again: u64,
}

/// How a job ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "how")]
pub enum EndOfJob {
    /// With a verdict.
    Judged {
        /// The verdict.
        verdict: Verdict,
    },
    /// It was cancelled.
    Cancelled {
        /// Name of the credential.
        by: String,
        /// Why.
        reason: String,
    },
    /// It cannot be judged.
    Failed {
        /// What failed, with its causes.
        error: String,
        /// Whether the sweep or the data have to change: submitting the same again would fail again.
        input: bool,
    },
}

/// The files of a job so far.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileList {
    /// Name of the sweep.
    pub name: String,
    /// In bytewise order of their paths.
    pub files: Vec<FileEntry>,
}

/// One file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileEntry {
    /// Path inside the job's folder, parts separated by `/`.
    pub path: String,
    /// Its size.
    pub bytes: u64,
    /// SHA-256 of its content.
    pub sha256: Digest,
}
