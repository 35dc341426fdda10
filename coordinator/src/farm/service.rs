//! The coordinator as a process: connections, jobs, HTTP, and an orderly end.

use std::fs;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker, BrokerError};
use evalfarm_proto::{DEFAULT_DELAYS, Topology, TopologyError};
use evalfarm_state::{JobStore, MemoryStore, RedisSettings, RedisStore, StateError};
use evalfarm_store::{LocalCache, Store, StoreError};
use evalfarm_telemetry::Telemetry;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use super::credentials::{Credentials, CredentialsError};
use super::dispatch::Lines;
use super::farm::Farm;
use super::http::{Shared, Uploads, router};
use super::instruments::Instruments;
use super::jobs::{Jobs, JobsError};
use super::schedule::Pace;
use super::settings::Settings;
use super::shares::Shares;

/// How often workers are counted.
const COUNT_EVERY: Duration = Duration::from_secs(2);

/// Jobs that are made of their submissions at a time: the dataset of each is in memory meanwhile.
const PREPARING: usize = 4;

/// Requests that are being answered get this long when the coordinator stops.
const LAST_ANSWERS: Duration = Duration::from_secs(5);

/// A coordinator that could not start or go on.
#[derive(Debug, thiserror::Error)]
pub enum ServiceError {
    /// Credentials.
    #[error("the credentials cannot be used")]
    Credentials(#[from] CredentialsError),
    /// The prefix.
    #[error("the queues cannot be named")]
    Topology(#[from] TopologyError),
    /// The broker.
    #[error("the broker cannot be used")]
    Broker(#[from] BrokerError),
    /// Redis.
    #[error("Redis cannot be used")]
    State(#[from] StateError),
    /// The store.
    #[error("the store cannot be used")]
    Store(#[from] StoreError),
    /// Stored jobs.
    #[error("stored jobs cannot be taken up")]
    Jobs(#[from] JobsError),
    /// The data folder.
    #[error("failed to use `{path}`")]
    Folder {
        /// The folder or file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The address.
    #[error("failed to listen on `{address}`")]
    Listen {
        /// The address.
        address: std::net::SocketAddr,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

impl ServiceError {
    /// Whether a setting has to change.
    pub fn is_input(&self) -> bool {
        match self {
            Self::Credentials(_) | Self::Topology(_) => true,
            Self::Broker(error) => matches!(error, BrokerError::Uri { .. }),
            Self::State(error) => matches!(error, StateError::Url { .. }),
            Self::Store(error) => !error.is_temporary(),
            Self::Jobs(_) | Self::Folder { .. } | Self::Listen { .. } => false,
        }
    }
}

/// Whether requests should come here.
#[derive(Debug, Default)]
pub(crate) struct Health {
    taken_up: AtomicBool,
    stopping: AtomicBool,
}

impl Health {
    /// Says that stored jobs are taken up.
    pub(crate) fn is_taken_up(&self) {
        self.taken_up.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.taken_up.load(Ordering::Relaxed) && !self.stopping.load(Ordering::Relaxed)
    }
}

/// Runs a coordinator until `stop` resolves, also while it starts. Jobs that are not over then are taken up by the next one.
pub async fn serve(
    settings: Settings,
    telemetry: Arc<Telemetry>,
    stop: impl Future<Output = ()> + Send + 'static,
) -> Result<(), ServiceError> {
    // A task of its own, so that somebody listens for signals from the beginning.
    let mut stop = tokio::spawn(stop);
    let credentials = Arc::new(Credentials::read(&settings.credentials)?);
    let instruments = Instruments::new(&telemetry.meter());
    let farm = tokio::select! {
        farm = connect(&settings, instruments) => Arc::new(farm?),
        _ = &mut stop => return Ok(()),
    };
    let jobs = Arc::new(Jobs::new(Arc::clone(&farm), settings.running.get()));
    let health = Arc::new(Health::default());
    let shared = Shared {
        jobs: Arc::clone(&jobs),
        credentials,
        health: Arc::clone(&health),
        telemetry,
        uploads: Uploads::default(),
    };
    let parts = Parts::start(farm, listen(&settings).await?, shared);
    let taken_up = tokio::select! {
        taken_up = jobs.take_up_all() => taken_up.map(Some),
        _ = &mut stop => Ok(None),
    };
    if let Ok(Some(taken_up)) = taken_up {
        health.is_taken_up();
        tracing::info!(jobs = taken_up, "ready");
        // That it panicked is a reason to stop as well.
        drop(stop.await);
    }
    tracing::info!("stopping; unfinished jobs go on when a coordinator starts again");
    health.stopping.store(true, Ordering::Relaxed);
    jobs.pause().await;
    parts.stop().await;
    taken_up?;
    Ok(())
}

/// What of a coordinator runs beside its jobs.
struct Parts {
    stopping: watch::Sender<bool>,
    server: JoinHandle<io::Result<()>>,
    news: JoinHandle<()>,
    counts: JoinHandle<()>,
    broker: Arc<dyn Broker>,
}

impl Parts {
    fn start(farm: Arc<Farm>, listener: TcpListener, shared: Shared) -> Self {
        let broker = Arc::clone(&farm.lines.broker);
        let (stopping, stopped) = watch::channel(false);
        let news = Arc::clone(&farm.inbox).run(Arc::clone(&broker), stopped.clone());
        let counts = count_workers(farm, stopped.clone());
        let mut last = stopped;
        let server = axum::serve(listener, router(shared)).with_graceful_shutdown(async move {
            drop(last.wait_for(|&stop| stop).await);
        });
        Self {
            stopping,
            server: tokio::spawn(server.into_future()),
            news: tokio::spawn(news),
            counts: tokio::spawn(counts),
            broker,
        }
    }

    async fn stop(mut self) {
        self.stopping.send_replace(true);
        // Watchers hold their requests open for as long as a job runs, so there is a limit.
        if tokio::time::timeout(LAST_ANSWERS, &mut self.server)
            .await
            .is_err()
        {
            self.server.abort();
            drop(self.server.await);
        }
        drop(self.news.await);
        drop(self.counts.await);
        self.broker.close().await;
    }
}

async fn connect(settings: &Settings, instruments: Instruments) -> Result<Farm, ServiceError> {
    let folder = std::path::absolute(&settings.data).map_err(folder_failed(&settings.data))?;
    for part in ["jobs", "splits", "looks"] {
        let part = folder.join(part);
        fs::create_dir_all(&part).map_err(folder_failed(&part))?;
    }
    let store = Store::open(&settings.store).await?;
    let limit = settings.cache_mb.saturating_mul(1_000_000);
    let cache = LocalCache::open(&folder.join("cache"), limit)?;
    let state: Arc<dyn JobStore> = if let Some(url) = &settings.redis {
        let mut redis = RedisSettings::new(url.reveal());
        redis.prefix.clone_from(&settings.prefix);
        Arc::new(RedisStore::open(&redis)?)
    } else {
        let start = Instant::now();
        Arc::new(MemoryStore::new(move || start.elapsed()))
    };
    let topology = Topology::new(&settings.prefix, &DEFAULT_DELAYS)?;
    let name = format!("evalfarm-coordinator#{}", std::process::id());
    let amqp = AmqpSettings::new(settings.broker.reveal(), name);
    let broker: Arc<dyn Broker> = Arc::new(AmqpBroker::connect(amqp, topology).await?);
    broker.declare().await?;
    Ok(Farm {
        lines: Lines {
            broker,
            state,
            shares: Arc::new(Shares::new(settings.offers_per_slot)),
            instruments,
            pace: Pace {
                window: settings.offers_per_slot,
                overdue: Settings::seconds(settings.overdue),
                straggler: settings.straggler.get(),
            },
            patience: Settings::seconds(settings.patience),
        },
        store,
        cache,
        inbox: Arc::default(),
        preparing: Semaphore::new(PREPARING),
        alive: Settings::seconds(settings.alive),
        folder,
    })
}

async fn listen(settings: &Settings) -> Result<TcpListener, ServiceError> {
    let address = settings.listen;
    let failed = |source| ServiceError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let bound = listener.local_addr().map_err(failed)?;
    tracing::info!(%bound, "listening");
    if let Some(path) = &settings.address_file {
        write_whole(path, &bound.to_string()).map_err(folder_failed(path))?;
    }
    Ok(listener)
}

/// Writes a file that a reader finds whole or not at all.
fn write_whole(path: &std::path::Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    let staged = tempfile::NamedTempFile::new_in(folder.unwrap_or(std::path::Path::new(".")))?;
    fs::write(staged.path(), text)?;
    staged.persist(path)?;
    Ok(())
}

/// Keeps the number of slots, by which jobs share workers, up to date.
async fn count_workers(farm: Arc<Farm>, mut stop: watch::Receiver<bool>) {
    loop {
        match farm.lines.state.workers().await {
            Ok(reports) => {
                let oldest = unix_millis()
                    .saturating_sub(farm.alive.as_millis().try_into().unwrap_or(u64::MAX));
                let alive = reports.iter().filter(|report| report.seen.0 >= oldest);
                let slots = alive.map(|report| report.slots as usize).sum();
                farm.lines.shares.set_slots(slots);
                farm.lines.instruments.slots(slots);
            }
            Err(error) => tracing::debug!(%error, "workers could not be counted"),
        }
        tokio::select! {
            () = tokio::time::sleep(COUNT_EVERY) => {}
            () = farm.inbox.arrival() => {}
            _ = stop.wait_for(|&stop| stop) => return,
        }
    }
}

fn folder_failed(path: &std::path::Path) -> impl FnOnce(io::Error) -> ServiceError {
    let path = path.to_owned();
    move |source| ServiceError::Folder { path, source }
}

/// Milliseconds since the Unix epoch.
pub(crate) fn unix_millis() -> u64 {
    #[expect(
        clippy::disallowed_methods,
        reason = "when a job was submitted, and who is alive: neither is part of a result"
    )]
    let now = SystemTime::now();
    let since = now.duration_since(UNIX_EPOCH);
    let millis = since.unwrap_or_default().as_millis();
    u64::try_from(millis).unwrap_or(u64::MAX)
}
