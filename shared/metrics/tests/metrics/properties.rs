//! What holds for every ranking.

use std::collections::BTreeMap;

use evalfarm_domain::{Gains, Grade, Measurement, QueryJudgments, rank_order};
use evalfarm_metrics::{QueryMetrics, condense_into};
use proptest::prelude::*;

use crate::naive::Naive;
use crate::support::{assert_within, document, grade, measurement};

const METRICS: &[&str] = &[
    "nDCG@10",
    "nDCG",
    "nDCG(dcg='exp-log2')@5",
    "RR",
    "RR@3",
    "P@5",
    "R@10",
    "AP",
    "AP@4",
    "Success@2",
    "ERR@10",
    "RBP(p=0.8)",
    "Judged@10",
    "Rprec",
    "zero_result",
];

/// Grades of the judged documents, and a ranking in which no document occurs twice.
fn judged_ranking() -> impl Strategy<Value = (BTreeMap<u32, f64>, Vec<u32>)> {
    let grades = prop::sample::select(vec![-2.0, 0.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]);
    let judged = prop::collection::btree_map(0_u32..40, grades, 0..25);
    let ranking = Just((0_u32..40).collect::<Vec<u32>>()).prop_shuffle();
    (judged, ranking, 0_usize..40).prop_map(|(judged, mut ranking, length)| {
        ranking.truncate(length);
        (judged, ranking)
    })
}

fn name(number: u32) -> String {
    format!("d{number}")
}

fn query_judgments(grades: &BTreeMap<u32, f64>) -> QueryJudgments {
    let mut judgments = QueryJudgments::default();
    for (&number, &value) in grades {
        judgments.insert(document(&name(number)), grade(value));
    }
    judgments
}

fn hits(grades: &BTreeMap<u32, f64>, ranking: &[u32]) -> Vec<Option<Grade>> {
    let of = |number| grades.get(number).map(|&value| grade(value));
    ranking.iter().map(of).collect()
}

fn score(
    measurement: &Measurement,
    grades: &BTreeMap<u32, f64>,
    ranking: &[u32],
) -> Vec<Option<f64>> {
    let mut values = Vec::new();
    QueryMetrics::new(measurement, Some(&query_judgments(grades)))
        .unwrap()
        .values_into(&hits(grades, ranking), &mut values);
    values
}

proptest! {
    #[test]
    fn values_are_finite_and_in_range((grades, ranking) in judged_ranking()) {
        let measurement = measurement(METRICS);
        let values = score(&measurement, &grades, &ranking);
        prop_assert_eq!(values.len(), METRICS.len());
        for (metric, value) in METRICS.iter().zip(values) {
            match value {
                Some(value) => {
                    prop_assert!((0.0..=1.0).contains(&value), "{} is {}", metric, value);
                    prop_assert!(value.is_sign_positive(), "{} is -0", metric);
                }
                None => prop_assert!(*metric == "Judged@10" && ranking.is_empty()),
            }
        }
    }

    /// Case M23: a ranking is a list and not a set.
    #[test]
    fn m23_swapping_two_ranks_of_different_gain_changes_ndcg(
        (grades, ranking) in judged_ranking(),
        places in (0_usize..10, 0_usize..10),
    ) {
        let gain = |place: usize| {
            ranking.get(place).map(|n| grades.get(n).copied().unwrap_or(0.0).max(0.0))
        };
        let (Some(one), Some(other)) = (gain(places.0), gain(places.1)) else {
            return Ok(());
        };
        let mut swapped = ranking.clone();
        swapped.swap(places.0, places.1);
        let measurement = measurement(&["nDCG@10"]);
        let before = score(&measurement, &grades, &ranking)[0].unwrap();
        let after = score(&measurement, &grades, &swapped)[0].unwrap();
        if one.total_cmp(&other).is_eq() {
            prop_assert_eq!(before.to_bits(), after.to_bits());
        } else {
            let better_comes_up = (one < other) == (places.0 < places.1);
            prop_assert_eq!(after > before, better_comes_up);
            prop_assert_ne!(after.to_bits(), before.to_bits());
        }
    }

    #[test]
    fn the_order_of_input_lines_changes_nothing(
        grades in prop::collection::btree_map(0_u32..12, prop::sample::select(vec![0.0, 1.0, 3.0]), 1..12),
        scores in prop::collection::vec(0_u8..3, 12),
        lines in Just((0_u32..12).collect::<Vec<u32>>()).prop_shuffle(),
    ) {
        // Few different scores, so most hits are tied.
        let rank = |mut lines: Vec<u32>| {
            let place = |n: u32| f32::from(scores[n as usize]);
            lines.sort_by(|&a, &b| rank_order((place(a), &name(a)), (place(b), &name(b))));
            lines
        };
        let measurement = measurement(METRICS);
        let sorted = score(&measurement, &grades, &rank((0..12).collect()));
        prop_assert_eq!(score(&measurement, &grades, &rank(lines)), sorted);
    }

    #[test]
    fn values_equal_the_formulas_written_plainly((grades, ranking) in judged_ranking()) {
        let names = ["nDCG@10", "nDCG(dcg='exp-log2')@10", "RR@10", "P@10", "R@10", "AP@10", "NumRel"];
        let values = score(&measurement(&names), &grades, &ranking);
        let naive = |exponential| Naive { ranking: &ranking, grades: &grades, exponential };
        let expected = [
            naive(false).ndcg(10),
            naive(true).ndcg(10),
            naive(false).reciprocal_rank(10),
            naive(false).precision(10),
            naive(false).recall(10),
            naive(false).average_precision(10),
            naive(false).relevant(),
        ];
        for ((name, value), expected) in names.iter().zip(values).zip(expected) {
            assert_within(value.unwrap(), expected, 1e-12, name);
        }
    }

    #[test]
    fn gains_are_free_up_to_a_factor((grades, ranking) in judged_ranking(), factor in 1e-6_f64..1e6) {
        let scaled: Vec<(f64, f64)> = [-2.0, 0.0, 0.5, 1.0, 2.0, 3.0, 4.0]
            .into_iter()
            .map(|value: f64| (value, value.max(0.0) * factor))
            .collect();
        let linear = measurement(&["nDCG@10", "ERR@10"]);
        let mapped = Measurement { gains: crate::support::gain_map(&scaled), ..linear.clone() };
        let one = score(&linear, &grades, &ranking);
        let other = score(&mapped, &grades, &ranking);
        for (one, other) in one.into_iter().zip(other) {
            assert_within(one.unwrap(), other.unwrap(), 1e-12, "scaled gains");
        }
    }

    #[test]
    fn the_best_order_of_everything_judged_is_perfect(grades in judged_ranking().prop_map(|(grades, _)| grades)) {
        let mut ranking: Vec<u32> = grades.keys().copied().collect();
        ranking.sort_by(|a, b| grades[b].total_cmp(&grades[a]));
        for gains in [Gains::Linear, Gains::Exponential] {
            let measurement = Measurement { gains, ..measurement(&["nDCG@10", "AP"]) };
            let judgments = query_judgments(&grades);
            let metrics = QueryMetrics::new(&measurement, Some(&judgments)).unwrap();
            let mut values = Vec::new();
            metrics.values_into(&hits(&grades, &ranking), &mut values);
            let one = |present: bool| Some(f64::from(u8::from(present)));
            prop_assert_eq!(values, [one(metrics.has_gain()), one(metrics.has_relevant())]);
        }
    }

    #[test]
    fn a_condensed_list_is_fully_judged((grades, ranking) in judged_ranking()) {
        let full = hits(&grades, &ranking);
        let mut condensed = Vec::new();
        condense_into(&full, &mut condensed);
        let judged: Vec<Option<Grade>> = full.into_iter().flatten().map(Some).collect();
        prop_assert_eq!(condensed, judged);
    }
}
