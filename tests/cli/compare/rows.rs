//! The rows of this project's own jobs.

use std::fs;

use evalfarm_domain::{
    CandidateId, FailureKind, Fold, Metric, QueryId, RerankStatus, RewriteStatus,
};
use evalfarm_results::{QueryRow, RowBlock};
use evalfarm_tests::{Bench, Data, Sweep};
use serde_json::Value;

use crate::support::{Ending as _, assert_close, codes, entry, number, refused, run, run_line};

/// A job of three candidates over a generated catalogue, judged on every query.
fn list(queries: u32) -> Sweep {
    let candidates = "strategy = \"list\"\ncandidates = [\n  \
        { name = \"title\", weights = { title = 1 } },\n  \
        { name = \"brand\", weights = { brand = 1 } },\n]";
    Sweep {
        split: None,
        ..Sweep::new(Data::Generated(300, queries), 0, 0, candidates)
    }
}

fn id(verdict: &Value, side: &str) -> String {
    verdict[side]["id"]
        .as_str()
        .expect("a candidate has an id")
        .to_owned()
}

#[test]
fn a_pair_of_a_jobs_rows_is_compared_as_the_job_did() {
    let bench = Bench::new();
    bench.write("sweep.toml", list(60).toml());
    run_line(&bench, "run sweep.toml --out job --quiet");
    let text = fs::read_to_string(bench.at("job/verdict.json")).expect("the job has a verdict");
    let verdict: Value = serde_json::from_str(&text).expect("it is JSON");
    let (baseline, best) = (id(&verdict, "baseline"), id(&verdict, "best"));
    for path in ["job", "job/rows"] {
        let line = format!(
            "compare {path} {path} --baseline-id {baseline} --candidate-id {best} --format json"
        );
        let document = run_line(&bench, &line).json();
        assert_eq!(
            (&document["baseline"], &document["candidate"]),
            (&baseline.clone().into(), &best.clone().into())
        );
        for metric in document["metrics"].as_array().expect("a list") {
            let name = metric["metric"].as_str().expect("a name");
            let known = entry(&verdict["metrics"], "metric", name);
            for figure in ["n", "wins", "losses", "changed"] {
                assert_eq!(metric[figure], known[figure], "{figure} of {name}");
            }
            assert_close(
                name,
                number(&metric["baseline"]),
                number(&known["baseline"]),
                1e-12,
            );
            assert_close(
                name,
                number(&metric["candidate"]),
                number(&known["candidate"]),
                1e-12,
            );
        }
        // Every verdict made from synthetic data says so.
        let limits = document["limits"].to_string();
        for code in ["synthetic", "gains", "judged_share", "degraded"] {
            assert!(
                limits.contains(&format!("\"{code}\"")),
                "no `{code}` in {limits}"
            );
        }
    }
    let same = format!("compare job job --baseline-id {best} --candidate-id {best} --format json");
    let document = run_line(&bench, &same).ending(4).json();
    assert_eq!(codes(&document)[0], "no_change");
    refused(
        &bench,
        "compare job job",
        &[
            "`job`: rows of 3 candidates are in it",
            "hint: name one with `--baseline-id`",
        ],
    );
    refused(
        &bench,
        &format!("compare job job --baseline-id {baseline} --candidate-id c0"),
        &[
            "`job`: candidate `c0` has no rows in it",
            "candidates.parquet",
        ],
    );
    refused(
        &bench,
        "compare job/verdict.json job/verdict.json",
        &["`job/verdict.json`: there is no list `queries`"],
    );
    // G5: a job on other data.
    bench.write("other.toml", list(50).toml());
    run_line(&bench, "run other.toml --out other --quiet");
    refused(
        &bench,
        &format!("compare job other --baseline-id {baseline} --candidate-id {baseline}"),
        &[
            "the jobs `job` and `other` have different datasets",
            "hint: run both on one dataset",
        ],
    );
}

const METRICS: [&str; 2] = ["nDCG@10", "RR@10"];

/// One row of the candidate's file: the query's number, its value, and what went wrong.
type Cell = (f64, RerankStatus, Option<FailureKind>);

/// Writes a file of rows for one candidate.
fn rows(bench: &Bench, file: &str, candidate: &str, fold: Fold, cell: impl Fn(usize) -> Cell) {
    let metrics: Vec<Metric> = METRICS.map(|name| name.parse().expect("a metric")).to_vec();
    let row = |at: usize| {
        let (value, rerank, failure) = cell(at);
        let scored = if failure.is_some() { 0.0 } else { value };
        QueryRow {
            candidate: CandidateId::try_from(candidate).expect("an id"),
            query: QueryId::try_from(format!("q{at:03}")).expect("an id"),
            values: vec![failure.is_none().then_some(value); METRICS.len()],
            scored: vec![scored; METRICS.len()],
            judged_share: Some(0.5),
            zero_result: false,
            hits_returned: 10,
            top_digest: 1,
            rewrite: RewriteStatus::NotRequested,
            rerank,
            failure,
        }
    };
    let block = RowBlock {
        job: "j1".try_into().expect("an id"),
        fold,
        metrics,
        rows: (0..100).map(row).collect(),
    };
    bench.write(file, block.to_bytes().expect("rows have a form"));
}

/// What became of the candidate's rerank stage on some queries, and what follows.
struct Stages {
    name: &'static str,
    status: RerankStatus,
    failing: usize,
    failure: Option<FailureKind>,
    code: i32,
    reason: &'static str,
    degraded: usize,
    failed: usize,
}

const fn stages(name: &'static str, status: RerankStatus, failing: usize) -> Stages {
    Stages {
        name,
        status,
        failing,
        failure: None,
        code: 0,
        reason: "promoted",
        degraded: 0,
        failed: 0,
    }
}

/// One of a hundred is tolerated by default, 14 are not.
const STAGES: [Stages; 6] = [
    stages("applied", RerankStatus::Applied, 0),
    stages("nothing to do", RerankStatus::NotApplicable, 14),
    Stages {
        degraded: 1,
        ..stages("one of a hundred", RerankStatus::Timeout, 1)
    },
    Stages {
        degraded: 14,
        code: 1,
        reason: "degraded",
        ..stages("timeouts", RerankStatus::Timeout, 14)
    },
    Stages {
        degraded: 14,
        code: 1,
        reason: "degraded",
        ..stages("overload", RerankStatus::Overloaded, 14)
    },
    // A failed query is not degraded as well.
    Stages {
        failure: Some(FailureKind::Timeout),
        failed: 14,
        code: 1,
        reason: "failed",
        ..stages("failures", RerankStatus::Timeout, 14)
    },
];

#[test]
fn failed_stages_and_failed_queries_of_rows_count() {
    let bench = Bench::new();
    let base = |at: usize| (0.3 + 0.002 * at as f64, RerankStatus::NotRequested, None);
    rows(&bench, "base.parquet", "c1", Fold::All, base);
    let better = |at: usize| 0.5 + 0.002 * at as f64;
    for case in &STAGES {
        rows(&bench, "new.parquet", "c2", Fold::All, |at| {
            if at < case.failing {
                (better(at), case.status, case.failure)
            } else {
                (better(at), RerankStatus::Applied, None)
            }
        });
        let outcome = run_line(&bench, "compare base.parquet new.parquet --format json");
        assert_eq!(
            outcome.code,
            Some(case.code),
            "{}\n{}",
            case.name,
            outcome.stdout
        );
        let document = outcome.json();
        assert_eq!(codes(&document)[0], case.reason, "{}", case.name);
        let counts = &document["candidate_counts"];
        assert_eq!(counts["degraded"], case.degraded, "{}", case.name);
        assert_eq!(counts["failed"], case.failed, "{}", case.name);
    }
    // The baseline's stages count too: what it would have been is not known.
    rows(&bench, "shaky.parquet", "c1", Fold::All, |at| {
        let status = if at < 14 {
            RerankStatus::TransportError
        } else {
            RerankStatus::Applied
        };
        (base(at).0, status, None)
    });
    rows(&bench, "new.parquet", "c2", Fold::All, |at| {
        (better(at), RerankStatus::Applied, None)
    });
    let line = "compare shaky.parquet new.parquet --format json";
    let document = run_line(&bench, line).ending(4).json();
    assert_eq!(codes(&document)[0], "baseline_degraded");
    assert_eq!(document["baseline_counts"]["degraded"], 14);
}

#[test]
fn both_sides_of_a_split_are_not_mixed() {
    let bench = Bench::new();
    let cell = |by: f64| {
        move |at: usize| {
            (
                0.3 + by + 0.002 * at as f64,
                RerankStatus::NotRequested,
                None,
            )
        }
    };
    rows(&bench, "base/train.parquet", "c1", Fold::Train, cell(0.0));
    rows(&bench, "base/holdout.parquet", "c1", Fold::Holdout, |at| {
        (0.2 + 0.002 * at as f64, RerankStatus::NotRequested, None)
    });
    rows(&bench, "new.parquet", "c2", Fold::Holdout, cell(0.1));
    // Ids of the two sides differ in a real job; here they are the same, and are refused for that.
    run(&bench, &["compare", "base", "new.parquet"]).ending(2);
    let line = "compare base new.parquet --split holdout --format json";
    let document = run_line(&bench, line).ending(0).json();
    assert_close(
        "baseline",
        number(&document["metrics"][0]["baseline"]),
        0.299,
        1e-12,
    );
    refused(
        &bench,
        "compare base new.parquet --split train",
        &["there is no row in it"],
    );
}

#[test]
fn a_winner_of_a_split_is_compared_on_the_side_that_is_named() {
    let bench = Bench::new();
    let strategy = "strategy = \"axis_scan\"\nlevels = [0, 1]";
    bench.write(
        "sweep.toml",
        Sweep::new(Data::Generated(300, 60), 30, 30, strategy).toml(),
    );
    run_line(&bench, "run sweep.toml --out job --quiet");
    let text = fs::read_to_string(bench.at("job/verdict.json")).expect("the job has a verdict");
    let verdict: Value = serde_json::from_str(&text).expect("it is JSON");
    let (baseline, best) = (id(&verdict, "baseline"), id(&verdict, "best"));
    let line = format!("compare job job --baseline-id {baseline} --candidate-id {best}");
    refused(
        &bench,
        &line,
        &[
            "`job` has rows of the sides `train` and `holdout` of a split",
            "--split holdout",
        ],
    );
    let document = run_line(&bench, &format!("{line} --split holdout --format json")).json();
    let (ours, known) = (&document["metrics"][0], &verdict["metrics"][0]);
    assert_eq!(ours["n"], 30);
    assert_close(
        "delta",
        number(&ours["delta"]),
        number(&known["delta"]),
        1e-12,
    );
}
