//! The seam.

use std::fmt::Debug;
use std::num::NonZeroU16;

use async_trait::async_trait;
use evalfarm_proto::Queue;

use crate::{BrokerError, Consumer, DeadLetter, Letter, Listener, PublishError};

/// Carries messages, at least once each.
#[async_trait]
pub trait Broker: Send + Sync + Debug {
    /// Publishes a message as its first attempt, and returns when the broker has it for good.
    async fn publish(&self, queue: Queue, letter: &Letter) -> Result<(), PublishError>;

    /// Takes messages from a queue, at most `prefetch` unsettled at a time: the number of messages that are worked on. Lost
    /// subscriptions are made again until the consumer is stopped or dropped.
    fn consume(&self, queue: Queue, prefetch: NonZeroU16) -> Consumer;

    /// Sends a message to everyone who listens now; nobody listening is no error.
    async fn broadcast(&self, letter: &Letter) -> Result<(), PublishError>;

    /// Hears what is broadcast from now on. What is sent while a connection is lost is missed.
    fn listen(&self) -> Listener;

    /// Makes queues that are missing. Done once when a process starts; again only when one was deleted.
    async fn declare(&self) -> Result<(), BrokerError>;

    /// Returns up to `most` dead letters and keeps them, though perhaps behind the others: of a look that does not reach all of
    /// them, the next may see the rest first.
    async fn dead_letters(&self, most: usize) -> Result<Vec<DeadLetter>, BrokerError>;

    /// Publishes all dead letters of this id again, each to the queue it came from as its first attempt. Returns how many.
    async fn revive(&self, id: &str) -> Result<usize, BrokerError>;

    /// Closes connections. Unsettled deliveries go back to their queues.
    async fn close(&self);
}
