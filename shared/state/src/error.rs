//! Why nothing was counted.

use std::time::Duration;

use evalfarm_domain::IdError;

type Cause = Box<dyn std::error::Error + Send + Sync>;

/// The store did not count, or could not say whether it did. Callers may go on without it.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The URL cannot be used.
    #[error("`{url}` is not the URL of a Redis")]
    Url {
        /// The rejected URL, without its password.
        url: String,
        /// What is wrong with it.
        #[source]
        source: Cause,
    },
    /// The store cannot be reached.
    #[error("the store cannot be reached")]
    Unreachable(#[source] Cause),
    /// The store did not answer in time; it may have counted.
    #[error("the store did not answer within {limit:?}")]
    Timeout {
        /// How long was waited.
        limit: Duration,
    },
    /// The store refused the command.
    #[error("the store refused")]
    Refused(#[source] Cause),
    /// What is stored was not written by this release.
    #[error("`{key}` holds `{value}`, which cannot be read")]
    Stored {
        /// Where it is.
        key: String,
        /// What is there.
        value: String,
    },
    /// A stored identifier is empty or too long.
    #[error("a stored identifier cannot be accepted")]
    Id(#[from] IdError),
}
