//! What is held of a delivery.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evalfarm_proto::Topology;
use lapin::Acker;
use lapin::options::BasicAckOptions;
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::properties::{self, Death};
use super::publisher::{Parcel, Publisher};
use crate::delivery::{Hold, Onward};
use crate::{Letter, PublishError, Settled};

/// What all deliveries of one consumer have in common.
#[derive(Debug)]
pub(super) struct Desk {
    pub(super) publisher: Arc<Publisher>,
    pub(super) topology: Topology,
    /// Name of the queue they come from.
    pub(super) queue: String,
    /// For each acknowledgement.
    pub(super) limit: Duration,
    /// Deliveries that were dropped unsettled.
    pub(super) returns: mpsc::UnboundedSender<Acker>,
}

#[derive(Debug)]
pub(super) struct AmqpHold {
    pub(super) desk: Arc<Desk>,
    pub(super) acker: Acker,
}

#[async_trait]
impl Hold for AmqpHold {
    async fn ack(&self) -> Settled {
        let ack = self.acker.ack(BasicAckOptions::default());
        match timeout(self.desk.limit, ack).await {
            Ok(Ok(true)) => Settled::Done,
            Ok(Ok(false) | Err(_)) | Err(_) => Settled::Lost,
        }
    }

    async fn pass_on(
        &self,
        letter: &Letter,
        attempt: u32,
        to: Onward<'_>,
    ) -> Result<(), PublishError> {
        let (topology, origin) = (&self.desk.topology, self.desk.queue.as_str());
        let dead = topology.dead();
        let (exchange, routing_key, queue, death) = match to {
            Onward::Later(wait) => {
                let tier = topology.tier(wait).name.as_str();
                (tier, origin, tier, None)
            }
            Onward::Dead(reason) => {
                let death = Death { reason, origin };
                ("", dead.as_str(), dead.as_str(), Some(death))
            }
        };
        let parcel = Parcel {
            exchange,
            routing_key,
            queue: Some(queue),
            properties: properties::write(letter, attempt, death),
            body: &letter.body,
        };
        self.desk.publisher.publish(&parcel).await
    }

    fn give_back(&self) {
        // Nobody takes it when the consumer is gone, and then its channel has returned everything.
        drop(self.desk.returns.send(self.acker.clone()));
    }
}
