mod following;
mod results;
mod submit;
mod text;

use std::fs;
use std::path::Path;

use clap::Parser as _;

use crate::args::Options;
use crate::failure::Failure;
use crate::farm::tests::fake::Fake;
use crate::output::Printer;

/// Runs a command line against a fake.
fn run(fake: &Fake, line: &[&str]) -> Result<u8, Failure> {
    let folder = tempfile::tempdir().expect("a temporary folder can be made");
    let token = folder.path().join("token");
    fs::write(&token, "s3cret\n").expect("a file can be written");
    let coordinator = format!("--coordinator={}", fake.address);
    let token = option("--token-file", &token);
    let words = ["evalfarm"].into_iter().chain(line.iter().copied()).chain([
        coordinator.as_str(),
        token.as_str(),
        "--format=json",
    ]);
    let options = Options::try_parse_from(words).expect("the command line is valid");
    crate::dispatch(options.command, &Printer::new(options.format))
}

fn option(name: &str, path: &Path) -> String {
    format!("{name}={}", path.display())
}
