//! The farm against what it is made of: `just bench`, or `cargo bench -p evalfarm-tests --bench farm --all-features`.
//!
//! Prints `ratio NAME VALUE` lines to standard output, and what they were computed from to standard error. Words on the command
//! line choose ratios: those whose names contain one. Real processes, a real RabbitMQ and a real Redis of its own.

mod embedded;
mod linear;
#[expect(dead_code, reason = "the tests of the farm need more of it")]
#[path = "../../farm/scene.rs"]
mod scene;
mod tasks;

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

/// What a benchmark ends with: nothing is recovered from.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&String> = arguments
        .iter()
        .filter(|argument| !argument.starts_with('-'))
        .collect();
    let wanted = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(*word));
    if wanted(linear::NAME) {
        ratio(linear::NAME, linear::measure()?)?;
    }
    if wanted(tasks::NAME) {
        ratio(tasks::NAME, tasks::measure()?)?;
    }
    if wanted(embedded::NAME) {
        ratio(embedded::NAME, embedded::measure()?)?;
    }
    Ok(())
}

/// Writes a line of data.
fn ratio(name: &str, value: f64) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "ratio {name} {value:.3}")?)
}

/// Writes a line about where data comes from.
fn note(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stderr(), "{line}")?)
}

/// Returns the middle one of an odd number of times.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn seconds(times: &[Duration]) -> String {
    let times = times
        .iter()
        .map(|time| format!("{:.3}", time.as_secs_f64()));
    times.collect::<Vec<_>>().join(" ")
}
