//! The standard variables of OpenTelemetry, as far as this crate decides by them.
//!
//! Headers, span limits, samplers and intervals are read from the environment by the SDK itself.
//!
//! Source: OpenTelemetry specification, "Environment Variable Specification" and "OTLP Exporter Configuration".

use std::collections::BTreeMap;

use crate::TelemetryError;

const PROTOCOL: &str = "http/protobuf";

/// Where spans and instruments go, and under which name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Configuration {
    /// The full address for spans, or none.
    pub(crate) traces: Option<String>,
    /// The full address for instruments, or none.
    pub(crate) metrics: Option<String>,
    /// `OTEL_SERVICE_NAME`.
    pub(crate) service: Option<String>,
}

impl Configuration {
    /// Reads the variables of this process.
    pub(crate) fn from_process() -> Result<Self, TelemetryError> {
        let variables = std::env::vars_os()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| name.starts_with("OTEL_"))
            .collect();
        Self::from_variables(&variables)
    }

    /// Reads `variables`; an empty value counts as unset.
    pub(crate) fn from_variables(
        variables: &BTreeMap<String, String>,
    ) -> Result<Self, TelemetryError> {
        let read = |name: &str| {
            let value = variables.get(name)?.trim();
            (!value.is_empty()).then(|| value.to_owned())
        };
        let service = read("OTEL_SERVICE_NAME");
        let disabled =
            read("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true"));
        if disabled {
            return Ok(Self {
                service,
                ..Self::default()
            });
        }
        let endpoint = |signal: &str| -> Result<Option<String>, TelemetryError> {
            let upper = signal.to_ascii_uppercase();
            if read(&format!("OTEL_{upper}_EXPORTER")).as_deref() == Some("none") {
                return Ok(None);
            }
            let own = read(&format!("OTEL_EXPORTER_OTLP_{upper}_ENDPOINT"));
            let address = own.or_else(|| {
                let base = read("OTEL_EXPORTER_OTLP_ENDPOINT")?;
                Some(format!("{}/v1/{signal}", base.trim_end_matches('/')))
            });
            if address.is_some() {
                let name = format!("OTEL_EXPORTER_OTLP_{upper}_PROTOCOL");
                check_protocol(read(&name).or_else(|| read("OTEL_EXPORTER_OTLP_PROTOCOL")))?;
            }
            Ok(address)
        };
        Ok(Self {
            traces: endpoint("traces")?,
            metrics: endpoint("metrics")?,
            service,
        })
    }
}

fn check_protocol(protocol: Option<String>) -> Result<(), TelemetryError> {
    match protocol {
        Some(protocol) if protocol != PROTOCOL => Err(TelemetryError::Protocol { protocol }),
        _ => Ok(()),
    }
}
