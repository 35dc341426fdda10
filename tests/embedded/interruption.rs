//! A job that was stopped in the middle goes on from there and ends as if nothing had happened.

use std::path::Path;

use evalfarm_columnar::read_foreign;
use evalfarm_tests::{Bench, Outcome, Running, wait_until};

use crate::scene::{LONG, Marks, differences, marks, results, staged};

/// Starts the job and returns it once `count` files of rows are committed.
fn started(bench: &Bench, job: &str, count: usize) -> Running {
    let args = ["run", "sweep.toml", "--threads", "1", "--out", job];
    let mut running = bench.start(args);
    let rows = bench.at(job).join("rows");
    wait_until("enough rows", || {
        assert!(!running.has_ended(), "it ended before it could be stopped");
        (marks(&rows).len() >= count).then_some(())
    });
    running
}

/// Returns the marks of everything that a finished task leaves.
fn all_marks(job: &Path) -> [Marks; 2] {
    ["rows", "timings"].map(|folder| marks(&job.join(folder)))
}

/// Runs the job undisturbed and returns the number of its row files.
fn undisturbed(bench: &Bench) -> usize {
    let outcome = bench.run(["run", "sweep.toml", "--out", "whole"]);
    outcome.expect_verdict();
    marks(&bench.at("whole/rows")).len()
}

/// Checks that resuming has left every finished file alone and has completed the rest.
fn check_resumed(bench: &Bench, before: &[Marks; 2], resumed: &Outcome) {
    let taken_over = format!("{} finished tasks are taken over", before[0].len());
    assert!(resumed.stderr.contains(&taken_over), "{}", resumed.stderr);
    let after = all_marks(&bench.at("job"));
    for (before, after) in before.iter().zip(&after) {
        for (name, mark) in before {
            assert_eq!(after.get(name), Some(mark), "`{name}` was computed again");
        }
    }
    assert_eq!(
        differences(&results(bench, "whole"), &results(bench, "job")),
        [""; 0]
    );
}

#[test]
fn w6_a_killed_job_computes_only_what_is_missing() {
    let bench = staged(LONG.0, LONG.1);
    let tasks = undisturbed(&bench);
    let killed = started(&bench, "job", tasks / 2).kill();
    assert_eq!(killed.stdout, "");

    let before = all_marks(&bench.at("job"));
    let rows = before[0].len();
    assert!((tasks / 2..tasks).contains(&rows), "{rows} of {tasks}");
    // Whatever the kill cut off lies in `staging/`: what is in `rows/` can be read, all of it.
    for name in before[0].keys() {
        let table = read_foreign(&bench.at("job").join("rows").join(name), None);
        assert!(table.expect("a file in rows/ is whole").rows() > 0);
    }

    let resumed = bench.run(["run", "sweep.toml", "--out", "job", "--resume"]);
    let whole = bench.run(["run", "sweep.toml", "--out", "whole", "--resume"]);
    assert_eq!(resumed.code, whole.code);
    check_resumed(&bench, &before, &resumed);
}

#[test]
fn w12_an_interrupted_job_says_how_to_go_on_and_does() {
    let bench = staged(LONG.0, LONG.1);
    let tasks = undisturbed(&bench);
    let running = started(&bench, "job", tasks / 3);
    running.interrupt();
    let interrupted = running.finish();
    interrupted.expect_code(130);
    assert_eq!(interrupted.stdout, "", "there is no verdict to print");
    assert!(!marks(&bench.at("job")).contains_key("verdict.json"));
    let before = all_marks(&bench.at("job"));
    assert!(before[0].len() < tasks, "it was done before the signal");

    // The command of the hint, as one would paste it.
    let hint = interrupted
        .stderr
        .lines()
        .find(|line| line.starts_with("hint: "));
    let command = hint
        .and_then(|hint| hint.split('`').nth(1))
        .expect("a command to go on");
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "evalfarm");
    let resumed = bench.run(&words[1..]);
    resumed.expect_verdict();
    check_resumed(&bench, &before, &resumed);
}

#[test]
fn a_finished_job_is_resumed_without_any_work() {
    let bench = staged(60, 40);
    let first = bench.run(["run", "sweep.toml", "--format", "json", "--out", "job"]);
    let before = all_marks(&bench.at("job"));
    let hits = marks(&bench.at("job/hits"));
    let again = bench.run([
        "run",
        "sweep.toml",
        "--format",
        "json",
        "--out",
        "job",
        "--resume",
    ]);
    assert_eq!(again.code, first.code);
    assert_eq!(again.stdout, first.stdout);
    assert!(first.stderr.contains("query evaluations"));
    assert!(
        !again.stderr.contains("query evaluations"),
        "{}",
        again.stderr
    );
    assert_eq!(all_marks(&bench.at("job")), before);
    assert_eq!(marks(&bench.at("job/hits")), hits);
}

#[test]
fn a_job_without_a_named_folder_is_resumed_where_it_was() {
    let bench = staged(60, 40);
    bench.run(["run", "sweep.toml"]);
    let jobs: Vec<String> = marks(&bench.at("evalfarm-jobs")).into_keys().collect();
    let [job] = jobs.as_slice() else {
        panic!("one folder, not {jobs:?}");
    };
    assert!(job.starts_with("small-j"), "{job}");
    let rows = bench.at("evalfarm-jobs").join(job).join("rows");
    let before = marks(&rows);
    bench.run(["run", "sweep.toml", "--resume"]);
    assert_eq!(marks(&rows), before);
    // Without `--resume` it is another folder, and nothing of the first is touched.
    bench.run(["run", "sweep.toml"]);
    assert_eq!(marks(&rows), before);
    assert_eq!(marks(&bench.at("evalfarm-jobs")).len(), 2);
}
