//! The same job gives the same bytes, whoever does what.

use evalfarm_tests::{Bench, Data, Running, Sweep};

use crate::scene::{differences, results, staged};

#[test]
fn one_two_and_eight_threads_leave_the_same_bytes() {
    let bench = staged(600, 300);
    for threads in ["1", "2", "8"] {
        let args = ["run", "sweep.toml", "--threads", threads, "--out", threads];
        bench.run(args).expect_verdict();
    }
    let single = results(&bench, "1");
    let rows = single.keys().filter(|name| name.starts_with("rows/"));
    assert!(rows.count() > 8, "eight threads need tasks to share");
    assert_eq!(differences(&single, &results(&bench, "2")), [""; 0]);
    assert_eq!(differences(&single, &results(&bench, "8")), [""; 0]);
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
