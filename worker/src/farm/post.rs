//! What goes back to the broker: events, and deliveries that are passed on.

use std::sync::Arc;
use std::time::Duration;

use evalfarm_broker::{Broker, Delivery, Letter, PublishError, Settled};
use evalfarm_proto::{EncodeError, Message, Queue};
use tracing::{debug, error, warn};

use super::failure::told;
use super::trace;

/// Tries at one publication, each of which waits as long as the broker's own limit allows.
const TRIES: u32 = 3;

/// Pause between two tries: a queue that was deleted is there at once when it is declared again.
const PAUSE: Duration = Duration::from_millis(500);

/// Why an event did not get through.
#[derive(Debug, thiserror::Error)]
pub(super) enum PostError {
    #[error("an event could not be written")]
    Encode(#[from] EncodeError),
    #[error("an event could not be published")]
    Publish(#[from] PublishError),
}

/// Where a delivery goes that is not acknowledged.
#[derive(Debug, Clone, Copy)]
pub(super) enum Onward<'a> {
    Retry(Duration),
    Postpone(Duration),
    Dead(&'a str),
}

/// Publishes, any number of messages at a time.
#[derive(Debug)]
pub(super) struct Post {
    pub(super) broker: Arc<dyn Broker>,
}

impl Post {
    /// Publishes an event of the current span, and returns when the broker has it.
    pub(super) async fn event(&self, message: &Message) -> Result<(), PostError> {
        let mut letter = Letter::new(message)?;
        letter.trace = trace::carried();
        let mut tried = 1;
        loop {
            let Err(error) = self.broker.publish(Queue::Events, &letter).await else {
                return Ok(());
            };
            if tried == TRIES || matches!(error, PublishError::Closed) {
                return Err(error.into());
            }
            self.recover(&error).await;
            tried += 1;
        }
    }

    /// Passes a delivery on. One that cannot be passed on is given back, so that it comes again.
    pub(super) async fn pass_on(&self, delivery: Delivery, to: Onward<'_>) -> Option<Settled> {
        let mut delivery = delivery;
        for _ in 0..TRIES {
            let passed = match to {
                Onward::Retry(wait) => delivery.retry(wait).await,
                Onward::Postpone(wait) => delivery.postpone(wait).await,
                Onward::Dead(reason) => delivery.dead_letter(reason).await,
            };
            match passed {
                Ok(settled) => return Some(settled),
                Err(kept) => {
                    self.recover(&kept.source).await;
                    delivery = kept.delivery;
                }
            }
        }
        error!("a delivery could not be passed on and goes back to its queue");
        None
    }

    /// Does what can be done before the next try.
    async fn recover(&self, error: &PublishError) {
        let chain = told(error);
        warn!(error = chain, "publishing failed, trying again");
        tokio::time::sleep(PAUSE).await;
        if matches!(error, PublishError::Unroutable { .. })
            && let Err(error) = self.broker.declare().await
        {
            let error = told(&error);
            debug!(error, "queues could not be declared");
        }
    }
}
