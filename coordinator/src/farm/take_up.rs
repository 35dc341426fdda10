//! Jobs that a store has when a coordinator starts.

use std::sync::Arc;

use evalfarm_domain::JobId;
use evalfarm_results::BesideFile;
use evalfarm_store::JobObject;
use futures_util::{StreamExt as _, stream};

use super::entry::{Entry, lock};
use super::jobs::{Jobs, JobsError};
use super::records::{StoredSubmission, StoredVerdict, parsed};
use crate::api::EndOfJob;

/// Jobs that are read from the store at a time.
const READING: usize = 16;

/// A job as the store has it.
struct Found {
    id: JobId,
    submission: StoredSubmission,
    end: Option<EndOfJob>,
}

impl Jobs {
    /// Takes up every job of the store: those without an end run again, in the order in which they were submitted. Returns
    /// how many these are.
    pub(crate) async fn take_up_all(self: &Arc<Self>) -> Result<usize, JobsError> {
        let ids = self.farm.store.jobs().await?;
        let mut reading = stream::iter(ids)
            .map(|id| async move { self.find(id).await })
            .buffer_unordered(READING);
        let mut found = Vec::new();
        while let Some(job) = reading.next().await {
            match job {
                Ok(job) => found.extend(job),
                // One job that cannot be read must not stop the others.
                Err(error @ JobsError::Json { .. }) => {
                    tracing::error!(%error, "a stored job is left alone");
                }
                Err(error) => return Err(error),
            }
        }
        drop(reading);
        found.sort_by(|a, b| (a.submission.submitted, &a.id).cmp(&(b.submission.submitted, &b.id)));
        let going_on = found.iter().filter(|job| job.end.is_none()).count();
        for job in found {
            self.go_on(job);
        }
        Ok(going_on)
    }

    /// Takes up one job of the store.
    pub(super) async fn take_up(self: &Arc<Self>, id: &JobId) -> Result<(), JobsError> {
        if let Some(job) = self.find(id.clone()).await? {
            self.go_on(job);
        }
        Ok(())
    }

    /// Looks up a job. Nothing when its submission was never stored: it does not count then.
    async fn find(&self, id: JobId) -> Result<Option<Found>, JobsError> {
        let Some(submission) = self
            .read::<StoredSubmission>(&id, JobObject::Submission)
            .await?
        else {
            return Ok(None);
        };
        // A job that was cancelled while its verdict was being stored has both, and is judged.
        let verdict = JobObject::Beside(BesideFile::Verdict);
        let verdict = self.read::<StoredVerdict>(&id, verdict).await?;
        let end = match verdict {
            Some(record) => Some(EndOfJob::Judged {
                verdict: record.verdict,
            }),
            None => self.read::<EndOfJob>(&id, JobObject::Ended).await?,
        };
        Ok(Some(Found {
            id,
            submission,
            end,
        }))
    }

    fn go_on(self: &Arc<Self>, job: Found) {
        let Found {
            id,
            submission,
            end,
        } = job;
        let entry = Arc::new(Entry::new(&id, submission));
        lock(&self.entries).insert(id.clone(), Arc::clone(&entry));
        match end {
            Some(end) => entry.board.close(end),
            None => self.start(id, entry),
        }
    }

    async fn read<T: serde::de::DeserializeOwned>(
        &self,
        job: &JobId,
        object: JobObject,
    ) -> Result<Option<T>, JobsError> {
        match self.farm.store.read_of_job(job, object).await? {
            Some(bytes) => parsed(job, &bytes).map(Some),
            None => Ok(None),
        }
    }
}
