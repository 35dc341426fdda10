//! What all jobs of a coordinator share.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use evalfarm_domain::{Digest, JobId};
use evalfarm_store::{LocalCache, Store};
use tokio::sync::Semaphore;

use super::dispatch::Lines;
use super::inbox::Inbox;

/// The coordinator's connections, and where it keeps its copies.
#[derive(Debug)]
pub(crate) struct Farm {
    pub(crate) lines: Lines,
    pub(crate) store: Store,
    pub(crate) cache: LocalCache,
    pub(crate) inbox: Arc<Inbox>,
    /// Jobs that are made of their submissions at a time.
    pub(crate) preparing: Semaphore,
    /// A worker that was not heard of for this long does not count.
    pub(crate) alive: Duration,
    /// `jobs/` (copies of job folders), `splits/`, `looks/`: everything in it can be made again from the store.
    pub(crate) folder: PathBuf,
}

impl Farm {
    /// Returns where this coordinator's copy of a job's folder is.
    pub(crate) fn job_folder(&self, job: &JobId) -> PathBuf {
        self.folder.join("jobs").join(job.as_str())
    }

    /// Returns the ledger of looks at a dataset.
    pub(crate) fn ledger(&self, dataset: Digest) -> PathBuf {
        self.folder.join("looks").join(format!("{dataset}.jsonl"))
    }
}
