//! News from workers, handed to the job that they are about.

use std::collections::BTreeMap;
use std::num::NonZeroU16;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use evalfarm_broker::{Broker, Delivery, Settled};
use evalfarm_domain::JobId;
use evalfarm_proto::{Message, Queue, TaskFailed, TaskFinished, Unreadable};
use tokio::sync::{Notify, mpsc, watch};

/// Events that are handled at a time.
const PREFETCH: NonZeroU16 = NonZeroU16::new(512).expect("512 is not 0");

/// Wait for events that only a newer release can read: another coordinator may be one.
const NEWER_AFTER: Duration = Duration::from_mins(1);

/// What a worker says of a task. The store is the truth: this only says where to look.
#[derive(Debug)]
pub(crate) enum News {
    /// Its result is there.
    Finished(TaskFinished),
    /// An attempt failed.
    Failed(TaskFailed),
}

/// Where the news of each job goes.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    jobs: Mutex<BTreeMap<JobId, mpsc::UnboundedSender<News>>>,
    arrival: Notify,
}

impl Inbox {
    /// Returns the news of a job from now on; whoever listened before hears no more.
    pub(crate) fn open(&self, job: &JobId) -> mpsc::UnboundedReceiver<News> {
        // Unbounded, but no more comes than was offered, and offers are bounded.
        let (sender, receiver) = mpsc::unbounded_channel();
        self.lock().insert(job.clone(), sender);
        receiver
    }

    /// Waits until a worker introduces itself.
    pub(crate) async fn arrival(&self) {
        self.arrival.notified().await;
    }

    /// Forgets a job.
    pub(crate) fn close(&self, job: &JobId) {
        self.lock().remove(job);
    }

    /// Takes events until `stop` says so.
    pub(crate) async fn run(
        self: Arc<Self>,
        broker: Arc<dyn Broker>,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut consumer = broker.consume(Queue::Events, PREFETCH);
        loop {
            let delivery = tokio::select! {
                delivery = consumer.next() => delivery,
                _ = stop.wait_for(|&stop| stop) => break,
            };
            let Some(delivery) = delivery else { break };
            self.take(delivery).await;
        }
        consumer.stop().await;
    }

    async fn take(&self, delivery: Delivery) {
        let settled = match Message::decode(&delivery.letter().body) {
            Ok(message) => {
                self.deliver(message);
                Ok(delivery.ack().await)
            }
            Err(Unreadable::Newer(newer)) => {
                tracing::warn!(%newer, "an event of a newer release is put back");
                delivery.postpone(NEWER_AFTER).await
            }
            Err(Unreadable::Malformed(malformed)) => {
                tracing::error!(%malformed, "an event cannot be read");
                delivery.dead_letter(&malformed.to_string()).await
            }
        };
        match settled {
            Ok(Settled::Done) => {}
            // It comes again, and is heard twice.
            Ok(Settled::Lost) => tracing::debug!("an event was acknowledged too late"),
            Err(error) => tracing::warn!(%error, "an event could not be passed on"),
        }
    }

    fn deliver(&self, message: Message) {
        let (job, news) = match message {
            Message::Finished(finished) => (finished.job.clone(), News::Finished(finished)),
            Message::Failed(failed) => (failed.job.clone(), News::Failed(failed)),
            Message::Hello(hello) => {
                tracing::info!(
                    worker = %hello.worker,
                    release = hello.release,
                    protocol = hello.protocol,
                    slots = hello.slots,
                    "a worker is here"
                );
                self.arrival.notify_one();
                return;
            }
            Message::Evaluate(_)
            | Message::Average(_)
            | Message::Examine(_)
            | Message::Cancel(_) => {
                tracing::warn!("a message for workers came as an event and is left out");
                return;
            }
        };
        let mut jobs = self.lock();
        // Nobody listens when the job is over, or is another coordinator's, which will find the result in the store.
        if let Some(sender) = jobs.get(&job)
            && sender.send(news).is_err()
        {
            jobs.remove(&job);
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<JobId, mpsc::UnboundedSender<News>>> {
        self.jobs
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}
