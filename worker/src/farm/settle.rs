//! From a delivery to its settlement: what is counted, what the coordinator hears, what the broker is told.

use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_broker::{Delivery, Letter, Settled};
use evalfarm_domain::{Digest, JobId, TaskId};
use evalfarm_proto::{
    Commit, Fate, Message, TaskFailed, TaskFailureKind, TaskFinished, Unreadable,
};
use evalfarm_state::TaskEnd;
use tracing::{Instrument as _, Span, debug, info, warn};

use super::attempt::End;
use super::failure::{Failure, Next, POSTPONED, kind_name, told};
use super::post::Onward;
use super::running::Slot;
use super::service::Core;
use super::trace;
use super::work::Work;

/// Wait before a task whose engine is not known here is offered again, to whichever worker is free then.
const ELSEWHERE: Duration = Duration::from_secs(1);

/// A letter that is no task.
#[derive(Debug, thiserror::Error)]
enum NoTask {
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    #[error("the message is not a task")]
    Other,
}

impl Core {
    /// Handles a delivery, in whatever way that ends.
    pub(super) async fn handle(self: Arc<Self>, delivery: Delivery) {
        let span = trace::process(&self.tasks_queue, delivery.letter());
        let handled = async {
            self.instruments.taken(delivery.returned());
            let _leave = self.quarantine.enter(delivery.returned()).await;
            let started = Instant::now();
            let (kind, outcome) = match read(delivery.letter()) {
                Ok(work) => {
                    let kind = work.kind();
                    (kind, self.do_work(delivery, Arc::new(work), started).await)
                }
                Err(error) => ("unreadable", self.no_task(delivery, &error).await),
            };
            Span::current().record("outcome", outcome);
            self.instruments.ended(kind, outcome, started.elapsed());
        };
        Box::pin(handled).instrument(span).await;
    }

    async fn do_work(
        self: &Arc<Self>,
        delivery: Delivery,
        work: Arc<Work>,
        started: Instant,
    ) -> &'static str {
        let slot = self.running.take(work.job(), &work.id());
        let end = self.attempt(&work, &slot, delivery.attempt()).await;
        match end {
            End::Done { commit, rows } => {
                self.finished(delivery, &slot, (commit, rows), started)
                    .await
            }
            End::Cancelled => {
                debug!(task = %slot.current.task, "job is cancelled, task dropped");
                self.release(&slot).await;
                self.acknowledge(delivery).await;
                "cancelled"
            }
            End::Abandoned => {
                drop(delivery);
                self.release(&slot).await;
                "abandoned"
            }
            End::UnknownEngine(engine) => {
                info!(%engine, task = %slot.current.task, "engine is not known here, task postponed");
                self.release(&slot).await;
                self.instruments.postponed("engine");
                self.pass_on(delivery, Onward::Postpone(ELSEWHERE)).await;
                "postponed"
            }
            End::Failed(failure) => self.failed(delivery, &slot, failure).await,
        }
    }

    async fn finished(
        &self,
        delivery: Delivery,
        slot: &Slot,
        (commit, rows): (Commit, Digest),
        started: Instant,
    ) -> &'static str {
        let current = &slot.current;
        let event = Message::Finished(TaskFinished {
            job: current.job.clone(),
            task: current.task.clone(),
            attempt: delivery.attempt(),
            worker: self.options.worker.clone(),
            commit,
            rows,
            elapsed: started.elapsed(),
        });
        self.instruments.committed(match commit {
            Commit::First => "won",
            Commit::Identical => "duplicate",
            Commit::Different => "mismatch",
        });
        // The lease is left to expire: of a task that is done, nobody asks who is at it.
        let counted = self
            .counts
            .ask(|store| store.end(&current.job, &current.task, TaskEnd::Done));
        let (_, posted) = tokio::join!(counted, self.post.event(&event));
        if let Err(error) = posted {
            // It is committed: whoever takes it again finds that, and announces it.
            let error = told(&error);
            warn!(error, task = %current.task, "a finished task could not be announced");
            self.instruments.postponed("event");
            self.pass_on(delivery, Onward::Postpone(POSTPONED)).await;
            return "unannounced";
        }
        self.acknowledge(delivery).await;
        "done"
    }

    async fn failed(&self, delivery: Delivery, slot: &Slot, failure: Failure) -> &'static str {
        let (current, attempt) = (&slot.current, delivery.attempt());
        let next = Next::after(failure.kind, attempt, self.options.attempts.get());
        let (class, causes) = (kind_name(failure.kind), failure.line());
        warn!(task = %current.task, job = %current.job, attempt, class, ?next, causes, "task failed");
        let event = Message::Failed(TaskFailed {
            job: current.job.clone(),
            task: current.task.clone(),
            attempt,
            worker: self.options.worker.clone(),
            kind: failure.kind,
            fate: next.fate(),
            causes: failure.causes,
        });
        let posted = self.post.event(&event);
        let ((), posted) = tokio::join!(self.release(slot), posted);
        if let Err(error) = &posted {
            let error = told(error);
            warn!(error, task = %current.task, "a failed task could not be announced");
        }
        match next {
            // Nobody would hear of it: it has to fail again.
            Next::Dead if posted.is_err() => {
                self.instruments.postponed("event");
                self.pass_on(delivery, Onward::Postpone(POSTPONED)).await;
                "unannounced"
            }
            Next::Dead => {
                let end = self
                    .counts
                    .ask(|store| store.end(&current.job, &current.task, TaskEnd::Dead));
                end.await;
                self.bury(delivery, class, &causes).await;
                "dead"
            }
            Next::Retry(wait) => {
                self.instruments.retried(class);
                self.pass_on(delivery, Onward::Retry(wait)).await;
                "retried"
            }
            Next::Postpone(wait) => {
                self.instruments.postponed(class);
                self.pass_on(delivery, Onward::Postpone(wait)).await;
                "postponed"
            }
        }
    }

    /// Handles what is no task here. What a newer release wrote waits for a worker of that release.
    async fn no_task(&self, delivery: Delivery, error: &NoTask) -> &'static str {
        let chain = told(error);
        if let NoTask::Unreadable(Unreadable::Newer(_)) = error {
            warn!(
                error = chain,
                message = delivery.letter().id,
                "a newer release is needed, message postponed"
            );
            self.instruments.postponed("newer");
            self.pass_on(delivery, Onward::Postpone(POSTPONED)).await;
            return "postponed";
        }
        warn!(
            error = chain,
            message = delivery.letter().id,
            "message cannot be a task"
        );
        let failure = Failure::new(TaskFailureKind::Permanent, error);
        let causes = failure.line();
        // The bytes cannot say whose task it is; what is written on the outside may.
        if let Some((job, task)) = addressed(delivery.letter()) {
            let event = Message::Failed(TaskFailed {
                job,
                task,
                attempt: delivery.attempt(),
                worker: self.options.worker.clone(),
                kind: failure.kind,
                fate: Fate::Dead,
                causes: failure.causes,
            });
            if let Err(error) = self.post.event(&event).await {
                let error = told(&error);
                warn!(error, "a malformed task could not be announced");
            }
        }
        self.bury(delivery, "malformed", &causes).await;
        "dead"
    }

    async fn bury(&self, delivery: Delivery, class: &'static str, causes: &str) {
        self.instruments.dead_lettered(class);
        let reason = format!("{class}: {causes}");
        self.pass_on(delivery, Onward::Dead(&reason)).await;
    }

    async fn pass_on(&self, delivery: Delivery, to: Onward<'_>) {
        if let Some(settled) = self.post.pass_on(delivery, to).await {
            self.notice(settled);
        }
    }

    async fn acknowledge(&self, delivery: Delivery) {
        let settled = delivery.ack().await;
        self.notice(settled);
    }

    fn notice(&self, settled: Settled) {
        match settled {
            Settled::Done => {}
            Settled::Lost => {
                debug!("an acknowledgement came too late, the task comes again");
                self.instruments.ack_lost();
            }
        }
    }

    async fn release(&self, slot: &Slot) {
        let lease = slot.current.lease();
        slot.current.set_lease(None);
        if let Some(lease) = &lease {
            // One that is not released expires.
            self.counts.ask(|store| store.release(lease)).await;
        }
    }
}

fn read(letter: &Letter) -> Result<Work, NoTask> {
    let message = Message::decode(&letter.body)?;
    Work::of(message).ok_or(NoTask::Other)
}

/// Returns the job and the task that a letter names on its outside.
fn addressed(letter: &Letter) -> Option<(JobId, TaskId)> {
    let job = JobId::try_from(letter.job.clone()?).ok()?;
    Some((job, TaskId::try_from(letter.id.clone()).ok()?))
}
