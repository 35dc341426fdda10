//! Tasks that end whoever takes them are given up by name, and nothing else is.

use std::time::{Duration, Instant};

use evalfarm_domain::{FailureKind, JobId, Metric};
use evalfarm_results::RowBlock;
use evalfarm_tests::{Running, wait_until};
use serde_json::Value;

use crate::jobs::undisturbed;
use crate::scene::{Farm, SWEEP, differences};

/// Pause between two looks at a job that takes long.
const LOOK: Duration = Duration::from_millis(200);

/// Slow tasks are not offered a second time: copies have attempts of their own.
fn no_copies() -> (&'static str, String) {
    ("EVALFARM_STRAGGLER", "1000000".to_owned())
}

/// Returns [`SWEEP`] with another engine.
fn served_by(engine: &str) -> String {
    SWEEP.replace(
        "[engine]\nname = \"slow\"",
        &format!("[engine]\nname = \"{engine}\""),
    )
}

/// Checks that a job ended without the evidence of one task, the one with query 16 of the fold, and names it.
fn lacks_one_task(farm: &Farm, job: &str, why: &str) {
    let status = farm.status(job);
    assert_eq!(status["end"]["how"], "judged", "{status}");
    assert_eq!(
        status["end"]["verdict"], "INSUFFICIENT_EVIDENCE",
        "{status}"
    );
    let dead = status["tasks"]["dead"].as_u64().expect("it is a count");
    let notes = status["notes"].as_array().expect("notes are a list");
    let given_up: Vec<&str> = notes
        .iter()
        .filter_map(Value::as_str)
        .filter(|note| note.contains("was given up") && note.contains(why))
        .collect();
    assert_eq!(given_up.len() as u64, dead, "{notes:?}");
    let folder = farm.bench.at(&format!("fetched-{job}"));
    let tree = farm.fetched(job);
    let verdict: Value = serde_json::from_slice(&tree["verdict.json"]).expect("a verdict is JSON");
    assert!(verdict.to_string().contains("incomplete"), "{verdict}");
    let id = JobId::try_from(job).expect("it is a job's id");
    let metrics = ["nDCG@10", "RR@10"].map(|name| name.parse::<Metric>().expect("it is a metric"));
    let (mut unfinished, mut files) = (Vec::new(), 0);
    for name in tree.keys().filter(|name| name.starts_with("rows/")) {
        let block = RowBlock::read(&folder.join(name), &id, &metrics);
        let rows = block.expect("rows can be read").rows;
        let failed = rows
            .iter()
            .filter(|row| row.failure == Some(FailureKind::Unfinished))
            .count();
        assert!(
            failed == 0 || failed == rows.len(),
            "{name} is unfinished in part"
        );
        assert!(rows.iter().all(|row| (failed > 0) == row.failure.is_some()));
        if failed > 0 {
            let task = name
                .trim_start_matches("rows/")
                .trim_end_matches(".parquet");
            assert!(
                given_up.iter().any(|note| note.contains(task)),
                "{task}: {given_up:?}"
            );
            unfinished.push(task.to_owned());
        }
        files += 1;
    }
    assert_eq!(
        unfinished.len() as u64,
        dead,
        "of {files} files: {unfinished:?}"
    );
    assert!(
        dead > 0 && unfinished.len() * 6 == files,
        "of {files} files: {unfinished:?}"
    );
}

#[test]
fn a_task_that_panics_is_given_up_and_its_worker_lives() {
    let mut farm = Farm::set("panic", &[no_copies()]);
    farm.engine("broken", "kind = \"panic\"\nquery = 16");
    let flags = ["--config", "worker.toml", "--slots", "2", "--attempts", "2"];
    farm.start_worker(&flags);
    let job = farm.submit(&served_by("broken"));
    let status = farm.ended(&job);
    lacks_one_task(&farm, &job, "evaluating the task panicked: injected");
    assert_eq!(
        status["tasks"]["retried"], status["tasks"]["dead"],
        "{status}"
    );
    assert_eq!(
        farm.measured(0, "farm_retries_total", "class=\"panic\""),
        status["tasks"]["retried"].as_u64().expect("it is a count")
    );
    assert!(!farm.workers[0].has_ended(), "the worker ended");
}

#[test]
fn a_task_that_ends_its_workers_is_given_up_and_its_neighbours_are_not() {
    let mut farm = Farm::set("poison", &[no_copies()]);
    farm.engine("poison", "kind = \"abort\"\nquery = 16");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 1");
    let flags = ["--config", "worker.toml", "--slots", "2"];
    farm.start_worker(&flags);
    let healthy = farm.submit(SWEEP);
    let poison = farm.submit(&served_by("poison"));
    let (mut looked, mut deaths) = (Instant::now(), 0);
    wait_until("the ends of both jobs", || {
        // A supervisor starts what has ended.
        if farm.workers.last_mut().is_none_or(Running::has_ended) {
            deaths += 1;
            farm.start_worker(&flags);
        }
        if looked.elapsed() < LOOK {
            return None;
        }
        looked = Instant::now();
        let over = [&healthy, &poison].map(|job| !farm.status(job)["end"].is_null());
        (over == [true, true]).then_some(())
    });
    lacks_one_task(&farm, &poison, "the broker gave it up");
    // 11 deliveries until the broker gives a task up, and again after it was put back, for each task of the query.
    let dead = farm.status(&poison)["tasks"]["dead"].as_u64();
    assert!(
        deaths <= 22 * dead.expect("it is a count"),
        "{deaths} deaths"
    );
    let status = farm.status(&healthy);
    assert_eq!(status["tasks"]["dead"], 0, "{status}");
    assert_eq!(differences(undisturbed(), &farm.judged(&healthy)), [""; 0]);
}
