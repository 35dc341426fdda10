//! What stands for the result of a task that was given up.

use evalfarm_domain::{CandidateId, Direction, FailureKind, Metric};
use evalfarm_results::MeansRow;

use crate::measured::Measured;

/// What no ranking has as its digest, so that means of a task that was given up are known from all others.
const NO_RANKING: u64 = u64::MAX;

/// The value that a query without a ranking is scored with.
pub(crate) fn worst(metric: Metric) -> f64 {
    match metric.direction() {
        Direction::Higher => 0.0,
        Direction::Lower => 1.0,
    }
}

/// Returns the means of a candidate that was evaluated on none of `queries` queries; there has to be at least one.
pub(crate) fn means(candidate: &CandidateId, metrics: &[Metric], queries: usize) -> MeansRow {
    let columns: Vec<Vec<f64>> = metrics
        .iter()
        .map(|&metric| vec![worst(metric); queries])
        .collect();
    let columns: Vec<&[f64]> = columns.iter().map(Vec::as_slice).collect();
    let (digests, weights) = (vec![NO_RANKING; queries], vec![1.0; queries]);
    MeansRow::new(candidate.clone(), &columns, &digests, &weights)
}

/// Returns how many rows of a candidate are unfinished.
pub(crate) fn rows_of(measured: &Measured) -> usize {
    let failures = measured.side.failures.iter();
    failures
        .filter(|failure| **failure == Some(FailureKind::Unfinished))
        .count()
}

/// Returns how many rows the means lack, of `queries` for each candidate.
pub(crate) fn rows_behind(rows: &[MeansRow], metrics: &[Metric], queries: usize) -> usize {
    let Some(first) = rows.first() else {
        return 0;
    };
    let nothing = means(&first.candidate, metrics, queries).class;
    queries * rows.iter().filter(|row| row.class == nothing).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_of_a_task_that_was_given_up_are_known_from_those_of_a_candidate_that_found_nothing() {
        let metrics = ["nDCG@10".parse().unwrap()];
        let id = |name: &str| CandidateId::try_from(name.to_owned()).unwrap();
        let nothing_found = MeansRow::new(id("c1"), &[&[0.0, 0.0]], &[0, 0], &[1.0, 1.0]);
        let given_up = means(&id("c2"), &metrics, 2);
        assert_eq!(given_up.means, nothing_found.means);
        assert_eq!(rows_behind(&[nothing_found, given_up], &metrics, 2), 2);
        assert_eq!(rows_behind(&[], &metrics, 2), 0);
    }
}
