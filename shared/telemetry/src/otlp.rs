//! Sending to a collector: OTLP as protobuf over HTTP.

use std::time::Duration;

use opentelemetry_otlp::{
    ExporterBuildError, MetricExporter, Protocol, SpanExporter, WithExportConfig, WithHttpConfig,
};

/// Longest wait for one answer of the collector. It bounds how long a collector that accepts and never answers can hold the
/// last batch.
const TIMEOUT: Duration = Duration::from_secs(3);

/// Why a sender could not be made.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SenderError {
    /// The address, or another setting, is not usable.
    #[error(transparent)]
    Exporter(#[from] ExporterBuildError),
    /// The HTTP client was not built.
    #[error(transparent)]
    Client(#[from] reqwest::Error),
    /// There was no thread to build the client on.
    #[error("failed to start a thread")]
    Thread(#[from] std::io::Error),
    /// The HTTP client gave up while it was built.
    #[error("the HTTP client could not be built")]
    ClientPanicked,
}

pub(crate) fn spans(endpoint: &str) -> Result<SpanExporter, SenderError> {
    Ok(SpanExporter::builder()
        .with_http()
        .with_http_client(client()?)
        .with_endpoint(endpoint)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(TIMEOUT)
        .build()?)
}

pub(crate) fn instruments(endpoint: &str) -> Result<MetricExporter, SenderError> {
    Ok(MetricExporter::builder()
        .with_http()
        .with_http_client(client()?)
        .with_endpoint(endpoint)
        .with_protocol(Protocol::HttpBinary)
        .with_timeout(TIMEOUT)
        .build()?)
}

/// Builds a client on a thread of its own: a blocking client must be neither built nor used on a thread of an async runtime.
fn client() -> Result<reqwest::blocking::Client, SenderError> {
    // Fails when the process has chosen a provider already, and then that one is used.
    drop(rustls::crypto::ring::default_provider().install_default());
    let build = || {
        reqwest::blocking::Client::builder()
            .timeout(TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .build()
    };
    let thread = std::thread::Builder::new()
        .name("telemetry-client".to_owned())
        .spawn(build)?;
    Ok(thread.join().map_err(|_| SenderError::ClientPanicked)??)
}
