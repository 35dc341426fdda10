//! Deaths, cancelled jobs and equal submissions end as docs/farm.md says.

use std::path::PathBuf;

use evalfarm_tests::{Tree, wait_until};
use serde_json::Value;

use crate::scene::{Farm, differences, results, token};

/// A sweep whose engine answers slowly enough to be interrupted: 12 candidates on 96 queries, 12 tasks of a second or so.
const SLOW_SWEEP: &str = "\
name = \"slow\"
seed = 7

[dataset]
generate = { catalogue = \"shop\", seed = 20260816, products = 500, queries = 96 }

[engine]
name = \"slow\"

[metrics]
primary = \"nDCG@10\"
guards = [\"RR@10\"]

[baseline]
weights = { title = 4.0, brand = 2.5, bullet_point = 1.5, description = 1.0, category = 1.2 }

[policy]
judge = \"all_on_all\"
resamples = 1000

[sweep]
strategy = \"grid\"
ratios = { brand = [0.1, 0.4, 0.7, 1], bullet_point = [0.1, 0.5, 1] }
";

/// Starts a farm whose workers have the slow engine, with the sweep in `slow.toml`.
fn slow_farm(name: &str) -> Farm {
    let farm = Farm::start(name);
    farm.bench.write("slow.toml", SLOW_SWEEP);
    farm.bench.write(
        "worker.toml",
        "[engines.slow]\nkind = \"delay\"\nlatency_ms = 5\n",
    );
    farm
}

fn start_worker(farm: &mut Farm) {
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
}

/// Submits the sweep and returns the job.
fn submit(farm: &Farm) -> String {
    let outcome = farm.run(&["submit", "slow.toml", "--format", "json"]);
    let json = outcome.expect_code(0).json();
    json["job"].as_str().expect("a job has an id").to_owned()
}

fn status(farm: &Farm, job: &str) -> Value {
    let text = farm.ask("GET", &format!("/v1/jobs/{job}"), Some(&token("rita")));
    serde_json::from_str(&text.expect("the job is there")).expect("a status is JSON")
}

/// Waits until some tasks are done and others are not.
fn wait_for_the_middle(farm: &Farm, job: &str) {
    wait_until("the middle of the job", || {
        let status = status(farm, job);
        assert_eq!(
            status["end"],
            Value::Null,
            "the job ended too soon: {status}"
        );
        let tasks = &status["tasks"];
        (tasks["done"].as_u64()? >= 2 && tasks["done"] != tasks["planned"]).then_some(())
    });
}

/// Waits for the verdict and returns the job's results.
fn finished(farm: &Farm, job: &str) -> Tree {
    let state = wait_until("the end of the job", || {
        let status = status(farm, job);
        (status["end"] != Value::Null).then(|| status["state"].clone())
    });
    assert_eq!(state, "judged", "{}", status(farm, job));
    farm.run(&["results", job, "--out", "fetched"])
        .expect_code(0);
    results(&farm.bench.at("fetched"))
}

/// What the sweep gives when nothing happens.
fn undisturbed() -> &'static Tree {
    static TREE: std::sync::OnceLock<Tree> = std::sync::OnceLock::new();
    TREE.get_or_init(|| {
        let mut farm = slow_farm("undisturbed");
        start_worker(&mut farm);
        let job = submit(&farm);
        finished(&farm, &job)
    })
}

/// The next job of a farm on which something happened is evaluated as ever.
fn is_usable(farm: &Farm) {
    let next = SLOW_SWEEP.replace("seed = 7", "seed = 8");
    farm.bench.write("slow.toml", next);
    let job = submit(farm);
    finished_as(farm, &job, "next");
}

fn finished_as(farm: &Farm, job: &str, out: &str) -> PathBuf {
    let state = wait_until("the end of the job", || {
        let status = status(farm, job);
        (status["end"] != Value::Null).then(|| status["state"].clone())
    });
    assert_eq!(state, "judged");
    farm.run(&["results", job, "--out", out]).expect_code(0);
    farm.bench.at(out)
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let mut farm = slow_farm("kill-worker");
    start_worker(&mut farm);
    let job = submit(&farm);
    wait_for_the_middle(&farm, &job);
    farm.workers.pop().expect("there is a worker").kill();
    start_worker(&mut farm);
    let tree = finished(&farm, &job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    is_usable(&farm);
}

#[test]
fn a_coordinator_that_is_killed_takes_its_jobs_up_again() {
    let mut farm = slow_farm("kill-coordinator");
    start_worker(&mut farm);
    let job = submit(&farm);
    wait_for_the_middle(&farm, &job);
    farm.coordinator.take().expect("it runs").kill();
    farm.start_coordinator(&[]);
    let tree = finished(&farm, &job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    // With an empty disk the store alone says what there is.
    farm.coordinator.take().expect("it runs").kill();
    std::fs::remove_dir_all(farm.bench.at("coordinator")).expect("its folder can be removed");
    farm.start_coordinator(&[]);
    assert_eq!(status(&farm, &job)["state"], "judged");
    let again = finished_as(&farm, &job, "again");
    assert_eq!(differences(undisturbed(), &results(&again)), [""; 0]);
    is_usable(&farm);
}

#[test]
fn a_worker_that_is_asked_to_end_finishes_what_it_has() {
    let mut farm = slow_farm("drain");
    start_worker(&mut farm);
    let job = submit(&farm);
    wait_for_the_middle(&farm, &job);
    let leaving = farm.workers.pop().expect("there is a worker");
    leaving.signal("TERM");
    let outcome = leaving.finish();
    outcome.expect_code(0);
    start_worker(&mut farm);
    let tree = finished(&farm, &job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let tasks = status(&farm, &job)["tasks"].clone();
    assert_eq!(
        tasks["retried"], 0,
        "a drained task is no failed one: {tasks}"
    );
    is_usable(&farm);
}

#[test]
fn a_cancelled_job_ends_and_can_be_submitted_again() {
    let mut farm = slow_farm("cancel");
    start_worker(&mut farm);
    let job = submit(&farm);
    wait_for_the_middle(&farm, &job);
    let stranger = evalfarm_tests::Running::start(&mut farm.command("nightly", &["cancel", &job]));
    stranger.finish().expect_code(2);
    farm.run(&["cancel", &job]).expect_code(0);
    let state = wait_until("the end of the job", || {
        let status = status(&farm, &job);
        (status["end"] != Value::Null).then(|| status["state"].clone())
    });
    assert_eq!(state, "cancelled");
    farm.run(&["cancel", &job]).expect_code(2);
    // Cancelled is over, after a restart too.
    farm.coordinator.take().expect("it runs").kill();
    farm.start_coordinator(&[]);
    assert_eq!(status(&farm, &job)["state"], "cancelled");
    assert_eq!(submit(&farm), job);
    let tree = finished(&farm, &job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    is_usable(&farm);
}

#[test]
fn the_same_sweep_submitted_twice_is_one_job() {
    let mut farm = slow_farm("twice");
    let job = submit(&farm);
    let again = farm.run(&["submit", "slow.toml", "--format", "json"]);
    let again = again.expect_code(0).json();
    assert_eq!(
        (&again["job"], &again["created"]),
        (&Value::from(job.clone()), &Value::Bool(false))
    );
    start_worker(&mut farm);
    let tree = finished(&farm, &job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    // After its verdict too: it is not evaluated again.
    let done = farm.run(&["submit", "slow.toml", "--wait"]);
    done.expect_verdict();
    assert_eq!(
        farm.run(&["status", "--format", "json"]).json()["jobs"]
            .as_array()
            .map(Vec::len),
        Some(1)
    );
}
