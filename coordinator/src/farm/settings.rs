//! What a coordinator is told when it starts.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use evalfarm_process::Secret;

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// Something that has no default was not given.
    #[error(
        "no {what}: set `{variable}`, or `{variable}_FILE` to the path of a file that holds it"
    )]
    Missing {
        /// What it is.
        what: &'static str,
        /// Its environment variable.
        variable: &'static str,
    },
    /// The address of the store has a part in which people write credentials. It would be printed and logged.
    #[error(
        "the store's address holds an `@` before its first part: credentials are taken from `AWS_…` and `GOOGLE_…` alone"
    )]
    StoreCredentials,
    /// A secret was given twice.
    #[error("`{variable}` and `{variable}_FILE` are both set: leave one out")]
    Twice {
        /// The environment variable.
        variable: &'static str,
    },
    /// The file of a secret could not be read.
    #[error("failed to read `{path}`, which `{variable}_FILE` names")]
    File {
        /// The environment variable.
        variable: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// Settings of the coordinator. Each flag has an environment variable; secrets have only that, or a file.
#[derive(Debug, Clone, Args)]
pub struct Settings {
    /// URI of the broker, `amqp://user:password@host:port/vhost` [or the path of a file with it in `EVALFARM_BROKER_FILE`]
    #[arg(skip)]
    pub broker: Secret,
    /// URL of Redis; without one counts are kept in memory and workers are not seen
    #[arg(skip)]
    pub redis: Option<Secret>,
    /// Where datasets, jobs and results are: `file:///path`, `s3://bucket/prefix` or `gs://bucket/prefix`
    #[arg(long, env = "EVALFARM_STORE")]
    pub store: String,
    /// File of credentials: a list of `[[credential]]` with `name`, `kind`, `role` and `token_sha256`
    #[arg(long, env = "EVALFARM_CREDENTIALS")]
    pub credentials: PathBuf,
    /// Folder of this coordinator's copies; may be deleted while it does not run
    #[arg(long, env = "EVALFARM_DATA", default_value = "evalfarm-coordinator")]
    pub data: PathBuf,
    /// Largest size of the cached datasets, in megabytes
    #[arg(long, env = "EVALFARM_CACHE_MB", default_value = "20000")]
    pub cache_mb: u64,
    /// Address of the HTTP API; port 0 takes a free one
    #[arg(long, env = "EVALFARM_LISTEN", default_value = "127.0.0.1:8321")]
    pub listen: SocketAddr,
    /// File to which the address is written once requests are answered
    #[arg(long)]
    pub address_file: Option<PathBuf>,
    /// What the names of queues and keys begin with: farms that share a broker differ in it
    #[arg(long, env = "EVALFARM_PREFIX", default_value = "evalfarm")]
    pub prefix: String,
    /// Jobs that run at a time; the others wait in the order in which they came
    #[arg(long, env = "EVALFARM_RUNNING", default_value = "32")]
    pub running: NonZeroUsize,
    /// Tasks that one job has on offer for each slot of the farm
    #[arg(long, env = "EVALFARM_OFFERS_PER_SLOT", default_value = "2")]
    pub offers_per_slot: NonZeroUsize,
    /// Seconds without an answer after which a task is offered again
    #[arg(long, env = "EVALFARM_OVERDUE", default_value = "900")]
    pub overdue: NonZeroU32,
    /// At the end of a step a task that takes this many times the median is offered a second time
    #[arg(long, env = "EVALFARM_STRAGGLER", default_value = "4")]
    pub straggler: NonZeroU32,
    /// Seconds without a heartbeat after which a worker does not count: three of theirs
    #[arg(long, env = "EVALFARM_ALIVE", default_value = "15")]
    pub alive: NonZeroU32,
    /// Seconds without any answer after which a job fails because there are no workers
    #[arg(long, env = "EVALFARM_PATIENCE", default_value = "3600")]
    pub patience: NonZeroU32,
    /// What log lines look like: text or json
    #[arg(long, env = "EVALFARM_LOG_FORMAT", default_value = "text")]
    pub log_format: evalfarm_telemetry::LogFormat,
    /// Which log lines are written, e.g. `info` or `info,evalfarm_coordinator=debug`
    #[arg(long, env = "EVALFARM_LOG", default_value = "info,lapin=warn")]
    pub log: String,
}

impl Settings {
    /// Takes the secrets from the environment, or from the files that it names.
    pub fn with_secrets(mut self) -> Result<Self, SettingsError> {
        self.broker = secret("EVALFARM_BROKER")?.ok_or(SettingsError::Missing {
            what: "broker",
            variable: "EVALFARM_BROKER",
        })?;
        self.redis = secret("EVALFARM_REDIS")?;
        if holds_credentials(&self.store) {
            return Err(SettingsError::StoreCredentials);
        }
        Ok(self)
    }

    /// Returns a number of seconds as a time.
    pub(crate) fn seconds(seconds: NonZeroU32) -> Duration {
        Duration::from_secs(u64::from(seconds.get()))
    }
}

/// Whether an address names a user: `scheme://user:password@host/…`.
fn holds_credentials(address: &str) -> bool {
    let after = address
        .split_once("://")
        .map_or(address, |(_, after)| after);
    let authority = after.split('/').next().unwrap_or_default();
    authority.contains('@')
}

fn secret(variable: &'static str) -> Result<Option<Secret>, SettingsError> {
    let file = format!("{variable}_FILE");
    let found = evalfarm_process::variables(&[variable]);
    match (found.get(variable), found.get(&file)) {
        (Some(_), Some(_)) => Err(SettingsError::Twice { variable }),
        (Some(text), None) => Ok(Some(Secret::new(text.trim()))),
        (None, Some(path)) => {
            let path = Path::new(path);
            let text = fs::read_to_string(path).map_err(|source| SettingsError::File {
                variable,
                path: path.to_owned(),
                source,
            })?;
            Ok(Some(Secret::new(text.trim())))
        }
        (None, None) => Ok(None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_with_credentials_is_told_from_one_without() {
        for address in ["s3://id:key@bucket/p", "gs://token@bucket", "id:key@bucket"] {
            assert!(holds_credentials(address), "{address}");
        }
        for address in [
            "s3://bucket/a@b",
            "file:///home/mia@work/store",
            "gs://bucket",
        ] {
            assert!(!holds_credentials(address), "{address}");
        }
    }
}
