//! What a sweep that one machine does in seconds loses on a farm.

use std::fs;
use std::time::{Duration, Instant};

use evalfarm_tests::wait_until;
use serde_json::{Value, json};

use crate::scene::{Farm, token};
use crate::{Outcome, median, note, seconds};

pub(crate) const NAME: &str = "farm-over-embedded";

/// The sweep of the README.
const README_SWEEP: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../datasets/sweeps/shop.toml");

const ROUNDS: u32 = 5;

/// Returns the time from the answer to a submission until the verdict is in the store, over that of `evalfarm run` from the start
/// of its process to its end.
///
/// Each round has another seed, so that it is another job with the same candidates; a job before them has both workers fetch
/// the dataset and build their index, and both sides see every seed. Two workers of one slot on a machine of two cores.
pub(crate) fn measure() -> Outcome<f64> {
    let mut farm = Farm::start("embedded");
    for _ in 0..2 {
        farm.start_worker(&["--slots", "1"]);
    }
    let text = fs::read_to_string(README_SWEEP)?;
    let sweep = |seed: u32| text.replacen("seed = 20260816", &format!("seed = {seed}"), 1);
    farm.bench.write("sweep.toml", sweep(0));
    let submitted = farm.run(&["submit", "sweep.toml", "--wait", "--format", "json"]);
    submitted.expect_verdict();
    let dataset = dataset(&farm)?;
    let embedded = |seed: u32| {
        farm.bench.write("sweep.toml", sweep(seed));
        let out = format!("out-{seed}");
        let began = Instant::now();
        farm.run(&["run", "sweep.toml", "--out", &out])
            .expect_verdict();
        began.elapsed()
    };
    embedded(0);
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for seed in 1..=ROUNDS {
        theirs.push(embedded(seed));
        ours.push(farmed(&farm, &sweep(seed), &dataset)?);
    }
    note(&format!(
        "{NAME}: the sweep of the README on two workers, seconds from submission to verdict: {}",
        seconds(&ours)
    ))?;
    note(&format!(
        "{NAME}: the same by `evalfarm run`, seconds: {}",
        seconds(&theirs)
    ))?;
    Ok(median(ours).as_secs_f64() / median(theirs).as_secs_f64())
}

/// Returns the fingerprint of the dataset of the only job.
fn dataset(farm: &Farm) -> Outcome<String> {
    let list = farm.run(&["status", "--format", "json"]);
    let job = list.expect_code(0).json()["jobs"][0]["job"].clone();
    let job = job.as_str().ok_or("a job has an id")?;
    let settings = farm.bench.at("store").join("jobs").join(job);
    let settings: Value = serde_json::from_slice(&fs::read(settings.join("settings.json"))?)?;
    let dataset = settings["dataset"].as_str();
    Ok(dataset.ok_or("a job has a dataset")?.to_owned())
}

fn farmed(farm: &Farm, sweep: &str, dataset: &str) -> Outcome<Duration> {
    let body = json!({ "sweep": sweep, "dataset": dataset }).to_string();
    let answer = farm.send("POST", "/v1/jobs", Some(&token("paul")), Some(&body));
    let began = Instant::now();
    let answer: Value = serde_json::from_str(&answer.expect("the sweep is accepted"))?;
    let job = answer["job"].as_str().ok_or("a job has an id")?;
    let verdict = farm.bench.at("store").join("jobs").join(job);
    let verdict = verdict.join("verdict.json");
    wait_until("the verdict", || {
        verdict.try_exists().is_ok_and(|there| there).then_some(())
    });
    Ok(began.elapsed())
}
