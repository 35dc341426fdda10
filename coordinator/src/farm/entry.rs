//! One job of a coordinator, from the submission on.

use std::sync::{Arc, Mutex};

use evalfarm_domain::JobId;
use tokio::sync::watch;

use super::board::Board;
use super::dispatch::Going;
use super::records::StoredSubmission;
use crate::Job;

/// One job.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) submission: StoredSubmission,
    pub(crate) board: Arc<Board>,
    pub(crate) going: watch::Sender<Going>,
    /// Held by whoever cancels the job or has it run again, so that the stored end, the flag that workers see and what is
    /// said here change together.
    pub(crate) changing: tokio::sync::Mutex<()>,
    /// Held by whoever looks at the job's folder for a client: one copy of it is fetched at a time, and one is read.
    pub(crate) looking: tokio::sync::Mutex<()>,
    job: Mutex<Option<Arc<Job>>>,
}

impl Entry {
    pub(crate) fn new(id: &JobId, submission: StoredSubmission) -> Self {
        let board = Board::new(
            id.clone(),
            submission.name.clone(),
            submission.submitter.name.clone(),
            submission.submitted,
        );
        Self {
            submission,
            board: Arc::new(board),
            going: watch::Sender::new(Going::On),
            changing: tokio::sync::Mutex::default(),
            looking: tokio::sync::Mutex::default(),
            job: Mutex::new(None),
        }
    }

    /// Whether somebody cancelled the job, which may not be over yet.
    pub(crate) fn is_cancelled(&self) -> bool {
        matches!(*self.going.borrow(), Going::Cancelled { .. })
    }

    /// Has a job that goes on paused.
    pub(crate) fn pause(&self) {
        self.going.send_if_modified(|going| {
            let on = *going == Going::On;
            if on {
                *going = Going::Paused;
            }
            on
        });
    }

    /// Resolves when the job does not go on any more.
    pub(crate) async fn halted(&self) {
        let mut going = self.going.subscribe();
        // The sender lives as long as this entry, so this is no error.
        drop(going.wait_for(|going| *going != Going::On).await);
    }

    /// Returns the job, when it was made before and not yet let go of.
    pub(crate) fn prepared(&self) -> Option<Arc<Job>> {
        lock(&self.job).clone()
    }

    /// Keeps the job for whoever needs it next.
    pub(crate) fn keep(&self, job: &Arc<Job>) {
        *lock(&self.job) = Some(Arc::clone(job));
    }

    pub(crate) fn let_go(&self) {
        *lock(&self.job) = None;
    }
}

/// Takes a lock under which every change is whole, so that a panic elsewhere leaves nothing half done.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}
