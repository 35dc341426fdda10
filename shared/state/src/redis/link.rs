//! One connection to Redis that comes back.

use std::time::Duration;

use redis::aio::{ConnectionManager, ConnectionManagerConfig};
use redis::{Client, Cmd, FromRedisValue, RedisError, RedisResult, ScriptInvocation};

use crate::StateError;

/// How to reach a Redis.
#[derive(Debug, Clone)]
pub struct RedisSettings {
    /// `redis://[user:password@]host:port/[database]`.
    pub url: String,
    /// What all keys begin with: farms that share a server differ in it.
    pub prefix: String,
    /// How long one call may take, the second try after an I/O error included.
    pub limit: Duration,
    /// How long a job that nobody mentions is remembered, in whole seconds, at least one.
    pub retention: Duration,
}

impl RedisSettings {
    /// Returns the farm `evalfarm` on this server: 5 s for each call, jobs remembered for 30 days.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            prefix: "evalfarm".to_owned(),
            limit: Duration::from_secs(5),
            retention: Duration::from_hours(30 * 24),
        }
    }
}

/// The connection. Every command is a script or a read, so it may be sent again when its answer was lost.
#[derive(Clone)]
pub(super) struct Link {
    manager: ConnectionManager,
    limit: Duration,
}

impl Link {
    /// Prepares a connection; the first command makes it.
    pub(super) fn new(settings: &RedisSettings) -> Result<Self, StateError> {
        let client =
            Client::open(settings.url.as_str()).map_err(|error| url_error(settings, error))?;
        // Waits are shorter than `limit`, so that the second try fits into it; the command that finds a broken connection
        // fails and the next one waits for the new connection.
        let config = ConnectionManagerConfig::new()
            .set_connection_timeout(Some(settings.limit / 3))
            .set_response_timeout(Some(settings.limit * 2 / 5))
            .set_number_of_retries(3)
            .set_min_delay(Duration::from_millis(50))
            .set_max_delay(Duration::from_millis(500));
        let manager = ConnectionManager::new_lazy_with_config(client, config)
            .map_err(|error| url_error(settings, error))?;
        let limit = settings.limit;
        Ok(Self { manager, limit })
    }

    /// Runs a script.
    pub(super) async fn run<T: FromRedisValue>(
        &self,
        script: &ScriptInvocation<'_>,
    ) -> Result<T, StateError> {
        self.call(Request::Script(script)).await
    }

    /// Sends a command that may be sent twice.
    pub(super) async fn send<T: FromRedisValue>(&self, command: &Cmd) -> Result<T, StateError> {
        self.call(Request::Command(command)).await
    }

    async fn call<T: FromRedisValue>(&self, request: Request<'_>) -> Result<T, StateError> {
        let twice = async {
            match self.once(request).await {
                Err(error) if error.is_io_error() => self.once(request).await,
                other => other,
            }
        };
        let limit = self.limit;
        match tokio::time::timeout(limit, twice).await {
            Err(_) => Err(StateError::Timeout { limit }),
            Ok(Err(error)) if error.is_timeout() => Err(StateError::Timeout { limit }),
            Ok(Err(error)) if error.is_io_error() => Err(StateError::Unreachable(Box::new(error))),
            Ok(Err(error)) => Err(StateError::Refused(Box::new(error))),
            Ok(Ok(answer)) => Ok(answer),
        }
    }

    async fn once<T: FromRedisValue>(&self, request: Request<'_>) -> RedisResult<T> {
        let mut manager = self.manager.clone();
        match request {
            Request::Script(script) => script.invoke_async(&mut manager).await,
            Request::Command(command) => command.query_async(&mut manager).await,
        }
    }
}

#[derive(Clone, Copy)]
enum Request<'a> {
    Script(&'a ScriptInvocation<'a>),
    Command(&'a Cmd),
}

fn url_error(settings: &RedisSettings, error: RedisError) -> StateError {
    // What lies before an `@` may be a password.
    let url = match settings.url.rsplit_once('@') {
        Some((_, host)) => format!("…@{host}"),
        None => settings.url.clone(),
    };
    StateError::Url {
        url,
        source: Box::new(error),
    }
}
