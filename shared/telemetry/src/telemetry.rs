//! Starting, reading and ending.

use std::io::IsTerminal;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use opentelemetry::KeyValue;
use opentelemetry::metrics::{Meter, MeterProvider};
use opentelemetry::trace::TracerProvider;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::metrics::{MeterProviderBuilder, SdkMeterProvider};
use opentelemetry_sdk::resource::{EnvResourceDetector, TelemetryResourceDetector};
use opentelemetry_sdk::trace::{SdkTracerProvider, TracerProviderBuilder};
use prometheus::{Registry, TextEncoder};
use tracing::Dispatch;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::{EnvFilter, FilterFn};
use tracing_subscriber::layer::{Layer, SubscriberExt};

use crate::configuration::Configuration;
use crate::{LogFormat, Settings};

/// Scope of our instruments and spans.
const SCOPE: &str = "evalfarm";
/// Spans are recorded when their target begins so: ours, and not those of libraries.
const TARGET: &str = "evalfarm";
/// Longest wait for the collector at the end.
const FLUSH: Duration = Duration::from_secs(3);

/// Why telemetry could not start.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TelemetryError {
    /// The filter of log lines is malformed.
    #[error("log filter `{filter}` cannot be read")]
    Filter {
        /// As it was given.
        filter: String,
        /// What is wrong with it.
        #[source]
        source: tracing_subscriber::filter::ParseError,
    },
    /// The collector is to be spoken to in a way that this build cannot.
    #[error(
        "OTLP over `{protocol}` is not supported: set `http/protobuf`, which collectors take on port 4318"
    )]
    Protocol {
        /// As the environment gives it.
        protocol: String,
    },
    /// The sender of spans or instruments could not be made.
    #[error("OTLP endpoint `{endpoint}` cannot be used")]
    Sender {
        /// The address.
        endpoint: String,
        /// Why.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Instruments could not be collected.
    #[error("instruments cannot be collected")]
    Instruments(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another subscriber is installed.
    #[error("logs and spans of this process go elsewhere already")]
    AlreadyStarted,
}

/// The running telemetry of a process.
///
/// Dropped without [`shutdown`](Self::shutdown), the last spans and values are not sent.
#[derive(Debug)]
pub struct Telemetry {
    traces: SdkTracerProvider,
    metrics: SdkMeterProvider,
    registry: Registry,
}

/// Installs logs and spans for the whole process, and makes instruments.
pub fn start(settings: Settings) -> Result<Telemetry, TelemetryError> {
    let configuration = Configuration::from_process()?;
    let (telemetry, dispatch) = build(settings, &configuration)?;
    tracing::dispatcher::set_global_default(dispatch)
        .map_err(|_| TelemetryError::AlreadyStarted)?;
    if !cfg!(feature = "otlp")
        && (configuration.traces.is_some() || configuration.metrics.is_some())
    {
        tracing::warn!(
            "an OTLP endpoint is set, but this build sends nothing: it lacks the feature `otlp`"
        );
    }
    Ok(telemetry)
}

/// Makes everything and installs nothing.
pub(crate) fn build(
    settings: Settings,
    configuration: &Configuration,
) -> Result<(Telemetry, Dispatch), TelemetryError> {
    let Settings {
        service,
        instance,
        log,
        filter,
    } = settings;
    let filter =
        EnvFilter::try_new(&filter).map_err(|source| TelemetryError::Filter { filter, source })?;
    let registry = Registry::new();
    let reader = opentelemetry_prometheus::exporter()
        .with_registry(registry.clone())
        .scope_info_enabled(false)
        .build()
        .map_err(|error| TelemetryError::Instruments(Box::new(error)))?;
    let resource = resource(service, instance, configuration);
    let metrics = SdkMeterProvider::builder()
        .with_resource(resource.clone())
        .with_reader(reader);
    let metrics = sending_metrics(metrics, configuration)?.build();
    let traces = SdkTracerProvider::builder().with_resource(resource);
    let traces = sending_traces(traces, configuration)?.build();

    // Not the filter of log lines: a quiet log must not cut a trace in two.
    let ours = FilterFn::new(|metadata| metadata.target().starts_with(TARGET))
        .with_max_level_hint(LevelFilter::INFO);
    let spans = tracing_opentelemetry::layer()
        .with_tracer(traces.tracer(SCOPE))
        .with_location(false)
        .with_threads(false)
        .with_filter(ours)
        .with_filter(LevelFilter::INFO);
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let subscriber = tracing_subscriber::registry().with(spans);
    let dispatch = match log {
        LogFormat::Text => {
            let lines = lines.with_ansi(std::io::stderr().is_terminal());
            Dispatch::new(subscriber.with(lines.with_filter(filter)))
        }
        LogFormat::Json => {
            let lines = lines.json().flatten_event(true);
            Dispatch::new(subscriber.with(lines.with_filter(filter)))
        }
    };
    let telemetry = Telemetry {
        traces,
        metrics,
        registry,
    };
    Ok((telemetry, dispatch))
}

impl Telemetry {
    /// Returns what makes instruments: `meter.u64_counter("farm.tasks").build()` is `farm_tasks_total` in Prometheus text.
    pub fn meter(&self) -> Meter {
        self.metrics.meter(SCOPE)
    }

    /// Returns the values of all instruments in the text format of Prometheus.
    pub fn prometheus(&self) -> String {
        let encoded = TextEncoder::new().encode_to_string(&self.registry.gather());
        encoded.unwrap_or_else(|error| {
            tracing::warn!(%error, "instruments could not be written as text");
            String::new()
        })
    }

    /// Sends what is left and returns within about 3 s, whatever the collector does. What was not taken by then is lost.
    ///
    /// The work is done on threads of its own, so it may be called from async code, whose thread then waits that long.
    pub fn shutdown(self) {
        let deadline = Instant::now() + FLUSH;
        let (done, finished) = mpsc::channel();
        let Self {
            traces, metrics, ..
        } = self;
        let also_done = done.clone();
        let started = [
            flush("telemetry-traces", done, move || {
                traces.shutdown_with_timeout(FLUSH)
            }),
            flush("telemetry-metrics", also_done, move || {
                metrics.shutdown_with_timeout(FLUSH)
            }),
        ];
        for _ in started.iter().filter(|started| **started) {
            let left = deadline.saturating_duration_since(Instant::now());
            match finished.recv_timeout(left) {
                Ok(Ok(())) => {}
                Ok(Err(error)) => tracing::warn!(%error, "last spans or values were not sent"),
                Err(_) => {
                    tracing::warn!(
                        "the collector did not answer in time, last spans or values are lost"
                    );
                    return;
                }
            }
        }
    }
}

/// Runs `work` on a thread of its own and sends its result; says whether there is such a thread.
fn flush<E: Send + 'static>(
    name: &str,
    done: mpsc::Sender<Result<(), E>>,
    work: impl FnOnce() -> Result<(), E> + Send + 'static,
) -> bool {
    std::thread::Builder::new()
        .name(name.to_owned())
        // Nobody listens any more once the time is up.
        .spawn(move || drop(done.send(work())))
        .is_ok()
}

/// Who sends: the settings, overridden by `OTEL_RESOURCE_ATTRIBUTES`, overridden by `OTEL_SERVICE_NAME`.
fn resource(service: &'static str, instance: String, configuration: &Configuration) -> Resource {
    let resource = Resource::builder_empty()
        .with_attributes([
            KeyValue::new("service.name", service),
            KeyValue::new("service.instance.id", instance),
        ])
        .with_detector(Box::new(TelemetryResourceDetector))
        .with_detector(Box::new(EnvResourceDetector::new()));
    match &configuration.service {
        Some(service) => resource.with_service_name(service.clone()).build(),
        None => resource.build(),
    }
}

#[cfg(feature = "otlp")]
fn sending_traces(
    builder: TracerProviderBuilder,
    configuration: &Configuration,
) -> Result<TracerProviderBuilder, TelemetryError> {
    match &configuration.traces {
        Some(endpoint) => Ok(builder.with_batch_exporter(
            crate::otlp::spans(endpoint).map_err(|error| unusable(endpoint, error))?,
        )),
        None => Ok(builder),
    }
}

#[cfg(feature = "otlp")]
fn sending_metrics(
    builder: MeterProviderBuilder,
    configuration: &Configuration,
) -> Result<MeterProviderBuilder, TelemetryError> {
    match &configuration.metrics {
        Some(endpoint) => Ok(builder.with_periodic_exporter(
            crate::otlp::instruments(endpoint).map_err(|error| unusable(endpoint, error))?,
        )),
        None => Ok(builder),
    }
}

#[cfg(feature = "otlp")]
fn unusable(endpoint: &str, error: crate::otlp::SenderError) -> TelemetryError {
    TelemetryError::Sender {
        endpoint: endpoint.to_owned(),
        source: Box::new(error),
    }
}

#[cfg(not(feature = "otlp"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "with the feature `otlp` it can fail"
)]
fn sending_traces(
    builder: TracerProviderBuilder,
    _: &Configuration,
) -> Result<TracerProviderBuilder, TelemetryError> {
    Ok(builder)
}

#[cfg(not(feature = "otlp"))]
#[expect(
    clippy::unnecessary_wraps,
    reason = "with the feature `otlp` it can fail"
)]
fn sending_metrics(
    builder: MeterProviderBuilder,
    _: &Configuration,
) -> Result<MeterProviderBuilder, TelemetryError> {
    Ok(builder)
}
