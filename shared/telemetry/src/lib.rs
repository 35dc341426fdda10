//! Logs, spans and instruments of a service.
//!
//! [`start`] installs them once for the process; [`Telemetry`] makes instruments and tells their values as Prometheus text.
//! Nothing leaves the process unless an OTLP endpoint is configured: `OTEL_EXPORTER_OTLP_ENDPOINT`, or
//! `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` and `OTEL_EXPORTER_OTLP_METRICS_ENDPOINT`. A trace still keeps its id from process
//! to process, as a [`TraceContext`] that travels with requests and messages.
//!
//! Sending is behind the feature `otlp`, because its HTTP client and protobuf are most of what this crate costs to build.

mod configuration;
mod context;
#[cfg(feature = "otlp")]
mod otlp;
mod settings;
mod telemetry;
#[cfg(test)]
mod tests;

pub use context::{TraceContext, continue_trace, current};
pub use opentelemetry::KeyValue;
pub use opentelemetry::metrics::{Counter, Gauge, Histogram, Meter, UpDownCounter};
pub use settings::{LogFormat, Settings, UnknownLogFormat};
pub use telemetry::{Telemetry, TelemetryError, start};
