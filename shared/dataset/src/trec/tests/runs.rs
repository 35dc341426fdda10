//! Runs: order, repetitions, ties.

use std::num::NonZeroUsize;

use super::support::{documents, message, run, run_with};
use crate::trec::{Dedupe, Order, RunOptions, TieReport};

#[test]
fn m5_a_document_twice_in_a_ranking() {
    let text = "1 Q0 b 1 9.0 t\n1 Q0 g 2 5.0 t\n2 Q0 g 1 1.0 t\n1 Q0 g 3 1.0 t\n";
    let error = run(text).unwrap_err();
    assert_eq!(
        message(&error),
        "line 4: document `g` is twice in the ranking of query `1`, first in line 2"
    );
    assert!(error.hint().unwrap().contains("--dedupe first"));
    let first = RunOptions {
        dedupe: Dedupe::First,
        ..RunOptions::default()
    };
    // The best place is kept whatever the order of the lines.
    let mut lines: Vec<&str> = text.lines().collect();
    for _ in 0..lines.len() {
        lines.rotate_left(1);
        let read = run_with(lines.join("\n"), first).unwrap();
        assert_eq!(
            (documents(&read, "1"), read.duplicates_dropped),
            (vec!["b".into(), "g".into()], 1)
        );
        assert!((read.queries["1"][1].score - 5.0).abs() < f64::EPSILON);
    }
    // cases.md M5: a 9.0, b 5.0, a 1.0 keeps a in first place.
    let read = run_with("1 Q0 a 1 9.0 t\n1 Q0 b 2 5.0 t\n1 Q0 a 3 1.0 t", first).unwrap();
    assert_eq!(documents(&read, "1"), ["a", "b"]);
}

#[test]
fn m21_scores_that_are_not_finite_are_errors() {
    for score in ["NaN", "nan", "inf", "-inf", "1e999", "high"] {
        let error = run(format!("1 Q0 a 1 2.0 t\n1 Q0 b 2 {score} t\n")).unwrap_err();
        assert_eq!(
            message(&error),
            format!("line 2: score `{score}` is not a finite number")
        );
    }
}

#[test]
fn p15_interleaved_queries_are_the_same_run() {
    let grouped = run("1 Q0 a 1 3 t\n1 Q0 b 2 2 t\n2 Q0 c 1 1 t\n").unwrap();
    let interleaved = run("1 Q0 a 1 3 t\n2 Q0 c 1 1 t\n1 Q0 b 2 2 t\n").unwrap();
    assert_eq!(grouped, interleaved);
}

#[test]
fn m1_ties_are_ordered_by_descending_document_id_for_every_permutation() {
    let lines = [
        "1 Q0 x5 1 3.0 t",
        "1 Q0 x7 2 3.0 t",
        "1 Q0 x9 3 3.0 t",
        "1 Q0 z 4 -0.0 t",
        "1 Q0 a 5 0.0 t",
    ];
    for shift in 0..lines.len() {
        let mut permuted = lines.to_vec();
        permuted.rotate_left(shift);
        for lines in [permuted.clone(), permuted.into_iter().rev().collect()] {
            let read = run(lines.join("\n")).unwrap();
            assert_eq!(documents(&read, "1"), ["x9", "x7", "x5", "z", "a"]);
        }
    }
}

#[test]
fn m2_m4_ties_are_reported() {
    let text = "1 Q0 a 1 1.0 t\n1 Q0 b 2 1.0 t\n1 Q0 c 3 0.5 t\n2 Q0 a 1 2.0 t\n2 Q0 b 2 1.0 t\n";
    let read = run(text).unwrap();
    assert_eq!(documents(&read, "1"), ["b", "a", "c"]);
    let at = |cut| read.ties_at(NonZeroUsize::new(cut).unwrap());
    assert_eq!(
        at(1),
        TieReport {
            queries: 2,
            queries_across_cut: 1,
            hits: 5,
            tied_hits: 2
        }
    );
    assert_eq!(at(2).queries_across_cut, 0);
    assert_eq!(at(100).queries_across_cut, 0);
    assert!((at(1).tied_share() - 0.4).abs() < 1e-12);
}

#[test]
fn ranks_are_trusted_only_when_they_are_ranks() {
    let by_rank = RunOptions {
        order: Order::Rank,
        ..RunOptions::default()
    };
    let read = run_with("1 Q0 a 2 9.0 t\n1 Q0 b 1 1.0 t\n", by_rank).unwrap();
    assert_eq!(documents(&read, "1"), ["b", "a"]);
    let error = run_with("1 Q0 a 2 9.0 t\n2 Q0 a 2 9.0 t\n1 Q0 b 2 1.0 t\n", by_rank).unwrap_err();
    assert_eq!(
        message(&error),
        "line 3: rank 2 of query `1` is given twice, first in line 1"
    );
    let error = run_with("1 Q0 a 0 9.0 t\n", by_rank).unwrap_err();
    assert_eq!(
        message(&error),
        "line 1: rank `0` is not at least 1, and the file's ranks are to be trusted"
    );
    assert!(run("1 Q0 a 0 9.0 t\n1 Q0 b 0 1 t").is_ok());
}

#[test]
fn the_fault_that_comes_first_in_the_file_is_reported() {
    let error = run("2 Q0 a 1 9 t\n2 Q0 a 2 8 t\n1 Q0 a 1 9 t\n1 Q0 a 2 8 t\n").unwrap_err();
    assert_eq!(error.position(), Some(2));
}
