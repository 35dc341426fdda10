//! One attempt at a task, up to its commit. What is said about it afterwards is `settle`'s.

use std::sync::Arc;
use std::time::Duration;

use evalfarm_domain::{Digest, EngineName};
use evalfarm_proto::{Commit, TaskFailureKind};
use evalfarm_state::{Claim, Claimant};
use evalfarm_store::{ObjectPath, StoreError, TaskCommit};
use tokio::time::timeout;
use tracing::{Instrument as _, debug, error, info_span};

use super::bench::{Bench, BenchError, Order, Served};
use super::engine::Engine;
use super::failure::Failure;
use super::opening::OpenError;
use super::running::Slot;
use super::service::Core;
use super::work::{Attempt, ComputeError, Computed, Work};
use crate::EvaluateError;

/// How long a computation that was told to stop may take to notice: a query, usually.
const STOPPING: Duration = Duration::from_secs(5);

/// How an attempt ended.
#[derive(Debug)]
pub(super) enum End {
    /// The task is committed.
    Done { commit: Commit, rows: Digest },
    /// Nobody wants the task any more.
    Cancelled,
    /// This worker ends; another one takes the task.
    Abandoned,
    /// Another worker may know the engine.
    UnknownEngine(EngineName),
    /// It failed.
    Failed(Failure),
}

impl Core {
    /// Does a task, unless it is cancelled or done.
    pub(super) async fn attempt(
        self: &Arc<Self>,
        work: &Arc<Work>,
        slot: &Slot,
        number: u32,
    ) -> End {
        match self.try_attempt(work, slot, number).await {
            Ok(end) | Err(end) => end,
        }
    }

    async fn try_attempt(
        self: &Arc<Self>,
        work: &Arc<Work>,
        slot: &Slot,
        number: u32,
    ) -> Result<End, End> {
        let current = &slot.current;
        self.claim(slot);
        let cancelled = self.counts.is_cancelled(&current.job).await;
        if cancelled || current.is_cancelled() {
            return Ok(End::Cancelled);
        }
        let job = self.jobs.job(&current.job).await.map_err(not_opened)?;
        if let Served::Named(_, Engine::Noop) = job.served {
            return Ok(End::Done {
                commit: Commit::First,
                rows: Digest::of(b""),
            });
        }
        if let Some(rows) = self.committed(work, slot).await.map_err(not_stored)? {
            return Ok(End::Done {
                commit: Commit::Identical,
                rows,
            });
        }
        let bench = job.bench().await.map_err(not_opened)?;
        let computed = self.compute(&bench, work, slot, number).await?;
        let rows = computed.digest;
        let store = self.jobs.store();
        let commit = store
            .commit_task(&current.job, &current.task, computed.objects)
            .instrument(info_span!("store", otel.kind = "client"));
        let commit = match commit.await.map_err(not_stored)? {
            TaskCommit::Committed => Commit::First,
            TaskCommit::Identical => Commit::Identical,
        };
        Ok(End::Done { commit, rows })
    }

    /// Counts the attempt and says who is at it, while the work begins. Somebody else may be at it too: copies of slow tasks are
    /// wanted, and the store decides between them.
    fn claim(self: &Arc<Self>, slot: &Slot) {
        let (core, current) = (Arc::clone(self), Arc::clone(&slot.current));
        let claimant = Claimant {
            worker: self.options.worker.clone(),
            slot: slot.number,
        };
        tokio::spawn(async move {
            let time = core.lease_time();
            let claim = core
                .counts
                .ask(|store| store.claim(&current.job, &current.task, &claimant, time));
            match claim.await {
                Some(Claim::Granted(lease)) => current.set_lease(Some(lease)),
                Some(Claim::Held { by, fence }) => {
                    debug!(worker = %by.worker, slot = by.slot, fence, "another worker has the task too");
                }
                None => {}
            }
        });
    }

    /// Returns the digest of the object that committed the task already, if one did.
    async fn committed(&self, work: &Work, slot: &Slot) -> Result<Option<Digest>, StoreError> {
        let (current, store) = (&slot.current, self.jobs.store());
        let marker = work.marker();
        if !store
            .is_committed(&current.job, marker, &current.task)
            .await?
        {
            return Ok(None);
        }
        let path = ObjectPath::task(&current.job, marker, &current.task)?;
        Ok(store.read(&path).await?.map(|bytes| Digest::of(&bytes)))
    }

    async fn compute(
        &self,
        bench: &Bench,
        work: &Arc<Work>,
        slot: &Slot,
        number: u32,
    ) -> Result<Computed, End> {
        let current = &slot.current;
        if current.is_cancelled() {
            return Err(End::Cancelled);
        }
        let mut answer = bench.take(Order {
            work: Arc::clone(work),
            attempt: Attempt {
                worker: self.options.worker.clone(),
                number,
            },
            stop: current.stop.clone(),
        });
        let limit = self.options.deadline;
        let Ok(answered) = timeout(limit, &mut answer).await else {
            current.stop.set();
            if timeout(STOPPING, &mut answer).await.is_err() {
                error!(task = %current.task, "a computation does not stop, its thread is left to itself");
            }
            let text = format!("the task took longer than {limit:?}");
            return Err(End::Failed(Failure::said(TaskFailureKind::Deadline, text)));
        };
        let error = match answered {
            Ok(Ok(computed)) => return Ok(computed),
            Ok(Err(error)) => error,
            Err(_) => {
                let text = "no thread took the task, see the log";
                let failure = Failure::said(TaskFailureKind::Infrastructure, text);
                return Err(End::Failed(failure));
            }
        };
        Err(match error {
            BenchError::Compute(ComputeError::Evaluate(EvaluateError::Stopped(_))) => {
                if current.is_cancelled() {
                    End::Cancelled
                } else {
                    End::Abandoned
                }
            }
            BenchError::Compute(error) => End::Failed(Failure::of_compute(&error)),
            BenchError::Panic(text) => {
                // What the panic left behind must not be used again.
                self.jobs.close(&current.job);
                let text = format!("evaluating the task panicked: {text}");
                End::Failed(Failure::said(TaskFailureKind::Panic, text))
            }
        })
    }
}

fn not_opened(error: OpenError) -> End {
    match error {
        OpenError::UnknownEngine(engine) => End::UnknownEngine(engine),
        error => End::Failed(Failure::of_opening(&error)),
    }
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "it is handed to `map_err` by name"
)]
fn not_stored(error: StoreError) -> End {
    End::Failed(Failure::of_store(&error))
}
