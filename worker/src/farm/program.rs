//! The binary `evalfarm-worker`.

use std::error::Error;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::{self, Write as _};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{CommandFactory as _, FromArgMatches as _};
use evalfarm_process::ErrorChain;
use evalfarm_telemetry::Telemetry;
use tokio::runtime::{Builder, Runtime};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::{error, info, warn};

use super::connect::{ConnectError, connect};
use super::health::{self, HealthError, Metrics, Readiness};
use super::service::{Order, Service};
use super::settings::{Arguments, Settings, SettingsError};

/// The command line, the environment or the configuration file is not valid.
const INVALID_INPUT: u8 = 2;
/// Something that a worker needs does not work.
const INFRASTRUCTURE: u8 = 3;

/// Threads that wait for broker, store and probes; computation has others.
const RUNTIME_THREADS: usize = 2;

/// How long what blocks a thread may hold up the end of the process.
const ENDING: Duration = Duration::from_secs(2);

#[derive(Debug, thiserror::Error)]
enum ProgramError {
    #[error("the settings cannot be used")]
    Settings(#[from] SettingsError),
    #[error("the worker cannot start")]
    Connect(#[from] ConnectError),
    #[error("health cannot be served")]
    Health(#[from] HealthError),
    #[error("the runtime cannot be started")]
    Runtime(#[source] io::Error),
    #[error("telemetry cannot be started")]
    Telemetry(#[from] evalfarm_telemetry::TelemetryError),
}

impl ProgramError {
    fn exit_code(&self) -> u8 {
        match self {
            Self::Settings(_) | Self::Telemetry(_) => INVALID_INPUT,
            Self::Connect(error) if error.is_input() => INVALID_INPUT,
            Self::Connect(_) | Self::Health(_) | Self::Runtime(_) => INFRASTRUCTURE,
        }
    }
}

/// Runs the worker as `arguments` say, of which the first is the program's name, until a signal ends it.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    let parsed = Arguments::command()
        .try_get_matches_from(arguments)
        .and_then(|matches| Ok((Arguments::from_arg_matches(&matches)?, matches)));
    let (arguments, matches) = match parsed {
        Ok(parsed) => parsed,
        Err(error) => {
            // Nothing can be said where nothing can be written.
            drop(error.print());
            let code = u8::try_from(error.exit_code()).unwrap_or(INVALID_INPUT);
            return ExitCode::from(code);
        }
    };
    let typed = |name: &str| matches.value_source(name) == Some(ValueSource::CommandLine);
    match work(&arguments, typed) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&error);
            ExitCode::from(error.exit_code())
        }
    }
}

fn say(error: &(dyn Error + 'static)) {
    drop(writeln!(io::stderr(), "error: {}", ErrorChain(error)));
}

fn work(arguments: &Arguments, typed: impl Fn(&str) -> bool) -> Result<(), ProgramError> {
    let check = arguments.check;
    let settings = Settings::resolve(arguments, typed)?;
    if check {
        show(&settings);
        return Ok(());
    }
    let telemetry = evalfarm_telemetry::start(evalfarm_telemetry::Settings {
        service: "evalfarm-worker",
        instance: settings.options.worker.as_str().to_owned(),
        log: settings.log_format,
        filter: settings.log.clone(),
    })?;
    log_panics();
    let telemetry = Arc::new(telemetry);
    let runtime = Builder::new_multi_thread()
        .worker_threads(RUNTIME_THREADS)
        .enable_all()
        .build()
        .map_err(ProgramError::Runtime)?;
    let worked = runtime.block_on(serve(&settings, &telemetry));
    end(runtime, telemetry);
    worked
}

fn show(settings: &impl Display) {
    // Nothing can be said where nothing can be written.
    drop(write!(io::stdout(), "{settings}"));
}

/// Lets go of whatever still blocks, sends what telemetry has left.
fn end(runtime: Runtime, telemetry: Arc<Telemetry>) {
    runtime.shutdown_timeout(ENDING);
    if let Some(telemetry) = Arc::into_inner(telemetry) {
        telemetry.shutdown();
    }
}

/// Panics belong into the log, where they have a time and keep to its format.
fn log_panics() {
    std::panic::set_hook(Box::new(|panic| {
        let place = panic.location().map(ToString::to_string);
        let text = panic.payload_as_str().unwrap_or("a panic without a text");
        error!(place, text, "panicked");
    }));
}

async fn serve(settings: &Settings, telemetry: &Arc<Telemetry>) -> Result<(), ProgramError> {
    let orders = signals().map_err(ProgramError::Runtime)?;
    let (listener, address) =
        health::listen(settings.listen, settings.address_file.as_deref()).await?;
    info!(%address, "serving /livez, /readyz and /metrics");
    let readiness = Readiness::default();
    let source = Arc::clone(telemetry);
    let metrics = Metrics(Arc::new(move || source.prometheus()));
    let served = tokio::spawn(health::serve(listener, readiness.clone(), metrics));
    let worked = take_part(settings, telemetry, &readiness, orders).await;
    served.abort();
    // It holds telemetry, which is to be shut down.
    drop(served.await);
    worked
}

async fn take_part(
    settings: &Settings,
    telemetry: &Telemetry,
    readiness: &Readiness,
    orders: watch::Receiver<Order>,
) -> Result<(), ProgramError> {
    if settings.redis.is_none() {
        warn!("no Redis is set: progress, budgets and heartbeats are not shared");
    }
    let mut told = orders.clone();
    let parts = tokio::select! {
        parts = Box::pin(connect(settings)) => parts?,
        _ = told.wait_for(|&order| order != Order::Run) => return Ok(()),
    };
    let broker = Arc::clone(&parts.broker);
    let service = Service::new(settings.options.clone(), parts, &telemetry.meter());
    readiness.follow(service.subscribed());
    let summary = Box::pin(service.run(orders)).await;
    broker.close().await;
    info!(abandoned = summary.abandoned, "ended");
    Ok(())
}

/// Turns signals into orders: the first drains, the second abandons.
fn signals() -> io::Result<watch::Receiver<Order>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let (orders, received) = watch::channel(Order::Run);
    tokio::spawn(async move {
        for order in [Order::Drain, Order::Abandon] {
            tokio::select! {
                _ = terminate.recv() => {}
                _ = interrupt.recv() => {}
            }
            info!(?order, "signal received");
            orders.send_replace(order);
        }
        // The receivers take a closed channel for an order.
        std::future::pending::<()>().await;
    });
    Ok(received)
}
