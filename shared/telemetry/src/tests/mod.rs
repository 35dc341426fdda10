mod configuration;
mod context;
mod instruments;
#[cfg(feature = "otlp")]
mod otlp;

use tracing::Dispatch;

use crate::configuration::Configuration;
use crate::{LogFormat, Settings, Telemetry};

fn settings() -> Settings {
    Settings {
        service: "evalfarm-test",
        instance: "here".to_owned(),
        log: LogFormat::Text,
        filter: "off".to_owned(),
    }
}

fn build(configuration: &Configuration) -> (Telemetry, Dispatch) {
    crate::telemetry::build(settings(), configuration).expect("the settings are usable")
}
