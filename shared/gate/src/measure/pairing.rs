//! Pairs of values in which a failure never helps.

use evalfarm_domain::{Direction, FailureKind};
use evalfarm_stats::{PairedDifferences, PairingError};

use crate::{Evidence, EvidenceError, JudgedMetric, Side};

/// Pairs the values so that a failure never helps: a failed baseline makes no difference, a failed candidate has the worst
/// value and is never better than the baseline.
pub(crate) fn paired(
    evidence: &Evidence,
    candidate: &Side,
    metric: usize,
) -> Result<PairedDifferences, EvidenceError> {
    let parts = &evidence.parts;
    let (before, after) = paired_values(evidence, candidate, metric);
    PairedDifferences::new(&before, &after).map_err(|error| match error {
        PairingError::NotFinite { row } => EvidenceError::NotFinite {
            side: candidate.id.clone(),
            metric: parts.metrics[metric].name.clone(),
            query: parts.queries[row].clone(),
            value: format!("{} - {}", after[row], before[row]),
        },
        PairingError::Length { .. } | PairingError::Empty => {
            EvidenceError::Empty { what: "queries" }
        }
    })
}

/// Returns the two columns of a pairing, in which a failure never helps.
pub(super) fn paired_values(
    evidence: &Evidence,
    candidate: &Side,
    metric: usize,
) -> (Vec<f64>, Vec<f64>) {
    let before = &evidence.parts.baseline.values[metric];
    paired_columns(
        evidence,
        candidate,
        metric,
        before,
        &candidate.values[metric],
    )
}

/// Pairs other columns of the same two sides, e.g. values on condensed lists, by the same rule.
pub(super) fn paired_columns(
    evidence: &Evidence,
    candidate: &Side,
    metric: usize,
    before: &[f64],
    after: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let parts = &evidence.parts;
    let direction = parts.metrics[metric].direction;
    let worst = worst(evidence, candidate, metric);
    let pair = |row: usize| {
        match (parts.baseline.failures[row], candidate.failures[row]) {
            // What was never finished is no loss of the candidate: the job is incomplete and promotes nobody.
            (Some(_), _) | (None, Some(FailureKind::Unfinished)) => before[row],
            (None, Some(_)) => no_better(before[row], worst, direction),
            (None, None) => after[row],
        }
    };
    (before.to_vec(), (0..before.len()).map(pair).collect())
}

/// Returns a side's values with failed queries at the worst value.
pub(super) fn scored(evidence: &Evidence, side: &Side, metric: usize) -> Vec<f64> {
    let worst = worst(evidence, side, metric);
    side.values[metric]
        .iter()
        .zip(&side.failures)
        .map(|(&value, failure)| if failure.is_some() { worst } else { value })
        .collect()
}

fn worst(evidence: &Evidence, side: &Side, metric: usize) -> f64 {
    let JudgedMetric {
        direction, worst, ..
    } = evidence.parts.metrics[metric];
    worst.unwrap_or_else(|| match direction {
        Direction::Higher => 0.0,
        Direction::Lower => {
            let seen = evidence.parts.baseline.values[metric].iter();
            seen.chain(&side.values[metric])
                .copied()
                .fold(0.0, f64::max)
        }
    })
}

fn no_better(before: f64, after: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Higher => after.min(before),
        Direction::Lower => after.max(before),
    }
}

/// Returns the mean of a column, by traffic when queries carry weights.
pub(super) fn mean(evidence: &Evidence, values: &[f64]) -> f64 {
    let weighted = values.iter().enumerate().map(|(row, value)| {
        (
            evidence.design.weight(row) * value,
            evidence.design.weight(row),
        )
    });
    let (sum, mass) = weighted.fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    sum / mass
}
