//! What tests of several crates share; never linked into a binary that ships.

mod s3;
mod services;
mod wait;

pub use s3::S3Server;

use std::io::Write as _;
use std::path::PathBuf;

pub use services::{PrivateRabbit, PrivateRedis};
pub use wait::{until, wait_until};

/// Returns the folder of a reference data set, or nothing when it is not on this machine.
///
/// Reference data lies outside the project, in `../shared/data` beside the checkout or in the folder that
/// `EVALFARM_REFERENCE_DATA` names. A test that finds none has to run on data that the project generates. Which of the
/// two a test used is written to standard error past the test harness's capture, so that a log shows it.
///
/// # Panics
///
/// When `EVALFARM_REFERENCE_DATA` names a folder that lacks the data set: whoever set it wants it used.
pub fn reference_data(name: &str) -> Option<PathBuf> {
    #[expect(
        clippy::disallowed_methods,
        reason = "tests have no settings layer to read the environment for them"
    )]
    let chosen = std::env::var("EVALFARM_REFERENCE_DATA").ok();
    let root = chosen.as_ref().map_or_else(
        || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let folder = root.join(name);
    let found = folder.is_dir();
    assert!(
        found || chosen.is_none(),
        "EVALFARM_REFERENCE_DATA has no folder `{name}`"
    );
    let line = if found {
        format!("reference data: `{name}` is here and used\n")
    } else {
        format!("reference data: `{name}` is absent, generated data used instead\n")
    };
    std::io::stderr()
        .write_all(line.as_bytes())
        .expect("standard error is open");
    found.then_some(folder)
}
