//! Short ways to write judgments, rankings and measurements.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evalfarm_domain::{
    DocId, GainMap, Gains, Grade, Judgments, Measurement, QueryId, QueryJudgments, rank_order,
};
use evalfarm_metrics::QueryMetrics;

pub(crate) fn grade(value: f64) -> Grade {
    Grade::try_from(value).unwrap()
}

pub(crate) fn document(id: &str) -> DocId {
    DocId::try_from(id).unwrap()
}

pub(crate) fn query(id: &str) -> QueryId {
    QueryId::try_from(id).unwrap()
}

pub(crate) fn judgments(grades: &[(&str, f64)]) -> QueryJudgments {
    let mut judgments = QueryJudgments::default();
    for &(id, value) in grades {
        judgments.insert(document(id), grade(value));
    }
    judgments
}

/// Returns judgments of several queries.
pub(crate) fn all_judgments(lines: &[(&str, &str, f64)]) -> Judgments {
    let mut judgments = Judgments::default();
    for &(id, judged, value) in lines {
        judgments.insert(query(id), document(judged), grade(value));
    }
    judgments
}

pub(crate) fn gain_map(pairs: &[(f64, f64)]) -> Gains {
    let entries: BTreeMap<Grade, f64> = pairs.iter().map(|&(g, v)| (grade(g), v)).collect();
    Gains::Map(GainMap::new(entries).unwrap())
}

/// Returns a measurement with linear gain, relevant from grade 1, and top grade 4.
pub(crate) fn measurement<S: AsRef<str>>(metrics: &[S]) -> Measurement {
    Measurement {
        metrics: metrics
            .iter()
            .map(|name| name.as_ref().parse().unwrap())
            .collect(),
        depth: NonZeroU32::new(1000).unwrap(),
        gains: Gains::Linear,
        relevant_from: Grade::RELEVANT,
        top_grade: grade(4.0),
    }
}

/// Orders scored documents by the one order of the project.
pub(crate) fn ranked<'a>(scored: &[(&'a str, f32)]) -> Vec<&'a str> {
    let mut scored = scored.to_vec();
    scored.sort_by(|&(one, one_score), &(other, other_score)| {
        rank_order((one_score, one), (other_score, other))
    });
    scored.into_iter().map(|(id, _)| id).collect()
}

/// Returns the values of a ranking of documents.
pub(crate) fn values(
    measurement: &Measurement,
    judgments: &QueryJudgments,
    ranking: &[&str],
) -> Vec<Option<f64>> {
    let hits: Vec<Option<Grade>> = ranking.iter().map(|id| judgments.grade(id)).collect();
    let mut values = Vec::new();
    QueryMetrics::new(measurement, Some(judgments))
        .unwrap()
        .values_into(&hits, &mut values);
    values
}

/// Returns the value of one metric with linear gain.
pub(crate) fn value(metric: &str, grades: &[(&str, f64)], ranking: &[&str]) -> f64 {
    value_with(metric, Gains::Linear, grades, ranking)
}

/// Returns the value of one metric.
pub(crate) fn value_with(
    metric: &str,
    gains: Gains,
    grades: &[(&str, f64)],
    ranking: &[&str],
) -> f64 {
    let measurement = Measurement {
        gains,
        ..measurement(&[metric])
    };
    values(&measurement, &judgments(grades), ranking)[0].unwrap()
}

/// Asserts that a value is the expected one to `tolerance`.
#[track_caller]
pub(crate) fn assert_within(value: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (value - expected).abs() <= tolerance,
        "{what}: {value} is not {expected}"
    );
}
