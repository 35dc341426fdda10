//! What the tests of this folder have in common.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use evalfarm_tests::{Bench, Data, Sweep, Tree, tree};

/// What has to be the same however a job was run. Timings are not in it, and the lock and what was set aside are not
/// results.
pub(crate) const RESULTS: [&str; 5] = [
    "rows/",
    "hits/",
    "relevant/",
    "candidates.parquet",
    "verdict.json",
];

/// A sweep of several rounds whose train queries need three tasks each round: there is a middle to be interrupted in.
pub(crate) const LONG: (u32, u32) = (600, 300);

/// Returns a bench with a generated dataset in `shop` and a staged sweep over it in `sweep.toml`.
pub(crate) fn staged(train: u32, holdout: u32) -> Bench {
    let bench = Bench::new();
    bench.generate("shop", 2000, train + holdout);
    bench.write(
        "sweep.toml",
        shop_sweep(train, holdout, "strategy = \"staged\"").toml(),
    );
    bench
}

/// Returns a sweep over the dataset in `shop`.
pub(crate) fn shop_sweep(train: u32, holdout: u32, strategy: &str) -> Sweep {
    Sweep::new(Data::Stored("shop".to_owned()), train, holdout, strategy)
}

/// Returns the results in a job folder of the bench.
pub(crate) fn results(bench: &Bench, job: &str) -> Tree {
    tree(&bench.at(job), &RESULTS)
}

/// Names what differs between two trees; nothing when they are the same to the byte.
pub(crate) fn differences(one: &Tree, other: &Tree) -> Vec<String> {
    let names = one.keys().chain(other.keys());
    let mut names: Vec<String> = names
        .filter(|name| one.get(*name) != other.get(*name))
        .cloned()
        .collect();
    names.dedup();
    names
}

/// Which file a name stands for and when it was written: equal exactly when nobody has touched the file.
pub(crate) type Marks = BTreeMap<String, (u64, i64, i64)>;

/// Returns the marks of the files in a folder; none when there is no such folder yet.
pub(crate) fn marks(folder: &Path) -> Marks {
    let Ok(entries) = fs::read_dir(folder) else {
        return Marks::new();
    };
    entries
        .map(|entry| {
            let entry = entry.expect("an entry can be read");
            let about = entry.metadata().expect("a file has metadata");
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, (about.ino(), about.mtime(), about.mtime_nsec()))
        })
        .collect()
}

/// Returns the exit code that says a verdict.
pub(crate) fn code_of(verdict: &str) -> i32 {
    match verdict {
        "PROMOTE" => 0,
        "BLOCK" => 1,
        "INSUFFICIENT_EVIDENCE" => 4,
        other => panic!("`{other}` is no verdict"),
    }
}
