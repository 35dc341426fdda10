//! What a coordinator is asked over HTTP and what it answers: the types that it and its clients share.
//!
//! ```text
//! GET  /livez /readyz /metrics                       for probes and Prometheus; no token
//! GET  /v1/jobs                            reader    JobList
//! POST /v1/jobs                            proposer  Submission → Submitted (201 created, 200 joined)
//! GET  /v1/jobs/{job}                      reader    JobStatus
//! GET  /v1/jobs/{job}/events               reader    server-sent events, each `event: status` with a JobStatus; the stream ends
//!                                                    when the job has
//! GET  /v1/jobs/{job}/verdict              reader    the bytes of verdict.json
//! POST /v1/jobs/{job}/cancel               proposer  CancelRequest → JobStatus; of others' jobs: operator
//! GET  /v1/jobs/{job}/files                reader    FileList
//! GET  /v1/jobs/{job}/files/{path}         reader    the bytes of a file, `path` as FileList has it, e.g. `rows/t1.parquet`
//! GET  /v1/workers                         reader    WorkerList
//! GET  /v1/dead                            reader    DeadList
//! POST /v1/dead/{id}/revive                operator  Revived
//! GET  /v1/datasets/{fingerprint}          reader    204 when it is there, 404 when not
//! POST /v1/datasets/{fingerprint}/missing  proposer  the bytes of manifest.json → MissingFiles
//! PUT  /v1/datasets/{fingerprint}/files/{sha256}
//!                                          proposer  the bytes of a file of the manifest → 204
//! PUT  /v1/datasets/{fingerprint}          proposer  the bytes of manifest.json, when every file is there → 204
//! ```
//!
//! Everything under `/v1` wants `Authorization: Bearer TOKEN`. Without a known token the answer is 401, with a role that is too
//! weak 403; until stored jobs are taken up, and when the coordinator stops, it is 503. Every error is a [`Problem`] in JSON.
//! Requests with a key that is not known are refused: who submits is who the token says, never who the body says. Answers may
//! get further keys. A client that says nothing for 30 s in the middle of a body is given up.

mod job;

pub use job::{
    CancelRequest, EndOfJob, FileEntry, FileList, JobList, JobState, JobStatus, Stage, Submission,
    Submitted, TaskCounts,
};

use evalfarm_domain::{Digest, TaskId, WorkerId};
use serde::{Deserialize, Serialize};

/// Largest JSON body of a request, in bytes.
pub const MAX_JSON_BYTES: usize = 8 * 1024 * 1024;

/// Largest file of a dataset that is taken over HTTP, in bytes. Larger ones are put into the object store by other means.
pub const MAX_FILE_BYTES: usize = 2 * 1024 * 1024 * 1024;

/// Why a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Problem {
    /// What is wrong, for programs.
    pub code: ProblemCode,
    /// What is wrong, for people.
    pub message: String,
    /// What to do next, where there is something to say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// What is wrong with a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemCode {
    /// 401: no token, or none that is known.
    Unauthorized,
    /// 403: the role of the token does not allow this.
    Forbidden,
    /// 404: there is no such job, file, verdict, dataset or route.
    NotFound,
    /// 409: the job is in another state, or the content is there and differs.
    Conflict,
    /// 400 or 422: the request is not what it should be.
    Invalid,
    /// 413: the body is too large.
    TooLarge,
    /// 503: the broker, the store or the counts do not answer; the same request may work later.
    Unavailable,
    /// Of a newer coordinator.
    #[serde(other)]
    Other,
}

/// The workers that the farm knows of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerList {
    /// By id.
    pub workers: Vec<WorkerEntry>,
}

/// One worker.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WorkerEntry {
    /// Its id.
    pub worker: WorkerId,
    /// The release it runs.
    pub release: String,
    /// Tasks it works on at a time.
    pub slots: u32,
    /// Tasks it works on now.
    pub current: Vec<TaskId>,
    /// Seconds since it started, by its own clock and the coordinator's.
    pub up_seconds: f64,
    /// Seconds since it was last heard of.
    pub silent_seconds: f64,
    /// Whether it counts as alive: it was heard of lately, as the coordinator is set.
    pub alive: bool,
}

/// Messages that nobody will try again until an operator looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadList {
    /// Oldest first, at most 1,000.
    pub dead: Vec<DeadEntry>,
}

/// One message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeadEntry {
    /// The message's id: the task's for everything about a task.
    pub id: String,
    /// The job it is about.
    pub job: Option<String>,
    /// Which attempt was the last, from 1.
    pub attempt: u32,
    /// Why it is here.
    pub reason: String,
}

/// What became of dead messages that were to be tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Revived {
    /// How many were put back.
    pub revived: usize,
}

/// What has to be uploaded before a dataset is complete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MissingFiles {
    /// SHA-256 of each missing file, in the order of the manifest.
    pub missing: Vec<Digest>,
}
