//! Hands the tasks of one job to the farm's workers and takes in what they gave: a thin loop around [`Schedule`].

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, atomic::AtomicU32, atomic::Ordering};
use std::time::{Duration, Instant};

use evalfarm_broker::{Broker, Letter, PublishError, Trace};
use evalfarm_domain::{EvaluateTask, ExamineTask, JobId, TaskId};
use evalfarm_proto::{EncodeError, Fate, Queue, TaskFailed};
use evalfarm_state::{JobStore, TaskEnd};
use futures_util::{StreamExt as _, stream};
use tokio::runtime::Handle;
use tokio::sync::{Mutex, mpsc, watch};
use tracing::Instrument as _;

use super::board::Board;
use super::collect::{Collect, CollectError, GivenUp};
use super::inbox::News;
use super::instruments::Instruments;
use super::schedule::{Answer, Moment, Pace, Schedule};
use super::shares::Shares;
use super::work::Work;
use crate::{Progress as _, Workers, WorkersError};

/// Messages on their way to the broker at a time.
const PUBLISHING: usize = 64;

/// Results on their way from the store at a time.
const COLLECTING: usize = 16;

/// How often the loop looks up when no news come.
const TICK: Duration = Duration::from_millis(500);

/// After so long without an answer the store is asked for results whose news were lost, and then as often.
const LOOK_AFTER: Duration = Duration::from_secs(5);

/// The same for the dead letters, where the broker puts tasks that lost every holder.
const DEAD_AFTER: Duration = Duration::from_secs(10);

/// Dead letters that are looked at.
const DEAD_LOOK: usize = 1_000;

/// What the broker says of a message that lost every holder.
const DELIVERY_LIMIT: &str = "delivery_limit";

/// Why tasks could not be handed out or taken in.
#[derive(Debug, thiserror::Error)]
pub(crate) enum DispatchError {
    /// A task cannot be written as a message.
    #[error("a task cannot be sent")]
    Encode(#[source] EncodeError),
    /// Nothing came back for too long.
    #[error("no worker has answered for {} s; {done} of {all} tasks of this step are done", .silence.as_secs())]
    NoWorker {
        /// For how long.
        silence: Duration,
        /// Tasks that are done.
        done: usize,
        /// Tasks of the step.
        all: usize,
    },
    /// A result could not be taken in.
    #[error("a result could not be taken in")]
    Collect(#[source] CollectError),
    /// The service stops.
    #[error("nobody listens for news any more")]
    Closed,
}

/// Whether a job goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Going {
    /// It does.
    On,
    /// The coordinator stops; the next one takes the job up again.
    Paused,
    /// Somebody cancelled it.
    Cancelled {
        /// Name of the credential.
        by: String,
        /// Why.
        reason: String,
    },
}

/// What handing out needs of the farm.
#[derive(Debug, Clone)]
pub(crate) struct Lines {
    pub(crate) broker: Arc<dyn Broker>,
    pub(crate) state: Arc<dyn JobStore>,
    pub(crate) shares: Arc<Shares>,
    pub(crate) instruments: Instruments,
    pub(crate) pace: Pace,
    /// After this long without any answer a step is given up.
    pub(crate) patience: Duration,
}

/// The farm's workers, as one job sees them.
#[derive(Debug)]
pub(crate) struct Dispatch<'a> {
    pub(crate) lines: &'a Lines,
    pub(crate) job: &'a JobId,
    pub(crate) board: &'a Board,
    pub(crate) collect: &'a dyn Collect,
    pub(crate) runtime: &'a Handle,
    pub(crate) news: Mutex<mpsc::UnboundedReceiver<News>>,
    pub(crate) going: watch::Receiver<Going>,
    pub(crate) steps: AtomicU32,
}

impl Workers for Dispatch<'_> {
    fn evaluate(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        let works: Vec<Work<'_>> = tasks.iter().map(Work::Evaluate).collect();
        self.hand_out(&works, &|index| finished(&tasks[index]))
    }

    fn average(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        let works: Vec<Work<'_>> = tasks.iter().map(Work::Average).collect();
        self.hand_out(&works, &|index| finished(&tasks[index]))
    }

    fn examine(
        &self,
        tasks: &[ExamineTask],
        finished: &(dyn Fn(&ExamineTask) + Sync),
    ) -> Result<(), WorkersError> {
        let works: Vec<Work<'_>> = tasks.iter().map(Work::Examine).collect();
        self.hand_out(&works, &|index| finished(&tasks[index]))
    }
}

impl Dispatch<'_> {
    fn hand_out(
        &self,
        works: &[Work<'_>],
        done: &(dyn Fn(usize) + Sync),
    ) -> Result<(), WorkersError> {
        let step = Step::new(self, works, done);
        let span = tracing::info_span!("step", tasks = works.len());
        let _leaving = Leaving(self);
        self.runtime.block_on(step.run().instrument(span))
    }
}

/// Says that a job needs nobody for now, however its step ends: a share that stays would be taken from all others.
struct Leaving<'d>(&'d Dispatch<'d>);

impl Drop for Leaving<'_> {
    fn drop(&mut self) {
        self.0.lines.shares.leave(self.0.job);
    }
}

/// One step of a job on its way.
struct Step<'s> {
    dispatch: &'s Dispatch<'s>,
    works: BTreeMap<TaskId, (usize, Work<'s>)>,
    done: &'s (dyn Fn(usize) + Sync),
    schedule: Schedule,
    answered: usize,
    began: Instant,
    looked: Moment,
    looked_at_dead: Moment,
    /// Tasks that the broker gave up and that were put back once: a healthy task shares the fate of whatever killed its worker.
    revived: BTreeSet<TaskId>,
}

impl<'s> Step<'s> {
    fn new(
        dispatch: &'s Dispatch<'s>,
        works: &'s [Work<'s>],
        done: &'s (dyn Fn(usize) + Sync),
    ) -> Self {
        let order: Vec<TaskId> = works.iter().map(Work::id).collect();
        let start = Moment(Duration::ZERO);
        Self {
            schedule: Schedule::new(order.iter().cloned(), dispatch.lines.pace),
            works: order
                .into_iter()
                .zip(works.iter().copied().enumerate())
                .collect(),
            dispatch,
            done,
            answered: 0,
            began: Instant::now(),
            looked: start,
            looked_at_dead: start,
            revived: BTreeSet::new(),
        }
    }

    /// Works on the step until it is done or the job does not go on: nothing waits for a broker or a store that are away.
    async fn run(self) -> Result<(), WorkersError> {
        let mut going = self.dispatch.going.clone();
        tokio::select! {
            biased;
            _ = going.wait_for(|going| *going != Going::On) => Err(WorkersError::Interrupted),
            outcome = self.work() => outcome,
        }
    }

    async fn work(mut self) -> Result<(), WorkersError> {
        let Dispatch {
            lines, job, board, ..
        } = *self.dispatch;
        let number = self.dispatch.steps.fetch_add(1, Ordering::Relaxed);
        let planned = self.works.len() as u64;
        board.count(|tasks| tasks.planned += planned);
        ignored(lines.state.expect(job, number, planned).await);
        self.take_over().await?;
        let mut news = self.dispatch.news.lock().await;
        while !self.schedule.is_complete() {
            let left = self.works.len() - self.answered;
            self.schedule.set_window(lines.shares.window(job, left));
            self.publish().await?;
            let first = tokio::select! {
                first = news.recv() => Some(first.ok_or_else(|| failed(DispatchError::Closed))?),
                () = tokio::time::sleep(TICK) => None,
            };
            let mut heard: Vec<News> = first.into_iter().collect();
            while let Ok(more) = news.try_recv() {
                heard.push(more);
            }
            self.hear(heard).await?;
            self.look_around().await?;
        }
        Ok(())
    }

    fn now(&self) -> Moment {
        Moment(self.began.elapsed())
    }

    /// Takes in what an earlier coordinator had done.
    async fn take_over(&mut self) -> Result<(), WorkersError> {
        let Some((_, any)) = self.works.values().next() else {
            return Ok(());
        };
        let committed = self.dispatch.collect.committed(any.marker()).await;
        let mut committed = committed.map_err(collect_failed)?;
        committed.retain(|task| self.works.contains_key(task));
        self.collect(committed).await
    }

    /// Publishes what the schedule offers. What could not be published is offered again, after a while.
    async fn publish(&mut self) -> Result<(), WorkersError> {
        let before = self.schedule.open().count();
        let offers = self.schedule.offers(self.now());
        if offers.is_empty() {
            return Ok(());
        }
        self.dispatch.lines.instruments.offered(offers.len());
        let again = (before + offers.len()).saturating_sub(self.schedule.open().count());
        if again > 0 {
            self.dispatch
                .board
                .count(|tasks| tasks.offered_again += again as u64);
        }
        let mut letters = Vec::with_capacity(offers.len());
        for task in offers {
            let letter = Letter::new(&self.works[&task].1.message());
            letters.push((
                task,
                letter.map_err(|error| failed(DispatchError::Encode(error)))?,
            ));
        }
        let broker = &self.dispatch.lines.broker;
        let sent: Vec<_> = stream::iter(letters)
            .map(|(task, letter)| async move { (task, send(broker, letter).await) })
            .buffer_unordered(PUBLISHING)
            .collect()
            .await;
        let mut refused = None;
        for (task, outcome) in sent {
            if let Err(error) = outcome {
                self.schedule.unpublished(task);
                refused = Some(error);
            }
        }
        if let Some(error) = refused {
            self.refused(&error).await;
        }
        Ok(())
    }

    /// Waits a moment after the broker refused a message, and makes its queues when they are gone.
    async fn refused(&self, error: &PublishError) {
        tracing::warn!(%error, "a task could not be published");
        self.dispatch
            .board
            .note(&format!("waiting for the broker: {error}"));
        if matches!(error, PublishError::Unroutable { .. })
            && let Err(error) = self.dispatch.lines.broker.declare().await
        {
            tracing::warn!(%error, "queues could not be declared");
        }
        tokio::time::sleep(TICK).await;
    }

    async fn hear(&mut self, heard: Vec<News>) -> Result<(), WorkersError> {
        let mut finished = BTreeSet::new();
        let mut dead = Vec::new();
        for one in heard {
            match one {
                News::Finished(news) if self.works.contains_key(&news.task) => {
                    finished.insert(news.task);
                }
                News::Failed(news) if self.works.contains_key(&news.task) => match news.fate {
                    Fate::Retried => self.retried(&news),
                    Fate::Dead => dead.push((news.task.clone(), reason(&news))),
                },
                // Of an earlier step.
                News::Finished(_) | News::Failed(_) => {}
            }
        }
        self.collect(finished).await?;
        for (task, reason) in dead {
            self.give_up(&task, &reason).await?;
        }
        Ok(())
    }

    fn retried(&mut self, news: &TaskFailed) {
        self.schedule.retried(&news.task);
        self.dispatch.lines.instruments.retried();
        self.dispatch.board.count(|tasks| tasks.retried += 1);
        self.dispatch.board.note(&format!(
            "attempt {} at task {} failed and is tried again: {}",
            news.attempt,
            news.task,
            reason(news),
        ));
    }

    /// Takes in the results of these tasks, as far as they are there.
    async fn collect(&mut self, tasks: BTreeSet<TaskId>) -> Result<(), WorkersError> {
        let collect = self.dispatch.collect;
        let works = &self.works;
        let collected: Vec<_> = stream::iter(tasks)
            .map(|task| async move {
                let found = collect.collect(works[&task].1.marker(), &task).await;
                (task, found)
            })
            .buffer_unordered(COLLECTING)
            .collect()
            .await;
        for (task, found) in collected {
            if found.map_err(collect_failed)? {
                self.answer(&task, TaskEnd::Done).await;
            }
        }
        Ok(())
    }

    async fn give_up(&mut self, task: &TaskId, reason: &str) -> Result<(), WorkersError> {
        let (_, work) = &self.works[task];
        let given_up = self.dispatch.collect.give_up(work, reason).await;
        match given_up.map_err(collect_failed)? {
            GivenUp::Unfinished => {
                self.dispatch.board.note(&format!(
                    "task {task} was given up, its queries are unfinished: {reason}"
                ));
                self.answer(task, TaskEnd::Dead).await;
            }
            GivenUp::HasResult => self.answer(task, TaskEnd::Done).await,
        }
        Ok(())
    }

    async fn answer(&mut self, task: &TaskId, end: TaskEnd) {
        let Dispatch {
            lines, job, board, ..
        } = *self.dispatch;
        if self.schedule.answered(task, self.now()) != Answer::First {
            return;
        }
        self.answered += 1;
        lines.instruments.answered(end);
        board.count(|tasks| match end {
            TaskEnd::Done => tasks.done += 1,
            TaskEnd::Dead => tasks.dead += 1,
        });
        (self.done)(self.works[task].0);
        if end == TaskEnd::Dead {
            ignored(lines.state.end(job, task, end).await);
        }
    }

    /// Looks where lost news may be found, and whether anybody works at all.
    async fn look_around(&mut self) -> Result<(), WorkersError> {
        let now = self.now();
        let silence = self.schedule.silence(now);
        if silence >= self.dispatch.lines.patience {
            return Err(failed(DispatchError::NoWorker {
                silence,
                done: self.answered,
                all: self.works.len(),
            }));
        }
        if silence >= LOOK_AFTER && now.since(self.looked) >= LOOK_AFTER {
            self.looked = now;
            let open = self.schedule.open().cloned().collect();
            self.collect(open).await?;
        }
        if silence >= DEAD_AFTER && now.since(self.looked_at_dead) >= DEAD_AFTER {
            self.looked_at_dead = now;
            self.look_at_dead().await?;
        }
        Ok(())
    }

    /// Looks for tasks that the broker has given up: no worker lived long enough to say so.
    async fn look_at_dead(&mut self) -> Result<(), WorkersError> {
        let broker = &self.dispatch.lines.broker;
        let letters = match broker.dead_letters(DEAD_LOOK).await {
            Ok(letters) => letters,
            Err(error) => {
                tracing::warn!(%error, "dead letters could not be looked at");
                return Ok(());
            }
        };
        let open: BTreeSet<TaskId> = self.schedule.open().cloned().collect();
        let of_job = letters
            .into_iter()
            .filter(|dead| dead.letter.job.as_deref() == Some(self.dispatch.job.as_str()));
        for dead in of_job {
            let Ok(task) = TaskId::try_from(dead.letter.id.clone()) else {
                continue;
            };
            if !open.contains(&task) {
                continue;
            }
            if self.revived.insert(task.clone()) {
                if let Err(error) = broker.revive(&dead.letter.id).await {
                    tracing::warn!(%error, "a dead task could not be put back");
                }
                continue;
            }
            self.give_up(&task, &why_dead(&dead.reason)).await?;
        }
        Ok(())
    }
}

async fn send(broker: &Arc<dyn Broker>, mut letter: Letter) -> Result<(), PublishError> {
    let span = tracing::info_span!(
        "publish tasks",
        otel.kind = "producer",
        messaging.system = "rabbitmq",
        messaging.operation.name = "publish",
        messaging.operation.type = "send",
        messaging.message.id = letter.id,
    );
    async {
        let context = evalfarm_telemetry::current();
        letter.trace = Trace {
            parent: context.parent().map(ToOwned::to_owned),
            state: context.state().map(ToOwned::to_owned),
        };
        broker.publish(Queue::Tasks, &letter).await
    }
    .instrument(span)
    .await
}

/// Why a task is given up whose dead letter was found: what a worker said, or that none lived to say anything.
fn why_dead(reason: &str) -> String {
    match reason {
        DELIVERY_LIMIT => format!("the broker gave it up ({reason}): it may end its worker"),
        said => said.to_owned(),
    }
}

/// What failed, with its causes, in one line.
fn reason(news: &TaskFailed) -> String {
    news.causes.join(": ")
}

fn failed(error: DispatchError) -> WorkersError {
    WorkersError::Failed(Box::new(error))
}

fn collect_failed(error: CollectError) -> WorkersError {
    failed(DispatchError::Collect(error))
}

/// Counts may be lost at any moment.
fn ignored(counted: Result<(), evalfarm_state::StateError>) {
    if let Err(error) = counted {
        tracing::debug!(%error, "nothing was counted");
    }
}
