//! Files that were damaged after they were written.

use std::fs;
use std::path::{Path, PathBuf};

use evalfarm_tests::Bench;

use crate::scene::{differences, marks, results, staged};

/// Runs a job twice, so that one can be damaged and compared with the other.
fn two_jobs() -> Bench {
    let bench = staged(60, 40);
    for out in ["whole", "job"] {
        let outcome = bench.run(["run", "sweep.toml", "--out", out]);
        outcome.expect_verdict();
    }
    bench
}

/// Returns the file at a position in the order of names.
fn file(folder: &Path, position: usize) -> PathBuf {
    let names = marks(folder);
    let name = names.keys().nth(position).expect("there are so many files");
    folder.join(name)
}

fn truncate(path: &Path) {
    let bytes = fs::read(path).expect("the file is there");
    fs::write(path, &bytes[..bytes.len() / 2]).expect("it can be written");
}

fn flip_a_bit(path: &Path) {
    let mut bytes = fs::read(path).expect("the file is there");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0b0001_0000;
    fs::write(path, bytes).expect("it can be written");
}

/// Resumes the job and checks that each damaged file was named, kept and made again.
fn check_repaired(bench: &Bench, damaged: &[PathBuf]) {
    let outcome = bench.run(["run", "sweep.toml", "--out", "job", "--resume"]);
    outcome.expect_verdict();
    for path in damaged {
        let name = path.file_name().expect("it is a file").to_string_lossy();
        let told = outcome.stderr.lines().find(|line| line.contains(&*name));
        let told = told.unwrap_or_else(|| panic!("`{name}` is not named:\n{}", outcome.stderr));
        assert!(told.contains("set aside"), "{told}");
    }
    assert_eq!(marks(&bench.at("job/set-aside")).len(), damaged.len());
    assert_eq!(
        differences(&results(bench, "whole"), &results(bench, "job")),
        [""; 0]
    );
}

#[test]
fn truncated_and_flipped_rows_are_set_aside_and_computed_again() {
    let bench = two_jobs();
    let rows = bench.at("job/rows");
    let damaged = [0, 1, 2].map(|position| file(&rows, position));
    truncate(&damaged[0]);
    flip_a_bit(&damaged[1]);
    fs::write(&damaged[2], "").expect("it can be written");
    let sound = marks(&rows);
    check_repaired(&bench, &damaged);
    let after = marks(&rows);
    let changed = sound
        .iter()
        .filter(|(name, mark)| after.get(*name) != Some(mark));
    assert_eq!(
        changed.count(),
        3,
        "only the damaged files are written again"
    );
}

#[test]
fn damaged_hits_are_set_aside_and_made_again() {
    let bench = two_jobs();
    let damaged = [
        file(&bench.at("job/hits"), 0),
        file(&bench.at("job/relevant"), 1),
    ];
    flip_a_bit(&damaged[0]);
    truncate(&damaged[1]);
    check_repaired(&bench, &damaged);
}

#[test]
fn stray_files_in_rows_are_set_aside() {
    let bench = two_jobs();
    let strays = ["notes.txt", "_c.parquet", "b.parquet.tmp"];
    let strays = strays.map(|name| bench.write(&format!("job/rows/{name}"), "stray"));
    check_repaired(&bench, &strays);
}
