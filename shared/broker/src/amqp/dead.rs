//! Dead letters, looked at and sent on. A look takes messages and returns them with its channel.

use std::time::Duration;

use evalfarm_proto::Topology;
use lapin::options::{BasicAckOptions, BasicGetOptions, BasicNackOptions};
use lapin::{Acker, Channel};
use tokio::time::timeout;

use super::link::Link;
use super::properties;
use super::publisher::{Parcel, Publisher};
use crate::{BrokerError, DeadLetter};

/// The dead-letter queue, open for looking.
pub(super) struct Morgue<'a> {
    channel: Channel,
    topology: &'a Topology,
    limit: Duration,
}

impl<'a> Morgue<'a> {
    pub(super) async fn open(
        link: &Link,
        topology: &'a Topology,
        limit: Duration,
    ) -> Result<Self, BrokerError> {
        let open = async {
            let connection = link.up().await.ok()?;
            Some(connection.create_channel().await)
        };
        let channel = answered(timeout(limit, open).await, limit)?;
        let channel = channel
            .ok_or_else(|| failed("the connection was closed here"))?
            .map_err(failed)?;
        Ok(Self {
            channel,
            topology,
            limit,
        })
    }

    /// Takes the next dead letter.
    pub(super) async fn take(&self) -> Result<Option<(DeadLetter, Acker)>, BrokerError> {
        let queue = self.topology.dead();
        let get = self
            .channel
            .basic_get(queue.into(), BasicGetOptions::default());
        let got = answered(timeout(self.limit, get).await, self.limit)?.map_err(failed)?;
        Ok(got.map(|message| {
            let delivery = message.delivery;
            let (letter, headers) = properties::read(&delivery.properties, delivery.data);
            let origin = headers.origin.as_deref();
            let dead = DeadLetter {
                letter,
                attempt: headers.attempt,
                reason: headers.reason.unwrap_or_default(),
                queue: origin.and_then(|name| self.topology.queue_of(name)),
            };
            (dead, delivery.acker)
        }))
    }

    /// Publishes a dead letter again, then removes it.
    pub(super) async fn revive(
        &self,
        publisher: &Publisher,
        dead: &DeadLetter,
        acker: &Acker,
    ) -> Result<(), BrokerError> {
        let id = || dead.letter.id.clone();
        let queue = dead.queue.ok_or_else(|| BrokerError::Origin { id: id() })?;
        let name = self.topology.queue(queue);
        let parcel = Parcel {
            exchange: "",
            routing_key: &name,
            queue: Some(&name),
            properties: properties::write(&dead.letter, 1, None),
            body: &dead.letter.body,
        };
        let published = publisher.publish(&parcel).await;
        published.map_err(|source| BrokerError::Revive { id: id(), source })?;
        let ack = acker.ack(BasicAckOptions::default());
        answered(timeout(self.limit, ack).await, self.limit)?
            .map(drop)
            .map_err(failed)
    }

    /// Returns what was taken.
    pub(super) async fn close(self, taken: &[Acker]) {
        // Said now, so that the next look finds it; without a word it would go back when the channel is gone. Said of each in
        // turn, because a quorum queue appends what it takes back, and keeps this order and no other.
        let options = BasicNackOptions {
            multiple: false,
            requeue: true,
        };
        let say = async {
            for acker in taken {
                // An error means that the channel is gone, and everything has gone back.
                drop(acker.nack(options).await);
            }
        };
        drop(timeout(self.limit, say).await);
        drop(timeout(self.limit, self.channel.close(200, "done".into())).await);
    }
}

fn answered<T>(
    answer: Result<T, tokio::time::error::Elapsed>,
    limit: Duration,
) -> Result<T, BrokerError> {
    let what = "give its dead letters";
    answer.map_err(|_| BrokerError::Timeout { what, limit })
}

fn failed(source: impl Into<crate::error::Cause>) -> BrokerError {
    BrokerError::Failed {
        what: "read the dead letters",
        source: source.into(),
    }
}
