//! One attempt at a message, in the hands of whoever works on it.

use std::fmt::Debug;
use std::time::Duration;

use async_trait::async_trait;

use crate::{Letter, PublishError};

/// Longest reason that travels with a dead letter, in bytes.
const MAX_REASON_BYTES: usize = 2_000;

/// One attempt at a message.
///
/// It is settled once, by value. Dropped unsettled, it goes back to its queue at once, and the broker counts that against
/// it: that is for crashes; whoever fails says [`Self::retry`].
#[derive(Debug)]
pub struct Delivery {
    letter: Letter,
    attempt: u32,
    returned: u32,
    hold: Option<Box<dyn Hold>>,
}

/// What became of settling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Settled {
    /// The broker will not deliver it again.
    Done,
    /// The claim was lost before (connection, consumer or acknowledgement timeout): the message comes again, and whoever
    /// takes it finds the work done.
    Lost,
}

/// A delivery that could not be passed on, and is still held.
#[derive(Debug, thiserror::Error)]
#[error("failed to pass on the delivery")]
pub struct NotSettled {
    /// The delivery, unsettled: pass it on again later, or drop it so that it comes again at once.
    pub delivery: Delivery,
    /// Why it could not be passed on.
    #[source]
    pub source: PublishError,
}

/// Where a message goes on to.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Onward<'a> {
    /// Back to its queue after at least this long.
    Later(Duration),
    /// To the dead letters, with this reason.
    Dead(&'a str),
}

/// What an implementation holds for a delivery.
#[async_trait]
pub(crate) trait Hold: Send + Sync + Debug {
    async fn ack(&self) -> Settled;
    /// Publishes the message anew and returns when the broker has it.
    async fn pass_on(
        &self,
        letter: &Letter,
        attempt: u32,
        to: Onward<'_>,
    ) -> Result<(), PublishError>;
    fn give_back(&self);
}

impl Delivery {
    pub(crate) fn new(letter: Letter, attempt: u32, returned: u32, hold: Box<dyn Hold>) -> Self {
        Self {
            letter,
            attempt,
            returned,
            hold: Some(hold),
        }
    }

    /// Returns the message.
    pub fn letter(&self) -> &Letter {
        &self.letter
    }

    /// Returns which attempt this is, from 1, as counted by [`Self::retry`].
    pub fn attempt(&self) -> u32 {
        self.attempt
    }

    /// Returns how often the broker took the message back during this attempt because its holder was gone. A message that
    /// kills its holders is given up beyond [`evalfarm_proto::DELIVERY_LIMIT`].
    pub fn returned(&self) -> u32 {
        self.returned
    }

    /// Says that the work is done and stored.
    pub async fn ack(mut self) -> Settled {
        match self.hold.take() {
            Some(hold) => hold.ack().await,
            None => Settled::Lost,
        }
    }

    /// Puts the message back for another attempt after at least `wait` (rounded up to one of the topology's delays; the
    /// longest is the most).
    pub async fn retry(self, wait: Duration) -> Result<Settled, Box<NotSettled>> {
        let attempt = self.attempt.saturating_add(1);
        self.pass_on(attempt, Onward::Later(wait)).await
    }

    /// Puts the message back after at least `wait` without using up an attempt: for failures of the farm itself, and for
    /// messages that only a newer release can read.
    pub async fn postpone(self, wait: Duration) -> Result<Settled, Box<NotSettled>> {
        let attempt = self.attempt;
        self.pass_on(attempt, Onward::Later(wait)).await
    }

    /// Puts the message where operators find it. Long reasons are cut.
    pub async fn dead_letter(self, reason: &str) -> Result<Settled, Box<NotSettled>> {
        let attempt = self.attempt;
        let end = reason.floor_char_boundary(MAX_REASON_BYTES);
        let (reason, _) = reason.split_at(end);
        self.pass_on(attempt, Onward::Dead(reason)).await
    }

    /// The new message is confirmed before the old one is acknowledged: a crash between the two makes a duplicate, never a
    /// loss.
    async fn pass_on(self, attempt: u32, to: Onward<'_>) -> Result<Settled, Box<NotSettled>> {
        let Some(hold) = &self.hold else {
            return Ok(Settled::Lost);
        };
        let passed = hold.pass_on(&self.letter, attempt, to).await;
        if let Err(source) = passed {
            let delivery = self;
            return Err(Box::new(NotSettled { delivery, source }));
        }
        Ok(self.ack().await)
    }
}

impl Drop for Delivery {
    fn drop(&mut self) {
        if let Some(hold) = self.hold.take() {
            hold.give_back();
        }
    }
}
