//! What missing judgments may have done: the judged share of both sides, condensed lists, bounds.

use std::collections::BTreeMap;

use evalfarm_stats::{Design, GridDifferences, Interval, PairedDifferences, ResamplingPlan};

use super::pairing::{mean, paired_columns};
use crate::evidence::Unjudged;
use crate::{Condensed, Coverage, Evidence, GatePolicy, Side};

/// Returns the coverage of each candidate; nothing where the judged share was not recorded.
pub(super) fn coverage(
    policy: &GatePolicy,
    evidence: &Evidence,
    primary: usize,
) -> Vec<Option<Coverage>> {
    let parts = &evidence.parts;
    let candidates = || parts.candidates.iter();
    let mut coverage: Vec<Option<Coverage>> = candidates()
        .map(|candidate| Coverage::of(&parts.baseline, candidate))
        .collect();
    // Candidates with the same known queries share their resamples.
    let mut alike: BTreeMap<Vec<usize>, Vec<usize>> = BTreeMap::new();
    for (index, candidate) in candidates().enumerate() {
        if coverage[index].is_some() {
            let rows = known(&parts.baseline, candidate);
            alike.entry(rows).or_default().push(index);
        }
    }
    for (rows, indices) in alike {
        let intervals = intervals(policy, evidence, &rows, &indices);
        for (&index, interval) in indices.iter().zip(intervals) {
            if let Some(coverage) = &mut coverage[index] {
                coverage.ci_low = interval.low;
                coverage.ci_high = interval.high;
            }
        }
    }
    for (candidate, coverage) in candidates().zip(&mut coverage) {
        let unjudged = evidence.unjudged(candidate, &parts.metrics[primary].name);
        if let (Some(coverage), Some(unjudged)) = (coverage, unjudged) {
            coverage.condensed = Some(condensed(evidence, candidate, unjudged, primary));
            coverage.lowest = unjudged
                .lowest
                .as_ref()
                .map(|column| mean(evidence, column));
            coverage.highest = unjudged
                .highest
                .as_ref()
                .map(|column| mean(evidence, column));
        }
    }
    coverage
}

/// Returns the rows in which the judged share of both sides is known.
fn known(baseline: &Side, candidate: &Side) -> Vec<usize> {
    let is_known = |side: &Side, row: usize| {
        let judged = side.judged.as_ref();
        judged.is_some_and(|judged| judged[row].is_some())
    };
    (0..baseline.failures.len())
        .filter(|&row| is_known(baseline, row) && is_known(candidate, row))
        .collect()
}

/// Returns the interval of the difference of the judged shares for each of the candidates, over those rows.
fn intervals(
    policy: &GatePolicy,
    evidence: &Evidence,
    rows: &[usize],
    candidates: &[usize],
) -> Vec<Interval> {
    let parts = &evidence.parts;
    let share = |side: &Side, row: usize| {
        let judged = side.judged.as_ref().and_then(|judged| judged[row]);
        judged.expect("only rows with a known share are asked for")
    };
    let labels: Option<Vec<u32>> = parts.clusters.as_ref().map(|_| {
        let unit = |row: &usize| u32::try_from(evidence.design.unit(*row)).unwrap_or(u32::MAX);
        rows.iter().map(unit).collect()
    });
    let design = Design::new(rows.len(), None, labels.as_deref())
        .expect("candidates with a coverage have known rows");
    let plan = ResamplingPlan::new(design, policy.resamples);
    let grids: Vec<GridDifferences> = candidates
        .iter()
        .map(|&index| {
            let column =
                |side: &Side| -> Vec<f64> { rows.iter().map(|&r| share(side, r)).collect() };
            let (before, after) = (column(&parts.baseline), column(&parts.candidates[index]));
            let differences = PairedDifferences::new(&before, &after);
            let differences = differences.expect("judged shares lie in [0, 1]");
            plan.grid(&differences).expect("the design has these rows")
        })
        .collect();
    plan.intervals(&grids.iter().collect::<Vec<_>>(), policy.confidence)
}

/// Returns the effect on condensed lists, pairs with a failure treated as on the full ones.
pub(super) fn condensed(
    evidence: &Evidence,
    candidate: &Side,
    unjudged: &Unjudged,
    metric: usize,
) -> Condensed {
    let (before, after) = paired_columns(
        evidence,
        candidate,
        metric,
        &unjudged.condensed_baseline,
        &unjudged.condensed_candidate,
    );
    let differences = PairedDifferences::new(&before, &after).expect("condensed values are finite");
    let grid = GridDifferences::new(&differences, &evidence.design)
        .expect("condensed values have one entry for each query");
    Condensed {
        baseline: mean(evidence, &before),
        candidate: mean(evidence, &after),
        delta: grid.mean(),
        position: grid.sign(),
    }
}
