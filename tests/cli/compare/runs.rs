//! Two runs with judgments.

use evalfarm_testkit::reference_data;
use evalfarm_tests::Bench;

use crate::support::{Ending as _, assert_close, codes, entry, number, refused, run, run_line};

/// Judgments of so many queries, one relevant document each.
fn qrels(queries: usize) -> String {
    let lines = (0..queries).map(|at| format!("q{at:03} 0 good{at} 1\n"));
    lines.collect::<Vec<_>>().concat()
}

/// A run that has the relevant document of each query at the rank that `rank` gives; none when it gives none, and no line
/// at all of a query that `answered` leaves out.
fn ranked(
    queries: usize,
    rank: impl Fn(usize) -> Option<usize>,
    answered: impl Fn(usize) -> bool,
) -> String {
    let mut text = String::new();
    for at in (0..queries).filter(|&at| answered(at)) {
        for place in 1..=12 {
            let document = if rank(at) == Some(place) {
                format!("good{at}")
            } else {
                format!("other{place}")
            };
            text.extend([format!("q{at:03} Q0 {document} {place} {} t\n", 20 - place)]);
        }
    }
    text
}

#[test]
fn runs_are_scored_and_judged() {
    let bench = Bench::new();
    bench.write("qrels", qrels(60));
    bench.write("base", ranked(60, |_| Some(5), |_| true));
    bench.write("better", ranked(60, |at| Some(1 + at % 3), |_| true));
    let line = "compare base better --qrels qrels --format json";
    let document = run_line(&bench, line).ending(0).json();
    let metric = |name| entry(&document["metrics"], "metric", name);
    // Reciprocal ranks: 1/5 before, 1, 1/2 and 1/3 in turn after. P@10 is 1/10 on both sides.
    let mean = (1.0 + 0.5 + 1.0 / 3.0) / 3.0;
    assert_close(
        "RR before",
        number(&metric("RR@10")["baseline"]),
        0.2,
        1e-12,
    );
    assert_close(
        "RR after",
        number(&metric("RR@10")["candidate"]),
        mean,
        1e-12,
    );
    assert_close(
        "nDCG before",
        number(&metric("nDCG@10")["baseline"]),
        1.0 / 6_f64.log2(),
        1e-12,
    );
    assert_close("P@10", number(&metric("P@10")["candidate"]), 0.1, 1e-12);
    assert_eq!(
        (&metric("P@10")["changed"], &metric("RR@10")["changed"]),
        (&0.into(), &60.into())
    );
    let limits = document["limits"].to_string();
    for piece in [
        "gains: linear",
        "relevant judgments a query",
        "hits are judged",
    ] {
        assert!(limits.contains(piece), "no {piece:?} in {limits}");
    }
    let same = run_line(&bench, "compare base base --qrels qrels --format json").ending(4);
    assert_eq!(codes(&same.json())[0], "no_change");
}

/// Who answers which queries, and what follows.
struct Missing {
    name: &'static str,
    baseline: fn(usize) -> bool,
    candidate: fn(usize) -> bool,
    options: &'static str,
    code: i32,
    said: &'static str,
}

const MISSING: &[Missing] = &[
    Missing {
        name: "S17: the candidate answers the easy ones",
        baseline: |_| true,
        candidate: |at| at < 50,
        options: "",
        code: 1,
        said: "50 of 100 judged queries are not in the candidate's run",
    },
    Missing {
        name: "the baseline's file is cut short",
        baseline: |at| at < 50,
        candidate: |_| true,
        options: "",
        code: 4,
        said: "50 of 100 judged queries are not in the baseline's run",
    },
    Missing {
        name: "the baseline really found nothing there",
        baseline: |at| at < 50,
        candidate: |_| true,
        options: "--missing zero-result",
        code: 0,
        said: "50 of 100 judged queries are not in the baseline's run",
    },
    Missing {
        name: "the candidate finds nothing there",
        baseline: |_| true,
        candidate: |at| at < 99,
        options: "--missing zero-result",
        code: 1,
        said: "1 of 100 judged queries are not in the candidate's run",
    },
    Missing {
        name: "nobody answers there",
        baseline: |at| at < 90,
        candidate: |at| at < 90,
        options: "",
        code: 1,
        said: "10 of 100 judged queries are not in the candidate's run",
    },
    Missing {
        name: "nobody finds anything there",
        baseline: |at| at < 90,
        candidate: |at| at < 90,
        options: "--missing zero-result",
        code: 0,
        said: "10 of 100 judged queries are not in the candidate's run",
    },
];

#[test]
fn s17_a_query_that_a_run_lacks_is_never_dropped() {
    let bench = Bench::new();
    bench.write("qrels", qrels(100));
    for case in MISSING {
        bench.write("base", ranked(100, |_| Some(5), case.baseline));
        bench.write("better", ranked(100, |_| Some(1), case.candidate));
        let line = format!("compare base better --qrels qrels {}", case.options);
        let outcome = run_line(&bench, &line);
        assert_eq!(
            outcome.code,
            Some(case.code),
            "{}\n{}",
            case.name,
            outcome.stdout
        );
        assert!(
            outcome.stdout.contains(case.said),
            "{}\n{}",
            case.name,
            outcome.stdout
        );
        assert!(
            outcome.stderr.contains(case.said),
            "{}\n{}",
            case.name,
            outcome.stderr
        );
    }
}

#[test]
fn the_policys_metrics_are_measured_too() {
    let bench = Bench::new();
    bench.write("qrels", qrels(60));
    bench.write("base", ranked(60, |_| Some(5), |_| true));
    bench.write("better", ranked(60, |at| Some(1 + at % 3), |_| true));
    bench.write(
        "policy.toml",
        "primary = \"RR\"\nguards = [\"map\"]\n[max_drop]\nmap = 0.1\n",
    );
    for (options, primary) in [
        ("--policy policy.toml", "RR"),
        ("--primary recip_rank", "RR"),
        ("--metric Success@1 --metric RR", "Success@1"),
        ("--metric P@3 --metric P_3 --primary ndcg_cut_5", "nDCG@5"),
    ] {
        let line = format!("compare base better --qrels qrels --format json {options}");
        let document = run_line(&bench, &line).json();
        assert_eq!(document["metrics"][0]["metric"], primary, "{options}");
    }
    refused(
        &bench,
        "compare base better --qrels qrels --primary ndgc@10",
        &["unknown metric `ndgc@10`, did you mean `nDCG@10`?"],
    );
    bench.write("other", "x Q0 a 1 1.0 t\n");
    for line in [
        "compare base other --qrels qrels",
        "compare other base --qrels qrels",
    ] {
        refused(
            &bench,
            line,
            &["`other` answers none of the queries that `qrels` judges"],
        );
    }
}

#[test]
fn real_runs_agree_with_evaluate() {
    let bench = Bench::new();
    let Some(folder) = reference_data("golden") else {
        // Without real runs the made ones have to do.
        bench.write("qrels", qrels(60));
        bench.write("base", ranked(60, |_| Some(5), |_| true));
        bench.write("better", ranked(60, |_| Some(1), |_| true));
        return agrees(&bench, "qrels", "base", "better");
    };
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let (base, better) = (path("chorus.flat.run.gz"), path("chorus.w0.run.gz"));
    agrees(&bench, &path("chorus.qrels"), &base, &better);
}

/// Means in the verdict are the means that `evaluate` prints, with ranks trusted, and the verdict says that they were.
fn agrees(bench: &Bench, qrels: &str, base: &str, better: &str) {
    let args = [
        "compare", base, better, "--qrels", qrels, "--order", "rank", "--format", "json",
    ];
    let args = [&args[..], &["--missing", "zero-result"]].concat();
    let document = run(bench, &args).json();
    assert!(document["limits"].to_string().contains("ordered_by_rank"));
    for (side, path) in [("baseline", base), ("candidate", better)] {
        for metric in ["nDCG@10", "RR@10", "R@10", "P@10"] {
            let args = [
                "evaluate", qrels, path, metric, "--order", "rank", "--format", "json",
            ];
            let alone = run(bench, &args).ending(0).json();
            let ours = number(&entry(&document["metrics"], "metric", metric)[side]);
            assert_close(metric, ours, number(&alone["metrics"][0]["all"]), 1e-12);
        }
    }
}
