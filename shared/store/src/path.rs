//! Where objects lie. Every path is made of plain names, so that none leaves its folder.

use std::fmt;

use evalfarm_domain::{Digest, JobId, TaskId};
use evalfarm_results::{BesideFile, TaskFile};

use crate::StoreError;

const MANIFEST: &str = "manifest.json";
const LOOKS: &str = "looks";

/// Longest name in a path, in bytes.
const MAX_NAME: usize = 128;

/// An object of which a job has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum JobObject {
    /// What was submitted, by whom and when, as the coordinator keeps it.
    Submission,
    /// What the job is: the record that `evalfarm run` writes into a job's folder.
    Record,
    /// What every task has in common: what a worker needs beside the dataset.
    Settings,
    /// That the job ended without a verdict, and why: it was cancelled, or cannot be judged.
    Ended,
    /// A file that lies in the job's folder as well.
    Beside(BesideFile),
}

impl JobObject {
    fn name(self) -> &'static str {
        match self {
            Self::Submission => "submission.json",
            Self::Record => "record.json",
            Self::Settings => "settings.json",
            Self::Ended => "ended.json",
            Self::Beside(file) => file.name(),
        }
    }
}

/// The path of an object below the root of its store, parts separated by `/`.
///
/// Invariant: at least one part; each has 1 to 128 letters, digits, `-`, `_` or `.` and begins with a letter or digit.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectPath(String);

impl ObjectPath {
    /// Returns where a file of a dataset is, by the digest of its bytes.
    pub fn dataset_file(fingerprint: Digest, sha256: Digest) -> Self {
        Self(format!("datasets/{fingerprint}/{sha256}"))
    }

    /// Returns where the manifest of a dataset is.
    pub fn dataset_manifest(fingerprint: Digest) -> Self {
        Self(format!("datasets/{fingerprint}/{MANIFEST}"))
    }

    /// Returns where a look at a dataset is, by the digest of its bytes.
    pub(crate) fn look(fingerprint: Digest, sha256: Digest) -> Self {
        Self(format!("datasets/{fingerprint}/{LOOKS}/{sha256}.json"))
    }

    /// Returns the folder of all looks at a dataset.
    pub(crate) fn looks(fingerprint: Digest) -> Self {
        Self(format!("datasets/{fingerprint}/{LOOKS}"))
    }

    /// Returns where an object of a job is. Fails with [`StoreError::Name`].
    pub fn job(job: &JobId, object: JobObject) -> Result<Self, StoreError> {
        let job = plain("job id", job.as_str())?;
        Ok(Self(format!("jobs/{job}/{}", object.name())))
    }

    /// Returns where a task's object of a kind is. Fails with [`StoreError::Name`].
    pub fn task(job: &JobId, kind: TaskFile, task: &TaskId) -> Result<Self, StoreError> {
        let job = plain("job id", job.as_str())?;
        let task = plain("task id", task.as_str())?;
        Ok(Self(format!("jobs/{job}/{}/{task}.parquet", kind.folder())))
    }

    /// Returns the folder of a job's objects of a kind.
    pub(crate) fn kind(job: &JobId, kind: TaskFile) -> Result<Self, StoreError> {
        let job = plain("job id", job.as_str())?;
        Ok(Self(format!("jobs/{job}/{}", kind.folder())))
    }

    /// Returns the folder of all jobs.
    pub(crate) fn jobs() -> Self {
        Self("jobs".to_owned())
    }

    /// Returns where it is tried out whether the store creates an object twice.
    pub(crate) fn check() -> Self {
        Self("checks/conditional-create".to_owned())
    }

    /// Reads a path that a listing gave, or nothing when it cannot be one of ours.
    pub(crate) fn listed(text: &str) -> Option<Self> {
        let ours = text.split('/').all(is_plain);
        ours.then(|| Self(text.to_owned()))
    }

    /// Returns the task whose file this is, or nothing when it is none.
    pub(crate) fn task_id(&self) -> Option<TaskId> {
        let name = self.parts().next_back()?;
        TaskId::try_from(name.strip_suffix(".parquet")?).ok()
    }

    /// Returns the digest after which a look is named, or nothing when this is none.
    pub(crate) fn look_sha256(&self) -> Option<Digest> {
        let name = self.parts().next_back()?;
        Digest::try_from(name.strip_suffix(".json")?.to_owned()).ok()
    }

    /// Returns the parts of the path.
    pub fn parts(&self) -> std::str::Split<'_, char> {
        self.0.split('/')
    }

    /// Returns the path as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Returns the name if it can be part of a path.
pub(crate) fn plain<'a>(what: &'static str, name: &'a str) -> Result<&'a str, StoreError> {
    if is_plain(name) {
        Ok(name)
    } else {
        Err(StoreError::Name {
            what,
            name: name.to_owned(),
        })
    }
}

fn is_plain(name: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    name.len() <= MAX_NAME
        && name.bytes().all(allowed)
        && name
            .bytes()
            .next()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
}
