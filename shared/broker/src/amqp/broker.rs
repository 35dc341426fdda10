//! [`Broker`] over AMQP.

use std::num::NonZeroU16;
use std::sync::Arc;

use async_trait::async_trait;
use evalfarm_proto::{Queue, Topology};
use tokio::time::timeout;

use super::dead::Morgue;
use super::declare::declare;
use super::hold::Desk;
use super::link::Link;
use super::listener::listen;
use super::properties;
use super::publisher::{Parcel, Publisher};
use super::settings::AmqpSettings;
use super::source::AmqpSource;
use crate::{Broker, BrokerError, Consumer, DeadLetter, Letter, Listener, PublishError};

/// Carries messages over RabbitMQ, by one connection to publish and one to consume: a broker that blocks publishers must
/// not keep consumers from acknowledging.
#[derive(Debug)]
pub struct AmqpBroker {
    settings: AmqpSettings,
    topology: Topology,
    publishing: Arc<Link>,
    consuming: Arc<Link>,
    publisher: Arc<Publisher>,
}

impl AmqpBroker {
    /// Connects and declares the topology. Later losses of a connection are repaired in the background.
    pub async fn connect(settings: AmqpSettings, topology: Topology) -> Result<Self, BrokerError> {
        let uri = settings.parsed()?;
        let address = AmqpSettings::address(&uri);
        let publishing = Arc::new(Link::start(uri.clone(), &settings, "publishes"));
        // Its own first try must fit into the limit, so that a silent server is told from a slow one.
        if timeout(settings.connect_limit, publishing.up())
            .await
            .is_err()
        {
            let source = publishing.trouble();
            return Err(BrokerError::Unreachable { address, source });
        }
        let consuming = Arc::new(Link::start(uri, &settings, "consumes"));
        let publisher = Publisher::new(Arc::clone(&publishing), settings.confirm_limit);
        let broker = Self {
            settings,
            topology,
            publishing,
            consuming,
            publisher: Arc::new(publisher),
        };
        broker.declare().await?;
        Ok(broker)
    }
}

#[async_trait]
impl Broker for AmqpBroker {
    async fn publish(&self, queue: Queue, letter: &Letter) -> Result<(), PublishError> {
        letter.check()?;
        let name = self.topology.queue(queue);
        let parcel = Parcel {
            exchange: "",
            routing_key: &name,
            queue: Some(&name),
            properties: properties::write(letter, 1, None),
            body: &letter.body,
        };
        self.publisher.publish(&parcel).await
    }

    fn consume(&self, queue: Queue, prefetch: NonZeroU16) -> Consumer {
        let source = AmqpSource::start(Arc::clone(&self.consuming), prefetch, |returns| Desk {
            publisher: Arc::clone(&self.publisher),
            topology: self.topology.clone(),
            queue: self.topology.queue(queue),
            limit: self.settings.connect_limit,
            returns,
        });
        Consumer(Box::new(source))
    }

    async fn broadcast(&self, letter: &Letter) -> Result<(), PublishError> {
        letter.check()?;
        let exchange = self.topology.control();
        let parcel = Parcel {
            exchange: &exchange,
            routing_key: "",
            queue: None,
            properties: properties::write(letter, 1, None),
            body: &letter.body,
        };
        self.publisher.publish(&parcel).await
    }

    fn listen(&self) -> Listener {
        let link = Arc::clone(&self.consuming);
        listen(link, self.topology.control(), self.settings.connect_limit)
    }

    async fn declare(&self) -> Result<(), BrokerError> {
        let limit = self.settings.connect_limit;
        let what = "declare its queues";
        let connection = timeout(limit, self.publishing.up())
            .await
            .map_err(|_| BrokerError::Timeout { what, limit })?
            .map_err(|_| BrokerError::Failed {
                what: "declare queues",
                source: "the connection was closed here".into(),
            })?;
        declare(&connection, &self.topology, limit).await
    }

    async fn dead_letters(&self, most: usize) -> Result<Vec<DeadLetter>, BrokerError> {
        let limit = self.settings.connect_limit;
        let morgue = Morgue::open(&self.publishing, &self.topology, limit).await?;
        let (mut letters, mut taken) = (Vec::new(), Vec::new());
        while letters.len() < most
            && let Some((dead, acker)) = morgue.take().await?
        {
            letters.push(dead);
            taken.push(acker);
        }
        morgue.close(&taken).await;
        Ok(letters)
    }

    async fn revive(&self, id: &str) -> Result<usize, BrokerError> {
        let limit = self.settings.connect_limit;
        let morgue = Morgue::open(&self.publishing, &self.topology, limit).await?;
        let (mut count, mut taken) = (0, Vec::new());
        while let Some((dead, acker)) = morgue.take().await? {
            if dead.letter.id == id {
                morgue.revive(&self.publisher, &dead, &acker).await?;
                count += 1;
            } else {
                taken.push(acker);
            }
        }
        morgue.close(&taken).await;
        Ok(count)
    }

    async fn close(&self) {
        tokio::join!(self.consuming.close(), self.publishing.close());
    }
}
