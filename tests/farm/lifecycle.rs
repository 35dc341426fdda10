//! Deaths, cancelled jobs and equal submissions end as docs/farm.md says.

use evalfarm_tests::Running;
use serde_json::Value;

use crate::jobs::{undisturbed, with_seed};
use crate::scene::{Farm, SWEEP, differences, results};

/// Starts a farm whose engine answers slowly enough to be interrupted: a task takes a second or so.
fn slow_farm(name: &str) -> Farm {
    let farm = Farm::start(name);
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 5");
    farm
}

fn start_worker(farm: &mut Farm) {
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
}

/// Starts a farm with a worker, and waits until it is in the middle of a job, which is returned.
fn interrupted(name: &str) -> (Farm, String) {
    let mut farm = slow_farm(name);
    start_worker(&mut farm);
    let job = farm.submit(SWEEP);
    farm.wait_for_the_middle(&job);
    (farm, job)
}

/// The job ends as if nothing had happened, and so does the next.
fn ends_undisturbed(farm: &Farm, job: &str) {
    let tree = farm.judged(job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    let next = farm.submit(&with_seed(8));
    farm.judged(&next);
}

#[test]
fn a_worker_that_is_killed_loses_nothing() {
    let (mut farm, job) = interrupted("kill-worker");
    farm.workers.pop().expect("there is a worker").kill();
    start_worker(&mut farm);
    ends_undisturbed(&farm, &job);
}

#[test]
fn a_coordinator_that_is_killed_takes_its_jobs_up_again() {
    let (mut farm, job) = interrupted("kill-coordinator");
    farm.coordinator.take().expect("it runs").kill();
    farm.start_coordinator(&[]);
    ends_undisturbed(&farm, &job);
    // With an empty disk the store alone says what there is.
    farm.coordinator.take().expect("it runs").kill();
    std::fs::remove_dir_all(farm.bench.at("coordinator")).expect("its folder can be removed");
    farm.start_coordinator(&[]);
    assert_eq!(farm.status(&job)["state"], "judged");
    farm.run(&["results", &job, "--out", "again"])
        .expect_code(0);
    let again = results(&farm.bench.at("again"));
    assert_eq!(differences(undisturbed(), &again), [""; 0]);
}

#[test]
fn a_worker_that_is_asked_to_end_finishes_what_it_has() {
    let (mut farm, job) = interrupted("drain");
    let leaving = farm.workers.pop().expect("there is a worker");
    leaving.signal("TERM");
    leaving.finish().expect_code(0);
    start_worker(&mut farm);
    ends_undisturbed(&farm, &job);
    let tasks = farm.status(&job)["tasks"].clone();
    assert_eq!(
        tasks["retried"], 0,
        "a drained task is no failed one: {tasks}"
    );
}

#[test]
fn a_cancelled_job_ends_and_can_be_submitted_again() {
    let (mut farm, job) = interrupted("cancel");
    let stranger = Running::start(&mut farm.command("nightly", &["cancel", &job]));
    stranger.finish().expect_code(2);
    farm.run(&["cancel", &job]).expect_code(0);
    assert_eq!(farm.ended(&job)["state"], "cancelled");
    farm.run(&["cancel", &job]).expect_code(2);
    // Cancelled is over, after a restart too.
    farm.coordinator.take().expect("it runs").kill();
    farm.start_coordinator(&[]);
    assert_eq!(farm.status(&job)["state"], "cancelled");
    assert_eq!(farm.submit(SWEEP), job);
    ends_undisturbed(&farm, &job);
}

#[test]
fn the_same_sweep_submitted_twice_is_one_job() {
    let mut farm = slow_farm("twice");
    let job = farm.submit(SWEEP);
    let again = farm.run(&["submit", "sweep.toml", "--format", "json"]);
    let again = again.expect_code(0).json();
    assert_eq!(
        (&again["job"], &again["created"]),
        (&Value::from(job.clone()), &Value::Bool(false))
    );
    start_worker(&mut farm);
    let tree = farm.judged(&job);
    assert_eq!(differences(undisturbed(), &tree), [""; 0]);
    // After its verdict too: it is not evaluated again.
    farm.run(&["submit", "sweep.toml", "--wait"])
        .expect_verdict();
    let all = farm.run(&["status", "--format", "json"]).json();
    assert_eq!(all["jobs"].as_array().map(Vec::len), Some(1));
}
