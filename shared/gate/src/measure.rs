//! Evidence into numbers: paired differences, tests, intervals and corrected p-values of the whole family.

use std::num::NonZeroU32;

use evalfarm_domain::Direction;
use evalfarm_stats::{
    Correction, GridDifferences, Interval, PValue, PairedDifferences, PairingError, Position,
    ResamplingPlan, SignFlip, Statistic, benjamini_hochberg, decidable, holm,
    minimum_detectable_effect, smallest_p,
};

use crate::{
    Agreement, Evidence, EvidenceError, Family, GatePolicy, JudgedMetric, MetricJudgement,
    MetricRole, Side,
};

/// Power at which the minimum detectable effect is stated; the customary one, Cohen 1988, section 2.4.
const POWER: f64 = 0.80;

/// What a value may exceed a limit by and still count as equal: decimal limits such as .30 are not exact in binary.
pub(crate) const SLACK: f64 = 1e-12;

/// Changed queries beyond which a floor falls no further: 2^(1−k) is below any alpha and any resampling floor.
const MOST_NEEDED: usize = 64;

/// Which way a metric went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Trend {
    Better,
    Same,
    Worse,
}

impl Trend {
    fn of(position: Position, direction: Direction) -> Self {
        match (position, direction) {
            (Position::Holds, _) => Self::Same,
            (Position::Above, Direction::Higher) | (Position::Below, Direction::Lower) => {
                Self::Better
            }
            (Position::Above, Direction::Lower) | (Position::Below, Direction::Higher) => {
                Self::Worse
            }
        }
    }
}

/// One metric of one candidate, tested.
#[derive(Debug, Clone)]
pub(crate) struct Comparison {
    pub(crate) summary: MetricJudgement,
    /// Which way the mean went.
    pub(crate) mean: Trend,
    /// Which side of no change the whole interval lies on.
    pub(crate) interval: Trend,
    /// Smallest p-value that so many changed queries can give.
    pub(crate) floor: PValue,
    /// Whether the family's correction could reject it.
    pub(crate) decidable: bool,
    /// Changed queries from which an undecidable primary could be rejected, everything else staying as it is; absent when
    /// no number would do.
    pub(crate) needed: Option<usize>,
}

impl Comparison {
    /// Returns the mean improvement, in the metric's own unit.
    pub(crate) fn improvement(&self) -> f64 {
        towards_better(self.summary.delta, self.summary.direction)
    }

    /// Returns the end of the interval that is worst for the candidate, as an improvement.
    pub(crate) fn worst_end(&self) -> f64 {
        match self.summary.direction {
            Direction::Higher => self.summary.ci_low,
            Direction::Lower => -self.summary.ci_high,
        }
    }

    /// Returns the queries that changed.
    pub(crate) fn changed_queries(&self) -> usize {
        self.summary.wins + self.summary.losses
    }
}

/// Returns a difference with its sign turned so that more is better.
fn towards_better(difference: f64, direction: Direction) -> f64 {
    match direction {
        Direction::Higher => difference,
        Direction::Lower => -difference,
    }
}

/// The metrics of the job, the primary first, then guards, then the rest, with their index in the evidence.
#[derive(Debug, Clone)]
pub(crate) struct Roles(pub(crate) Vec<(usize, MetricRole)>);

impl Roles {
    pub(crate) fn in_family(&self) -> usize {
        self.0
            .iter()
            .filter(|(_, role)| counts_in_family(*role))
            .count()
    }
}

fn counts_in_family(role: MetricRole) -> bool {
    match role {
        MetricRole::Primary | MetricRole::Guard => true,
        MetricRole::Descriptive => false,
    }
}

/// The tested family, one list of comparisons for each candidate, metrics in the order of the roles.
pub(crate) struct Measured {
    pub(crate) family: Family,
    pub(crate) candidates: Vec<Vec<Comparison>>,
}

/// One hypothesis before correction.
struct Hypothesis {
    candidate: usize,
    metric: usize,
    role: MetricRole,
    differences: PairedDifferences,
    grid: GridDifferences,
}

pub(crate) fn measure(
    policy: &GatePolicy,
    evidence: &Evidence,
    roles: &Roles,
) -> Result<Measured, EvidenceError> {
    let plan = ResamplingPlan::new(evidence.design.clone(), policy.resamples);
    let hypotheses = hypotheses(evidence, &plan, roles)?;
    let grids: Vec<&GridDifferences> = hypotheses.iter().map(|h| &h.grid).collect();
    let flips = plan.sign_flips(&grids);
    let intervals = plan.intervals(&grids, policy.confidence);
    let correction = correction(policy, evidence);
    let corrected = correct(policy, evidence, correction, &plan, &hypotheses, &flips);
    let parts = &evidence.parts;
    let mut candidates = vec![Vec::new(); parts.candidates.len()];
    for (index, hypothesis) in hypotheses.iter().enumerate() {
        let summary = summarise(
            policy,
            evidence,
            hypothesis,
            flips[index],
            intervals[index],
            corrected[index].q,
        );
        let direction = summary.direction;
        candidates[hypothesis.candidate].push(Comparison {
            summary,
            mean: Trend::of(hypothesis.grid.sign(), direction),
            interval: Trend::of(intervals[index].position, direction),
            floor: smallest_p(hypothesis.grid.changed(), policy.resamples.count),
            decidable: corrected[index].decidable,
            needed: corrected[index].needed,
        });
    }
    let metrics = roles.0.iter().filter(|(_, role)| counts_in_family(*role));
    Ok(Measured {
        family: Family {
            size: roles.in_family() * parts.candidates.len(),
            correction,
            candidates: parts.candidates.len(),
            metrics: metrics
                .map(|(metric, _)| parts.metrics[*metric].name.clone())
                .collect(),
        },
        candidates,
    })
}

/// Returns the correction that the policy asks for, or the default of the kind of family.
///
/// Under BH many truly worse candidates loosen the threshold for the better ones, so candidates get the step-down maximum.
fn correction(policy: &GatePolicy, evidence: &Evidence) -> Correction {
    policy.correction.unwrap_or(if one_candidate(evidence) {
        Correction::BenjaminiHochberg
    } else {
        Correction::MaxT
    })
}

fn one_candidate(evidence: &Evidence) -> bool {
    evidence.parts.candidates.len() == 1
}

fn hypotheses(
    evidence: &Evidence,
    plan: &ResamplingPlan,
    roles: &Roles,
) -> Result<Vec<Hypothesis>, EvidenceError> {
    let mut hypotheses = Vec::new();
    for (candidate, side) in evidence.parts.candidates.iter().enumerate() {
        for &(metric, role) in &roles.0 {
            let differences = paired(evidence, side, metric)?;
            let grid = plan
                .grid(&differences)
                .expect("evidence has one value for each row of its design");
            hypotheses.push(Hypothesis {
                candidate,
                metric,
                role,
                differences,
                grid,
            });
        }
    }
    Ok(hypotheses)
}

/// Pairs the values so that a failure never helps: a failed baseline makes no difference, a failed candidate has the worst
/// value and is never better than the baseline.
fn paired(
    evidence: &Evidence,
    candidate: &Side,
    metric: usize,
) -> Result<PairedDifferences, EvidenceError> {
    let parts = &evidence.parts;
    let before = &parts.baseline.values[metric];
    let scored = scored(evidence, candidate, metric);
    let direction = parts.metrics[metric].direction;
    let after: Vec<f64> = before
        .iter()
        .zip(&scored)
        .enumerate()
        .map(|(row, (&before, &after))| {
            let baseline_failed = parts.baseline.failures[row].is_some();
            match (baseline_failed, candidate.failures[row].is_some()) {
                (true, _) => before,
                (false, true) => no_better(before, after, direction),
                (false, false) => after,
            }
        })
        .collect();
    PairedDifferences::new(before, &after).map_err(|error| match error {
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

/// Returns a side's values with failed queries at the worst value.
fn scored(evidence: &Evidence, side: &Side, metric: usize) -> Vec<f64> {
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

/// What the correction made of a hypothesis.
#[derive(Debug, Clone, Copy)]
struct Corrected {
    q: Option<PValue>,
    decidable: bool,
    needed: Option<usize>,
}

fn correct(
    policy: &GatePolicy,
    evidence: &Evidence,
    correction: Correction,
    plan: &ResamplingPlan,
    hypotheses: &[Hypothesis],
    flips: &[SignFlip],
) -> Vec<Corrected> {
    let members: Vec<usize> = (0..hypotheses.len())
        .filter(|&index| counts_in_family(hypotheses[index].role))
        .collect();
    let one_sided = correction == Correction::BenjaminiHochberg && !one_candidate(evidence);
    let raw: Vec<PValue> = members
        .iter()
        .map(|&index| {
            let direction = evidence.parts.metrics[hypotheses[index].metric].direction;
            test_value(flips[index], direction, one_sided)
        })
        .collect();
    let adjusted = match correction {
        Correction::BenjaminiHochberg => benjamini_hochberg(&raw),
        Correction::Holm => holm(&raw),
        Correction::MaxT => {
            let grids: Vec<&GridDifferences> = members
                .iter()
                .map(|&index| &hypotheses[index].grid)
                .collect();
            // Enumerated p-values beside sampled maxima: a corrected value is never below the uncorrected one.
            plan.max_t(&grids, Statistic::Normalised)
                .into_iter()
                .zip(&raw)
                .map(|(q, &p)| q.max(p))
                .collect()
        }
    };
    let floor = |changed| floor(changed, policy.resamples.count, one_sided);
    let floors: Vec<PValue> = members
        .iter()
        .map(|&index| floor(hypotheses[index].grid.changed()))
        .collect();
    let can = decidable(&floors, correction, policy.alpha);
    let outside = Corrected {
        q: None,
        decidable: false,
        needed: None,
    };
    let mut corrected = vec![outside; hypotheses.len()];
    for (member, &index) in members.iter().enumerate() {
        // Only an undecidable primary is explained.
        let explained = !can[member] && hypotheses[index].role == MetricRole::Primary;
        let suffices = |changed: &usize| {
            let mut floors = floors.clone();
            floors[member] = floor(*changed);
            decidable(&floors, correction, policy.alpha)[member]
        };
        let needed = (1..=MOST_NEEDED).find(|changed| explained && suffices(changed));
        corrected[index] = Corrected {
            q: Some(adjusted[member]),
            decidable: can[member],
            needed,
        };
    }
    corrected
}

/// Returns the p-value that is corrected: over several candidates BH takes the one-sided value of an improvement, doubled
/// so that it is compared with alpha instead of alpha/2.
fn test_value(flip: SignFlip, direction: Direction, one_sided: bool) -> PValue {
    match (one_sided, direction) {
        (false, _) => flip.p,
        (true, Direction::Higher) => flip.p_above.doubled(),
        (true, Direction::Lower) => flip.p_below.doubled(),
    }
}

fn floor(changed: usize, resamples: NonZeroU32, one_sided: bool) -> PValue {
    let floor = smallest_p(changed, resamples);
    if one_sided {
        let least = 2.0 / (1.0 + f64::from(resamples.get()));
        PValue::try_from(least).map_or(floor, |least| floor.max(least))
    } else {
        floor
    }
}

fn summarise(
    policy: &GatePolicy,
    evidence: &Evidence,
    hypothesis: &Hypothesis,
    flip: SignFlip,
    interval: Interval,
    q: Option<PValue>,
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
    let significant = flip.p.value() <= policy.alpha;
    MetricJudgement {
        metric: metric.name.clone(),
        direction: metric.direction,
        role: hypothesis.role,
        n,
        baseline: mean(
            evidence,
            &scored(evidence, &parts.baseline, hypothesis.metric),
        ),
        candidate: mean(evidence, &scored(evidence, candidate, hypothesis.metric)),
        delta,
        ci_low: interval.low,
        ci_high: interval.high,
        p: flip.p,
        exact: flip.exact,
        q,
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
        agreement: match (significant, interval.position != Position::Holds) {
            (true, true) | (false, false) => Agreement::Agree,
            (true, false) => Agreement::OnlyPValue,
            (false, true) => Agreement::OnlyInterval,
        },
    }
}

fn mean(evidence: &Evidence, values: &[f64]) -> f64 {
    let weighted = values.iter().enumerate().map(|(row, value)| {
        (
            evidence.design.weight(row) * value,
            evidence.design.weight(row),
        )
    });
    let (sum, mass) = weighted.fold((0.0, 0.0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
    sum / mass
}
