//! One metric of one candidate in figures.

use evalfarm_domain::Direction;
use evalfarm_stats::{
    Interval, IntervalMethod, PValue, PairedShares, Position, SignFlip, minimum_detectable_effect,
};

use super::pairing::{mean, paired_values, scored};
use super::{Hypothesis, SLACK, towards_better};
use crate::{Agreement, Evidence, Flips, GatePolicy, MetricJudgement};

/// Power at which the minimum detectable effect is stated; the customary one, Cohen 1988, section 2.4.
const POWER: f64 = 0.80;

/// What the tests of the family gave for one hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Figures {
    pub(super) flip: SignFlip,
    pub(super) interval: Interval,
    pub(super) method: IntervalMethod,
    pub(super) q: Option<PValue>,
}

pub(super) fn summarise(
    policy: &GatePolicy,
    evidence: &Evidence,
    hypothesis: &Hypothesis,
    figures: Figures,
) -> MetricJudgement {
    let parts = &evidence.parts;
    let metric = &parts.metrics[hypothesis.metric];
    let candidate = &parts.candidates[hypothesis.candidate];
    let Hypothesis {
        differences, grid, ..
    } = hypothesis;
    let (wins, losses) = match metric.direction {
        Direction::Higher => (grid.rose(), grid.fell()),
        Direction::Lower => (grid.fell(), grid.rose()),
    };
    let n = differences.as_slice().len();
    let changed = wins + losses;
    let total: f64 = differences.as_slice().iter().sum();
    let delta = grid.mean();
    let improvement = towards_better(delta, metric.direction);
    let worsened = differences
        .as_slice()
        .iter()
        .filter(|d| -towards_better(**d, metric.direction) > policy.catastrophic_drop + SLACK);
    let side_mean = |side| mean(evidence, &scored(evidence, side, hypothesis.metric));
    MetricJudgement {
        metric: metric.name.clone(),
        direction: metric.direction,
        role: hypothesis.role,
        n,
        baseline: side_mean(&parts.baseline),
        candidate: side_mean(candidate),
        delta,
        ci_low: figures.interval.low,
        ci_high: figures.interval.high,
        interval: figures.method,
        p: figures.flip.p,
        exact: figures.flip.exact,
        q: figures.q,
        changed: grid.changed(),
        wins,
        losses,
        ties: n - changed,
        sign_effect: (wins as f64 - losses as f64) / n as f64,
        dz: differences
            .standard_deviation()
            .filter(|sd| *sd > 0.0 && changed > 0)
            .map(|sd| improvement / sd),
        minimum_detectable_effect: grid
            .standard_error()
            .map(|error| minimum_detectable_effect(error, policy.alpha, POWER)),
        affected_mean: (changed > 0).then(|| total / changed as f64),
        catastrophic: worsened.count(),
        agreement: agreement(policy, figures),
        flips: flips(policy, evidence, hypothesis),
    }
}

fn agreement(policy: &GatePolicy, figures: Figures) -> Agreement {
    let significant = figures.flip.p.value() <= policy.alpha;
    match (significant, figures.interval.position != Position::Holds) {
        (true, true) | (false, false) => Agreement::Agree,
        (true, false) => Agreement::OnlyPValue,
        (false, true) => Agreement::OnlyInterval,
    }
}

/// Counts queries that went from right to wrong and back, when every value is 0 or 1 and queries are independent.
///
/// A value of 1 is right, or wrong when less is better. The exact tests behind it know no weights and no clusters.
fn flips(policy: &GatePolicy, evidence: &Evidence, hypothesis: &Hypothesis) -> Option<Flips> {
    let parts = &evidence.parts;
    if parts.clusters.is_some() || parts.weights.is_some() {
        return None;
    }
    let candidate = &parts.candidates[hypothesis.candidate];
    let (before, after) = paired_values(evidence, candidate, hypothesis.metric);
    let binary = |value: &f64| value.to_bits() == 0 || value.to_bits() == 1.0_f64.to_bits();
    let is_one = |value: &f64| value.to_bits() == 1.0_f64.to_bits();
    let values = || before.iter().chain(&after);
    if !values().all(binary) || !values().any(is_one) {
        return None;
    }
    let right = |value: &f64| match parts.metrics[hypothesis.metric].direction {
        Direction::Higher => is_one(value),
        Direction::Lower => !is_one(value),
    };
    let column = |values: &[f64]| -> Vec<bool> { values.iter().map(right).collect() };
    let table = PairedShares::count(&column(&before), &column(&after))?;
    Some(Flips {
        to_right: table.gained(),
        to_wrong: table.lost(),
        share_to_wrong: table.lost() as f64 / table.pairs() as f64,
        share_to_wrong_at_most: table.lost_at_most(policy.confidence),
        p: table.mcnemar(),
    })
}
