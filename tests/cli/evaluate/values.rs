//! Values that other tools got wrong, through the command.

use evalfarm_tests::Bench;

use crate::support::{Ending as _, assert_close, entry, number, run, run_line};

/// Judgments and a run, and what the command has to make of them.
struct Case {
    id: &'static str,
    /// `query document grade`, one each line.
    judged: &'static str,
    /// `query document score`, one each line.
    ranked: &'static str,
    /// Metrics and options.
    args: &'static str,
    /// Metric, query, value; to six decimals, as cases.md gives them.
    values: &'static [(&'static str, &'static str, f64)],
    /// What has to be said beside the values.
    said: &'static [&'static str],
}

/// Every value is that of cases.md, measured there with trec_eval 9.0.4, ir-measures or ranx or worked out by hand.
const CASES: &[Case] = &[
    Case {
        id: "M2: a tie across the cut is decided by document id, and said",
        judged: "1 b 1",
        ranked: "1 a 1.0\n1 b 1.0",
        args: "P@1",
        values: &[("P@1", "all", 1.0)],
        said: &[
            "100.0 % of the hits share their score",
            "at rank 1 in 1 of 1 queries",
        ],
    },
    Case {
        id: "M4: scores of low precision tie, and the rate is said",
        judged: "1 a 1",
        ranked: "1 a 0.5\n1 b 0.5\n1 c 0.25\n1 d 0.125",
        args: "RR@10",
        values: &[("RR@10", "all", 0.5)],
        said: &["50.0 % of the hits share their score"],
    },
    Case {
        id: "M7: a judged query that the run lacks counts; a query without judgments does not",
        judged: "q1 a 1\nq2 a 1\nq3 a 1",
        ranked: "q1 a 1\nq2 x 1\nq9 a 1",
        args: "RR P@1",
        values: &[
            ("RR", "all", 1.0 / 3.0),
            ("P@1", "all", 1.0 / 3.0),
            ("RR", "q3", 0.0),
        ],
        said: &[
            "1 of 3 judged queries are not in the run and count as empty rankings",
            "1 query of the run has no judgments and is ignored",
        ],
    },
    Case {
        id: "M8: queries without judgments are ignored and counted",
        judged: "q1 a 1",
        ranked: "q1 a 1\nq2 a 1\nq3 b 1",
        args: "RR num_q",
        values: &[("RR", "all", 1.0), ("num_q", "all", 1.0)],
        said: &["2 queries of the run have no judgments and are ignored"],
    },
    Case {
        id: "M9: a query without relevant documents counts 0",
        judged: "q1 a 1\nq2 a 0",
        ranked: "q1 a 1\nq2 a 1",
        args: "nDCG@10",
        values: &[("nDCG@10", "all", 0.5), ("nDCG@10", "q2", 0.0)],
        said: &["1 of 2 queries have no relevant document"],
    },
    Case {
        id: "M9: or is left out when asked",
        judged: "q1 a 1\nq2 a 0",
        ranked: "q1 a 1\nq2 a 1",
        args: "nDCG@10 --no-relevant exclude",
        values: &[("nDCG@10", "all", 1.0)],
        said: &[],
    },
    Case {
        id: "M11: negative grades gain nothing",
        judged: "1 a -2\n1 b 1\n1 c 0\n1 d 2",
        ranked: "1 a 4\n1 b 3\n1 c 2\n1 d 1",
        args: "nDCG@10 nDCG(dcg='exp-log2')@10",
        values: &[
            ("nDCG@10", "1", 0.567_207),
            ("nDCG(dcg='exp-log2')@10", "1", 0.529_605),
        ],
        said: &[],
    },
    Case {
        id: "M13: dividing by the cutoff, not by what was returned",
        judged: "1 a 1\n1 b 1\n1 c 1",
        ranked: "1 a 3\n1 x 2\n1 b 1",
        args: "P@10 R@10 nDCG@10 AP@10",
        values: &[
            ("P@10", "1", 0.2),
            ("R@10", "1", 0.666_667),
            ("nDCG@10", "1", 0.703_918),
            ("AP@10", "1", 0.555_556),
        ],
        said: &[],
    },
    Case {
        id: "M14, M20: the ideal and the denominator are of all judged documents",
        judged: "1 a 1\n1 b 1",
        ranked: "1 a 1",
        args: "nDCG@10 AP@10",
        values: &[("nDCG@10", "1", 0.613_147), ("AP@10", "1", 0.5)],
        said: &[],
    },
    Case {
        id: "M16: the name carries the gain",
        judged: "1 a 0\n1 b 2\n1 c 3\n1 d 1",
        ranked: "1 a 4\n1 b 3\n1 c 2\n1 d 1",
        args: "nDCG@10 nDCG(dcg='exp-log2')@10",
        values: &[
            ("nDCG@10", "1", 0.670_439),
            ("nDCG(dcg='exp-log2')@10", "1", 0.619_993),
        ],
        said: &[],
    },
    Case {
        id: "M17: ESCI's stated gains",
        judged: "1 i I\n1 s S\n1 e E\n1 c C",
        ranked: "1 i 4\n1 s 3\n1 e 2\n1 c 1",
        args: "nDCG@10 --labels E=3,S=2,C=1,I=0 --gains 0=0,1=0.01,2=0.1,3=1",
        values: &[("nDCG@10", "1", 0.531_227)],
        said: &[],
    },
    Case {
        id: "M17: the third document's gains",
        judged: "1 i I\n1 s S\n1 e E\n1 c C",
        ranked: "1 i 4\n1 s 3\n1 e 2\n1 c 1",
        args: "nDCG@10 --labels E=3,S=2,C=1,I=0",
        values: &[("nDCG@10", "1", 0.670_439)],
        said: &[],
    },
    Case {
        id: "M18: the first relevant document lies at rank 11",
        judged: "1 k 1",
        ranked: "1 a 11\n1 b 10\n1 c 9\n1 d 8\n1 e 7\n1 f 6\n1 g 5\n1 h 4\n1 i 3\n1 j 2\n1 k 1",
        args: "RR@10 RR recip_rank",
        values: &[
            ("RR@10", "1", 0.0),
            ("RR", "1", 0.090_909),
            ("recip_rank", "1", 0.090_909),
        ],
        said: &[],
    },
    Case {
        id: "M24: nothing is judged",
        judged: "1 a 1",
        ranked: "1 x 2\n1 y 1",
        args: "nDCG@10 RR@10 P@10 R@10 AP@10 Judged@10",
        values: &[
            ("nDCG@10", "1", 0.0),
            ("RR@10", "1", 0.0),
            ("P@10", "1", 0.0),
            ("R@10", "1", 0.0),
            ("AP@10", "1", 0.0),
            ("Judged@10", "1", 0.0),
        ],
        said: &[],
    },
    Case {
        id: "M24: Judged@k is a share of what was returned",
        judged: "1 a 1\n1 b 0",
        ranked: "1 a 3\n1 x 2\n1 b 1",
        args: "Judged@10",
        values: &[("Judged@10", "1", 0.666_667)],
        said: &[],
    },
    Case {
        id: "M26: the relevance level is not for nDCG",
        judged: "1 a 1\n1 b 2",
        ranked: "1 a 2\n1 b 1",
        args: "RR P@1 nDCG --level 2",
        values: &[
            ("RR", "1", 0.5),
            ("P@1", "1", 0.0),
            ("nDCG", "1", 0.859_719),
        ],
        said: &[],
    },
    Case {
        id: "M26: one metric may have a level of its own",
        judged: "1 a 1\n1 b 2",
        ranked: "1 a 2\n1 b 1",
        args: "RR RR(rel=2) P(rel=2)@1",
        values: &[
            ("RR", "1", 1.0),
            ("RR(rel=2)", "1", 0.5),
            ("P(rel=2)@1", "1", 0.0),
        ],
        said: &[],
    },
    Case {
        id: "M28: a hit that is the query itself stays",
        judged: "7 a 1",
        ranked: "7 7 2\n7 a 1",
        args: "RR",
        values: &[("RR", "7", 0.5)],
        said: &[],
    },
    Case {
        id: "M28: and is dropped when asked",
        judged: "7 a 1",
        ranked: "7 7 2\n7 a 1",
        args: "RR --drop-self-hits",
        values: &[("RR", "7", 1.0)],
        said: &["1 hit whose document is the query was dropped"],
    },
    Case {
        id: "P15: no measure fails on a perfect query",
        judged: "1 a 1",
        ranked: "1 a 1",
        args: "nDCG RR P@1 R@1 AP Success@1 Rprec RBP ERR Judged@1",
        values: &[("nDCG", "1", 1.0), ("AP", "1", 1.0), ("Judged@1", "1", 1.0)],
        said: &[],
    },
];

fn qrels(judged: &str) -> String {
    let lines = judged.lines().map(|line| {
        let (query, rest) = line.split_once(' ').expect("a query comes first");
        format!("{query} 0 {rest}\n")
    });
    lines.collect()
}

/// Ranks in the file are all 1: scores decide.
fn trec_run(ranked: &str) -> String {
    let lines = ranked.lines().map(|line| {
        let fields: Vec<&str> = line.split(' ').collect();
        format!("{} Q0 {} 1 {} t\n", fields[0], fields[1], fields[2])
    });
    lines.collect()
}

#[test]
fn m_values_are_those_of_the_case_list() {
    let bench = Bench::new();
    for case in CASES {
        bench.write("qrels", qrels(case.judged));
        bench.write("run", trec_run(case.ranked));
        let line = format!("evaluate qrels run -q --format json {}", case.args);
        let outcome = run_line(&bench, &line).ending(0);
        let document = outcome.json();
        for &(metric, query, expected) in case.values {
            let found = if query == "all" {
                number(&entry(&document["metrics"], "name", metric)["all"])
            } else {
                number(&entry(&document["queries"], "query", query)["values"][metric])
            };
            let what = format!("{}: {metric} of {query}", case.id);
            assert_close(&what, found, expected, 5e-7);
        }
        for said in case.said {
            let text = &outcome.stderr;
            assert!(text.contains(said), "{}: no {said:?} in\n{text}", case.id);
        }
    }
}

#[test]
fn m1_ties_give_the_same_values_in_every_order_of_lines() {
    let bench = Bench::new();
    bench.write("qrels", qrels("1 x5 2\n1 x7 1\n1 x9 0"));
    let hits = ["1 x5 3.0", "1 x7 3.0", "1 x9 3.0"];
    for order in [
        [0, 1, 2],
        [0, 2, 1],
        [1, 0, 2],
        [1, 2, 0],
        [2, 0, 1],
        [2, 1, 0],
    ] {
        bench.write("run", trec_run(&order.map(|at| hits[at]).join("\n")));
        let outcome = run_line(&bench, "evaluate qrels run nDCG@3 RR").ending(0);
        // Highest id first: x9 (0), x7 (1), x5 (2). cases.md M1: nDCG@3 0.619906, RR 0.5.
        let lines: Vec<&str> = outcome.stdout.lines().collect();
        assert_eq!(
            lines,
            [
                "nDCG@3                \tall\t0.6199",
                "RR                    \tall\t0.5000"
            ]
        );
    }
}

#[test]
fn m5_a_document_twice_in_a_ranking_is_refused_or_dropped_on_demand() {
    let bench = Bench::new();
    // cases.md M5: two hits of one document; and the three hits of which ir-measures keeps the wrong one.
    for (ranked, metric, deduplicated) in [
        ("1 g 2\n1 g 1", "R@2", 1.0),
        ("1 g 2\n1 g 1", "P@2", 0.5),
        ("1 g 9\n1 b 5\n1 g 1", "RR", 1.0),
    ] {
        bench.write("qrels", qrels("1 g 1"));
        bench.write("run", trec_run(ranked));
        let refusal = run(&bench, &["evaluate", "qrels", "run", metric]).ending(2);
        for piece in [
            "`run`, line ",
            "document `g` is twice in the ranking of query `1`, first in line 1",
            "hint: ask for `--dedupe first`",
        ] {
            assert!(
                refusal.stderr.contains(piece),
                "no {piece:?} in\n{}",
                refusal.stderr
            );
        }
        let args = [
            "evaluate", "qrels", "run", metric, "--dedupe", "first", "--format", "json",
        ];
        let outcome = run(&bench, &args).ending(0);
        let found = number(&outcome.json()["metrics"][0]["all"]);
        assert_close(metric, found, deduplicated, 1e-12);
        assert!(
            outcome
                .stderr
                .contains("warning: `run`: 1 repeated document was dropped"),
            "{}",
            outcome.stderr
        );
    }
}

#[test]
fn m9_both_means_and_the_queries_without_an_ideal_are_in_the_document() {
    let bench = Bench::new();
    bench.write("qrels", qrels("q1 a 1\nq2 a 0"));
    bench.write("run", trec_run("q1 a 1\nq2 a 1"));
    let document = run_line(&bench, "evaluate qrels run nDCG@10 -q --format json")
        .ending(0)
        .json();
    let means = &document["metrics"][0];
    assert_eq!(
        (
            number(&means["zero"]),
            number(&means["exclude"]),
            &means["unattainable"]
        ),
        (0.5, 1.0, &1.into())
    );
    assert_eq!(document["queries"][0]["idcg_zero"], false);
    assert_eq!(document["queries"][1]["idcg_zero"], true);
    assert_eq!(document["counts"]["without_relevant"], 1);
}

#[test]
fn m15_m19_m31_many_relevant_documents() {
    let bench = Bench::new();
    let grades: Vec<String> = (0..20).map(|at| format!("1 d{at:02} 1")).collect();
    bench.write("qrels", qrels(&grades.join("\n")));
    let hits: Vec<String> = (0..10)
        .map(|at| format!("1 d{at:02} {}", 10 - at))
        .collect();
    bench.write("run", trec_run(&hits.join("\n")));
    let document = run_line(
        &bench,
        "evaluate qrels run nDCG@10 R@10 R@1 Success@1 -q --format json",
    )
    .ending(0)
    .json();
    // M15: the ideal is cut at 10 too. M19, M31: recall divides by all 20.
    let values = &document["queries"][0]["values"];
    for (metric, expected) in [
        ("nDCG@10", 1.0),
        ("R@10", 0.5),
        ("R@1", 0.05),
        ("Success@1", 1.0),
    ] {
        assert_close(metric, number(&values[metric]), expected, 1e-12);
    }
}

#[test]
fn m14_the_short_list_does_not_win() {
    let bench = Bench::new();
    let grades: Vec<String> = (0..5).map(|at| format!("1 d{at} 3")).collect();
    bench.write("qrels", qrels(&grades.join("\n")));
    // cases.md M14: one of five at rank 1 gives 0.339160, all five at ranks 6 to 10 give 0.540995.
    let fillers = (0..5).map(|at| format!("1 x{at} {}", 20 - at));
    let behind = (0..5).map(|at| format!("1 d{at} {}", 10 - at));
    let long: Vec<String> = fillers.chain(behind).collect();
    for (ranked, expected) in [
        ("1 d0 1".to_owned(), 0.339_160),
        (long.join("\n"), 0.540_995),
    ] {
        bench.write("run", trec_run(&ranked));
        let document = run_line(&bench, "evaluate qrels run nDCG@10 --format json").json();
        assert_close(
            "nDCG@10",
            number(&document["metrics"][0]["all"]),
            expected,
            5e-7,
        );
    }
}

#[test]
fn m27_values_keep_every_digit() {
    let bench = Bench::new();
    // 124 and 125 of 250: precisions that differ by 0.004.
    let mut judged = String::new();
    let mut ranked = String::new();
    for at in 0..250 {
        for (query, relevant) in [("a", 124), ("b", 125)] {
            judged.extend([format!("{query} d{at} {}\n", u8::from(at < relevant))]);
            ranked.extend([format!("{query} d{at} {}\n", 250 - at)]);
        }
    }
    bench.write("qrels", qrels(&judged));
    bench.write("run", trec_run(&ranked));
    let document = run_line(&bench, "evaluate qrels run P@250 -q --format json").json();
    let of = |query| number(&entry(&document["queries"], "query", query)["values"]["P@250"]);
    assert_eq!((of("a"), of("b")), (124.0 / 250.0, 125.0 / 250.0));
}

#[test]
fn lines_are_metric_query_value_and_the_spelling_is_the_users() {
    let bench = Bench::new();
    bench.write("qrels", qrels("007 a 1\n07 b 1"));
    bench.write("run", trec_run("007 a 1\n07 x 2\n07 b 1"));
    let outcome = run_line(&bench, "evaluate qrels run recip_rank RR num_ret -q").ending(0);
    let fields: Vec<Vec<&str>> = outcome
        .stdout
        .lines()
        .map(|line| line.split('\t').map(str::trim).collect())
        .collect();
    assert_eq!(
        fields,
        [
            ["recip_rank", "007", "1.0000"],
            ["RR", "007", "1.0000"],
            ["num_ret", "007", "1"],
            ["recip_rank", "07", "0.5000"],
            ["RR", "07", "0.5000"],
            ["num_ret", "07", "2"],
            ["recip_rank", "all", "0.7500"],
            ["RR", "all", "0.7500"],
            ["num_ret", "all", "3"],
        ]
    );
    let means = run_line(&bench, "evaluate qrels run RR").ending(0).stdout;
    assert_eq!(means, "RR                    \tall\t0.7500\n");
}
