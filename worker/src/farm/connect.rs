//! The parts of a farm, as its settings name them.

use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker, BrokerError};
use evalfarm_process::ErrorChain;
use evalfarm_state::{JobStore, RedisSettings, RedisStore, StateError};
use evalfarm_store::{LocalCache, Store, StoreError};
use tracing::warn;

use super::service::Parts;
use super::settings::Settings;

/// How long broker and store may be away at the start. What starts workers starts them again after that.
const PATIENCE: Duration = Duration::from_mins(1);

/// Pause between two tries.
const PAUSE: Duration = Duration::from_secs(1);

/// Why a worker cannot start.
#[derive(Debug, thiserror::Error)]
pub(super) enum ConnectError {
    #[error("the broker cannot be used")]
    Broker(#[from] BrokerError),
    #[error("the counts cannot be used")]
    State(#[from] StateError),
    #[error("the store cannot be used")]
    Store(#[source] StoreError),
    #[error("the cache cannot be used")]
    Cache(#[source] StoreError),
}

impl ConnectError {
    /// Whether what was written is wrong, and not what it names.
    pub(super) fn is_input(&self) -> bool {
        match self {
            Self::Broker(error) => matches!(error, BrokerError::Uri { .. }),
            Self::State(error) => matches!(error, StateError::Url { .. }),
            Self::Store(error) => matches!(
                error,
                StoreError::Scheme { .. }
                    | StoreError::Address { .. }
                    | StoreError::Settings { .. }
            ),
            Self::Cache(_) => false,
        }
    }
}

/// Connects, with some patience for what starts at the same time.
pub(super) async fn connect(settings: &Settings) -> Result<Parts, ConnectError> {
    let cache = LocalCache::open(&settings.cache, settings.cache_limit);
    let state = settings.redis.as_ref().map(|url| {
        let mut redis = RedisSettings::new(url.reveal());
        redis.prefix.clone_from(&settings.prefix);
        RedisStore::open(&redis).map(|store| Arc::new(store) as Arc<dyn JobStore>)
    });
    let state = state.transpose()?;
    let store = async {
        let open = || Store::open(&settings.store);
        let opened = patiently("store", open, StoreError::is_temporary).await;
        opened.map_err(ConnectError::Store)
    };
    let broker = async {
        let name = format!("worker {}", settings.options.worker);
        let amqp = AmqpSettings::new(settings.broker.reveal(), name);
        let open = || AmqpBroker::connect(amqp.clone(), settings.topology.clone());
        let may_pass = |error: &BrokerError| {
            matches!(
                error,
                BrokerError::Unreachable { .. }
                    | BrokerError::Timeout { .. }
                    | BrokerError::Failed { .. }
            )
        };
        let opened = patiently("broker", open, may_pass).await;
        opened.map_err(ConnectError::Broker)
    };
    let (store, broker) = tokio::try_join!(store, broker)?;
    Ok(Parts {
        broker: Arc::new(broker) as Arc<dyn Broker>,
        topology: settings.topology.clone(),
        state,
        store,
        cache: cache.map_err(ConnectError::Cache)?,
    })
}

/// Tries until it works, fails for good, or patience is over.
async fn patiently<T, E: std::error::Error + 'static, F: Future<Output = Result<T, E>>>(
    what: &'static str,
    open: impl Fn() -> F,
    may_pass: impl Fn(&E) -> bool,
) -> Result<T, E> {
    let started = Instant::now();
    loop {
        match open().await {
            Err(error) if may_pass(&error) && started.elapsed() < PATIENCE => {
                warn!(what, error = %ErrorChain(&error), "cannot be reached yet, trying again");
            }
            outcome => return outcome,
        }
        tokio::time::sleep(PAUSE).await;
    }
}
