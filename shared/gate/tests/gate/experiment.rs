//! The published experiment as evidence; shared with the calibration example.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use evalfarm_domain::{CandidateId, Metric, QueryId};
use evalfarm_gate::{Context, EvidenceParts, Side};
use evalfarm_stats::{drawn_rows, swapped_rows};
use serde_json::Value;

pub(crate) const BASELINE: &str = "baseline-v7-holdout.json";
pub(crate) const N20: &str = "rerank-holdout-n20.json";
pub(crate) const N50: &str = "rerank-holdout-n50.json";
pub(crate) const SWEEP: &str = "sweep-best-holdout.json";

const METRICS: [(&str, &str); 4] = [
    ("ndcg10", "nDCG@10"),
    ("mrr10", "RR@10"),
    ("recall10", "R@10"),
    ("precision10", "P@10"),
];

pub(crate) type Rows = BTreeMap<String, Value>;

/// Returns the rows of a published file by query.
pub(crate) fn rows(folder: &Path, file: &str) -> Rows {
    let open = File::open(folder.join(file)).expect("the data set is complete");
    let whole: Value = serde_json::from_reader(open).expect("it is JSON");
    let queries = whole["queries"].as_array().expect("it has queries");
    queries
        .iter()
        .map(|row| (row["query_id"].to_string(), row.clone()))
        .collect()
}

fn side(name: &str, rows: &Rows) -> Side {
    let column = |key: &str| {
        rows.values()
            .map(|row| row[key].as_f64().expect("a number"))
            .collect()
    };
    Side {
        zero_results: Some(
            rows.values()
                .map(|row| row["zero_result"].as_bool().expect("a flag"))
                .collect(),
        ),
        ..Side::of_values(
            CandidateId::try_from(name).expect("a file name is an id"),
            METRICS.iter().map(|(key, _)| column(key)).collect(),
        )
    }
}

/// Returns the evidence of one published file against another.
pub(crate) fn parts(folder: &Path, baseline: &str, candidate: &str) -> EvidenceParts {
    let (before, after) = (rows(folder, baseline), rows(folder, candidate));
    let metric = |name: &str| name.parse::<Metric>().expect("a metric").into();
    EvidenceParts {
        queries: before
            .keys()
            .map(|query| QueryId::try_from(query.as_str()).expect("an id"))
            .collect(),
        metrics: METRICS.iter().map(|(_, name)| metric(name)).collect(),
        baseline: side(baseline, &before),
        candidates: vec![side(candidate, &after)],
        weights: None,
        clusters: None,
        context: Context::default(),
    }
}

/// Returns copy `copy` of the evidence, in which the sides change places on half of the queries, chosen at random: neither
/// is better there. What is recorded beside the values changes places with them.
pub(crate) fn swapped(parts: &EvidenceParts, seed: u64, copy: u32) -> EvidenceParts {
    let mut parts = parts.clone();
    let rows = swapped_rows(seed, copy, parts.queries.len());
    let (before, after) = (&mut parts.baseline, &mut parts.candidates[0]);
    for (row, _) in rows.iter().enumerate().filter(|(_, swapped)| **swapped) {
        for (one, other) in before.values.iter_mut().zip(&mut after.values) {
            std::mem::swap(&mut one[row], &mut other[row]);
        }
        if let (Some(one), Some(other)) = (&mut before.zero_results, &mut after.zero_results) {
            std::mem::swap(&mut one[row], &mut other[row]);
        }
    }
    parts
}

/// Returns bootstrap sample `sample` of the evidence with known effects: rows are drawn whole with replacement, and each
/// metric's differences are centred and then moved by its effect.
pub(crate) fn planted(
    parts: &EvidenceParts,
    effects: &[f64],
    seed: u64,
    sample: u32,
) -> EvidenceParts {
    let mut parts = parts.clone();
    let drawn = drawn_rows(seed, sample, parts.queries.len());
    let (before, after) = (&mut parts.baseline, &mut parts.candidates[0]);
    let columns = before.values.iter_mut().zip(&mut after.values);
    for ((before, after), effect) in columns.zip(effects) {
        let differences: Vec<f64> = before.iter().zip(&*after).map(|(b, a)| a - b).collect();
        let mean = differences.iter().sum::<f64>() / differences.len() as f64;
        *before = drawn.iter().map(|&row| before[row]).collect();
        let moved = drawn.iter().map(|&row| differences[row] - mean + effect);
        *after = before.iter().zip(moved).map(|(b, d)| b + d).collect();
    }
    for side in [before, after] {
        let flags = side.zero_results.as_ref();
        side.zero_results = flags.map(|flags| drawn.iter().map(|&row| flags[row]).collect());
    }
    parts
}
