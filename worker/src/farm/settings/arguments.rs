//! The command line and the environment. Doc comments here are the help texts.

use std::net::SocketAddr;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::Parser;
use evalfarm_telemetry::LogFormat;

const EXAMPLES: &str = "\
Examples:
  EVALFARM_BROKER=amqp://farm:secret@broker:5672/%2f evalfarm-worker --store s3://farm --redis redis://counts:6379
  evalfarm-worker --broker amqp://localhost --store file:///srv/farm --slots 2
  evalfarm-worker --config worker.toml --broker-file /run/secrets/broker
  evalfarm-worker --config worker.toml --check

The file that --config names has the same settings, with underscores, and engines:
  store = \"s3://farm\"
  slots = 8
  deadline = \"10m\"
  [engines.slow]
  kind = \"delay\"
  latency_ms = 15
  concurrent = 64
  per_second = 2000
  burst = 10

Collectors of traces and metrics are named by OTEL_EXPORTER_OTLP_ENDPOINT, credentials of stores by AWS_… and GOOGLE_….

Exit codes:
  0  drained after SIGTERM or SIGINT; a second signal abandons what is at hand
  2  the command line, the environment or the configuration file is not valid
  3  broker or store cannot be used";

/// Takes tasks of a farm from its broker, evaluates them, and commits the results to its store.
#[derive(Debug, Clone, Default, Parser)]
#[command(name = "evalfarm-worker", version, after_help = EXAMPLES)]
pub struct Arguments {
    /// Configuration file
    #[arg(long, env = "EVALFARM_CONFIG")]
    pub config: Option<PathBuf>,
    /// Address of the broker, amqp://user:password@host:port/vhost; with a password only from the environment
    #[arg(long, env = "EVALFARM_BROKER", hide_env_values = true)]
    pub broker: Option<String>,
    /// File that holds the address of the broker
    #[arg(long, env = "EVALFARM_BROKER_FILE")]
    pub broker_file: Option<PathBuf>,
    /// Address of the Redis that counts progress; without one nothing is counted and everything else works
    #[arg(long, env = "EVALFARM_REDIS", hide_env_values = true)]
    pub redis: Option<String>,
    /// File that holds the address of the Redis
    #[arg(long, env = "EVALFARM_REDIS_FILE")]
    pub redis_file: Option<PathBuf>,
    /// Store of datasets and results: `file:///path`, `s3://bucket/prefix` or `gs://bucket/prefix`
    #[arg(long, env = "EVALFARM_STORE")]
    pub store: Option<String>,
    /// What the names of the farm's queues and keys begin with (default: evalfarm)
    #[arg(long, env = "EVALFARM_PREFIX")]
    pub prefix: Option<String>,
    /// Folder of datasets and indexes; may be deleted at any time (default: the user's cache folder)
    #[arg(long, env = "EVALFARM_CACHE")]
    pub cache: Option<PathBuf>,
    /// Most that the cache holds, e.g. 20GiB (default: 20GiB)
    #[arg(long, env = "EVALFARM_CACHE_LIMIT", value_parser = parse_size)]
    pub cache_limit: Option<u64>,
    /// Tasks worked on at a time (default: all cores)
    #[arg(long, env = "EVALFARM_SLOTS")]
    pub slots: Option<NonZeroU16>,
    /// Longest that a task may take, e.g. 90s or 10m (default: 10m)
    #[arg(long, env = "EVALFARM_DEADLINE", value_parser = parse_duration)]
    pub deadline: Option<Duration>,
    /// Attempts at a task before it is given up (default: 4)
    #[arg(long, env = "EVALFARM_ATTEMPTS")]
    pub attempts: Option<NonZeroU32>,
    /// Pause between two heartbeats (default: 5s)
    #[arg(long, env = "EVALFARM_HEARTBEAT", value_parser = parse_duration)]
    pub heartbeat: Option<Duration>,
    /// Longest that a drain waits for the tasks at hand (default: the deadline and 30s)
    #[arg(long, env = "EVALFARM_GRACE", value_parser = parse_duration)]
    pub grace: Option<Duration>,
    /// Jobs whose datasets and scores stay in memory (default: 4)
    #[arg(long, env = "EVALFARM_OPEN_JOBS")]
    pub open_jobs: Option<NonZeroUsize>,
    /// Where /livez, /readyz and /metrics are served; port 0 takes a free one (default: 127.0.0.1:9464)
    #[arg(long, env = "EVALFARM_LISTEN")]
    pub listen: Option<SocketAddr>,
    /// File into which the address is written that is served at
    #[arg(long, env = "EVALFARM_ADDRESS_FILE")]
    pub address_file: Option<PathBuf>,
    /// What this worker's id begins with (default: the host's name)
    #[arg(long, env = "EVALFARM_NAME")]
    pub name: Option<String>,
    /// Look of log lines: text or json (default: text)
    #[arg(long, env = "EVALFARM_LOG_FORMAT")]
    pub log_format: Option<LogFormat>,
    /// Which log lines are written, e.g. info,lapin=warn (default: info)
    #[arg(long, env = "EVALFARM_LOG")]
    pub log: Option<String>,
    /// Print the resolved settings without secrets, and end
    #[arg(long)]
    pub check: bool,
}

/// Reads a duration: a whole number and `ms`, `s`, `m` or `h`.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let wrong = || format!("`{text}` is not a duration such as `500ms`, `90s`, `10m` or `1h`");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    let millis = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        _ => return Err(wrong()),
    };
    let millis = number.checked_mul(millis).ok_or_else(wrong)?;
    // Longer than a day is a slip, and far below what timers hold.
    if millis == 0 || millis > 86_400_000 {
        return Err(format!("`{text}` does not lie between 1ms and 24h"));
    }
    Ok(Duration::from_millis(millis))
}

/// Reads a size: a whole number and `KiB`, `MiB`, `GiB` or `TiB`, or bytes without a unit.
pub(super) fn parse_size(text: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a size such as `500MiB` or `20GiB`");
    let (number, unit) = number_and_unit(text).ok_or_else(wrong)?;
    let shift = match unit {
        "" => 0,
        "KiB" => 10,
        "MiB" => 20,
        "GiB" => 30,
        "TiB" => 40,
        _ => return Err(wrong()),
    };
    number.checked_mul(1 << shift).ok_or_else(wrong)
}

fn number_and_unit(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit());
    let (number, unit) = text.split_at(end.unwrap_or(text.len()));
    Some((number.parse().ok()?, unit.trim_start()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_and_sizes_have_units() {
        assert_eq!(parse_duration("500ms"), Ok(Duration::from_millis(500)));
        assert_eq!(parse_duration("10m"), Ok(Duration::from_mins(10)));
        assert_eq!(parse_size("20GiB"), Ok(20 << 30));
        assert_eq!(parse_size("7"), Ok(7));
        for wrong in ["", "5", "0s", "-1s", "1.5s", "25h", "99999999999999999999s"] {
            assert!(parse_duration(wrong).is_err(), "{wrong}");
        }
        for wrong in ["", "GiB", "5GB", "99999999999TiB"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }
}
