//! The farm gives what `evalfarm run` gives, to the byte, however many workers there are.

use std::fs;
use std::sync::OnceLock;

use evalfarm_tests::{Bench, Tree};

use crate::scene::{Farm, differences, results};

/// The sweep of the README.
const README_SWEEP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/sweeps/shop.toml");

/// Submits the sweep of the README to a farm of so many workers, and returns what it gave.
pub(crate) fn submitted(farm: &mut Farm, workers: usize) -> Tree {
    for _ in 0..workers {
        farm.start_worker(&["--slots", "2"]);
    }
    let text = fs::read_to_string(README_SWEEP).expect("the sweep is there");
    farm.bench.write("shop.toml", text);
    let waited = farm.run(&["submit", "shop.toml", "--wait"]);
    waited.expect_verdict();
    let list = farm.run(&["status", "--format", "json"]);
    let job = list.expect_code(0).json()["jobs"][0]["job"].clone();
    let job = job.as_str().expect("a job has an id");
    farm.fetched(job)
}

/// Returns what `evalfarm run` gives for the sweep of the README.
pub(crate) fn embedded() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let bench = Bench::new();
        bench
            .run(["run", README_SWEEP, "--out", "embedded"])
            .expect_verdict();
        let tree = results(&bench.at("embedded"));
        assert!(tree.keys().any(|name| name.starts_with("rows/")));
        assert!(tree.contains_key("verdict.json"));
        tree
    })
}

#[test]
fn the_sweep_of_the_readme_gives_the_same_bytes_on_one_two_and_four_workers() {
    for workers in [1, 2, 4] {
        let mut farm = Farm::start(&format!("many-{workers}"));
        let many = submitted(&mut farm, workers);
        assert_eq!(differences(embedded(), &many), [""; 0], "{workers} workers");
    }
}
