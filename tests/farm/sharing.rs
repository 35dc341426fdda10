//! Jobs share workers, and workers share engines.

use std::time::{Duration, Instant};

use evalfarm_tests::wait_until;
use serde_json::Value;

use crate::jobs::{SWEEP, undisturbed};
use crate::scene::{Farm, differences};

/// A sweep on 1,600 queries, 100 tasks of at most 16 candidates on 16 queries for each 16 candidates and step.
fn on_many_queries(name: &str, ratios: &str) -> String {
    SWEEP
        .replace("name = \"slow\"\nseed", &format!("name = \"{name}\"\nseed"))
        .replace("queries = 96", "queries = 1600")
        .replace("guards = [\"RR@10\"]\n", "")
        .replace(
            "ratios = { brand = [0.1, 0.4, 0.7, 1], bullet_point = [0.1, 0.5, 1] }",
            ratios,
        )
}

fn done(status: &Value) -> u64 {
    status["tasks"]["done"].as_u64().expect("it is a count")
}

#[test]
fn a_small_job_behind_a_large_one_waits_no_longer_than_it_works() {
    let mut farm = Farm::start("sharing");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 1");
    let flags = ["--config", "worker.toml", "--slots", "8"];
    farm.start_worker(&flags);
    let small = |seed: u32| {
        let sweep = on_many_queries("small", "ratios = { brand = [0.1, 0.4] }");
        sweep.replace("seed = 7", &format!("seed = {seed}"))
    };
    let timed = |job: &str| {
        let start = Instant::now();
        let status = farm.ended(job);
        assert_eq!(status["state"], "judged", "{status}");
        (start.elapsed(), done(&status))
    };
    // The worker has the dataset and its index after this.
    timed(&farm.submit(&small(1)));
    let (alone, tasks) = timed(&farm.submit(&small(2)));
    assert!(tasks >= 200, "{tasks} tasks");

    let all = "[0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1]";
    let ratios = format!("ratios = {{ brand = {all}, bullet_point = {all}, description = {all} }}");
    let large = farm.submit(&on_many_queries("large", &ratios));
    let before = wait_until("the large job's tasks", || {
        let status = farm.status(&large);
        assert!(status["end"].is_null(), "it ended too soon: {status}");
        let candidates = status["step"]["total"].as_u64()? / 1600;
        (candidates > 1_000 && done(&status) > 300).then(|| done(&status))
    });
    let (together, _) = timed(&farm.submit(&small(3)));
    let status = farm.status(&large);
    assert!(status["end"].is_null(), "it ended too soon: {status}");
    let other = done(&status) - before;
    // As many tasks of the other job as of its own take twice the time; what was on offer before it came is done first.
    let first = 32;
    assert!(
        other <= tasks + first,
        "{other} tasks of the large job while {tasks} of the small one"
    );
    assert!(other > 0, "the large job stood still");
    let limit = alone * 3 + Duration::from_secs(1);
    assert!(together < limit, "{together:?}, alone {alone:?}");
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
