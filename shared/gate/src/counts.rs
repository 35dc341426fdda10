//! What happened to the queries, beside their values.

use std::collections::BTreeMap;

use evalfarm_domain::FailureKind;
use evalfarm_stats::Position;
use serde::{Deserialize, Serialize};

use crate::Side;

/// Failures, degradations and empty results of one side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SideCounts {
    /// Queries of the manifest's set.
    pub queries: usize,
    /// Queries without a ranking, but for those that were never finished: these are missing rows.
    pub failed: usize,
    /// Queries without a ranking by kind, unfinished ones among them.
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
            failed: failures.values().sum::<usize>() - unfinished(side),
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

/// Returns the queries whose rows a task should have given that was given up.
pub(crate) fn unfinished(side: &Side) -> usize {
    let kinds = side.failures.iter().flatten();
    kinds
        .filter(|&&kind| kind == FailureKind::Unfinished)
        .count()
}

/// What is judged of both sides, and what missing judgments may have done.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    /// Mean share of judged hits of the baseline, over the queries on which both sides are known.
    pub baseline: f64,
    /// The same of the candidate.
    pub candidate: f64,
    /// Queries on which both sides returned something and its judged share is known.
    pub queries: usize,
    /// Lower end of the bootstrap interval of the candidate's share less the baseline's.
    #[serde(default)]
    pub ci_low: f64,
    /// Its upper end.
    #[serde(default)]
    pub ci_high: f64,
    /// The effect on condensed lists, where these were looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub condensed: Option<Condensed>,
    /// The least that the primary's change could be if every hit of both sides were judged, where it was computed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lowest: Option<f64>,
    /// The most that it could be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub highest: Option<f64>,
}

/// The primary metric on lists from which unjudged hits were removed.
///
/// Source: Sakai, *Alternatives to Bpref*, SIGIR 2007.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Condensed {
    /// Mean of the baseline.
    pub baseline: f64,
    /// Mean of the candidate.
    pub candidate: f64,
    /// Mean paired difference.
    pub delta: f64,
    /// Whether it lies above or below 0, by the tolerance of the test.
    pub position: Position,
}

impl Coverage {
    /// Returns the shares of judged hits; intervals and condensed lists come later. A share that is missing where a side
    /// returned something makes the whole unknown: the known ones may be those that look well.
    pub(crate) fn of(baseline: &Side, candidate: &Side) -> Option<Self> {
        let rows = 0..baseline.failures.len();
        if [baseline, candidate]
            .iter()
            .any(|side| rows.clone().any(|row| hides_its_share(side, row)))
        {
            return None;
        }
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
        let sum = |side: fn(&(f64, f64)) -> f64| pairs.iter().map(side).sum::<f64>();
        Some(Self {
            baseline: sum(|pair| pair.0) / queries as f64,
            candidate: sum(|pair| pair.1) / queries as f64,
            queries,
            ci_low: 0.0,
            ci_high: 0.0,
            condensed: None,
            lowest: None,
            highest: None,
        })
    }

    /// Returns by how much the candidate's judged share exceeds the baseline's.
    pub fn difference(&self) -> f64 {
        self.candidate - self.baseline
    }
}

/// Whether a side returned something on a query, as far as is known, and does not say which share of it is judged.
fn hides_its_share(side: &Side, row: usize) -> bool {
    let is_empty = side.zero_results.as_ref().is_some_and(|zero| zero[row]);
    let known = side
        .judged
        .as_ref()
        .is_some_and(|judged| judged[row].is_some());
    side.failures[row].is_none() && !is_empty && !known
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
