//! What happened to the queries, beside their values.

use std::collections::BTreeMap;

use evalfarm_domain::FailureKind;
use serde::{Deserialize, Serialize};

use crate::Side;

/// Failures, degradations and empty results of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideCounts {
    /// Queries of the manifest's set.
    pub queries: usize,
    /// Queries without a ranking.
    pub failed: usize,
    /// These, by kind.
    pub failures: BTreeMap<FailureKind, usize>,
    /// Queries on which a stage failed and its input was scored; absent when no stage was recorded.
    pub degraded: Option<usize>,
    /// Queries that did not fail and returned nothing; absent when it was not recorded.
    pub zero_results: Option<usize>,
}

impl SideCounts {
    pub(crate) fn of(side: &Side) -> Self {
        let mut failures = BTreeMap::new();
        for kind in side.failures.iter().flatten() {
            *failures.entry(*kind).or_insert(0) += 1;
        }
        let rows = 0..side.failures.len();
        let staged = side.rewrite.is_some() || side.rerank.is_some();
        let answered = |row: usize| side.failures[row].is_none();
        Self {
            queries: side.failures.len(),
            failed: failures.values().sum(),
            failures,
            degraded: staged.then(|| rows.clone().filter(|&row| side.is_degraded(row)).count()),
            zero_results: side
                .zero_results
                .as_ref()
                .map(|zero| rows.filter(|&row| answered(row) && zero[row]).count()),
        }
    }

    /// Returns a count as a share of the queries.
    pub(crate) fn share(&self, count: usize) -> f64 {
        count as f64 / self.queries as f64
    }
}

/// Mean share of judged hits of both sides, over the queries on which both are known.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Of the baseline.
    pub baseline: f64,
    /// Of the candidate.
    pub candidate: f64,
    /// Queries on which both sides returned something and its judged share is known.
    pub queries: usize,
}

impl Coverage {
    pub(crate) fn of(baseline: &Side, candidate: &Side) -> Option<Self> {
        let pairs: Vec<(f64, f64)> = baseline
            .judged
            .as_ref()?
            .iter()
            .zip(candidate.judged.as_ref()?)
            .filter_map(|(before, after)| Some(((*before)?, (*after)?)))
            .collect();
        if pairs.is_empty() {
            return None;
        }
        let queries = pairs.len();
        Some(Self {
            baseline: pairs.iter().map(|pair| pair.0).sum::<f64>() / queries as f64,
            candidate: pairs.iter().map(|pair| pair.1).sum::<f64>() / queries as f64,
            queries,
        })
    }
}

/// Returns by how many queries the candidate has more empty results than the baseline, over pairs in which neither failed.
///
/// A pair with a failure is left out on both sides: a failed candidate must not make up for an empty result elsewhere.
pub(crate) fn zero_result_increase(baseline: &Side, candidate: &Side) -> Option<i64> {
    let before = baseline.zero_results.as_ref()?;
    let after = candidate.zero_results.as_ref()?;
    let answered = (0..before.len())
        .filter(|&row| baseline.failures[row].is_none() && candidate.failures[row].is_none());
    let increase = answered
        .map(|row| i64::from(after[row]) - i64::from(before[row]))
        .sum();
    Some(increase)
}
