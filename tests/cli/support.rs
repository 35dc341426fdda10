//! What every test of this folder asks of the command, whatever it asked the command to do.

use std::collections::BTreeSet;
use std::io::Write as _;

use evalfarm_tests::{Bench, Outcome, tree};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;

/// Exit codes that the help documents, but for the one of an interrupt.
const DOCUMENTED: [i32; 5] = [0, 1, 2, 3, 4];

/// Runs the command and checks what holds for each of its endings: a documented code, no panic, and after an error no
/// data, a line that says `error:`, and nothing left in the folder that was not there before.
#[track_caller]
pub(crate) fn run(bench: &Bench, args: &[&str]) -> Outcome {
    let before = names(bench);
    let outcome = bench.run(args);
    let shown = format!(
        "{args:?} ended with {:?}\n----- stdout\n{}\n----- stderr\n{}",
        outcome.code, outcome.stdout, outcome.stderr
    );
    let code = outcome.code.unwrap_or(-1);
    assert!(DOCUMENTED.contains(&code), "an undocumented end: {shown}");
    for word in ["panicked", "RUST_BACKTRACE", "stack backtrace", "thread '"] {
        assert!(!outcome.stderr.contains(word), "a panic: {shown}");
    }
    if code == 2 || code == 3 {
        assert!(outcome.stdout.is_empty(), "data after an error: {shown}");
        let mut lines = outcome.stderr.lines();
        assert!(
            lines.any(|line| line.starts_with("error: ")),
            "no error: {shown}"
        );
        let after = names(bench);
        let left: Vec<&String> = after.difference(&before).collect();
        assert!(left.is_empty(), "{left:?} left behind: {shown}");
    }
    outcome
}

/// Runs the command on words separated by blanks.
#[track_caller]
pub(crate) fn run_line(bench: &Bench, line: &str) -> Outcome {
    run(bench, &line.split_whitespace().collect::<Vec<_>>())
}

/// Checks the exit code of an outcome and passes the outcome on.
pub(crate) trait Ending {
    /// Checks the exit code, and shows what the command wrote when it is another.
    #[track_caller]
    fn ending(self, code: i32) -> Self;
}

impl Ending for Outcome {
    #[track_caller]
    fn ending(self, code: i32) -> Self {
        self.expect_code(code);
        self
    }
}

/// Runs a command that has to be refused as invalid input, with these pieces of text in its message.
#[track_caller]
pub(crate) fn refused(bench: &Bench, line: &str, pieces: &[&str]) {
    let outcome = run_line(bench, line).ending(2);
    for piece in pieces {
        let text = &outcome.stderr;
        assert!(text.contains(piece), "`{line}`: no {piece:?} in\n{text}");
    }
}

/// Names of everything in the folder of the bench; the cache may fill.
fn names(bench: &Bench) -> BTreeSet<String> {
    let mut names: BTreeSet<String> = tree(bench.path(), &[""]).into_keys().collect();
    names.retain(|name| !name.starts_with("cache/"));
    names
}

/// Returns the bytes as a gzip file.
pub(crate) fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).expect("memory can be written to");
    encoder.finish().expect("memory can be written to")
}

/// Checks a number against the one that its source gives.
#[track_caller]
pub(crate) fn assert_close(what: &str, found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} is not {expected} ± {tolerance}"
    );
}

/// Returns a number of a document.
#[track_caller]
pub(crate) fn number(value: &Value) -> f64 {
    value
        .as_f64()
        .unwrap_or_else(|| panic!("{value} is not a number"))
}

/// Returns the entry of a list of objects whose `key` is `name`.
#[track_caller]
pub(crate) fn entry<'a>(list: &'a Value, key: &str, name: &str) -> &'a Value {
    let entries = list
        .as_array()
        .unwrap_or_else(|| panic!("{list} is not a list"));
    let mut entries = entries.iter();
    entries
        .find(|entry| entry[key] == name)
        .unwrap_or_else(|| panic!("no entry with {key} `{name}` in {list:#}"))
}

/// Returns the codes of the reasons of a verdict.
pub(crate) fn codes(document: &Value) -> Vec<String> {
    let reasons = document["reasons"].as_array().expect("reasons are a list");
    reasons
        .iter()
        .map(|reason| {
            reason["code"]
                .as_str()
                .expect("a code is a text")
                .to_owned()
        })
        .collect()
}
