//! The configuration file, as it is written.

use std::collections::BTreeMap;
use std::fs;
use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use evalfarm_domain::EngineName;
use evalfarm_state::{Budget, Pace};
use serde::Deserialize;

use super::resolve::SettingsError;
use crate::farm::{Delay, Engine};
#[cfg(any(test, feature = "faults"))]
use crate::farm::{Fault, Faulty};

/// Every key may be absent; none may be unknown. Addresses with passwords have files of their own.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ConfigFile {
    pub(super) broker_file: Option<PathBuf>,
    pub(super) redis_file: Option<PathBuf>,
    pub(super) store: Option<String>,
    pub(super) prefix: Option<String>,
    pub(super) cache: Option<PathBuf>,
    pub(super) cache_limit: Option<String>,
    pub(super) slots: Option<NonZeroU16>,
    pub(super) deadline: Option<String>,
    pub(super) attempts: Option<NonZeroU32>,
    pub(super) heartbeat: Option<String>,
    pub(super) grace: Option<String>,
    pub(super) open_jobs: Option<NonZeroUsize>,
    pub(super) listen: Option<SocketAddr>,
    pub(super) address_file: Option<PathBuf>,
    pub(super) name: Option<String>,
    pub(super) log_format: Option<String>,
    pub(super) log: Option<String>,
    #[serde(default)]
    pub(super) engines: BTreeMap<String, EngineEntry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EngineEntry {
    kind: Kind,
    latency_ms: Option<u64>,
    concurrent: Option<NonZeroU32>,
    per_second: Option<f64>,
    burst: Option<NonZeroU32>,
    /// Of a faulty engine.
    #[cfg(any(test, feature = "faults"))]
    query: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Delay,
    Noop,
    #[cfg(any(test, feature = "faults"))]
    Panic,
    #[cfg(any(test, feature = "faults"))]
    Abort,
}

/// Longest latency of a delay engine.
const MAX_LATENCY_MS: u64 = 3_600_000;

impl ConfigFile {
    pub(super) fn read(path: &Path) -> Result<Self, SettingsError> {
        let text = fs::read_to_string(path).map_err(|source| SettingsError::Read {
            path: path.to_owned(),
            source,
        })?;
        toml::from_str(&text).map_err(|source| SettingsError::Parse {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }

    /// Returns the engines by name.
    pub(super) fn engines(&self) -> Result<BTreeMap<EngineName, Engine>, SettingsError> {
        let mut engines = BTreeMap::new();
        for (name, entry) in &self.engines {
            let wrong = |reason: String| SettingsError::Engine {
                name: name.clone(),
                reason,
            };
            let id =
                EngineName::try_from(name.as_str()).map_err(|error| wrong(error.to_string()))?;
            engines.insert(id, entry.engine().map_err(wrong)?);
        }
        Ok(engines)
    }
}

impl EngineEntry {
    fn engine(&self) -> Result<Engine, String> {
        match self.kind {
            #[cfg(any(test, feature = "faults"))]
            Kind::Panic => Ok(self.faulty(Fault::Panic)),
            #[cfg(any(test, feature = "faults"))]
            Kind::Abort => Ok(self.faulty(Fault::Abort)),
            Kind::Noop => {
                let given = self.latency_ms.is_some() || self.budget()?.is_some();
                if given {
                    return Err("kind `noop` has no other settings".to_owned());
                }
                Ok(Engine::Noop)
            }
            Kind::Delay => {
                let latency = self.latency_ms.ok_or("kind `delay` needs `latency_ms`")?;
                if latency > MAX_LATENCY_MS {
                    return Err(format!(
                        "`latency_ms` is {latency}, at most {MAX_LATENCY_MS} are allowed"
                    ));
                }
                Ok(Engine::Delay(Delay {
                    latency: Duration::from_millis(latency),
                    budget: self.budget()?,
                }))
            }
        }
    }

    #[cfg(any(test, feature = "faults"))]
    fn faulty(&self, fault: Fault) -> Engine {
        let query = self.query;
        Engine::Faulty(Faulty { fault, query })
    }

    fn budget(&self) -> Result<Option<Budget>, String> {
        let pace = match (self.per_second, self.burst) {
            (None, None) => None,
            (None, Some(_)) => return Err("`burst` needs `per_second`".to_owned()),
            (Some(rate), burst) => {
                if !(0.001..=1e6).contains(&rate) {
                    return Err(format!(
                        "`per_second` is {rate}, it must lie between 0.001 and 1000000"
                    ));
                }
                Some(Pace {
                    interval: Duration::from_secs_f64(1.0 / rate),
                    burst: burst.unwrap_or(NonZeroU32::MIN),
                })
            }
        };
        if pace.is_none() && self.concurrent.is_none() {
            return Ok(None);
        }
        Ok(Some(Budget {
            concurrent: self.concurrent.unwrap_or(NonZeroU32::MAX),
            pace,
        }))
    }
}
