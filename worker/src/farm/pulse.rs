//! What runs beside the tasks: heartbeats, and ears for cancellations.

use std::sync::Arc;

use evalfarm_proto::{Message, PROTOCOL_VERSION, WorkerHello};
use evalfarm_state::{Timestamp, WorkerReport};
use tokio::time::{MissedTickBehavior, interval};
use tracing::{debug, info, warn};

use super::clock;
use super::failure::told;
use super::service::Core;

impl Core {
    /// Says every now and then that this worker lives and what it does, and renews its leases. Nothing depends on either: a
    /// heartbeat that comes late, or not at all, fails no task.
    pub(super) async fn beat(self: Arc<Self>, started: Timestamp) {
        let mut beats = interval(self.heartbeat());
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            beats.tick().await;
            self.report(started).await;
            for current in self.running.all() {
                let Some(lease) = current.lease() else {
                    continue;
                };
                let time = self.lease_time();
                let renewed = self.counts.ask(|store| store.renew(&lease, time)).await;
                if renewed == Some(false) {
                    debug!(task = %lease.task, "lease lost, the task goes on");
                }
            }
            self.look_for_cancellations().await;
        }
    }

    async fn report(&self, started: Timestamp) {
        let running = self.running.all();
        let report = WorkerReport {
            worker: self.options.worker.clone(),
            seen: clock::now(),
            started,
            release: env!("CARGO_PKG_VERSION").to_owned(),
            slots: u32::from(self.options.slots.get()),
            current: running.iter().map(|current| current.task.clone()).collect(),
        };
        self.counts.ask(|store| store.beat(&report)).await;
    }

    /// A broadcast may be missed while a connection is made again.
    async fn look_for_cancellations(&self) {
        for job in self.running.jobs() {
            let reason = self.counts.ask(|store| store.cancelled(&job)).await;
            if let Some(Some(reason)) = reason {
                let stopped = self.running.cancel(&job);
                info!(%job, reason, stopped, "job is cancelled");
            }
        }
    }

    /// Stops the tasks of jobs whose cancellation is broadcast.
    pub(super) async fn listen(self: Arc<Self>) {
        let mut listener = self.post.broker.listen();
        while let Some(letter) = listener.next().await {
            match Message::decode(&letter.body) {
                Ok(Message::Cancel(cancel)) => {
                    self.counts.heard_cancel(&cancel.job);
                    let stopped = self.running.cancel(&cancel.job);
                    info!(job = %cancel.job, reason = cancel.reason, stopped, "job is cancelled");
                }
                Ok(_) => debug!(message = letter.id, "a broadcast is not for workers"),
                Err(error) => {
                    let error = told(&error);
                    warn!(error, "a broadcast could not be read");
                }
            }
        }
    }

    /// Introduces this worker to the coordinator, which then counts workers anew: so this one is counted before.
    pub(super) async fn introduce(self: Arc<Self>, started: Timestamp) {
        self.report(started).await;
        let engines = self.options.engines.keys().cloned();
        let hello = Message::Hello(WorkerHello {
            worker: self.options.worker.clone(),
            release: env!("CARGO_PKG_VERSION").to_owned(),
            protocol: u16::from(PROTOCOL_VERSION),
            slots: u32::from(self.options.slots.get()),
            engines: engines.collect(),
        });
        if let Err(error) = self.post.event(&hello).await {
            let error = told(&error);
            warn!(error, "the coordinator does not know of this worker yet");
        }
    }
}
