//! pandas, polars and `DuckDB` read what a job leaves, and agree.
//!
//! The checks themselves are in `check.py`, which runs with the Python that `EVALFARM_PYTHON` names; `tests/all.sh`
//! installs it. The jobs are made here.

use std::path::Path;
use std::process::Command;

use evalfarm_domain::{
    CandidateId, FailureKind, Fold, JobId, Metric, QueryId, RerankStatus, RewriteStatus, TaskId,
};
use evalfarm_results::{JobFolder, QueryRow, RowBlock};
use evalfarm_tests::{Bench, Data, Sweep, wait_until};

/// Runs one check of `check.py` on a job's folder.
#[track_caller]
fn check(name: &str, job: &Path, dataset: Option<&Path>) {
    let python = std::env::var_os("EVALFARM_PYTHON")
        .expect("EVALFARM_PYTHON names a Python, see tests/all.sh");
    let output = Command::new(python)
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/readers/check.py"))
        .arg(name)
        .arg(job)
        .args(dataset)
        .output()
        .expect("Python runs");
    assert!(
        output.status.success(),
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
}

/// Runs the sweep in `sweep.toml` of the bench to its verdict.
fn finish(bench: &Bench, sweep: &Sweep) {
    bench.write("sweep.toml", sweep.toml());
    let outcome = bench.run(["run", "sweep.toml", "--out", "job"]);
    outcome.expect_verdict();
}

#[test]
fn a_staged_sweep_over_weighted_queries_is_read_alike_by_all() {
    let bench = Bench::new();
    let dataset = bench.generate("shop", 2000, 300);
    let shop = Data::Stored("shop".to_owned());
    finish(&bench, &Sweep::new(shop, 200, 100, "strategy = \"staged\""));
    check("finished", &bench.at("job"), Some(&dataset));
}

#[test]
fn means_of_a_very_large_sweep_are_read_alike_by_all() {
    let bench = Bench::new();
    bench.generate("shop", 1000, 150);
    let shop = Data::Stored("shop".to_owned());
    let sweep = Sweep::new(shop, 100, 50, "strategy = \"axis_scan\"");
    bench.write("sweep.toml", format!("max_rows = 0\n{}", sweep.toml()));
    let outcome = bench.run(["run", "sweep.toml", "--out", "job"]);
    outcome.expect_verdict();
    check("large", &bench.at("job"), None);
}

#[test]
fn p9_p20_q6_ids_that_look_like_numbers_are_read_as_they_are_spelt() {
    // Ten digits with zeros in front, and more digits than an f64 has.
    let products: Vec<String> = (0..40)
        .map(|number| {
            let other = number * 7 % 40;
            format!(
                r#"{{"id": "{}", "title": "lamp model{number}", "brand": "maker{other}"}}"#,
                id(number)
            )
        })
        .collect();
    let ratings: Vec<String> = (0..30)
        .map(|number| format!("lamp model{number},{},{}", id(number), 1 + number % 3))
        .collect();
    let bench = Bench::new();
    bench.write("products.jsonl", products.join("\n"));
    bench.write(
        "ratings.csv",
        "query,docid,rating\n".to_owned() + &ratings.join("\n"),
    );
    let args = "dataset import catalogue --products products.jsonl --id id --field title --field brand --ratings ratings.csv --out lamps";
    bench.run(args.split(' ')).expect_code(0);
    let lamps = Data::Stored("lamps".to_owned());
    let grid = "strategy = \"grid\"\nratios = { brand = \"0..1 step 0.25\" }";
    let sweep = Sweep {
        split: None,
        baseline: "{ title = 1, brand = 0.1 }".to_owned(),
        policy: "judge = \"all_on_all\"".to_owned(),
        ..Sweep::new(lamps, 0, 0, grid)
    };
    finish(&bench, &sweep);
    check("finished", &bench.at("job"), Some(&bench.at("lamps")));
}

fn id(number: u64) -> String {
    if number.is_multiple_of(2) {
        format!("{number:010}")
    } else {
        (9_007_199_254_740_992 + number).to_string()
    }
}

#[test]
fn q8_rows_of_a_killed_job_are_read_alike_by_all() {
    let bench = Bench::new();
    bench.generate("shop", 2000, 900);
    let shop = Data::Stored("shop".to_owned());
    let sweep = Sweep::new(shop, 600, 300, "strategy = \"staged\"");
    bench.write("sweep.toml", sweep.toml());
    let rows = bench.at("job/rows");
    let mut running = bench.start(["run", "sweep.toml", "--threads", "1", "--out", "job"]);
    wait_until("several row files", || {
        assert!(!running.has_ended(), "it ended before it was killed");
        let files = rows.read_dir().map_or(0, Iterator::count);
        (files > 5).then_some(())
    });
    running.kill();
    check("rows", &bench.at("job"), None);
}

fn row(query: &str, digest: u64) -> QueryRow {
    QueryRow {
        candidate: CandidateId::try_from("c1").expect("it is an id"),
        query: QueryId::try_from(query).expect("it is an id"),
        values: vec![Some(1.0), Some(0.0)],
        scored: vec![1.0, 0.0],
        judged_share: Some(0.1),
        zero_result: false,
        hits_returned: 10,
        top_digest: digest,
        rewrite: RewriteStatus::NotRequested,
        rerank: RerankStatus::Timeout,
        failure: None,
    }
}

fn failed(query: &str) -> QueryRow {
    QueryRow {
        values: vec![None, None],
        scored: vec![0.0, 1.0],
        judged_share: None,
        hits_returned: 0,
        failure: Some(FailureKind::Timeout),
        ..row(query, 0)
    }
}

/// Returns an empty job folder in the bench, and rows as the content of one of its files.
fn by_hand(bench: &Bench) -> (JobFolder, impl Fn(Vec<QueryRow>) -> RowBlock) {
    let job = JobId::try_from("j1").expect("it is an id");
    let folder = JobFolder::create(&bench.at("job"), &job, &serde_json::Value::Null);
    let block = move |rows| RowBlock {
        job: job.clone(),
        fold: Fold::All,
        metrics: metrics(),
        rows,
    };
    (folder.expect("the folder is new"), block)
}

fn metrics() -> Vec<Metric> {
    let metric = |name: &str| name.parse().expect("it is a metric");
    ["nDCG@10", "zero_result"].map(metric).to_vec()
}

#[test]
fn q1_q3_q10_q11_failures_and_extreme_numbers_are_read_alike_by_all() {
    let bench = Bench::new();
    let (folder, block) = by_hand(&bench);
    let commit = |task: &str, rows| {
        let task = TaskId::try_from(task).expect("it is an id");
        let committed = folder.commit_rows(&task, &block(rows));
        committed.expect("the folder can be written to");
    };
    // The first file has no value at all, the second has one beside failures.
    let first = ["545010225", "9007199254740993", "caf\u{e9}", "cafe\u{301}"];
    commit("t1", first.map(failed).to_vec());
    let second = [
        row("0545010225", u64::MAX - 1),
        failed("true"),
        failed("1e5"),
    ];
    commit("t2", second.to_vec());
    check("failed", &bench.at("job"), None);
}

#[test]
fn q7_a_job_without_rows_is_read_alike_by_all() {
    let bench = Bench::new();
    let (folder, _) = by_hand(&bench);
    let ensured = folder.ensure_rows(Fold::All, &metrics());
    ensured.expect("the folder can be written to");
    check("empty", &bench.at("job"), None);
}
