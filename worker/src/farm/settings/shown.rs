//! Settings as a configuration file, for people who want to see what they mean.

use std::fmt;
use std::time::Duration;

use super::Settings;
use crate::farm::Engine;
#[cfg(any(test, feature = "faults"))]
use crate::farm::Fault;

impl fmt::Display for Settings {
    /// Writes TOML, without secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = &self.options;
        writeln!(f, "# broker {}", self.broker)?;
        match &self.redis {
            Some(redis) => writeln!(f, "# redis {redis}")?,
            None => writeln!(f, "# no redis: nothing is counted")?,
        }
        writeln!(f, "# worker {}", options.worker)?;
        writeln!(f, "store = {}", quoted(&self.store))?;
        writeln!(f, "prefix = {}", quoted(&self.prefix))?;
        let cache = self.cache.parent().unwrap_or(&self.cache);
        writeln!(f, "cache = {}", quoted(&cache.display().to_string()))?;
        writeln!(f, "cache_limit = \"{}\"", self.cache_limit)?;
        writeln!(f, "slots = {}", options.slots)?;
        writeln!(f, "deadline = {}", duration(options.deadline))?;
        writeln!(f, "attempts = {}", options.attempts)?;
        writeln!(f, "heartbeat = {}", duration(options.heartbeat))?;
        writeln!(f, "grace = {}", duration(options.grace))?;
        writeln!(f, "open_jobs = {}", options.open_jobs)?;
        writeln!(f, "listen = \"{}\"", self.listen)?;
        if let Some(file) = &self.address_file {
            writeln!(f, "address_file = {}", quoted(&file.display().to_string()))?;
        }
        let format = match self.log_format {
            evalfarm_telemetry::LogFormat::Text => "text",
            evalfarm_telemetry::LogFormat::Json => "json",
        };
        writeln!(f, "log_format = \"{format}\"")?;
        writeln!(f, "log = {}", quoted(&self.log))?;
        for (name, engine) in &options.engines {
            writeln!(f, "\n[engines.{}]", quoted(name.as_str()))?;
            write_engine(f, engine)?;
        }
        Ok(())
    }
}

fn write_engine(f: &mut fmt::Formatter<'_>, engine: &Engine) -> fmt::Result {
    match engine {
        Engine::Noop => writeln!(f, "kind = \"noop\""),
        Engine::Delay(delay) => {
            writeln!(f, "kind = \"delay\"")?;
            writeln!(f, "latency_ms = {}", delay.latency.as_millis())?;
            let Some(budget) = &delay.budget else {
                return Ok(());
            };
            writeln!(f, "concurrent = {}", budget.concurrent)?;
            if let Some(pace) = &budget.pace {
                writeln!(f, "per_second = {:?}", 1.0 / pace.interval.as_secs_f64())?;
                writeln!(f, "burst = {}", pace.burst)?;
            }
            Ok(())
        }
        #[cfg(any(test, feature = "faults"))]
        Engine::Faulty(faulty) => {
            let kind = match faulty.fault {
                Fault::Panic => "panic",
                Fault::Abort => "abort",
            };
            writeln!(f, "kind = \"{kind}\"")?;
            match faulty.query {
                Some(query) => writeln!(f, "query = {query}"),
                None => Ok(()),
            }
        }
    }
}

fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

fn duration(duration: Duration) -> String {
    match (duration.as_secs(), duration.subsec_millis()) {
        (seconds, 0) => format!("\"{seconds}s\""),
        _ => format!("\"{}ms\"", duration.as_millis()),
    }
}
