//! The turn of one job: run until it is over, again after what may pass.

use std::sync::Arc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use evalfarm_domain::JobId;
use evalfarm_telemetry::TraceContext;
use futures_util::future::BoxFuture;
use tokio::sync::{AcquireError, OwnedSemaphorePermit};

use super::entry::Entry;
use super::jobs::Jobs;
use super::runner::{Outcome, run_job, stopped};
use crate::Progress as _;
use crate::api::{EndOfJob, JobState};

/// Runs of a job that break, one after another without a task done, before it counts as failed.
const MAX_BREAKS: u32 = 8;

/// Wait after the first break; it doubles up to a minute.
const FIRST_WAIT: Duration = Duration::from_secs(1);
const LONGEST_WAIT: Duration = Duration::from_mins(1);

/// Breaks since a job last came further.
#[derive(Debug, PartialEq, Eq)]
struct Breaks {
    count: u32,
    done: u64,
}

impl Breaks {
    /// Counts a break, after which so many tasks are done; returns how long to wait, or nothing when it is enough.
    fn another(&mut self, done: u64) -> Option<Duration> {
        if done > self.done {
            self.count = 0;
        }
        self.done = done;
        self.count += 1;
        let doubled = FIRST_WAIT.saturating_mul(2_u32.saturating_pow(self.count - 1));
        (self.count < MAX_BREAKS).then(|| doubled.min(LONGEST_WAIT))
    }
}

/// A place in the line of jobs that wait.
type Turn = BoxFuture<'static, Result<OwnedSemaphorePermit, AcquireError>>;

impl Jobs {
    /// Puts a job at the end of the line, now and not when its task is first looked at: those of many jobs are looked at in any
    /// order.
    pub(super) fn line_up(&self) -> Turn {
        let mut turn: Turn = Box::pin(Arc::clone(&self.turns).acquire_owned());
        match turn.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            Poll::Ready(at_once) => Box::pin(std::future::ready(at_once)),
            Poll::Pending => turn,
        }
    }

    /// Waits for a job's turn, and runs it.
    pub(super) async fn take_turn(self: Arc<Self>, id: JobId, entry: Arc<Entry>, turn: Turn) {
        let turn = tokio::select! {
            biased;
            () = entry.halted() => None,
            turn = turn => turn.ok(),
        };
        if turn.is_some() {
            entry.board.enter(JobState::Running);
        }
        let end = match &turn {
            Some(_) => self.until_over(&id, &entry).await,
            None => stopped(&entry.going.borrow()),
        };
        // Before it counts as over: whoever submits it again then keeps another one.
        entry.let_go();
        if let Some(end) = end {
            self.farm.lines.instruments.job_ended(match &end {
                EndOfJob::Judged { .. } => "judged",
                EndOfJob::Cancelled { .. } => "cancelled",
                EndOfJob::Failed { .. } => "failed",
            });
            entry.board.close(end);
        }
    }

    /// Runs a job until it is over; nothing when it was paused.
    async fn until_over(&self, id: &JobId, entry: &Arc<Entry>) -> Option<EndOfJob> {
        let mut breaks = Breaks {
            count: 0,
            done: entry.board.status().tasks.done,
        };
        loop {
            let said = match self.run_once(id, entry).await {
                Ok(Outcome::Judged(verdict)) => return Some(EndOfJob::Judged { verdict }),
                Ok(Outcome::Stopped) => return stopped(&entry.going.borrow()),
                Ok(Outcome::Failed { error, input }) => return self.failed(id, error, input).await,
                Ok(Outcome::Broken { said, error }) => {
                    tracing::warn!(job = %id, error, "a run of the job broke");
                    said
                }
                Err(panic) => {
                    tracing::error!(job = %id, error = %panic, "a run of the job panicked");
                    let said = "the coordinator panicked while it ran the job; its log says more";
                    return self.failed(id, said.to_owned(), false).await;
                }
            };
            let Some(wait) = breaks.another(entry.board.status().tasks.done) else {
                return self.failed(id, said, false).await;
            };
            entry
                .board
                .note(&format!("tried again in {} s: {said}", wait.as_secs()));
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = entry.halted() => return stopped(&entry.going.borrow()),
            }
        }
    }

    async fn run_once(
        &self,
        id: &JobId,
        entry: &Arc<Entry>,
    ) -> Result<Outcome, tokio::task::JoinError> {
        let (farm, runtime) = (Arc::clone(&self.farm), self.runtime.clone());
        let (of, at) = (id.clone(), Arc::clone(entry));
        let span = tracing::info_span!("job", job = %id);
        let parent = entry.submission.traceparent.as_deref();
        evalfarm_telemetry::continue_trace(&span, &TraceContext::new(parent, None));
        let run = move || span.in_scope(|| run_job(&farm, &runtime, &of, &at));
        tokio::task::spawn_blocking(run).await
    }

    async fn failed(&self, id: &JobId, error: String, input: bool) -> Option<EndOfJob> {
        let end = EndOfJob::Failed { error, input };
        match self.store_end(id, end.clone()).await {
            // Somebody may have cancelled it just before.
            Ok(first) => Some(first),
            Err(error) => {
                // After a restart the job is tried once more.
                tracing::warn!(%error, job = %id, "the end of the job could not be stored");
                Some(end)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_breaks_waits_longer_each_time_and_then_fails() {
        let mut breaks = Breaks { count: 0, done: 0 };
        let waits: Vec<u64> = std::iter::from_fn(|| breaks.another(0))
            .map(|wait| wait.as_secs())
            .collect();
        assert_eq!(waits, [1, 2, 4, 8, 16, 32, 60]);
    }

    #[test]
    fn breaks_of_a_job_that_comes_further_in_between_are_not_added_up() {
        let mut breaks = Breaks { count: 0, done: 0 };
        for done in 1..100 {
            assert_eq!(breaks.another(done), Some(FIRST_WAIT));
        }
    }
}
