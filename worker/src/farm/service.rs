//! The service: from the queue to the slots, until it is told to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use evalfarm_broker::{Broker, Consumer};
use evalfarm_proto::{Queue, Topology};
use evalfarm_state::JobStore;
use evalfarm_store::{LocalCache, Store};
use evalfarm_telemetry::Meter;
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{MissedTickBehavior, interval, timeout};
use tracing::{error, info, warn};

use super::budget::Permits;
use super::clock;
use super::counts::Counts;
use super::instruments::Instruments;
use super::jobs::{Jobs, Sources};
use super::post::Post;
use super::quarantine::Quarantine;
use super::running::Running;
use super::settings::Options;

/// How often it is looked whether the broker still knows the consumer.
const LOOK: Duration = Duration::from_millis(200);

/// How long tasks that were told to stop may take to let go of their deliveries.
const LETTING_GO: Duration = Duration::from_secs(1);

/// Shortest lease; longer where heartbeats are rare.
const SHORTEST_LEASE: Duration = Duration::from_secs(15);

/// What a service is told from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Work.
    Run,
    /// Take nothing more, finish what is at hand, end.
    Drain,
    /// End now: what is at hand goes back to the queue.
    Abandon,
}

/// How a service ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Summary {
    /// Tasks that went back to the queue unfinished.
    pub abandoned: usize,
}

/// What a service works with.
#[derive(Debug)]
pub struct Parts {
    /// Where tasks come from and events go to, its topology declared.
    pub broker: Arc<dyn Broker>,
    /// The names of its queues.
    pub topology: Topology,
    /// What is counted; without it nothing is, and everything else works.
    pub state: Option<Arc<dyn JobStore>>,
    /// Where datasets come from and results go to.
    pub store: Store,
    /// Where datasets and indexes are kept.
    pub cache: LocalCache,
}

/// A worker. Needs a tokio runtime with its timer on, which does nothing but wait: computation has other threads.
#[derive(Debug)]
pub struct Service {
    core: Arc<Core>,
    subscribed: Arc<AtomicBool>,
}

/// What the handling of every delivery shares.
#[derive(Debug)]
pub(super) struct Core {
    pub(super) options: Options,
    pub(super) tasks_queue: String,
    pub(super) counts: Arc<Counts>,
    pub(super) jobs: Jobs,
    pub(super) running: Arc<Running>,
    pub(super) quarantine: Quarantine,
    pub(super) post: Post,
    pub(super) instruments: Instruments,
}

impl Core {
    /// Returns the pause between heartbeats: a timer needs one.
    pub(super) fn heartbeat(&self) -> Duration {
        self.options.heartbeat.max(Duration::from_millis(1))
    }

    pub(super) fn lease_time(&self) -> Duration {
        SHORTEST_LEASE.max(self.options.heartbeat.saturating_mul(3))
    }
}

impl Service {
    /// Puts a worker together; nothing happens before [`Self::run`].
    pub fn new(options: Options, parts: Parts, meter: &Meter) -> Self {
        let counts = Arc::new(Counts::new(parts.state));
        let sources = Sources::new(
            parts.store,
            parts.cache,
            options.engines.clone(),
            Arc::new(Permits::new(Arc::clone(&counts))),
        );
        let core = Core {
            jobs: Jobs::new(sources, options.open_jobs.get()),
            options,
            tasks_queue: parts.topology.queue(Queue::Tasks),
            counts,
            running: Arc::default(),
            quarantine: Quarantine::default(),
            post: Post {
                broker: parts.broker,
            },
            instruments: Instruments::new(meter),
        };
        Self {
            core: Arc::new(core),
            subscribed: Arc::default(),
        }
    }

    /// Returns whether the broker knows of the consumer, for readiness probes; kept up to date while the service runs.
    pub fn subscribed(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.subscribed)
    }

    /// Works until the order to drain or to abandon comes, whoever gives it is gone, or the broker is closed.
    pub async fn run(&self, mut orders: watch::Receiver<Order>) -> Summary {
        let core = &self.core;
        let mut beside = JoinSet::new();
        let started = clock::now();
        beside.spawn(Arc::clone(core).beat(started));
        beside.spawn(Arc::clone(core).listen());
        beside.spawn(Arc::clone(core).introduce(started));
        let slots = core.options.slots;
        let mut consumer = core.post.broker.consume(Queue::Tasks, slots);
        info!(worker = %core.options.worker, slots, "taking tasks");
        let mut tasks = JoinSet::new();
        self.take(&mut consumer, &mut tasks, &mut orders).await;

        self.show(false);
        consumer.stop().await;
        info!(tasks = tasks.len(), "draining");
        let abandoned = self.finish(&mut tasks, &mut orders).await;
        // What is not settled by now goes back to the queue.
        drop(consumer);
        beside.shutdown().await;
        let worker = &core.options.worker;
        core.counts.ask(|store| store.forget_worker(worker)).await;
        Summary { abandoned }
    }

    /// Takes deliveries until that has to end.
    async fn take(
        &self,
        consumer: &mut Consumer,
        tasks: &mut JoinSet<()>,
        orders: &mut watch::Receiver<Order>,
    ) {
        let mut looks = interval(LOOK);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                // Also when nobody is left to give orders.
                _ = orders.wait_for(|&order| order != Order::Run) => return,
                _ = looks.tick() => self.show(consumer.is_subscribed()),
                Some(ended) = tasks.join_next() => note(ended),
                delivery = consumer.next() => match delivery {
                    Some(delivery) => {
                        tasks.spawn(Arc::clone(&self.core).handle(delivery));
                    }
                    None => return,
                },
            }
        }
    }

    fn show(&self, subscribed: bool) {
        self.subscribed.store(subscribed, Ordering::Release);
        self.core.instruments.consumer_active(subscribed);
    }

    /// Waits for the tasks at hand, as long as that is allowed, and returns how many were not finished.
    async fn finish(&self, tasks: &mut JoinSet<()>, orders: &mut watch::Receiver<Order>) -> usize {
        let all = async {
            while let Some(ended) = tasks.join_next().await {
                note(ended);
            }
        };
        let told = async {
            // Nobody left to give orders gives none.
            if orders
                .wait_for(|&order| order == Order::Abandon)
                .await
                .is_err()
            {
                std::future::pending::<()>().await;
            }
        };
        tokio::select! {
            () = all => return 0,
            () = told => {}
            () = tokio::time::sleep(self.core.options.grace) => {}
        }
        let abandoned = tasks.len();
        warn!(abandoned, "ending before all tasks are finished");
        self.core.running.abandon();
        let letting_go = async { while tasks.join_next().await.is_some() {} };
        if timeout(LETTING_GO, letting_go).await.is_err() {
            tasks.shutdown().await;
        }
        abandoned
    }
}

/// A panic outside of computations is a defect of ours; the delivery went back to the queue.
fn note(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        error!(%error, "handling a task panicked");
    }
}
