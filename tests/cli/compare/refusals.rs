//! What cannot be compared (cases.md G5), or is not a table of values at all.

use evalfarm_tests::Bench;

use super::tables::{baseline, csv, improved};
use crate::support::{Ending as _, refused, run_line};

/// What is wrong with the candidate's table, the table as an edit of a good one, and pieces of the message.
type Case = (&'static str, fn(&str) -> String, &'static [&'static str]);

fn with_cell(good: &str, cell: &str) -> String {
    let lines: Vec<&str> = good.lines().collect();
    format!(
        "{}\n{}\nq0001,0.5,0.5,{cell}\n{}\n",
        lines[0],
        lines[1],
        lines[3..].join("\n")
    )
}

fn with_header(good: &str, header: &str) -> String {
    let (_, rows) = good.split_once('\n').expect("a table has a header");
    format!("{header}\n{rows}")
}

const CASES: &[Case] = &[
    (
        "S16: a NaN",
        |t| with_cell(t, "NaN"),
        &["`new.csv`, line 3: column `recall10` is `NaN`, expected a finite number"],
    ),
    (
        "an infinity",
        |t| with_cell(t, "-inf"),
        &["line 3: column `recall10` is `-inf`"],
    ),
    (
        "a word",
        |t| with_cell(t, "good"),
        &["line 3: column `recall10` is `good`"],
    ),
    (
        "a decimal comma",
        |t| with_cell(t, "\"0,5\""),
        &["line 3: column `recall10` is `0,5`"],
    ),
    (
        "one empty cell of a row",
        |t| with_cell(t, ""),
        &["line 3: column `recall10` is ``", "other values"],
    ),
    (
        "a percentage",
        |t| with_cell(t, "47.2"),
        &[
            "`new.csv`: R@10 of query `q0001` is `47.2`, expected a value from 0 to 1",
            "hint: divide percentages by 100",
        ],
    ),
    (
        "a sentinel",
        |t| with_cell(t, "-1"),
        &["R@10 of query `q0001` is `-1.0`"],
    ),
    (
        "a value that overflows a sum",
        |t| with_cell(t, "1e308"),
        &["R@10 of query `q0001` is `1e308`"],
    ),
    (
        "a missing cell",
        |t| t.replacen("q0001,", "q0001\nq9,", 1),
        &["line 3: "],
    ),
    (
        "a query twice",
        |t| t.replacen("q0003,", "q0001,", 1),
        &["line 5: query `q0001` occurs again, first in line 3"],
    ),
    (
        "no id column",
        |t| with_header(t, "name,ndcg10,mrr10,recall10"),
        &["there is no column `query_id`, found `name`"],
    ),
    (
        "no metric",
        |_| "query_id,note\nq0001,good\n".to_owned(),
        &["there is no column of metric values in it"],
    ),
    (
        "a metric twice",
        |t| with_header(t, "query_id,ndcg10,ndcg_cut_10,recall10"),
        &["two columns are `nDCG@10`"],
    ),
    (
        "only a header",
        |_| "query_id,ndcg10\n".to_owned(),
        &["there is no row in it"],
    ),
    ("nothing", |_| String::new(), &["`new.csv`"]),
    (
        "G5: another cutoff",
        |t| with_header(t, "query_id,ndcg5,mrr5,recall5"),
        &[
            "the tables measure different things",
            "`nDCG@10`",
            "`nDCG@5`",
            "hint: values at different cutoffs",
        ],
    ),
    (
        "G5: another cutoff of one metric",
        |t| with_header(t, "query_id,ndcg5,mrr10,recall10"),
        &[
            "the tables measure different things",
            "`nDCG@10`",
            "`nDCG@5`",
        ],
    ),
    (
        "G5: another gain",
        |t| with_header(t, "query_id,ndcg_exp_10,mrr10,recall10"),
        &[
            "the tables measure different things",
            "nDCG(dcg='exp-log2')@10",
        ],
    ),
    (
        "G5: another relevance level",
        |t| with_header(t, "query_id,ndcg10,rr_rel2_10,recall10"),
        &["the tables measure different things", "RR(rel=2)@10"],
    ),
    (
        "G5: another query set",
        |t| t.replace("\nq", "\nx"),
        &["the tables have no query in common", "`q0000`", "`x0000`"],
    ),
];

#[test]
fn g5_tables_that_cannot_be_compared_are_refused() {
    let bench = Bench::new();
    let rows = baseline(60);
    bench.write("base.csv", csv(&rows));
    let good = csv(&improved(&rows));
    for (name, edit, pieces) in CASES {
        bench.write("new.csv", edit(&good));
        // On either side: a damaged baseline is no better.
        for line in [
            "compare base.csv new.csv",
            "compare new.csv base.csv --format json",
        ] {
            let outcome = run_line(&bench, line);
            assert_eq!(outcome.code, Some(2), "{name}: {line}\n{}", outcome.stdout);
            for piece in *pieces {
                let text = &outcome.stderr;
                assert!(text.contains(piece), "{name}: no {piece:?} in\n{text}");
            }
        }
    }
}

#[test]
fn a_metric_that_only_one_side_has_is_named_in_the_verdict() {
    let bench = Bench::new();
    let rows = baseline(60);
    bench.write("base.csv", csv(&rows));
    let mut lines = csv(&improved(&rows));
    lines = lines.lines().fold(String::new(), |text, line| {
        let cut = line.rsplit_once(',').expect("a line has cells").0;
        text + cut + "\n"
    });
    bench.write("new.csv", lines);
    let outcome = run_line(&bench, "compare base.csv new.csv").ending(0);
    let note = "only `base.csv` has `R@10`: not compared";
    assert!(outcome.stderr.contains(note), "{}", outcome.stderr);
    assert!(outcome.stdout.contains(note), "{}", outcome.stdout);
}

#[test]
fn options_for_other_inputs_are_refused() {
    let bench = Bench::new();
    let rows = baseline(60);
    bench.write("base.csv", csv(&rows));
    bench.write("new.csv", csv(&improved(&rows)));
    bench.write("qrels", "1 0 a 1\n");
    bench.write("run", "1 Q0 a 1 1.0 t\n");
    for (line, pieces) in [
        (
            "compare base.csv new.csv --gains exponential",
            &["--qrels"][..],
        ),
        ("compare base.csv new.csv --order rank", &["--qrels"]),
        ("compare base.csv new.csv --level 2", &["--qrels"]),
        ("compare base.csv new.csv --metric P@10", &["--qrels"]),
        (
            "compare base.csv new.csv --missing zero-result",
            &["--qrels"],
        ),
        (
            "compare run run --qrels qrels --split holdout",
            &["--split"],
        ),
        (
            "compare run run --qrels qrels --baseline-id c1",
            &["--baseline-id"],
        ),
        (
            "compare base.csv new.csv --candidate-id c1",
            &["`--candidate-id` chooses among the rows of a job, and `new.csv` is one table"],
        ),
        (
            "compare base.csv new.csv --split holdout",
            &["`--split` chooses among the rows of a job"],
        ),
        (
            "compare base.csv new.csv --lower-is-better nDCG@10",
            &["`--lower-is-better nDCG@10` names a metric whose direction is known"],
        ),
        (
            "compare base.csv new.csv --lower-is-better cost",
            &[
                "`--lower-is-better cost` names no column that both tables have",
                "`nDCG@10`",
            ],
        ),
        (
            "compare base.csv new.csv --primary P@10",
            &[
                "`P@10` was not measured",
                "hint: name one of these with `--primary`",
            ],
        ),
        (
            "compare base.csv new.csv --guard nope",
            &[
                "`nope` was not measured",
                "hint: name only these with `--guard`",
            ],
        ),
        (
            "compare base.csv new.csv --guard nDCG@10",
            &["primary metric and cannot be a guard"],
        ),
        (
            "compare base.csv nothing.csv",
            &["failed to read `nothing.csv`", "hint: check the path"],
        ),
        ("compare base.csv home", &["home"]),
        (
            "compare run run",
            &[
                "hint: a table of values has a header",
                "for TREC runs add `--qrels FILE`",
            ],
        ),
        ("compare base.csv", &["<CANDIDATE>"]),
    ] {
        refused(&bench, line, pieces);
    }
}
