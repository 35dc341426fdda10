//! How much of what 64 slots can ask of a slow engine is asked of it.

use std::time::{Duration, Instant};

use evalfarm_tests::wait_until;
use serde_json::Value;

use crate::scene::{Farm, RATIOS, SWEEP, token};
use crate::{Outcome, note};

pub(crate) const NAME: &str = "farm-linear-64";

/// Of each of the two workers.
const SLOTS: u32 = 32;
const WORKERS: u32 = 2;
const LATENCY: Duration = Duration::from_millis(15);

/// Candidates and queries: tasks of a served engine are 16 by 16 of them, so these are 256 tasks, four for each slot.
const CANDIDATES: u64 = 256;
const QUERIES: u64 = 256;

/// A grid of 16 by 16 points is one step after the baseline's.
fn sweep() -> String {
    SWEEP.replace("queries = 96", "queries = 256").replace(
        RATIOS,
        "ratios = { brand = \"0.05..0.8 step 0.05\", bullet_point = \"0.05..0.8 step 0.05\" }",
    )
}

/// Returns evaluated queries per second in the grid's step, from its beginning to the answer of its last task, over what
/// 64 slots could ask that wait for one answer at a time and do nothing else.
pub(crate) fn measure() -> Outcome<f64> {
    let mut farm = Farm::start("linear");
    farm.bench.write("sweep.toml", sweep());
    let engine = format!(
        "[engines.slow]\nkind = \"delay\"\nlatency_ms = {}\n",
        LATENCY.as_millis()
    );
    farm.bench.write("worker.toml", engine);
    for _ in 0..WORKERS {
        farm.start_worker(&["--config", "worker.toml", "--slots", &SLOTS.to_string()]);
    }
    wait_for_workers(&farm);
    let submitted = farm.run(&["submit", "sweep.toml", "--format", "json"]);
    let job = submitted.expect_code(0).json()["job"].clone();
    let path = format!("/v1/jobs/{}", job.as_str().ok_or("a job has an id")?);
    let step = || step(&farm, &path);
    let evaluations = CANDIDATES * QUERIES;
    wait_until("the step of the grid", || {
        (step()["total"] == evaluations).then_some(())
    });
    let began = Instant::now();
    wait_until("the end of the step", || {
        let step = step();
        (step["total"] != evaluations || step["done"] == evaluations).then_some(())
    });
    let took = began.elapsed();
    let slots = f64::from(WORKERS * SLOTS);
    let rate = evaluations as f64 / took.as_secs_f64();
    let most = slots / LATENCY.as_secs_f64();
    note(&format!(
        "{NAME}: {evaluations} queries of 256 tasks in {:.2} s on {WORKERS} workers of {SLOTS} slots: {rate:.0} a second; \
         {slots} slots that wait {} ms for each: {most:.0}",
        took.as_secs_f64(),
        LATENCY.as_millis(),
    ))?;
    Ok(rate / most)
}

/// Waits until the coordinator hands out as much as all slots take.
fn wait_for_workers(farm: &Farm) {
    wait_until("both workers", || {
        let metrics = farm.ask("GET", "/metrics", None).ok()?;
        let mut slots = metrics
            .lines()
            .filter(|line| line.starts_with("farm_slots"));
        let all = format!(" {}", WORKERS * SLOTS);
        slots.any(|line| line.ends_with(&all)).then_some(())
    });
}

/// Returns the step that the job is in.
fn step(farm: &Farm, job: &str) -> Value {
    let status = farm.ask("GET", job, Some(&token("rita")));
    let status = status.expect("the job is there");
    let status: Value = serde_json::from_str(&status).expect("a status is JSON");
    assert!(status["end"].is_null(), "the job ended: {status}");
    status["step"].clone()
}
