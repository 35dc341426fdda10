//! What the tests of this folder have in common.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use evalfarm_tests::{Bench, Data, Sweep, Tree, tree};

/// What may differ between two runs of one job: how long it took, what was being written, what was damaged, and where it ran.
/// Everything else in a job's folder has to be the same to the byte.
const NOT_RESULTS: [&str; 4] = ["timings/", "staging/", "set-aside/", "looks.path"];

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
    let mut results = tree(&bench.at(job), &[""]);
    results.retain(|name, _| !NOT_RESULTS.iter().any(|other| name.starts_with(other)));
    results
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
