//! From what was written to what it means.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use evalfarm_domain::{Digest, EngineName, WorkerId};
use evalfarm_process::{Secret, cache_folder, variables};
use evalfarm_proto::{Topology, TopologyError};
use evalfarm_telemetry::LogFormat;

use super::arguments::{Arguments, parse_duration, parse_size};
use super::config_file::ConfigFile;
use crate::farm::{Engine, clock};

/// What the service needs to know.
#[derive(Debug, Clone)]
pub struct Options {
    /// This process.
    pub worker: WorkerId,
    /// Tasks worked on at a time.
    pub slots: NonZeroU16,
    /// Longest that the computation of a task may take.
    pub deadline: Duration,
    /// Attempts at a task before it is given up.
    pub attempts: NonZeroU32,
    /// Pause between two heartbeats.
    pub heartbeat: Duration,
    /// Longest that a drain waits for the tasks at hand.
    pub grace: Duration,
    /// Jobs that stay open when no task of theirs is at hand.
    pub open_jobs: NonZeroUsize,
    /// Engines that jobs may name.
    pub engines: BTreeMap<EngineName, Engine>,
}

/// Everything that the binary needs to know.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Address of the broker.
    pub broker: Secret,
    /// Address of the Redis that counts.
    pub redis: Option<Secret>,
    /// Address of the store.
    pub store: String,
    /// The farm's queues.
    pub topology: Topology,
    /// What the names of its queues and keys begin with.
    pub prefix: String,
    /// Folder of datasets and indexes.
    pub cache: PathBuf,
    /// Most that it holds, in bytes.
    pub cache_limit: u64,
    /// Where health and metrics are served.
    pub listen: SocketAddr,
    /// File into which that address is written.
    pub address_file: Option<PathBuf>,
    /// Look of log lines.
    pub log_format: LogFormat,
    /// Which log lines are written.
    pub log: String,
    /// What the service needs to know.
    pub options: Options,
}

/// Settings that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    /// A setting without a default is not given.
    #[error("{what} is not given: {how}")]
    Missing {
        /// Which setting.
        what: &'static str,
        /// How to give it.
        how: &'static str,
    },
    /// A setting is given twice.
    #[error("{what} is given both directly and in a file of its own")]
    Twice {
        /// Which setting.
        what: &'static str,
    },
    /// A password is on the command line, where every user of the machine can read it.
    #[error("{what} has a password on the command line: use {variable} or {variable}_FILE")]
    Password {
        /// Which setting.
        what: &'static str,
        /// The environment variable to use.
        variable: &'static str,
    },
    /// A file cannot be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's reason.
        #[source]
        source: io::Error,
    },
    /// The configuration file is not one.
    #[error("`{path}` is not a configuration of a worker")]
    Parse {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        #[source]
        source: Box<toml::de::Error>,
    },
    /// A value of the configuration file cannot be used.
    #[error("setting `{name}`: {reason}")]
    Value {
        /// Its key.
        name: &'static str,
        /// What is wrong with its value.
        reason: String,
    },
    /// An engine of the configuration file cannot be used.
    #[error("engine `{name}`: {reason}")]
    Engine {
        /// Its name.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The prefix cannot be part of a queue's name.
    #[error("the farm's queues cannot be named")]
    Prefix(#[from] TopologyError),
}

const DEFAULT_CACHE_LIMIT: u64 = 20 << 30;
const DEFAULT_DEADLINE: Duration = Duration::from_mins(10);
const DEFAULT_ATTEMPTS: u32 = 4;
const DEFAULT_HEARTBEAT: Duration = Duration::from_secs(5);
const DEFAULT_OPEN_JOBS: usize = 4;
const DEFAULT_PORT: u16 = 9464;

/// What a drain allows beyond the deadline, for commits and acknowledgements.
const COMMITTING: Duration = Duration::from_secs(30);

impl Settings {
    /// Completes what was written. `typed` says whether a setting stood on the command line.
    pub fn resolve(
        arguments: &Arguments,
        typed: impl Fn(&str) -> bool,
    ) -> Result<Self, SettingsError> {
        let file = match &arguments.config {
            Some(path) => ConfigFile::read(path)?,
            None => ConfigFile::default(),
        };
        let broker = Address {
            what: "the broker's address",
            variable: "EVALFARM_BROKER",
            typed: typed("broker"),
            direct: arguments.broker.clone(),
            file: arguments.broker_file.clone(),
            configured: file.broker_file.clone(),
        };
        let redis = Address {
            what: "the address of Redis",
            variable: "EVALFARM_REDIS",
            typed: typed("redis"),
            direct: arguments.redis.clone(),
            file: arguments.redis_file.clone(),
            configured: file.redis_file.clone(),
        };
        let prefix = arguments.prefix.clone().or_else(|| file.prefix.clone());
        let prefix = prefix.unwrap_or_else(|| "evalfarm".to_owned());
        let log_format = file.log_format.as_deref().map(str::parse);
        let log_format = log_format
            .transpose()
            .map_err(value::<evalfarm_telemetry::UnknownLogFormat>("log_format"))?;
        let listen = arguments.listen.or(file.listen);
        Ok(Self {
            broker: broker.secret()?.ok_or(SettingsError::Missing {
                what: "the broker's address",
                how: "set EVALFARM_BROKER, EVALFARM_BROKER_FILE or `broker_file`",
            })?,
            redis: redis.secret()?,
            store: arguments
                .store
                .clone()
                .or_else(|| file.store.clone())
                .ok_or(SettingsError::Missing {
                    what: "the store's address",
                    how: "use --store, EVALFARM_STORE or `store`",
                })?,
            topology: topology(&prefix)?,
            prefix,
            cache: cache(arguments, &file)?,
            cache_limit: arguments
                .cache_limit
                .or(parsed(
                    "cache_limit",
                    file.cache_limit.as_deref(),
                    parse_size,
                )?)
                .unwrap_or(DEFAULT_CACHE_LIMIT),
            listen: listen.unwrap_or_else(|| (Ipv4Addr::LOCALHOST, DEFAULT_PORT).into()),
            address_file: arguments.address_file.clone().or(file.address_file.clone()),
            log_format: arguments.log_format.or(log_format).unwrap_or_default(),
            log: arguments
                .log
                .clone()
                .or_else(|| file.log.clone())
                .unwrap_or_else(|| "info".to_owned()),
            options: options(arguments, &file)?,
        })
    }
}

/// An address that may come from several places.
struct Address {
    what: &'static str,
    variable: &'static str,
    typed: bool,
    direct: Option<String>,
    file: Option<PathBuf>,
    /// The file that the configuration names, when nothing else is given.
    configured: Option<PathBuf>,
}

impl Address {
    fn secret(self) -> Result<Option<Secret>, SettingsError> {
        let what = self.what;
        match (self.direct, self.file) {
            (Some(_), Some(_)) => Err(SettingsError::Twice { what }),
            (Some(text), None) => {
                let secret = Secret::new(text);
                if self.typed && secret.has_password() {
                    let variable = self.variable;
                    return Err(SettingsError::Password { what, variable });
                }
                Ok(Some(secret))
            }
            (None, file) => file.or(self.configured).map(secret_in).transpose(),
        }
    }
}

fn secret_in(path: PathBuf) -> Result<Secret, SettingsError> {
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Secret::new(text.trim())),
        Err(source) => Err(SettingsError::Read { path, source }),
    }
}

fn options(arguments: &Arguments, file: &ConfigFile) -> Result<Options, SettingsError> {
    let duration = |name, given: Option<Duration>, text: &Option<String>| {
        Ok::<_, SettingsError>(given.or(parsed(name, text.as_deref(), parse_duration)?))
    };
    let deadline = duration("deadline", arguments.deadline, &file.deadline)?;
    let deadline = deadline.unwrap_or(DEFAULT_DEADLINE);
    let heartbeat = duration("heartbeat", arguments.heartbeat, &file.heartbeat)?;
    let grace = duration("grace", arguments.grace, &file.grace)?;
    let cores = || {
        let cores = thread::available_parallelism().ok()?;
        NonZeroU16::new(u16::try_from(cores.get()).ok()?)
    };
    let attempts = arguments.attempts.or(file.attempts);
    let open_jobs = arguments.open_jobs.or(file.open_jobs);
    Ok(Options {
        worker: worker(arguments.name.as_deref().or(file.name.as_deref()))?,
        slots: arguments
            .slots
            .or(file.slots)
            .or_else(cores)
            .unwrap_or(NonZeroU16::MIN),
        deadline,
        attempts: attempts.unwrap_or(NonZeroU32::MIN.saturating_add(DEFAULT_ATTEMPTS - 1)),
        heartbeat: heartbeat.unwrap_or(DEFAULT_HEARTBEAT),
        grace: grace.unwrap_or(deadline + COMMITTING),
        open_jobs: open_jobs.unwrap_or(NonZeroUsize::MIN.saturating_add(DEFAULT_OPEN_JOBS - 1)),
        engines: file.engines()?,
    })
}

fn parsed<T>(
    name: &'static str,
    text: Option<&str>,
    parse: impl Fn(&str) -> Result<T, String>,
) -> Result<Option<T>, SettingsError> {
    text.map(parse).transpose().map_err(value(name))
}

fn value<E: ToString>(name: &'static str) -> impl Fn(E) -> SettingsError {
    move |reason| SettingsError::Value {
        name,
        reason: reason.to_string(),
    }
}

/// Returns the farm of a prefix with everybody's delays.
fn topology(prefix: &str) -> Result<Topology, TopologyError> {
    let usual = Topology::default();
    let delays: Vec<Duration> = usual.tiers().iter().map(|tier| tier.delay).collect();
    Topology::new(prefix, &delays)
}

fn cache(arguments: &Arguments, file: &ConfigFile) -> Result<PathBuf, SettingsError> {
    let given = arguments.cache.clone().or_else(|| file.cache.clone());
    let folder = given.or_else(cache_folder).ok_or(SettingsError::Missing {
        what: "the cache folder",
        how: "use --cache, EVALFARM_CACHE or `cache`; there is no home folder to put it in",
    })?;
    Ok(folder.join("farm"))
}

/// Returns the id of this process: its name, its number, and what tells it from an earlier process of that number.
fn worker(name: Option<&str>) -> Result<WorkerId, SettingsError> {
    let host = || {
        let host = variables(&["HOSTNAME"]).remove("HOSTNAME");
        host.or_else(|| fs::read_to_string(Path::new("/proc/sys/kernel/hostname")).ok())
            .map(|host| host.trim().to_owned())
            .filter(|host| !host.is_empty())
            .unwrap_or_else(|| "worker".to_owned())
    };
    let name = name.map_or_else(host, str::to_owned);
    let process = std::process::id();
    let moment = Digest::of(format!("{name}/{process}/{}", clock::now().0).as_bytes());
    let id = format!("{name}-{process}-{}", moment.short(4));
    // The broker carries ids of up to 255 bytes.
    if name.is_empty() || name.len() > 200 {
        let reason = "it must have 1 to 200 bytes".to_owned();
        return Err(SettingsError::Value {
            name: "name",
            reason,
        });
    }
    WorkerId::try_from(id).map_err(value("name"))
}
