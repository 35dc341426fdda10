//! What probes and scrapers ask.

use std::fmt;
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse as _;
use axum::routing::get;
use tokio::net::TcpListener;

/// Whether the worker is ready, which it is not before it has a consumer.
#[derive(Debug, Clone, Default)]
pub(super) struct Readiness(Arc<Mutex<Option<Arc<AtomicBool>>>>);

impl Readiness {
    /// From now on the worker is as ready as this says.
    pub(super) fn follow(&self, subscribed: Arc<AtomicBool>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(subscribed);
    }

    fn is_ready(&self) -> bool {
        let followed = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        followed
            .as_ref()
            .is_some_and(|subscribed| subscribed.load(Ordering::Acquire))
    }
}

/// Writes the instruments.
#[derive(Clone)]
pub(super) struct Metrics(pub(super) Arc<dyn Fn() -> String + Send + Sync>);

impl fmt::Debug for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Metrics").finish_non_exhaustive()
    }
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
pub(super) enum HealthError {
    #[error("failed to listen at {address}")]
    Listen {
        address: SocketAddr,
        #[source]
        source: io::Error,
    },
    #[error("failed to write the address into `{path}`")]
    AddressFile {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
}

/// Takes the port, and tells it to whoever reads the file.
pub(super) async fn listen(
    address: SocketAddr,
    file: Option<&Path>,
) -> Result<(TcpListener, SocketAddr), HealthError> {
    let error = |source| HealthError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(error)?;
    let bound = listener.local_addr().map_err(error)?;
    if let Some(path) = file {
        // Whole or not at all: somebody may be waiting for it.
        let mut staged = path.as_os_str().to_owned();
        staged.push(".new");
        let written = fs::write(&staged, format!("{bound}\n"));
        written
            .and_then(|()| fs::rename(&staged, path))
            .map_err(|source| HealthError::AddressFile {
                path: path.to_owned(),
                source,
            })?;
    }
    Ok((listener, bound))
}

/// Answers until the future is dropped. `/livez` says that the runtime turns, and nothing of broker or store: restarting a
/// worker because a broker is away helps nobody.
pub(super) async fn serve(
    listener: TcpListener,
    readiness: Readiness,
    metrics: Metrics,
) -> io::Result<()> {
    let ready = move || async move {
        if readiness.is_ready() {
            (StatusCode::OK, "ready\n")
        } else {
            (StatusCode::SERVICE_UNAVAILABLE, "no consumer\n")
        }
    };
    let scrape = move || async move {
        let kind = [(header::CONTENT_TYPE, "text/plain; version=0.0.4")];
        (kind, (metrics.0)()).into_response()
    };
    let routes = Router::new()
        .route("/livez", get(|| async { "alive\n" }))
        .route("/readyz", get(ready))
        .route("/metrics", get(scrape));
    axum::serve(listener, routes).await
}
