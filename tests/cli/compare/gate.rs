//! What other gates let through (cases.md G and S), through the command.

use evalfarm_tests::Bench;

use super::tables::{Row, baseline, changed, csv, improved};
use crate::support::{Ending as _, codes, run, run_line};

/// A change of single queries and what it must lead to.
struct Case {
    id: &'static str,
    queries: usize,
    change: fn(usize) -> f64,
    code: i32,
    /// The deciding reason.
    reason: &'static str,
}

const CASES: &[Case] = &[
    Case {
        id: "G4: all of three queries collapse",
        queries: 3,
        change: |_| -0.15,
        code: 4,
        reason: "undecidable",
    },
    Case {
        id: "G4: four of eight queries collapse",
        queries: 8,
        change: |at| if at < 4 { -0.15 } else { 0.0 },
        code: 4,
        reason: "undecidable",
    },
    Case {
        id: "S1: nothing changes",
        queries: 60,
        change: |_| 0.0,
        code: 4,
        reason: "no_change",
    },
    Case {
        id: "S3: five queries rise, and five cannot decide",
        queries: 60,
        change: |at| if at < 5 { 0.1 } else { 0.0 },
        code: 4,
        reason: "undecidable",
    },
    Case {
        id: "a clear fall",
        queries: 60,
        change: |_| -0.15,
        code: 1,
        reason: "guard_harmed",
    },
    Case {
        id: "a clear rise on too few queries",
        queries: 15,
        change: |at| 0.1 + 0.001 * at as f64,
        code: 4,
        reason: "too_few_queries",
    },
    Case {
        id: "a clear rise",
        queries: 60,
        change: |at| 0.1 + 0.001 * at as f64,
        code: 0,
        reason: "promoted",
    },
];

#[test]
fn g4_s1_s3_small_changes_are_never_green() {
    let bench = Bench::new();
    for case in CASES {
        let rows = baseline(case.queries);
        bench.write("base.csv", csv(&rows));
        bench.write("new.csv", csv(&changed(&rows, case.change)));
        let outcome = run_line(&bench, "compare base.csv new.csv --format json");
        assert_eq!(
            outcome.code,
            Some(case.code),
            "{}\n{}",
            case.id,
            outcome.stdout
        );
        assert_eq!(codes(&outcome.json())[0], case.reason, "{}", case.id);
    }
}

/// Rows with a column that says why a query failed.
fn with_failures(rows: &[Row], failed: impl Fn(usize) -> Option<&'static str>) -> String {
    let text = csv(rows);
    let mut lines = text.lines();
    let header = lines.next().expect("a table has a header");
    let mut all = format!("{header},failure\n");
    for (at, line) in lines.enumerate() {
        match failed(at) {
            None => all.extend([format!("{line},\n")]),
            Some(kind) => {
                let query = line.split(',').next().expect("a line has an id");
                all.extend([format!("{query},,,,{kind}\n")]);
            }
        }
    }
    all
}

#[test]
fn g6_a_failed_query_never_helps() {
    let bench = Bench::new();
    let rows = baseline(100);
    let better = improved(&rows);
    bench.write("base.csv", with_failures(&rows, |_| None));
    // A candidate that times out on the half of the queries that it is bad at.
    let half: Vec<Row> = changed(&rows, |at| if at < 50 { -0.1 } else { 0.2 });
    bench.write(
        "timeouts.csv",
        with_failures(&half, |at| (at < 50).then_some("timeout")),
    );
    let outcome = run_line(&bench, "compare base.csv timeouts.csv --format json").ending(1);
    let document = outcome.json();
    assert_eq!(document["candidate_counts"]["failures"]["timeout"], 50);
    assert_eq!(codes(&document)[0], "failed");
    // A baseline that fails makes no difference, and too often no promotion.
    bench.write("better.csv", with_failures(&better, |_| None));
    bench.write(
        "shaky.csv",
        with_failures(&rows, |at| (at < 10).then_some("transport_error")),
    );
    let outcome = run_line(&bench, "compare shaky.csv better.csv --format json").ending(4);
    let document = outcome.json();
    assert_eq!(codes(&document)[0], "baseline_failed");
    assert_eq!(document["baseline_counts"]["failed"], 10);
}

#[test]
fn guards_are_those_that_are_named() {
    let bench = Bench::new();
    let rows = baseline(100);
    bench.write("base.csv", csv(&rows));
    let mixed: Vec<Row> = improved(&rows)
        .into_iter()
        .map(|(query, [ndcg, rr, _])| (query, [ndcg, rr, 0.1]))
        .collect();
    bench.write("mixed.csv", csv(&mixed));
    for (options, code) in [
        ("", 1),
        ("--guard R@10", 1),
        ("--guard recall_10", 1),
        ("--guard RR@10", 0),
        ("--primary RR@10", 1),
        ("--primary R@10", 1),
    ] {
        let line = format!("compare base.csv mixed.csv {options}");
        let outcome = run_line(&bench, &line);
        assert_eq!(outcome.code, Some(code), "{line}\n{}", outcome.stdout);
    }
}

#[test]
fn a_cost_has_to_fall() {
    let bench = Bench::new();
    let latency = |rows: &[Row], cost: fn(usize) -> f64| {
        let mut text = String::from("query_id,ndcg10,latency_ms\n");
        for (at, (query, values)) in rows.iter().enumerate() {
            text.extend([format!("{query},{},{}\n", values[0], cost(at))]);
        }
        text
    };
    let rows = baseline(100);
    let better = improved(&rows);
    bench.write("base.csv", latency(&rows, |at| 50.0 + at as f64));
    bench.write("slower.csv", latency(&better, |at| 90.0 + at as f64));
    bench.write("faster.csv", latency(&better, |at| 20.0 + at as f64));
    for (line, code) in [
        (
            "compare base.csv slower.csv --lower-is-better latency_ms",
            1,
        ),
        (
            "compare base.csv faster.csv --lower-is-better latency_ms",
            0,
        ),
        (
            "compare base.csv faster.csv --lower-is-better latency_ms --primary latency_ms",
            0,
        ),
        (
            "compare base.csv slower.csv --lower-is-better latency_ms --primary latency_ms",
            1,
        ),
        // Without the option a column that nobody knows is one of which more is better, and that is said.
        ("compare base.csv faster.csv", 1),
    ] {
        let outcome = run_line(&bench, line);
        assert_eq!(outcome.code, Some(code), "{line}\n{}", outcome.stdout);
    }
    let said = run_line(&bench, "compare base.csv faster.csv").stdout;
    let note = "`latency_ms` is no metric that evalfarm knows: more is taken to be better, unless `--lower-is-better latency_ms`";
    assert!(said.contains(note), "{said}");
}

#[test]
fn a_policy_file_is_obeyed_and_its_mistakes_are_refused() {
    let bench = Bench::new();
    let rows = baseline(100);
    bench.write("base.csv", csv(&rows));
    bench.write("better.csv", csv(&improved(&rows)));
    for (policy, code, pieces) in [
        ("", 0, &[][..]),
        ("min_queries = 101", 4, &["101"]),
        ("min_effect = 0.5", 1, &["0.5"]),
        ("noise_band = 0.5", 4, &["0.5"]),
        ("guards = []", 0, &[]),
        ("alpha = 0.9", 2, &["alpha", "0.9"]),
        ("alpha = nan", 2, &["alpha"]),
        ("alhpa = 0.05", 2, &["policy.toml", "alhpa", "line 1"]),
        ("alpha = ", 2, &["policy.toml", "line 1"]),
        (
            "primary = \"P@99\"",
            2,
            &["P@99", "was not measured", "hint: "],
        ),
        ("resamples = 10", 2, &["resamples"]),
    ] {
        bench.write("policy.toml", policy);
        let args = [
            "compare",
            "base.csv",
            "better.csv",
            "--policy",
            "policy.toml",
        ];
        let outcome = run(&bench, &args);
        assert_eq!(outcome.code, Some(code), "{policy}\n{}", outcome.stderr);
        for piece in pieces {
            let said = outcome.stdout.clone() + &outcome.stderr;
            assert!(said.contains(piece), "{policy}: no {piece:?} in\n{said}");
        }
    }
    let outcome = run_line(&bench, "compare base.csv better.csv --policy nothing.toml");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("failed to read the policy `nothing.toml`")
    );
}

#[test]
fn one_system_stored_in_two_forms_does_not_beat_itself() {
    let bench = Bench::new();
    let values = [1.0 / 3.0, 1.0 / 7.0, 1.0 / 6.0, 0.5, 1.0, 0.0];
    let table = |form: &dyn Fn(f64) -> f64| {
        let rows = (0..60).map(|at| format!("q{at:02},{}\n", form(values[at % values.len()])));
        "query_id,RR@10\n".to_owned() + &rows.collect::<String>()
    };
    #[expect(clippy::cast_possible_truncation, reason = "what a column of f32 does")]
    let single = |value: f64| f64::from(value as f32);
    bench.write("double.csv", table(&|value| value));
    bench.write("single.csv", table(&single));
    bench.write("constant.csv", table(&|_| 0.5));
    bench.write("noisy.csv", table(&|_| 0.5 + 1e-12));
    for (one, other) in [
        ("double", "single"),
        ("single", "double"),
        ("constant", "noisy"),
        ("noisy", "constant"),
    ] {
        let line = format!("compare {one}.csv {other}.csv --primary RR@10 --format json");
        let document = run_line(&bench, &line).ending(4).json();
        assert_eq!(codes(&document)[0], "no_change", "{line}");
        let metric = &document["metrics"][0];
        assert_eq!(metric["changed"], 0, "{line}");
        assert_eq!(metric["wins"], 0, "{line}");
        assert_eq!(metric["p"].as_f64(), Some(1.0), "{line}");
    }
}
