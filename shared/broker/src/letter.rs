//! A message on its way.

use evalfarm_proto::{EncodeError, MAX_MESSAGE_BYTES, Message, Queue};

use crate::PublishError;

/// Longest id and job that travel beside the bytes, in bytes: AMQP's short strings.
const MAX_ID_BYTES: usize = 255;

/// The bytes of a message and what is said of them outside.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Letter {
    /// Identifies the message: the task's id for everything about a task. At most 255 bytes.
    pub id: String,
    /// The job it is about, if any. At most 255 bytes.
    pub job: Option<String>,
    /// The trace it belongs to.
    pub trace: Trace,
    /// The bytes, at most [`MAX_MESSAGE_BYTES`].
    pub body: Vec<u8>,
}

/// A W3C trace context, passed through as it is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Trace {
    /// `traceparent`.
    pub parent: Option<String>,
    /// `tracestate`.
    pub state: Option<String>,
}

impl Letter {
    /// Returns a message ready to be published, without a trace.
    pub fn new(message: &Message) -> Result<Self, EncodeError> {
        Ok(Self {
            id: message.id(),
            job: message.job().map(ToString::to_string),
            trace: Trace::default(),
            body: message.encode()?,
        })
    }

    /// Refuses what no reader would accept, before anything is sent.
    pub(crate) fn check(&self) -> Result<(), PublishError> {
        let len = self.body.len();
        if len > MAX_MESSAGE_BYTES {
            return Err(PublishError::TooLarge { len });
        }
        for id in [Some(&self.id), self.job.as_ref()].into_iter().flatten() {
            if id.len() > MAX_ID_BYTES {
                return Err(PublishError::IdTooLong { len: id.len() });
            }
        }
        Ok(())
    }
}

/// A message that nobody will try again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeadLetter {
    /// The message.
    pub letter: Letter,
    /// Which attempt was the last, from 1. When the broker gave up (`delivery_limit`) it was never finished.
    pub attempt: u32,
    /// Why: what a worker said, or the broker's `delivery_limit` for a message that lost every holder.
    pub reason: String,
    /// The queue it came from, if it is one of ours.
    pub queue: Option<Queue>,
}
