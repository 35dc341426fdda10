//! `evalfarm-coordinator`: takes sweeps over HTTP, hands their tasks to workers, and judges what comes back.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Parser;
use evalfarm_coordinator::farm::{Settings, serve};
use evalfarm_process::ErrorChain;

/// A setting is not valid.
const INVALID_INPUT: u8 = 2;
/// Something that the coordinator needs does not work.
const INFRASTRUCTURE: u8 = 3;

/// Tasks of the runtime that are left get this long to end.
const LAST_TASKS: Duration = Duration::from_secs(1);

const EXAMPLES: &str = "\
Examples:
  EVALFARM_BROKER=amqp://farm:…@rabbit:5672/%2f EVALFARM_REDIS=redis://redis:6379 \\
    evalfarm-coordinator --store s3://bucket/evalfarm --credentials /etc/evalfarm/credentials.toml

Secrets come from the environment alone: EVALFARM_BROKER and EVALFARM_REDIS, or the paths of files that hold them in
EVALFARM_BROKER_FILE and EVALFARM_REDIS_FILE. docs/farm.md describes every setting.";

/// Takes sweeps over HTTP, hands their tasks to workers, and judges what comes back.
#[derive(Debug, Parser)]
#[command(name = "evalfarm-coordinator", version, after_help = EXAMPLES)]
struct Options {
    #[command(flatten)]
    settings: Settings,
    /// Print the settings as they would be used, without secrets, and end
    #[arg(long)]
    check: bool,
}

fn main() -> ExitCode {
    let options = Options::parse();
    let settings = match options.settings.with_secrets() {
        Ok(settings) => settings,
        Err(error) => return failed(&error, INVALID_INPUT),
    };
    if options.check {
        return say(&format!("{settings:#?}"));
    }
    let telemetry = evalfarm_telemetry::start(evalfarm_telemetry::Settings {
        service: "evalfarm-coordinator",
        instance: format!("coordinator-{}", std::process::id()),
        log: settings.log_format,
        filter: settings.log.clone(),
    });
    let telemetry = match telemetry {
        Ok(telemetry) => Arc::new(telemetry),
        Err(error) => return failed(&error, INVALID_INPUT),
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return failed(&error, INFRASTRUCTURE),
    };
    let served = runtime.block_on(serve(settings, Arc::clone(&telemetry), asked_to_stop()));
    // Watchers' requests end with the runtime's tasks and let go of the telemetry; threads of jobs that were cut off do not.
    runtime.shutdown_timeout(LAST_TASKS);
    if let Some(telemetry) = Arc::into_inner(telemetry) {
        telemetry.shutdown();
    }
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is_input() => failed(&error, INVALID_INPUT),
        Err(error) => failed(&error, INFRASTRUCTURE),
    }
}

/// Resolves when the process is asked to end.
async fn asked_to_stop() {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut terminate), Ok(mut interrupt)) = (
        signal(SignalKind::terminate()),
        signal(SignalKind::interrupt()),
    ) else {
        // Without handlers the signals end the process, and the next one takes its jobs up.
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

#[expect(
    clippy::print_stdout,
    reason = "the one place of this binary that prints"
)]
fn say(text: &str) -> ExitCode {
    println!("{text}");
    ExitCode::SUCCESS
}

#[expect(
    clippy::print_stderr,
    reason = "the one place of this binary that prints"
)]
fn failed(error: &(dyn std::error::Error + 'static), code: u8) -> ExitCode {
    eprintln!("error: {}", ErrorChain(error));
    ExitCode::from(code)
}
