//! The sweep against its peers: `just bench`, or `cargo bench -p evalfarm-worker --bench sweep`.
//!
//! Prints `ratio NAME VALUE` lines to standard output, what they were computed from to standard error, and with `--growth` the
//! table of docs/performance.md instead, `--small` up to 200,000 products. `--real` leaves the generated catalogue out, and
//! `--profile` repeats our own sweeps and nothing else, with `218`, `tie` or `10000` those alone. Times are the least of several repetitions, each on one thread.

mod clock;
mod collection;
mod growth;
mod lucene;
mod ours;
mod peer;
mod ratios;

use std::error::Error;
use std::io::Write as _;

/// What a benchmark ends with: nothing is recovered from.
type Outcome<T> = Result<T, Box<dyn Error>>;

fn main() -> Outcome<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let named = |name: &str| arguments.iter().any(|argument| argument == name);
    if named("--growth") {
        let most = if named("--small") { 200_000 } else { 1_000_000 };
        return growth::print(most);
    }
    for collection in collection::all(!named("--real"))? {
        if named("--profile") {
            let kinds = arguments.iter().map(String::as_str);
            let kinds: Vec<&str> = kinds.filter(|kind| !kind.starts_with("--")).collect();
            ratios::repeat(&collection, &kinds)?;
        } else {
            ratios::print(&collection)?;
        }
    }
    Ok(())
}

/// Writes a line of data.
fn data(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stdout(), "{line}")?)
}

/// Writes a line about where data comes from.
fn note(line: &str) -> Outcome<()> {
    Ok(writeln!(std::io::stderr(), "{line}")?)
}
