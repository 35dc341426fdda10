//! What is known beside two results: reruns of one configuration, and what became of a stage.

use evalfarm_testkit::reference_data;
use evalfarm_tests::Bench;
use serde_json::Value;

use super::tables::{baseline, changed, csv, improved};
use crate::support::{Ending as _, assert_close, codes, number, run};

/// A baseline, a better candidate and the same run again, changed on 49 of 600 queries.
fn tables(bench: &Bench) -> [String; 3] {
    if let Some(folder) = reference_data("searchops") {
        let names = [
            "baseline-v7-holdout",
            "rerank-holdout-n50",
            "rerank-holdout-n50-rerun",
        ];
        return names.map(|name| {
            let path = folder.join(format!("{name}.json"));
            path.to_string_lossy().into_owned()
        });
    }
    let rows = baseline(600);
    let better = improved(&rows);
    // 26 rises and 23 falls of .12: a mean of 3·.12/600 = .0006, and p = .775 by the binomial distribution.
    let again = changed(&better, |at| match at {
        0..26 => 0.12,
        26..49 => -0.12,
        _ => 0.0,
    });
    for (name, rows) in [("base", &rows), ("better", &better), ("again", &again)] {
        bench.write(&format!("{name}.csv"), csv(rows));
    }
    ["base.csv", "better.csv", "again.csv"].map(str::to_owned)
}

/// Returns what the limits say of a rerun's nDCG@10.
fn rerun_of(document: &Value) -> (&str, f64) {
    let mut limits = document["limits"].as_array().expect("a list").iter();
    let limit = limits.find(|limit| {
        let text = limit["text"].as_str().expect("a text");
        text.starts_with("rerun: nDCG@10")
    });
    let limit = limit.expect("reruns are told");
    (
        limit["text"].as_str().expect("a text"),
        number(&limit["value"]),
    )
}

#[test]
fn a_rerun_tells_the_noise_and_promotes_nothing() {
    let bench = Bench::new();
    let [base, better, again] = tables(&bench);
    let args = [
        "compare", &base, &better, "--repeat", &again, "--format", "json",
    ];
    let document = run(&bench, &args).ending(0).json();
    let (text, delta) = rerun_of(&document);
    // searchops, the third document: 49 of 600 queries changed, +.0006, p .856.
    assert!(text.contains("changed on 49 of 600 queries"), "{text}");
    assert_close("delta", delta, 0.0006, 5e-5);
    let p = text.rsplit(' ').next().expect("it ends in p");
    let p: f64 = p.parse().expect("p is a number");
    assert!(p > 0.7, "{text}");
    if reference_data("searchops").is_some() {
        assert_close("p", p, 0.856, 0.01);
    }
    // The rerun itself is no better candidate.
    let args = ["compare", &better, &again, "--format", "json"];
    let document = run(&bench, &args).ending(1).json();
    assert_eq!(document["metrics"][0]["changed"], 49);
    // An effect that reruns show by themselves is not promoted, however significant.
    let rows = baseline(600);
    bench.write("one.csv", csv(&rows));
    bench.write("other.csv", csv(&changed(&rows, |_| 0.004)));
    bench.write(
        "wild.csv",
        csv(&changed(&rows, |at| if at % 2 == 0 { 0.15 } else { -0.15 })),
    );
    let args = ["compare", "one.csv", "other.csv", "--format", "json"];
    run(&bench, &args).ending(0);
    let args = [&args[..], &["--repeat", "wild.csv"]].concat();
    let document = run(&bench, &args).ending(4).json();
    assert_eq!(codes(&document), ["noise_band"]);
}

/// A baseline, a run on which a stage failed for 83 of 600 queries, and the table that says so.
fn degraded(bench: &Bench) -> [String; 3] {
    if let Some(folder) = reference_data("searchops") {
        let names = [
            "baseline-v7-holdout",
            "rerank-holdout-n20-run1-degraded",
            "rerank-holdout-coverage-n20-run1-degraded",
        ];
        return names.map(|name| {
            let path = folder.join(format!("{name}.json"));
            path.to_string_lossy().into_owned()
        });
    }
    let rows = baseline(600);
    bench.write("base.csv", csv(&rows));
    bench.write("better.csv", csv(&improved(&rows)));
    let status = |at: usize| if at < 83 { "timeout" } else { "applied" };
    let lines = (0..600).map(|at| format!("q{at:04},0.5,{}\n", status(at)));
    let lines = lines.collect::<Vec<_>>().concat();
    let table = format!("query_id,ndcg10,rerank_status\n{lines}");
    bench.write("coverage.csv", table);
    ["base.csv", "better.csv", "coverage.csv"].map(str::to_owned)
}

#[test]
fn a_degraded_run_is_blocked_when_another_table_says_so() {
    let bench = Bench::new();
    let [base, run_of, coverage] = degraded(&bench);
    // Without its statuses the degraded run would be promoted.
    run(&bench, &["compare", &base, &run_of]).ending(0);
    let args = [
        "compare",
        &base,
        &run_of,
        "--statuses",
        &coverage,
        "--format",
        "json",
    ];
    let document = run(&bench, &args).ending(1).json();
    assert_eq!(codes(&document)[0], "degraded");
    assert_eq!(document["candidate_counts"]["degraded"], 83);
}
