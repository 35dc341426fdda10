//! What a service says about its telemetry.

use std::str::FromStr;

/// What [`start`](crate::start) needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// `service.name`, unless the environment gives another.
    pub service: &'static str,
    /// `service.instance.id`: which of the processes of the service.
    pub instance: String,
    /// How log lines look.
    pub log: LogFormat,
    /// Which log lines are written, as `tracing_subscriber::EnvFilter` reads it: `info`, `info,lapin=warn`.
    /// Spans are independent of it.
    pub filter: String,
}

/// How log lines on stderr look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line.
    Json,
}

/// A log format that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown log format `{0}`: expected `text` or `json`")]
pub struct UnknownLogFormat(String);

impl FromStr for LogFormat {
    type Err = UnknownLogFormat;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "text" => Ok(Self::Text),
            "json" => Ok(Self::Json),
            other => Err(UnknownLogFormat(other.to_owned())),
        }
    }
}
