use std::collections::BTreeMap;

use crate::configuration::Configuration;
use crate::{LogFormat, TelemetryError};

fn read(variables: &[(&str, &str)]) -> Result<Configuration, TelemetryError> {
    let variables: BTreeMap<String, String> = variables
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    Configuration::from_variables(&variables)
}

#[test]
fn nothing_is_sent_unless_configured() {
    assert_eq!(read(&[]).unwrap(), Configuration::default());
    let empty = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", " ")]).unwrap();
    assert_eq!(empty, Configuration::default());
}

// The paths are those of the OTLP exporter specification, "Endpoint URLs for OTLP/HTTP": appended to the common endpoint,
// not to the one of a signal.
#[test]
fn endpoints_are_resolved_as_the_specification_asks() {
    let both = read(&[("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/")]).unwrap();
    assert_eq!(both.traces.as_deref(), Some("http://c:4318/v1/traces"));
    assert_eq!(both.metrics.as_deref(), Some("http://c:4318/v1/metrics"));

    let one = read(&[("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c:4318/mine")]).unwrap();
    assert_eq!(one.traces.as_deref(), Some("http://c:4318/mine"));
    assert_eq!(one.metrics, None);

    let without = read(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
        ("OTEL_METRICS_EXPORTER", "none"),
    ])
    .unwrap();
    assert_eq!(without.traces.as_deref(), Some("http://c:4318/v1/traces"));
    assert_eq!(without.metrics, None);
}

#[test]
fn a_disabled_sdk_sends_nothing() {
    let configuration = read(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318"),
        ("OTEL_SDK_DISABLED", "TRUE"),
        ("OTEL_SERVICE_NAME", "mine"),
    ])
    .unwrap();
    assert_eq!(configuration.traces, None);
    assert_eq!(configuration.metrics, None);
    assert_eq!(configuration.service.as_deref(), Some("mine"));
}

#[test]
fn another_protocol_is_refused_rather_than_spoken_wrongly() {
    let refused = read(&[
        ("OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4317"),
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
    ]);
    assert!(
        matches!(&refused, Err(TelemetryError::Protocol { protocol }) if protocol == "grpc"),
        "{refused:?}"
    );
    let unused = read(&[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]);
    assert!(unused.is_ok(), "nothing is sent, so nothing is wrong");
}

#[test]
fn log_formats_are_named() {
    assert_eq!("json".parse(), Ok(LogFormat::Json));
    assert_eq!("text".parse(), Ok(LogFormat::Text));
    let error = "xml".parse::<LogFormat>().unwrap_err();
    assert_eq!(
        error.to_string(),
        "unknown log format `xml`: expected `text` or `json`"
    );
}

#[test]
fn a_malformed_filter_is_an_error() {
    let mut settings = super::settings();
    settings.filter = "evalfarm=loud".to_owned();
    let error = crate::telemetry::build(settings, &Configuration::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "log filter `evalfarm=loud` cannot be read"
    );
}
