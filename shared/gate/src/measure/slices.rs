//! The primary metric in each named group of queries.

use evalfarm_domain::Direction;
use evalfarm_stats::{
    Design, GridDifferences, PairedDifferences, ResamplingPlan, holm, smallest_p,
};

use super::Trend;
use super::pairing::paired_values;
use crate::slices::{Slice, resolve};
use crate::{Evidence, GatePolicy, SliceJudgement, SliceState};

/// Returns the slices of each candidate, corrected over all slices and candidates by Holm.
pub(super) fn judged(
    policy: &GatePolicy,
    evidence: &Evidence,
    primary: usize,
) -> Vec<Vec<SliceJudgement>> {
    let parts = &evidence.parts;
    let mut judged = vec![Vec::new(); parts.candidates.len()];
    if policy.slices.is_empty() {
        return judged;
    }
    let Some(queries) = &parts.context.descriptions else {
        for rule in &policy.slices {
            let unknown = SliceJudgement::unknown(rule.name(), rule.is_guard());
            for one in &mut judged {
                one.push(unknown.clone());
            }
        }
        return judged;
    };
    let columns: Vec<(Vec<f64>, Vec<f64>)> = parts
        .candidates
        .iter()
        .map(|side| paired_values(evidence, side, primary))
        .collect();
    for slice in resolve(&policy.slices, queries) {
        let of_slice = one_slice(policy, evidence, &slice, primary, &columns);
        for (one, slice) in judged.iter_mut().zip(of_slice) {
            one.push(slice);
        }
    }
    let raw: Vec<_> = judged.iter().flatten().map(|slice| slice.p).collect();
    let corrected = holm(&raw);
    for (slice, q) in judged.iter_mut().flatten().zip(corrected) {
        slice.q = q;
    }
    judged
}

/// Returns one slice of each candidate.
fn one_slice(
    policy: &GatePolicy,
    evidence: &Evidence,
    slice: &Slice,
    primary: usize,
    columns: &[(Vec<f64>, Vec<f64>)],
) -> Vec<SliceJudgement> {
    let rows = &slice.rows;
    if rows.is_empty() {
        let empty = SliceJudgement::unknown(&slice.name, slice.guard);
        return vec![empty; columns.len()];
    }
    let parts = &evidence.parts;
    let weights = parts
        .weights
        .as_ref()
        .map(|weights| rows.iter().map(|&row| weights[row]).collect());
    let labels: Option<Vec<u32>> = parts.clusters.as_ref().map(|_| {
        let unit = |row: &usize| u32::try_from(evidence.design.unit(*row)).unwrap_or(u32::MAX);
        rows.iter().map(unit).collect()
    });
    let design = Design::new(rows.len(), weights, labels.as_deref())
        .expect("rows of valid evidence are a valid design");
    let plan = ResamplingPlan::new(design, policy.resamples);
    let grids: Vec<GridDifferences> = columns
        .iter()
        .map(|(before, after)| {
            let pick =
                |column: &[f64]| -> Vec<f64> { rows.iter().map(|&row| column[row]).collect() };
            let differences = PairedDifferences::new(&pick(before), &pick(after))
                .expect("differences of all queries were finite");
            plan.grid(&differences).expect("the design has these rows")
        })
        .collect();
    let grids: Vec<&GridDifferences> = grids.iter().collect();
    let flips = plan.sign_flips(&grids);
    let intervals = plan.intervals(&grids, policy.confidence);
    let direction = parts.metrics[primary].direction;
    let figures = grids.iter().zip(flips).zip(intervals);
    figures
        .map(|((grid, flip), interval)| {
            let (wins, losses) = match direction {
                Direction::Higher => (grid.rose(), grid.fell()),
                Direction::Lower => (grid.fell(), grid.rose()),
            };
            let can_decide =
                smallest_p(grid.changed(), policy.resamples.count).value() < policy.alpha;
            let worse = Trend::of(grid.sign(), direction) == Trend::Worse;
            let found = flip.p.value() < policy.alpha
                || Trend::of(interval.position, direction) == Trend::Worse;
            SliceJudgement {
                slice: slice.name.clone(),
                guard: slice.guard,
                n: rows.len(),
                delta: grid.mean(),
                ci_low: interval.low,
                ci_high: interval.high,
                p: flip.p,
                q: flip.p,
                changed: grid.changed(),
                wins,
                losses,
                state: match (can_decide, worse && found) {
                    (false, _) => SliceState::Undecidable,
                    (true, true) => SliceState::Harmed,
                    (true, false) => SliceState::NotHarmed,
                },
            }
        })
        .collect()
}
