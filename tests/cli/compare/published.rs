//! The verdicts on the published experiment (cases.md S24, G1), or on tables with the same outcome when it is absent.

use std::fs;
use std::path::Path;

use evalfarm_testkit::reference_data;
use evalfarm_tests::{Bench, METRIC_KEYS, Outcome};
use serde_json::Value;

use super::tables::{baseline, changed, csv, improved};
use crate::support::{Ending as _, assert_close, codes, entry, number, run};

const KEYS: [&str; 5] = ["verdict", "reasons", "family", "limits", "metrics"];

/// Compares two files in both formats: one verdict, one exit code (G1), one strict object with the promised keys.
#[track_caller]
fn compared(bench: &Bench, before: &str, after: &str) -> (Outcome, Value) {
    let text = run(bench, &["compare", before, after]);
    let json = run(bench, &["compare", before, after, "--format", "json"]);
    assert_eq!(text.code, json.code);
    assert_eq!(text.stderr, json.stderr);
    let document = json.json();
    let verdict = document["verdict"].as_str().expect("a verdict is a text");
    let code = match verdict {
        "PROMOTE" => 0,
        "BLOCK" => 1,
        "INSUFFICIENT_EVIDENCE" => 4,
        other => panic!("`{other}` is no verdict"),
    };
    assert_eq!(text.code, Some(code), "{verdict}");
    assert_eq!(text.stdout.lines().next(), Some(verdict));
    for key in KEYS {
        assert!(!document[key].is_null(), "no `{key}` in {document:#}");
    }
    for reason in document["reasons"].as_array().expect("a list") {
        let told = reason["text"].as_str().expect("a text");
        assert!(
            reason["code"].is_string() && text.stdout.contains(told),
            "{told}"
        );
    }
    for limit in document["limits"].as_array().expect("a list") {
        assert!(
            text.stdout
                .contains(limit["text"].as_str().expect("a text")),
            "{limit}"
        );
    }
    assert!(document["family"]["size"].is_u64() && document["family"]["correction"].is_string());
    for metric in document["metrics"].as_array().expect("a list") {
        for key in METRIC_KEYS {
            // The corrected p-value of a metric outside the family does not exist.
            let there = metric[key].is_number() || key == "metric" || key == "q";
            assert!(there && metric.get(key).is_some(), "`{key}` of {metric:#}");
        }
    }
    (text, document)
}

/// A comparison of two published files.
struct Published {
    before: &'static str,
    after: &'static str,
    verdict: &'static str,
    delta: f64,
    interval: Option<(f64, f64)>,
    /// The p-value and its Monte Carlo error.
    p: (f64, f64),
    changed: Option<u64>,
}

/// Figures of the third document, as cases.md S24 and the issue give them.
const PUBLISHED: [Published; 3] = [
    Published {
        before: "baseline-v7-holdout.json",
        after: "rerank-holdout-n50.json",
        verdict: "PROMOTE",
        delta: 0.120_684,
        interval: Some((0.1006, 0.1416)),
        p: (1e-4, 1e-5),
        changed: None,
    },
    Published {
        before: "baseline-v7-holdout.json",
        after: "sweep-best-holdout.json",
        verdict: "BLOCK",
        delta: 0.003_451,
        interval: None,
        p: (0.1202, 0.01),
        changed: Some(40),
    },
    Published {
        before: "baseline-v7-holdout.json",
        after: "baseline-v7-holdout.json",
        verdict: "INSUFFICIENT_EVIDENCE",
        delta: 0.0,
        interval: Some((0.0, 0.0)),
        p: (1.0, 0.0),
        changed: Some(0),
    },
];

#[test]
fn s24_g1_the_published_verdicts_are_reproduced() {
    let bench = Bench::new();
    let Some(folder) = reference_data("searchops") else {
        return same_outcomes(&bench);
    };
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    for case in &PUBLISHED {
        let (_, document) = compared(&bench, &path(case.before), &path(case.after));
        assert_eq!(document["verdict"], case.verdict, "{}", case.after);
        let ndcg = &document["metrics"][0];
        assert_eq!(
            (&ndcg["metric"], &ndcg["n"]),
            (&"nDCG@10".into(), &600.into())
        );
        assert_close(case.after, number(&ndcg["delta"]), case.delta, 5e-7);
        assert_close(case.after, number(&ndcg["p"]), case.p.0, case.p.1);
        if let Some((low, high)) = case.interval {
            assert_close(case.after, number(&ndcg["ci_low"]), low, 0.002);
            assert_close(case.after, number(&ndcg["ci_high"]), high, 0.002);
        }
        if let Some(changed) = case.changed {
            assert_eq!(ndcg["changed"], changed);
        }
        if case.before == case.after {
            assert_eq!(codes(&document)[0], "no_change");
        }
    }
    near_the_limit(
        &bench,
        &path("rerank-holdout-n20.json"),
        &path("rerank-holdout-n50.json"),
    );
}

/// cases.md S24: n20 to n50, RR@10: p .0552 ± .006 and an interval whose lower end is about 0.
fn near_the_limit(bench: &Bench, n20: &str, n50: &str) {
    let (_, document) = compared(bench, n20, n50);
    let rr = entry(&document["metrics"], "metric", "RR@10");
    assert_close("p", number(&rr["p"]), 0.0552, 0.006);
    assert_close("ci_low", number(&rr["ci_low"]), 0.0001, 0.002);
    assert_close("ci_high", number(&rr["ci_high"]), 0.0299, 0.002);
}

/// Tables of the same size with the same three outcomes, known by construction: a clear gain, a gain of 19 wins against
/// 21 losses, and nothing.
fn same_outcomes(bench: &Bench) {
    let rows = baseline(600);
    bench.write("base.csv", csv(&rows));
    bench.write("better.csv", csv(&improved(&rows)));
    let mixed = changed(&rows, |at| match at {
        0..19 => 0.02,
        19..40 => -0.02,
        _ => 0.0,
    });
    bench.write("mixed.csv", csv(&mixed));
    for (after, verdict, changed, p) in [
        ("better.csv", "PROMOTE", 600, 1e-4),
        // Twice the lower tail of a binomial with 40 trials and one half, at 19 of 40 or fewer: 0.8746.
        ("mixed.csv", "BLOCK", 40, 0.8746),
        ("base.csv", "INSUFFICIENT_EVIDENCE", 0, 1.0),
    ] {
        let (_, document) = compared(bench, "base.csv", after);
        assert_eq!(document["verdict"], verdict, "{after}");
        let ndcg = &document["metrics"][0];
        assert_eq!(ndcg["changed"], changed);
        assert_close(after, number(&ndcg["p"]), p, 0.01);
    }
}

/// Returns the published file with some of its queries changed or left out.
fn edited(folder: &Path, name: &str, edit: impl FnOnce(&mut Vec<Value>)) -> String {
    let text = fs::read_to_string(folder.join(name)).expect("the data set is complete");
    let mut document: Value = serde_json::from_str(&text).expect("it is JSON");
    edit(document["queries"].as_array_mut().expect("it has queries"));
    document.to_string()
}

/// Returns a baseline, a better candidate, the same without 50 of its queries, and with a NaN in it.
fn damaged() -> (String, String, String, String) {
    let Some(folder) = reference_data("searchops") else {
        let rows = baseline(600);
        let better = improved(&rows);
        let nan = csv(&better).replacen("q0007,0", "q0007,NaN", 1);
        return (csv(&rows), csv(&better), csv(&better[50..]), nan);
    };
    let (baseline, rerank) = ("baseline-v7-holdout.json", "rerank-holdout-n50.json");
    let better = edited(&folder, rerank, |_| {});
    let fewer = edited(&folder, rerank, |rows| {
        rows.drain(..50);
    });
    let nan = better.replacen("\"ndcg10\":0.", "\"ndcg10\":NaN,\"was\":0.", 1);
    (edited(&folder, baseline, |_| {}), better, fewer, nan)
}

#[test]
fn s16_s17_damaged_results_are_refused_or_never_promoted() {
    let bench = Bench::new();
    let (good, better, fewer, not_a_number) = damaged();
    assert!(not_a_number.contains("NaN"));
    for (name, content) in [
        ("base", &good),
        ("better", &better),
        ("fewer", &fewer),
        ("nan", &not_a_number),
        ("empty", &String::new()),
    ] {
        bench.write(name, content);
    }
    for damaged in ["nan", "empty"] {
        for line in [["base", damaged], [damaged, "base"], [damaged, damaged]] {
            run(&bench, &["compare", line[0], line[1]]).ending(2);
        }
    }
    let (text, document) = compared(&bench, "base", "fewer");
    assert_eq!(document["verdict"], "BLOCK");
    assert_eq!(document["metrics"][0]["n"], 600);
    assert_eq!(document["candidate_counts"]["failed"], 50);
    assert!(
        text.stderr
            .contains("50 of 600 queries are missing from the candidate")
    );
    assert!(
        text.stdout
            .contains("50 of 600 queries are missing from the candidate")
    );
    assert!(
        text.stdout
            .contains("failed queries: baseline 0, candidate 50 of 600")
    );
    let (text, document) = compared(&bench, "fewer", "better");
    assert_ne!(document["verdict"], "PROMOTE");
    assert_eq!(document["baseline_counts"]["failed"], 50);
    assert!(
        text.stdout
            .contains("50 of 600 queries are missing from the baseline")
    );
}

#[test]
fn a_degraded_run_is_blocked_when_the_table_says_so() {
    let bench = Bench::new();
    let rows = baseline(600);
    bench.write("base.csv", csv(&rows));
    // The published degraded run: 80 timeouts and 3 transport errors of 600.
    let mut text = String::new();
    for (line, row) in csv(&improved(&rows)).lines().enumerate() {
        let status = match line {
            0 => "rerank_status",
            1..=80 => "TIMEOUT",
            81..=83 => "TRANSPORT_ERROR",
            84..=87 => "NOT_APPLICABLE(no-call)",
            _ => "APPLIED",
        };
        text.extend([format!("{row},{status}\n")]);
    }
    bench.write("degraded.csv", text);
    let (_, document) = compared(&bench, "base.csv", "degraded.csv");
    assert_eq!(document["verdict"], "BLOCK");
    assert_eq!(codes(&document)[0], "degraded");
    assert_eq!(document["candidate_counts"]["degraded"], 83);
}
