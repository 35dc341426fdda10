//! Files that other tools misread: what is accepted gives the value of the clean file, what is not says where and why.

use evalfarm_tests::Bench;

use crate::support::{Ending as _, assert_close, gzipped, number, refused, run_line};

const QRELS: &str = "1 0 a 1\n2 0 b 1\n";
const RUN: &str = "1 Q0 a 1 2.0 t\n2 Q0 b 1 1.0 t\n";

/// Files that mean what [`QRELS`] and [`RUN`] mean, all with RR 1.0 on both queries.
#[test]
fn p_accepted_forms_of_the_same_files() {
    let bench = Bench::new();
    let same: &[(&str, &str, &str)] = &[
        ("clean", QRELS, RUN),
        ("P1: a byte order mark", "\u{feff}1 0 a 1\n2 0 b 1\n", RUN),
        (
            "P1: in the run",
            QRELS,
            "\u{feff}1 Q0 a 1 2.0 t\n2 Q0 b 1 1.0 t\n",
        ),
        (
            "P2: CRLF",
            "1 0 a 1\r\n2 0 b 1\r\n",
            "1 Q0 a 1 2.0 t\r\n2 Q0 b 1 1.0 t\r\n",
        ),
        (
            "P3: tabs",
            "1\t0\ta\t1\n2\t0\tb\t1\n",
            "1\tQ0\ta\t1\t2.0\tt\n2\tQ0\tb\t1\t1.0\tt\n",
        ),
        (
            "P3: more blanks",
            "  1  0   a 1\n2 0 b 1  \n",
            " 1 Q0  a 1 2.0  t\n2 Q0 b 1 1.0 t\n",
        ),
        (
            "P4: a BEIR file with its header",
            "query-id\tcorpus-id\tscore\n1\ta\t1\n2\tb\t1\n",
            RUN,
        ),
        (
            "P5: what follows the tag belongs to it",
            QRELS,
            "1 Q0 a 1 2.0 my run of today\n2 Q0 b 1 1.0 my run\n",
        ),
        (
            "P6: blank lines",
            "1 0 a 1\n\n2 0 b 1\n\n",
            "\n1 Q0 a 1 2.0 t\n\n2 Q0 b 1 1.0 t\n",
        ),
        (
            "P11: a whole grade with a point",
            "1 0 a 1.0\n2 0 b 1.0\n",
            RUN,
        ),
        (
            "no line end at the end",
            "1 0 a 1\n2 0 b 1",
            "1 Q0 a 1 2.0 t\n2 Q0 b 1 1.0 t",
        ),
        (
            "M6: a judgment repeated",
            "1 0 a 1\n1 0 a 1\n2 0 b 1\n",
            RUN,
        ),
    ];
    for (name, qrels, trec_run) in same {
        bench.write("qrels", qrels);
        bench.write("run", trec_run);
        both_answered(&bench, name, "qrels", "run");
    }
    bench.write("qrels.gz", gzipped(QRELS.as_bytes()));
    bench.write("run.gz", gzipped(RUN.as_bytes()));
    both_answered(&bench, "gzipped", "qrels.gz", "run.gz");
    // The name says nothing; the first bytes do.
    bench.write("packed", gzipped(QRELS.as_bytes()));
    both_answered(&bench, "gzipped under another name", "packed", "run.gz");
}

#[track_caller]
fn both_answered(bench: &Bench, name: &str, qrels: &str, trec_run: &str) {
    let line = format!("evaluate {qrels} {trec_run} RR num_q --format json");
    let document = run_line(bench, &line).ending(0).json();
    let mean = |at: usize| number(&document["metrics"][at]["all"]);
    assert_close(name, mean(0), 1.0, 0.0);
    assert_close(name, mean(1), 2.0, 0.0);
}

#[test]
fn p9_p17_ids_are_compared_byte_by_byte() {
    let bench = Bench::new();
    let cases = [
        // cases.md P9: two products whose numbers are equal and whose ids are not.
        ("0545010225", "545010225"),
        // P17: é composed and decomposed.
        ("caf\u{e9}", "cafe\u{301}"),
        ("A1", "a1"),
        ("1", "1.0"),
        // P20: 2^53 + 1 and its neighbour, which are one double.
        ("9007199254740993", "9007199254740992"),
    ];
    for (relevant, other) in cases {
        bench.write("qrels", format!("q 0 {relevant} 1\nq 0 {other} 0\n"));
        bench.write(
            "run",
            format!("q Q0 {other} 1 2 t\nq Q0 {relevant} 2 1 t\n"),
        );
        let outcome = run_line(&bench, "evaluate qrels run RR num_rel").ending(0);
        assert_eq!(
            outcome.stdout, "RR                    \tall\t0.5000\nnum_rel               \tall\t1\n",
            "{relevant} and {other}"
        );
    }
}

#[test]
fn p15_interleaved_queries_give_the_values_of_grouped_ones() {
    let bench = Bench::new();
    bench.write("qrels", QRELS);
    let lines = ["1 Q0 x 1 3 t", "2 Q0 b 1 1 t", "1 Q0 a 2 2 t"];
    let mut outputs = Vec::new();
    for order in [[0, 1, 2], [0, 2, 1], [2, 0, 1], [1, 2, 0]] {
        bench.write("run", order.map(|at| lines[at]).join("\n"));
        outputs.push(run_line(&bench, "evaluate qrels run RR nDCG@10 AP -q").ending(0));
    }
    assert!(
        outputs.windows(2).all(|pair| pair[0] == pair[1]),
        "{outputs:#?}"
    );
}

#[test]
fn p11_fractional_grades_are_refused_or_meant() {
    let bench = Bench::new();
    bench.write("qrels", "1 0 a 0.5\n1 0 b 1.5\n");
    bench.write("run", "1 Q0 a 1 2 t\n1 Q0 b 2 1 t\n");
    refused(
        &bench,
        "evaluate qrels run nDCG@10",
        &[
            "error: `qrels`, line 1: grade `0.5` has a fraction, expected a whole number",
            "hint: `--fractional` accepts such grades",
        ],
    );
    // cases.md P11: 0.796708 with the grades as they are, 0.630930 when they are cut to 0 and 1.
    let line = "evaluate qrels run nDCG@10 --fractional --format json";
    let document = run_line(&bench, line).ending(0).json();
    assert_close(
        "nDCG@10",
        number(&document["metrics"][0]["all"]),
        0.796_708,
        5e-7,
    );
}

/// What is wrong, the two files (an empty text stands for the good one), and pieces of the message.
type Fault = (
    &'static str,
    &'static str,
    &'static str,
    &'static [&'static str],
);

const FAULTS: &[Fault] = &[
    (
        "M6: conflicting judgments",
        "1 0 a 1\n1 0 a 0\n",
        "",
        &[
            "`qrels`, line 2: document `a` of query `1` is judged 0 here and 1 in line 1",
            "hint: decide for one of the two grades",
        ],
    ),
    (
        "M21: a NaN score",
        "",
        "1 Q0 a 1 nan t\n1 Q0 b 2 1 t\n",
        &[
            "`run`, line 1: score `nan` is not a finite number",
            "hint: a hit without a finite score",
        ],
    ),
    (
        "M21: an infinite score",
        "",
        "1 Q0 a 1 1 t\n1 Q0 b 2 -inf t\n",
        &["line 2: score `-inf`"],
    ),
    (
        "a score that is too large",
        "",
        "1 Q0 a 1 1e999 t\n",
        &["line 1: score `1e999`"],
    ),
    (
        "a score that is a word",
        "",
        "1 Q0 a 1 high t\n",
        &["line 1: score `high`"],
    ),
    (
        "P4: three columns without a header",
        "1 a 1\n",
        "",
        &[
            "line 1: `1 a 1` has 3 columns and no header came before it",
            "hint: a BEIR file starts",
        ],
    ),
    (
        "P5: no tag",
        "",
        "1 Q0 a 1 2.0\n",
        &[
            "line 1: `1 Q0 a 1 2.0` has 5 columns, expected at least 6",
            "query Q0 document rank score tag",
        ],
    ),
    (
        "P8: a document id with a blank",
        "",
        "1 Q0 a 1 2.0 t\n1 Q0 my doc 1 1.0 t\n",
        &["line 2: rank `doc` is not a whole number"],
    ),
    (
        "a rank with a fraction",
        "",
        "1 Q0 a 1.5 2.0 t\n",
        &["line 1: rank `1.5`"],
    ),
    (
        "P12: a label for a grade",
        "1 0 a E\n",
        "",
        &[
            "line 1: grade `E` is not a number",
            "hint: say which grade each label is",
            "--labels",
        ],
    ),
    (
        "a grade that is not a number",
        "1 0 a NaN\n",
        "",
        &["`qrels`, line 1: grade"],
    ),
    (
        "an infinite grade",
        "1 0 a inf\n",
        "",
        &["`qrels`, line 1: grade"],
    ),
    (
        "five columns of judgments",
        "1 0 a 1 x\n",
        "",
        &["`qrels`, line 1: ", "5 columns"],
    ),
    (
        "two columns of judgments",
        "1 0\n",
        "",
        &["`qrels`, line 1: ", "2 columns"],
    ),
    (
        "no judgment",
        "\n\n",
        "",
        &["`qrels`: there is no judgment in it"],
    ),
    ("no hit", "", "\n", &["`run`: there is no hit in it"]),
    (
        "lines that end in a carriage return alone",
        "",
        "1 Q0 a 1 2.0 t\r2 Q0 b 1 1.0 t\r",
        &[
            "`run`, line 1: a carriage return stands within the line",
            "hint: save the file with lines that end in LF or CRLF",
        ],
    ),
    (
        "other queries",
        "",
        "01 Q0 a 1 1 t\n",
        &[
            "`run` answers none of the queries that `qrels` judges",
            "leading zeros included",
        ],
    ),
];

#[test]
fn p_faults_name_file_line_value_and_what_to_do() {
    let bench = Bench::new();
    for (name, qrels, trec_run, pieces) in FAULTS {
        bench.write("qrels", if qrels.is_empty() { QRELS } else { qrels });
        bench.write("run", if trec_run.is_empty() { RUN } else { trec_run });
        let outcome = run_line(&bench, "evaluate qrels run RR -q --format json");
        assert_eq!(outcome.code, Some(2), "{name}: {}", outcome.stderr);
        for piece in *pieces {
            let text = &outcome.stderr;
            assert!(text.contains(piece), "{name}: no {piece:?} in\n{text}");
        }
    }
}

#[test]
fn files_that_cannot_be_read_say_which_and_what_to_do() {
    let bench = Bench::new();
    bench.write("qrels", QRELS);
    bench.write("run", RUN);
    bench.write("empty", "");
    bench.write("folder/file", "");
    bench.write("latin1", b"1 Q0 caf\xe9 1 2.0 t\n");
    bench.write("late", b"1 Q0 a 1 2.0 t\n1 Q0 \xff\xfe 2 1.0 t\n");
    bench.write("cut.gz", &gzipped(RUN.as_bytes())[..20]);
    bench.write("damaged.gz", b"\x1f\x8bthis is not a gzip file at all");
    for (line, pieces) in [
        (
            "evaluate nothing run RR",
            &["failed to read `nothing`", "hint: check the path"][..],
        ),
        (
            "evaluate qrels nothing RR",
            &["failed to read `nothing`", "hint: check the path"],
        ),
        (
            "evaluate folder run RR",
            &["failed to read `folder`", "hint: a file is needed"],
        ),
        (
            "evaluate qrels folder RR",
            &["failed to read `folder`", "hint: a file is needed"],
        ),
        (
            "evaluate empty run RR",
            &["`empty`: there is no judgment in it"],
        ),
        (
            "evaluate qrels empty RR",
            &["`empty`: there is no hit in it"],
        ),
        (
            "evaluate qrels latin1 RR",
            &["`latin1`, line 1: the bytes are not UTF-8", "hint: save"],
        ),
        (
            "evaluate qrels late RR",
            &["`late`, line 2: the bytes are not UTF-8"],
        ),
        (
            "evaluate qrels cut.gz RR",
            &["failed to read `cut.gz`", "hint: the file is cut short"],
        ),
        ("evaluate qrels damaged.gz RR", &["`damaged.gz`"]),
    ] {
        refused(&bench, line, pieces);
    }
}

#[test]
fn metrics_that_nobody_knows_come_with_a_suggestion() {
    let bench = Bench::new();
    bench.write("qrels", QRELS);
    bench.write("run", RUN);
    for (metric, pieces) in [
        (
            "nDGC@10",
            &["unknown metric `nDGC@10`, did you mean `nDCG@10`?"][..],
        ),
        ("ndcg10", &["did you mean `nDCG@10`?"]),
        ("recip_rnk", &["did you mean `recip_rank`?"]),
        ("ndcg_cutt_10", &["did you mean `ndcg_cut_10`?"]),
        ("Jugded@5", &["did you mean `Judged@5`?"]),
        (
            "click_through",
            &["unknown metric `click_through`; names look like `nDCG@10`"],
        ),
        ("P", &["metric `P` needs a cutoff, e.g. `@10`"]),
        (
            "P@0",
            &["metric `P@0` has a cutoff that is not a whole number of at least 1"],
        ),
        ("P@-1", &["metric `P@-1` has a cutoff"]),
        ("P@99999999999", &["metric `P@99999999999` has a cutoff"]),
        ("Rprec@10", &["metric `Rprec@10` takes no cutoff"]),
        ("RBP(p=2)@10", &["parameter `p=2`"]),
        ("nDCG(rel=2)@10", &["takes no relevance level"]),
    ] {
        refused(&bench, &format!("evaluate qrels run {metric}"), pieces);
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let bench = Bench::new();
    bench.write("qrels", QRELS);
    bench.write("run", RUN);
    bench.write("twice", "1 Q0 a 1 2.0 t\n1 Q0 b 1 1.0 t\n");
    bench.write("zero", "1 Q0 a 0 2.0 t\n");
    for (options, pieces) in [
        ("evaluate qrels run", &["<METRICS>"][..]),
        (
            "evaluate qrels run RR --gains foo",
            &["`foo` is not `grade=gain`"],
        ),
        (
            "evaluate qrels run RR --gains 0=0,0=1",
            &["grade `0` is listed twice"],
        ),
        ("evaluate qrels run RR --gains 0=nan", &["gain `NaN`"]),
        ("evaluate qrels run RR --gains 1=1e300", &["is not between"]),
        (
            "evaluate qrels run nDCG@10 --gains 0=0",
            &[
                "document `a` has grade `1`",
                "hint: every grade of `qrels` needs its gain",
            ],
        ),
        (
            "evaluate qrels run RR --labels E",
            &["`E` is not `label=grade`"],
        ),
        ("evaluate qrels run RR --level x", &["`x` is not a number"]),
        ("evaluate qrels run RR --level nan", &["--level"]),
        (
            "evaluate qrels run RR --order alphabetical",
            &["possible values: score, rank"],
        ),
        (
            "evaluate qrels twice RR --order rank",
            &[
                "line 2: rank 1 of query `1` is given twice, first in line 1",
                "hint: leave out `--order rank`",
            ],
        ),
        (
            "evaluate qrels zero RR --order rank",
            &["line 1: rank `0` is not at least 1"],
        ),
        ("evaluate qrels run RR --formt json", &["--format"]),
        ("evalute qrels run RR", &["evaluate"]),
    ] {
        refused(&bench, options, pieces);
    }
}
