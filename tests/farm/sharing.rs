//! Jobs share workers, and workers share engines.

use std::time::{Duration, Instant};

use evalfarm_tests::wait_until;
use serde_json::Value;

use crate::jobs::undisturbed;
use crate::scene::{Farm, RATIOS, SWEEP, differences};

/// A sweep on 2,000 queries, 125 tasks of at most 16 candidates on 16 queries for each 16 candidates of a step.
fn on_many_queries(name: &str, ratios: &str) -> String {
    SWEEP
        .replace(
            "name = \"slow\"\nseed",
            &format!("name = \"{name}\"\nmax_rows = 100_000_000\nseed"),
        )
        .replace("queries = 96", "queries = 2000")
        .replace("guards = [\"RR@10\"]\n", "")
        .replace(RATIOS, ratios)
}

fn done(status: &Value) -> u64 {
    status["tasks"]["done"].as_u64().expect("it is a count")
}

#[test]
fn a_job_of_200_tasks_behind_one_of_200_000_ends_within_twice_its_own_time() {
    let mut farm = Farm::start("sharing");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 2");
    farm.start_worker(&["--config", "worker.toml", "--slots", "8"]);
    let small = |seed: u32| {
        let sweep = on_many_queries("small", "ratios = { brand = \"0.1..0.8 step 0.1\" }");
        sweep.replace("seed = 7", &format!("seed = {seed}"))
    };
    let timed = |job: &str| {
        let start = Instant::now();
        let status = farm.ended(job);
        assert_eq!(status["state"], "judged", "{status}");
        (start.elapsed(), done(&status))
    };
    // The worker has the dataset and its index after this.
    timed(&farm.submit(&on_many_queries("first", "ratios = { brand = [0.1] }")));
    let (alone, tasks) = timed(&farm.submit(&small(2)));
    assert!(tasks >= 200, "{tasks} tasks");

    // 30 × 30 × 30 candidates are 1,688 batches, and so 211,000 tasks.
    let axis = "\"0.02..0.6 step 0.02\"";
    let ratios =
        format!("ratios = {{ brand = {axis}, bullet_point = {axis}, description = {axis} }}");
    let large = farm.submit(&on_many_queries("large", &ratios));
    let before = wait_until("the large job's tasks", || {
        let status = farm.status(&large);
        assert!(status["end"].is_null(), "it ended too soon: {status}");
        let planned = status["tasks"]["planned"].as_u64()?;
        (planned > 200_000 && done(&status) > 250).then(|| done(&status))
    });
    let (together, _) = timed(&farm.submit(&small(3)));
    let status = farm.status(&large);
    assert!(status["end"].is_null(), "it ended too soon: {status}");
    let other = done(&status) - before;
    assert!(other > 0, "the large job stood still");
    assert!(
        together < alone * 2,
        "{together:?}, alone {alone:?}, {other} tasks of the large one"
    );
    farm.run(&["cancel", &large]).expect_code(0);
}

#[test]
fn workers_keep_to_the_budget_of_an_engine_together() {
    let mut farm = Farm::start("budget");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 5\nconcurrent = 2");
    for _ in 0..2 {
        farm.start_worker(&["--config", "worker.toml", "--slots", "4"]);
    }
    let start = Instant::now();
    let job = farm.submit(SWEEP);
    let tree = farm.judged(&job);
    let took = start.elapsed();
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    // 13 candidates on 96 queries, two at a time; with all eight slots it would take a quarter of that.
    let least = Duration::from_millis(5) * 13 * 96 / 2;
    assert!(took >= least, "{took:?} is too fast");
    let busy = |worker| farm.measured(worker, "farm_results_committed_total", "");
    assert!(busy(0) > 0 && busy(1) > 0, "both work");
}

#[test]
fn workers_keep_to_the_pace_of_an_engine_together() {
    let mut farm = Farm::start("pace");
    farm.engine(
        "slow",
        "kind = \"delay\"\nlatency_ms = 0\nper_second = 500\nburst = 10",
    );
    for _ in 0..2 {
        farm.start_worker(&["--config", "worker.toml", "--slots", "4"]);
    }
    let start = Instant::now();
    let job = farm.submit(SWEEP);
    let tree = farm.judged(&job);
    let took = start.elapsed();
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let least = Duration::from_secs(13 * 96 - 10) / 500;
    assert!(took >= least, "{took:?} is too fast");
}
