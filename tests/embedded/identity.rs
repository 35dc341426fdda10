//! The same job gives the same bytes, whoever does what.

use evalfarm_tests::{Bench, Data, Running, Sweep};

use crate::scene::{differences, results, shop_sweep, staged};

/// Runs the sweep of the bench on one, two and eight threads and checks that what they leave is the same.
fn check_threads(bench: &Bench) {
    for threads in ["1", "2", "8"] {
        let args = ["run", "sweep.toml", "--threads", threads, "--out", threads];
        bench.run(args).expect_verdict();
    }
    let single = results(bench, "1");
    let rows = single.keys().filter(|name| name.starts_with("rows/"));
    assert!(rows.count() > 1, "threads need tasks to share");
    assert_eq!(differences(&single, &results(bench, "2")), [""; 0]);
    assert_eq!(differences(&single, &results(bench, "8")), [""; 0]);
}

#[test]
fn a_staged_sweep_leaves_the_same_bytes_on_any_number_of_threads() {
    check_threads(&staged(600, 300));
}

#[test]
fn a_family_of_candidates_leaves_the_same_bytes_on_any_number_of_threads() {
    let bench = Bench::new();
    bench.generate("shop", 1000, 600);
    let grid = "strategy = \"grid\"
ratios = { brand = \"0..1 step 0.1\", bullet_point = [0.1, 0.2, 0.3], description = [0.5, 1] }";
    let sweep = Sweep {
        split: None,
        policy: "judge = \"all_on_all\"\nresamples = 2000".to_owned(),
        ..shop_sweep(0, 0, grid)
    };
    bench.write("sweep.toml", sweep.toml());
    check_threads(&bench);
}

#[test]
fn two_first_runs_at_once_share_one_cache() {
    let bench = Bench::new();
    let sweep = Sweep::new(
        Data::Generated(1000, 80),
        50,
        30,
        "strategy = \"axis_scan\"",
    );
    bench.write("sweep.toml", sweep.toml());
    let running = ["a", "b", "c"].map(|out| bench.start(["run", "sweep.toml", "--out", out]));
    let outcomes = running.map(Running::finish);
    let generated = outcomes
        .iter()
        .filter(|outcome| outcome.stderr.contains("generating"));
    assert_eq!(generated.count(), 1, "{outcomes:#?}");
    let first = results(&bench, "a");
    for outcome in &outcomes {
        outcome.expect_verdict();
    }
    assert_eq!(differences(&first, &results(&bench, "b")), [""; 0]);
    assert_eq!(differences(&first, &results(&bench, "c")), [""; 0]);
}
