//! Why a broker did not do what it was asked.

use std::time::Duration;

use evalfarm_proto::MAX_MESSAGE_BYTES;

pub(crate) type Cause = Box<dyn std::error::Error + Send + Sync>;

/// A message that is not known to have reached its queue. Except where the error says so, it may have: publishing again is
/// always right.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// The message is larger than a reader accepts; it was not sent.
    #[error("message is {len} bytes long, at most {MAX_MESSAGE_BYTES} are allowed")]
    TooLarge {
        /// Its length, in bytes.
        len: usize,
    },
    /// The id or the job is longer than the transport carries; the message was not sent.
    #[error("an id is {len} bytes long, at most 255 are allowed")]
    IdTooLong {
        /// Its length, in bytes.
        len: usize,
    },
    /// There is no such queue: it was deleted, and [`crate::Broker::declare`] makes a new one. The message was not kept.
    #[error("queue `{queue}` is not there")]
    Unroutable {
        /// The queue's name.
        queue: String,
    },
    /// The broker refused the message.
    #[error("the broker refused a message for `{queue}`")]
    Nacked {
        /// The queue's name.
        queue: String,
    },
    /// The broker accepts no messages for now; it says why.
    #[error("the broker accepts no messages: {reason}")]
    Blocked {
        /// The broker's words, e.g. `low on memory`.
        reason: String,
    },
    /// The broker did not confirm in time.
    #[error("the broker did not confirm within {limit:?}")]
    Timeout {
        /// How long was waited.
        limit: Duration,
        /// What went wrong meanwhile, if anything did.
        #[source]
        source: Option<Cause>,
    },
    /// This side was closed.
    #[error("the broker's connection was closed here")]
    Closed,
}

/// A broker that could not be used.
#[derive(Debug, thiserror::Error)]
pub enum BrokerError {
    /// The URI cannot be used.
    #[error("`{uri}` is not the URI of a broker")]
    Uri {
        /// The rejected URI, without its password.
        uri: String,
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
    /// The broker at this address could not be reached or did not accept us.
    #[error("failed to reach the broker at `{address}`")]
    Unreachable {
        /// Host, port and virtual host.
        address: String,
        /// Why, as far as it was said.
        #[source]
        source: Option<Cause>,
    },
    /// A queue or exchange of this name exists with other settings. Trying again does not help.
    #[error("`{name}` exists with other settings: {said}; remove it, or choose another prefix")]
    Mismatch {
        /// Its name.
        name: String,
        /// What the broker said, with both values.
        said: String,
    },
    /// The broker did not do it.
    #[error("failed to {what}")]
    Failed {
        /// What was asked.
        what: &'static str,
        /// Why not.
        #[source]
        source: Cause,
    },
    /// The broker did not answer in time.
    #[error("the broker did not {what} within {limit:?}")]
    Timeout {
        /// What was asked.
        what: &'static str,
        /// How long was waited.
        limit: Duration,
    },
    /// A dead letter could not be published again.
    #[error("failed to publish `{id}` again")]
    Revive {
        /// The message's id.
        id: String,
        /// Why not.
        #[source]
        source: PublishError,
    },
    /// A dead letter came from a queue that is not ours.
    #[error("dead letter `{id}` came from none of our queues")]
    Origin {
        /// The message's id.
        id: String,
    },
}
