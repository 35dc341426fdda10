//! Messages in, confirmed.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::protocol::AMQPSoftError;
use lapin::{BasicProperties, Channel, Confirmation};
use tokio::sync::Semaphore;
use tokio::time::{sleep, timeout};

use super::declare::soft;
use super::link::{Link, LinkClosed};
use crate::PublishError;

/// Messages on their way at a time. Each has a channel of its own: the broker may confirm in groups, and a returned message
/// could then be taken for another's.
const IN_FLIGHT: usize = 64;

/// Between two tries on a connection that is up.
const PAUSE: Duration = Duration::from_millis(100);

#[derive(Debug)]
pub(super) struct Publisher {
    link: Arc<Link>,
    idle: Mutex<Vec<Channel>>,
    slots: Semaphore,
    limit: Duration,
}

/// What is published, and where.
#[derive(Debug)]
pub(super) struct Parcel<'a> {
    pub(super) exchange: &'a str,
    pub(super) routing_key: &'a str,
    /// Name of the queue that is meant, for errors; nothing where any number of queues may take it, even none.
    pub(super) queue: Option<&'a str>,
    pub(super) properties: BasicProperties,
    pub(super) body: &'a [u8],
}

enum Attempt {
    Confirmed,
    Returned,
    Nacked,
    Closed,
    Failed(lapin::Error),
}

impl Publisher {
    pub(super) fn new(link: Arc<Link>, limit: Duration) -> Self {
        Self {
            link,
            idle: Mutex::default(),
            slots: Semaphore::new(IN_FLIGHT),
            limit,
        }
    }

    /// Publishes until the broker has confirmed, or the time is over. A lost connection is waited for, and the message
    /// published again.
    pub(super) async fn publish(&self, parcel: &Parcel<'_>) -> Result<(), PublishError> {
        let mut trouble = None;
        let limit = self.limit;
        match timeout(limit, self.until_confirmed(parcel, &mut trouble)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(match self.link.blocked() {
                Some(reason) => PublishError::Blocked { reason },
                None => PublishError::Timeout {
                    limit,
                    source: self
                        .link
                        .trouble()
                        .or_else(|| trouble.map(|error| Box::new(error) as _)),
                },
            }),
        }
    }

    async fn until_confirmed(
        &self,
        parcel: &Parcel<'_>,
        trouble: &mut Option<lapin::Error>,
    ) -> Result<(), PublishError> {
        let queue = || parcel.queue.unwrap_or(parcel.exchange).to_owned();
        loop {
            match self.once(parcel).await {
                Attempt::Confirmed => return Ok(()),
                Attempt::Returned => return Err(PublishError::Unroutable { queue: queue() }),
                Attempt::Nacked => return Err(PublishError::Nacked { queue: queue() }),
                Attempt::Closed => return Err(PublishError::Closed),
                Attempt::Failed(error) => match soft(&error) {
                    Some((AMQPSoftError::NOTFOUND, _)) => {
                        return Err(PublishError::Unroutable { queue: queue() });
                    }
                    _ => *trouble = Some(error),
                },
            }
            sleep(PAUSE).await;
        }
    }

    async fn once(&self, parcel: &Parcel<'_>) -> Attempt {
        let Ok(_slot) = self.slots.acquire().await else {
            return Attempt::Closed;
        };
        let channel = match self.channel().await {
            Ok(Ok(channel)) => channel,
            Ok(Err(error)) => return Attempt::Failed(error),
            Err(LinkClosed) => return Attempt::Closed,
        };
        match send(&channel, parcel).await {
            Ok(confirmation) => {
                self.idle().push(channel);
                match confirmation {
                    Confirmation::Ack(None) => Attempt::Confirmed,
                    Confirmation::Ack(Some(_)) | Confirmation::Nack(Some(_)) => Attempt::Returned,
                    Confirmation::Nack(None) | Confirmation::NotRequested => Attempt::Nacked,
                }
            }
            Err(error) => Attempt::Failed(error),
        }
    }

    async fn channel(&self) -> Result<lapin::Result<Channel>, LinkClosed> {
        let connection = self.link.up().await?;
        loop {
            let idle = self.idle().pop();
            match idle {
                Some(channel) if channel.status().connected() => return Ok(Ok(channel)),
                Some(_) => {}
                None => break,
            }
        }
        let open = async {
            let channel = connection.create_channel().await?;
            channel
                .confirm_select(ConfirmSelectOptions::default())
                .await?;
            Ok(channel)
        };
        Ok(open.await)
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Channel>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn send(channel: &Channel, parcel: &Parcel<'_>) -> lapin::Result<Confirmation> {
    let options = BasicPublishOptions {
        mandatory: parcel.queue.is_some(),
        ..BasicPublishOptions::default()
    };
    let (exchange, key) = (parcel.exchange.into(), parcel.routing_key.into());
    let properties = parcel.properties.clone();
    channel
        .basic_publish(exchange, key, options, parcel.body, properties)
        .await?
        .await
}
