//! One job's evaluator on threads of its own. It is built once and keeps its score cache from task to task.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread;
use std::time::Instant;

use evalfarm_dataset::Dataset;
use evalfarm_domain::{EngineName, JobSettings};
use evalfarm_retrieval::Bm25Index;
use evalfarm_state::PermitId;
use evalfarm_store::{CachedDataset, Kept};
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::budget::{Permits, Use};
use super::engine::{Delay, Engine};
use super::opening::OpenError;
use super::panics::caught;
use super::work::{Attempt, ComputeError, Computed, Work};
use crate::{Evaluator, Stop, Stopped};

/// An index, and the entry of the cache that it reads.
#[derive(Debug)]
pub(super) struct KeptIndex {
    pub(super) index: Bm25Index,
    pub(super) _kept: Kept,
}

/// Who answers a job's queries.
#[derive(Debug, Clone)]
pub(super) enum Served {
    Embedded,
    Named(EngineName, Engine),
}

/// What an evaluator is made of.
#[derive(Debug)]
pub(super) struct Kit {
    pub(super) settings: Arc<JobSettings>,
    pub(super) dataset: Arc<CachedDataset>,
    pub(super) index: Arc<KeptIndex>,
    pub(super) served: Served,
    pub(super) permits: Arc<Permits>,
}

/// A task for a bench.
#[derive(Debug)]
pub(super) struct Order {
    pub(super) work: Arc<Work>,
    pub(super) attempt: Attempt,
    pub(super) stop: Stop,
}

/// Why a bench gave nothing.
#[derive(Debug)]
pub(super) enum BenchError {
    Compute(ComputeError),
    /// The panic's text. The evaluator must not be used again.
    Panic(String),
}

type Answer = Result<Computed, BenchError>;

/// Where tasks of one job are computed, any number at a time: whoever sends them keeps to the slots. Dropped, it ends once
/// its tasks have.
#[derive(Debug)]
pub(super) struct Bench {
    orders: Sender<(Order, oneshot::Sender<Answer>)>,
}

impl Bench {
    /// Starts the threads and builds the evaluator.
    pub(super) async fn open(kit: Kit) -> Result<Self, OpenError> {
        let (orders, received) = channel();
        let (ready, opened) = oneshot::channel();
        let runtime = Handle::current();
        thread::Builder::new()
            .name("bench".to_owned())
            .spawn(move || {
                if let Err(panic) = caught(|| serve(&kit, &runtime, received, ready)) {
                    tracing::error!(panic, "bench ended");
                }
            })
            .map_err(|error| OpenError::Thread(Arc::new(error)))?;
        match opened.await {
            Ok(Ok(())) => Ok(Self { orders }),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(OpenError::Panic("see the log".to_owned())),
        }
    }

    /// Takes up a task. The answer comes through the receiver, which fails when no thread could take the task.
    pub(super) fn take(&self, order: Order) -> oneshot::Receiver<Answer> {
        let (reply, answer) = oneshot::channel();
        // A bench that ended drops the other end, which the receiver notices.
        drop(self.orders.send((order, reply)));
        answer
    }
}

fn serve(
    kit: &Kit,
    runtime: &Handle,
    orders: Receiver<(Order, oneshot::Sender<Answer>)>,
    ready: oneshot::Sender<Result<(), OpenError>>,
) {
    let dataset: &Dataset = &kit.dataset.dataset;
    let build = || Evaluator::new(&kit.settings, dataset, &kit.index.index);
    let evaluator = match caught(build) {
        Ok(Ok(evaluator)) => evaluator,
        Ok(Err(error)) => {
            drop(ready.send(Err(OpenError::Evaluator(Arc::new(error)))));
            return;
        }
        Err(panic) => {
            drop(ready.send(Err(OpenError::Panic(panic))));
            return;
        }
    };
    if ready.send(Ok(())).is_err() {
        return;
    }
    thread::scope(|scope| {
        for (order, reply) in orders {
            let work = Computation {
                kit,
                runtime,
                evaluator: &evaluator,
            };
            // A thread for each task costs tens of microseconds, which a task of queries does not notice.
            let spawned =
                thread::Builder::new()
                    .name("task".to_owned())
                    .spawn_scoped(scope, move || {
                        // Nobody waits for the answer any more when this fails.
                        drop(reply.send(work.answer(&order)));
                    });
            if let Err(error) = spawned {
                // The reply went with it, so that whoever waits hears of the end.
                tracing::error!(%error, "no thread can be started");
            }
        }
    });
}

struct Computation<'a> {
    kit: &'a Kit,
    runtime: &'a Handle,
    evaluator: &'a Evaluator<'a>,
}

impl Computation<'_> {
    fn answer(&self, order: &Order) -> Answer {
        match caught(|| self.compute(order)) {
            Ok(computed) => computed.map_err(BenchError::Compute),
            Err(panic) => Err(BenchError::Panic(panic)),
        }
    }

    fn compute(&self, order: &Order) -> Result<Computed, ComputeError> {
        let started = Instant::now();
        match &self.kit.served {
            Served::Embedded | Served::Named(_, Engine::Noop) => {}
            Served::Named(name, Engine::Delay(delay)) => {
                self.wait(name, delay, order)
                    .map_err(crate::EvaluateError::from)?;
            }
            #[cfg(any(test, feature = "faults"))]
            Served::Named(_, Engine::Faulty(faulty)) => faulty.strike(&order.work),
        }
        order
            .work
            .compute(self.evaluator, &order.attempt, started, &order.stop)
    }

    /// Waits as often as a remote engine would be asked: once for each candidate and query. What it would answer is the
    /// embedded engine's to say, for all of them at once.
    fn wait(&self, engine: &EngineName, delay: &Delay, order: &Order) -> Result<(), Stopped> {
        let (candidates, queries) = order.work.size();
        let task = order.work.id();
        let worker = &order.attempt.worker;
        for request in 0..u64::from(candidates) * u64::from(queries) {
            let Some(budget) = &delay.budget else {
                order.stop.sleep(delay.latency)?;
                continue;
            };
            let asked = Use {
                engine,
                budget,
                latency: delay.latency,
                permit: PermitId(format!("{worker}/{task}/{request}")),
            };
            self.kit
                .permits
                .acquire(self.runtime, &asked, &order.stop)?;
            let waited = order.stop.sleep(delay.latency);
            self.kit.permits.give_back(self.runtime, &asked);
            waited?;
        }
        Ok(())
    }
}

#[cfg(any(test, feature = "faults"))]
impl super::engine::Faulty {
    /// Lets happen what is to happen to a task.
    fn strike(self, work: &Work) {
        use super::engine::Fault;
        let struck = match (self.query, work) {
            (None, _) => true,
            (Some(query), Work::Evaluate(task)) => {
                (task.first_query..task.first_query + task.query_count).contains(&query)
            }
            (Some(_), Work::Average(_) | Work::Examine(_)) => false,
        };
        match self.fault {
            _ if !struck => {}
            Fault::Panic => std::panic::panic_any("injected"),
            Fault::Abort => std::process::abort(),
        }
    }
}
