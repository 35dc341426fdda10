//! How to reach a broker.

use std::time::Duration;

use lapin::uri::{AMQPScheme, AMQPUri};

use crate::BrokerError;

/// How to reach a broker, and how long to wait for it.
#[derive(Clone)]
pub struct AmqpSettings {
    /// `amqp://user:password@host:port/vhost`, where `/` in the vhost is written `%2f`.
    pub uri: String,
    /// How this process is called in the broker's own lists, e.g. `worker@host#pid`.
    pub name: String,
    /// For connecting, and for each step of declaring and subscribing.
    pub connect_limit: Duration,
    /// From publishing to the broker's confirmation, reconnecting included.
    pub confirm_limit: Duration,
    /// For closing in an orderly way; after that the connection is dropped.
    pub close_limit: Duration,
}

/// Seconds between heartbeats; a frozen broker is noticed after twice as long. The broker's documentation calls 5 to 20
/// optimal.
const HEARTBEAT: u16 = 10;

impl AmqpSettings {
    /// Returns settings with limits of 10 s to connect, 30 s to confirm and 5 s to close.
    pub fn new(uri: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            uri: uri.into(),
            name: name.into(),
            connect_limit: Duration::from_secs(10),
            confirm_limit: Duration::from_secs(30),
            close_limit: Duration::from_secs(5),
        }
    }

    /// Reads the URI; its own heartbeat wins over ours.
    pub(super) fn parsed(&self) -> Result<AMQPUri, BrokerError> {
        let error = |said: String| BrokerError::Uri {
            uri: match self.uri.rsplit_once('@') {
                Some((_, host)) => format!("…@{host}"),
                None => self.uri.clone(),
            },
            source: said.into(),
        };
        let mut uri: AMQPUri = self.uri.parse().map_err(error)?;
        if uri.scheme == AMQPScheme::AMQPS {
            return Err(error("this build has no TLS".to_owned()));
        }
        uri.query.heartbeat.get_or_insert(HEARTBEAT);
        Ok(uri)
    }

    /// Returns host, port and virtual host, without the password.
    pub(super) fn address(uri: &AMQPUri) -> String {
        format!(
            "{}:{}/{}",
            uri.authority.host, uri.authority.port, uri.vhost
        )
    }
}

impl std::fmt::Debug for AmqpSettings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // Not the URI: it holds a password.
        f.debug_struct("AmqpSettings")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}
