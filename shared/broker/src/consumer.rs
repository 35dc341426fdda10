//! Where messages come out.

use std::fmt::Debug;

use async_trait::async_trait;
use tokio::sync::mpsc;

use crate::{Delivery, Letter};

/// A stream of deliveries.
///
/// Dropping it returns everything that it gave out and that is not settled; a later [`Delivery::ack`] of such a delivery is
/// [`crate::Settled::Lost`]. To end in an orderly way: [`Self::stop`], settle what was given out, then drop.
#[derive(Debug)]
pub struct Consumer(pub(crate) Box<dyn Source>);

/// What an implementation gives.
#[async_trait]
pub(crate) trait Source: Send + Debug {
    async fn next(&mut self) -> Option<Delivery>;
    async fn stop(&mut self);
    fn subscribed(&self) -> bool;
}

impl Consumer {
    /// Waits for a delivery. Nothing comes after [`Self::stop`] or once the broker is closed. May be cancelled without losing
    /// one.
    pub async fn next(&mut self) -> Option<Delivery> {
        self.0.next().await
    }

    /// Takes no more deliveries; those not yet given out go back to the queue. What was given out can still be settled.
    pub async fn stop(&mut self) {
        self.0.stop().await;
    }

    /// Whether the broker knows of this consumer now, for readiness probes.
    pub fn is_subscribed(&self) -> bool {
        self.0.subscribed()
    }
}

/// A stream of broadcast messages.
#[derive(Debug)]
pub struct Listener {
    pub(crate) letters: mpsc::Receiver<Letter>,
}

/// Broadcasts that a listener may be behind before it misses some.
pub(crate) const LISTENER_BACKLOG: usize = 1_024;

impl Listener {
    /// Waits for a message; nothing comes once the broker is closed. May be cancelled without losing one.
    pub async fn next(&mut self) -> Option<Letter> {
        self.letters.recv().await
    }
}
