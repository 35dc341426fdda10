//! Inputs that broke other tools, each with the right answer of cases/cases.md.
//!
//! M4, M6 and M21 are faults of reading and are tested where files are read; M5 and M28 are tested with the join.

use evalfarm_domain::{Gains, Measurement};
use evalfarm_metrics::{QueryMetrics, condense_into};

use crate::support::{
    assert_within, grade, judgments, measurement, ranked, value, value_with, values,
};

const PERMUTATIONS: [[usize; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

fn ids(prefix: &str, count: u32) -> Vec<String> {
    (0..count).map(|n| format!("{prefix}{n:02}")).collect()
}

/// Gives every id the same grade.
fn graded(ids: &[String], grade: f64) -> Vec<(&str, f64)> {
    ids.iter().map(|id| (id.as_str(), grade)).collect()
}

fn refs(ids: &[String]) -> Vec<&str> {
    ids.iter().map(String::as_str).collect()
}

#[test]
fn m1_ties_are_broken_by_the_rule_for_every_order_of_lines() {
    let grades = [("x5", 2.0), ("x7", 1.0), ("x9", 0.0)];
    let mut sum = 0.0;
    for order in PERMUTATIONS {
        let lines = order.map(|index| (grades[index].0, 3.0));
        let ranking = ranked(&lines);
        let ndcg = value("nDCG@3", &grades, &ranking);
        assert_within(ndcg, 0.619_906_233_284_065_7, 1e-12, "nDCG@3");
        assert_within(value("RR", &grades, &ranking), 0.5, 1e-12, "RR");
        sum += value("nDCG@3", &grades, &order.map(|index| grades[index].0));
    }
    assert_within(sum / 6.0, 0.809_953, 5e-7, "mean over all orders");
}

#[test]
fn m2_a_tie_across_the_cut_does_not_depend_on_line_order() {
    for lines in [[("a", 1.0), ("b", 1.0)], [("b", 1.0), ("a", 1.0)]] {
        let p = value("P@1", &[("b", 1.0)], &ranked(&lines));
        assert_within(p, 1.0, 0.0, "P@1");
    }
}

#[test]
fn m5_a_deduplicated_ranking_has_recall_one() {
    // What reading with `dedupe = first` leaves of the hits g, g.
    assert_within(value("R@2", &[("g", 1.0)], &["g"]), 1.0, 0.0, "R@2");
    assert_within(value("P@2", &[("g", 1.0)], &["g"]), 0.5, 0.0, "P@2");
}

#[test]
fn m9_an_ideal_of_zero_gives_zero_and_says_so() {
    let metrics = QueryMetrics::new(
        &measurement(&["nDCG@10", "R@10", "AP", "Rprec"]),
        Some(&judgments(&[("b", 0.0), ("c", 0.0)])),
    )
    .unwrap();
    assert!(!metrics.has_gain());
    assert!(!metrics.has_relevant());
    let mut values = Vec::new();
    metrics.values_into(&[Some(grade(0.0)), Some(grade(0.0))], &mut values);
    assert_eq!(values, [Some(0.0); 4]);
}

#[test]
fn m11_negative_grades_gain_nothing() {
    let grades = [("a", -2.0), ("b", 1.0), ("c", 0.0), ("d", 2.0)];
    let ranking = ["a", "b", "c", "d"];
    let linear = value("nDCG@10", &grades, &ranking);
    assert_within(linear, 0.567_207_416_956_870_9, 1e-12, "linear"); // ranx and pytrec_eval-terrier 0.5.11
    let exponential = value_with("nDCG@10", Gains::Exponential, &grades, &ranking);
    assert_within(exponential, 0.529_605, 5e-7, "exponential"); // ranx
}

#[test]
fn m13_precision_divides_by_k_and_not_by_what_was_returned() {
    let grades = [("a", 1.0), ("b", 1.0), ("c", 1.0)];
    let expected = [
        ("P@10", 0.2),
        ("R@10", 2.0 / 3.0),
        ("nDCG@10", 0.703_918_089_034_134_7),
        ("AP@10", 0.555_555_555_555_555_5),
    ];
    for (name, expected) in expected {
        let found = value(name, &grades, &["a", "x", "b"]);
        assert_within(found, expected, 1e-12, name);
    }
}

#[test]
fn m14_the_ideal_comes_from_all_judged_documents() {
    let one_of_two = value("nDCG@10", &[("a", 1.0), ("b", 1.0)], &["a"]);
    assert_within(one_of_two, 0.613_147_192_765_458_4, 1e-12, "one of two");
    let five = ids("d", 5);
    let noise = ids("n", 5);
    let short = value("nDCG@10", &graded(&five, 3.0), &["d00"]);
    assert_within(short, 0.339_160_205_273_616_07, 1e-12, "one of five");
    let late: Vec<&str> = refs(&noise).into_iter().chain(refs(&five)).collect();
    let late = value("nDCG@10", &graded(&five, 3.0), &late);
    assert_within(late, 0.540_994_517_778_898_6, 1e-12, "all five, late");
    assert!(late > short);
}

#[test]
fn m15_the_ideal_is_cut_at_k() {
    let relevant = ids("d", 12);
    let found = value("nDCG@10", &graded(&relevant, 1.0), &refs(&relevant)[..10]);
    assert_within(found, 1.0, 0.0, "nDCG@10");
}

#[test]
fn m16_gain_and_ideal_are_never_of_two_scales() {
    // A grade of 3 found first is perfect under either gain, whatever the other metric of the job uses.
    let measurement = measurement(&["nDCG@10", "nDCG(dcg='exp-log2')@10"]);
    let found = values(&measurement, &judgments(&[("a", 3.0)]), &["a"]);
    assert_eq!(found, [Some(1.0), Some(1.0)]);
    assert_ne!(measurement.metrics[0].name(), measurement.metrics[1].name());
}

#[test]
fn m18_reciprocal_rank_is_cut_at_k() {
    let mut ranking = ids("n", 10);
    ranking.push("r".to_owned());
    let ranking = refs(&ranking);
    assert_within(value("RR@10", &[("r", 1.0)], &ranking), 0.0, 0.0, "RR@10");
    assert_within(
        value("RR", &[("r", 1.0)], &ranking),
        1.0 / 11.0,
        1e-12,
        "RR",
    );
}

#[test]
fn m19_m31_recall_is_not_capped_and_not_a_hit_rate() {
    let relevant = ids("d", 20);
    let grades = graded(&relevant, 1.0);
    let top = &refs(&relevant)[..10];
    assert_within(value("R@10", &grades, top), 0.5, 0.0, "R@10");
    assert_within(value("R@1", &grades, top), 0.05, 0.0, "R@1");
    assert_within(value("Success@1", &grades, top), 1.0, 0.0, "Success@1");
    assert_within(value("R@10", &grades, &["d00"]), 0.05, 0.0, "1 of 20");
}

#[test]
fn m20_average_precision_divides_by_all_that_is_relevant() {
    let found = value("AP", &[("a", 1.0), ("b", 1.0)], &["a"]);
    assert_within(found, 0.5, 0.0, "AP");
}

#[test]
fn m24_nothing_judged_scores_nothing_and_is_visible() {
    let names = [
        "nDCG@10",
        "RR",
        "P@10",
        "R@10",
        "AP",
        "Success@10",
        "ERR@10",
        "Judged@10",
    ];
    let found = values(&measurement(&names), &judgments(&[("a", 1.0)]), &["x", "y"]);
    assert_eq!(found, [Some(0.0); 8]);
    let mut condensed = vec![Some(grade(1.0))];
    condense_into(&[None, None], &mut condensed);
    assert!(condensed.is_empty());
    // Over what was returned: 2 of 3. trec_eval's unj_10 would say 1 unjudged of 10.
    let judged = value("Judged@10", &[("a", 1.0), ("b", 0.0)], &["a", "x", "b"]);
    assert_within(judged, 2.0 / 3.0, 1e-12, "Judged@10");
}

#[test]
fn m26_the_relevance_level_moves_binary_metrics_alone() {
    let grades = judgments(&[("a", 1.0), ("b", 2.0)]);
    let from_two = Measurement {
        relevant_from: grade(2.0),
        ..measurement(&["RR", "P@1", "nDCG"])
    };
    let ndcg = 0.859_719; // cases.md, M26
    for (measurement, name) in [
        (from_two, "level of the job"),
        (
            measurement(&["RR(rel=2)", "P(rel=2)@1", "nDCG"]),
            "level in the name",
        ),
    ] {
        let found = values(&measurement, &grades, &["a", "b"]);
        assert_eq!(found[..2], [Some(0.5), Some(0.0)], "{name}");
        assert_within(found[2].unwrap(), ndcg, 5e-7, name);
    }
}

#[test]
fn m27_close_values_stay_different() {
    // The grade-1 document at rank 29 or 30: less than 0.004 apart.
    let ranking = ids("n", 40);
    let mut last = None;
    for place in [28, 29] {
        let grades = [(ranking[place].as_str(), 1.0), ("elsewhere", 3.0)];
        let found = value("nDCG", &grades, &refs(&ranking));
        if let Some(last) = last {
            assert!(found < last && last - found < 0.004, "{last} and {found}");
        }
        last = Some(found);
    }
}
