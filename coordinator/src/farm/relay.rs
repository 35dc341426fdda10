//! Tasks handed out for somebody who does not read what they give: the way that tasks take, for benchmarks of it.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_broker::Broker;
use evalfarm_domain::{EvaluateTask, JobId, TaskId};
use evalfarm_results::TaskFile;
use evalfarm_state::JobStore;
use evalfarm_telemetry::Meter;
use tokio::runtime::Handle;
use tokio::sync::{Mutex, watch};
use tokio::task::JoinHandle;

use super::board::Board;
use super::collect::{Collect, CollectError, GivenUp};
use super::dispatch::{Dispatch, Going, Lines};
use super::inbox::Inbox;
use super::instruments::Instruments;
use super::schedule::Pace;
use super::shares::Shares;
use super::work::Work;
use crate::{Workers as _, WorkersError};

/// As a coordinator has it unless told otherwise.
const OFFERS_PER_SLOT: NonZeroUsize = NonZeroUsize::new(2).expect("2 is not 0");

/// Hands tasks out as a coordinator does (schedule, queue, news, counts) and takes every answer for the result itself.
///
/// It is for engines that give nothing, which the worker calls `noop`.
#[derive(Debug)]
pub struct Relay {
    lines: Lines,
    inbox: Arc<Inbox>,
    stop: watch::Sender<bool>,
    listening: JoinHandle<()>,
    runtime: Handle,
}

impl Relay {
    /// Starts to listen for news, for workers that work on so many tasks at a time. The broker's topology has to be declared.
    ///
    /// # Panics
    ///
    /// Outside of a runtime.
    pub fn start(
        broker: Arc<dyn Broker>,
        state: Arc<dyn JobStore>,
        slots: NonZeroUsize,
        meter: &Meter,
    ) -> Self {
        let shares = Shares::new(OFFERS_PER_SLOT);
        shares.set_slots(slots.get());
        let inbox = Arc::new(Inbox::default());
        let (stop, stopped) = watch::channel(false);
        let listening = tokio::spawn(Arc::clone(&inbox).run(Arc::clone(&broker), stopped));
        let lines = Lines {
            broker,
            state,
            shares: Arc::new(shares),
            instruments: Instruments::new(meter),
            pace: Pace {
                window: OFFERS_PER_SLOT,
                overdue: Duration::from_mins(15),
                straggler: 4,
            },
            patience: Duration::from_mins(1),
        };
        Self {
            lines,
            inbox,
            stop,
            listening,
            runtime: Handle::current(),
        }
    }

    /// Hands out tasks of a job and returns when every one is answered.
    ///
    /// Blocks its thread, which must not be one of the runtime's. Fails when nothing comes back for a minute.
    pub fn hand_out(&self, job: &JobId, tasks: &[EvaluateTask]) -> Result<(), WorkersError> {
        let board = Board::new(job.clone(), String::new(), String::new(), 0);
        let (_going, going) = watch::channel(Going::On);
        let dispatch = Dispatch {
            lines: &self.lines,
            job,
            board: &board,
            collect: &Unread,
            runtime: &self.runtime,
            news: Mutex::new(self.inbox.open(job)),
            going,
            steps: AtomicU32::new(0),
        };
        let outcome = dispatch.evaluate(tasks, &|_| {});
        self.inbox.close(job);
        outcome
    }

    /// Stops to listen.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        // It ends by itself; a panic in it was logged where it happened.
        drop(self.listening.await);
    }
}

/// What nobody reads is there as soon as somebody says so.
#[derive(Debug)]
struct Unread;

#[async_trait]
impl Collect for Unread {
    async fn committed(&self, _marker: TaskFile) -> Result<BTreeSet<TaskId>, CollectError> {
        Ok(BTreeSet::new())
    }

    async fn collect(&self, _marker: TaskFile, _task: &TaskId) -> Result<bool, CollectError> {
        Ok(true)
    }

    async fn give_up(&self, work: &Work<'_>, reason: &str) -> Result<GivenUp, CollectError> {
        Err(CollectError::GivenUp {
            task: work.id(),
            reason: reason.to_owned(),
        })
    }
}
