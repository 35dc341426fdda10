//! Evidence into numbers: paired differences, tests, intervals and corrected p-values of the whole family.

mod coverage;
mod family;
mod pairing;
mod slices;
mod summary;

use evalfarm_domain::Direction;
use evalfarm_stats::{
    GridDifferences, Interval, IntervalMethod, IntervalOutcome, PValue, PairedDifferences,
    Position, ResamplingPlan, smallest_p,
};

use crate::{
    Coverage, Evidence, EvidenceError, Family, GatePolicy, MetricJudgement, MetricRole,
    SliceJudgement,
};

use family::{Tested, correction, test};
pub(crate) use pairing::paired;
use summary::{Figures, summarise};

/// What a value may exceed a limit by and still count as equal: decimal limits such as .30 are not exact in binary.
pub(crate) const SLACK: f64 = 1e-12;

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
    /// Whether its values are known to be made from judgments.
    pub(crate) from_judgments: bool,
    /// Which way the mean goes on condensed lists, where these were looked at.
    pub(crate) condensed: Option<Trend>,
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
    fn in_family(&self) -> usize {
        let roles = self.0.iter();
        roles.filter(|(_, role)| counts_in_family(*role)).count()
    }

    fn primary(&self) -> usize {
        self.0[0].0
    }
}

fn counts_in_family(role: MetricRole) -> bool {
    match role {
        MetricRole::Primary | MetricRole::Guard => true,
        MetricRole::Descriptive => false,
    }
}

/// The tested family.
pub(crate) struct Measured {
    pub(crate) family: Family,
    /// One entry for each candidate.
    pub(crate) candidates: Vec<MeasuredCandidate>,
}

/// One candidate of the family.
pub(crate) struct MeasuredCandidate {
    /// Metrics in the order of the roles.
    pub(crate) comparisons: Vec<Comparison>,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) slices: Vec<SliceJudgement>,
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
    let correction = correction(policy, evidence);
    let tested = test(policy, evidence, correction, &plan, &hypotheses);
    let intervals = intervals(policy, &plan, &grids);
    let parts = &evidence.parts;
    let mut comparisons = vec![Vec::new(); parts.candidates.len()];
    for (index, hypothesis) in hypotheses.iter().enumerate() {
        let comparison = compared(
            policy,
            evidence,
            hypothesis,
            &tested,
            index,
            intervals[index],
        );
        comparisons[hypothesis.candidate].push(comparison);
    }
    let coverage = coverage::coverage(policy, evidence, roles.primary());
    let slices = slices::judged(policy, evidence, roles.primary());
    let metrics = roles.0.iter().filter(|(_, role)| counts_in_family(*role));
    Ok(Measured {
        family: Family {
            size: roles.in_family() * parts.candidates.len(),
            correction,
            candidates: parts.candidates.len(),
            metrics: metrics
                .map(|(metric, _)| parts.metrics[*metric].name.clone())
                .collect(),
            resamples: tested.resamples.get(),
            settled: tested.settled,
        },
        candidates: comparisons
            .into_iter()
            .zip(coverage)
            .zip(slices)
            .map(|((comparisons, coverage), slices)| MeasuredCandidate {
                comparisons,
                coverage,
                slices,
            })
            .collect(),
    })
}

fn compared(
    policy: &GatePolicy,
    evidence: &Evidence,
    hypothesis: &Hypothesis,
    tested: &Tested,
    index: usize,
    (interval, method): (Interval, IntervalMethod),
) -> Comparison {
    let corrected = tested.corrected[index];
    let figures = Figures {
        flip: tested.flips[index],
        interval,
        method,
        q: corrected.q,
    };
    let summary = summarise(policy, evidence, hypothesis, figures);
    let direction = summary.direction;
    let candidate = &evidence.parts.candidates[hypothesis.candidate];
    let unjudged = evidence.unjudged(candidate, &summary.metric);
    let condensed = unjudged
        .map(|unjudged| coverage::condensed(evidence, candidate, unjudged, hypothesis.metric));
    Comparison {
        summary,
        mean: Trend::of(hypothesis.grid.sign(), direction),
        interval: Trend::of(interval.position, direction),
        floor: smallest_p(hypothesis.grid.changed(), tested.resamples),
        decidable: corrected.decidable,
        needed: corrected.needed,
        from_judgments: evidence.parts.metrics[hypothesis.metric].from_judgments,
        condensed: condensed.map(|condensed| Trend::of(condensed.position, direction)),
    }
}

/// Returns the intervals with the method that gave each: where BCa is undefined, the percentile interval takes its place.
fn intervals(
    policy: &GatePolicy,
    plan: &ResamplingPlan,
    grids: &[&GridDifferences],
) -> Vec<(Interval, IntervalMethod)> {
    let method = policy.interval;
    let outcomes = plan.intervals_by(grids, method, policy.confidence);
    let is_undefined = |outcome: &IntervalOutcome| outcome.interval().is_none();
    let undefined: Vec<&GridDifferences> = grids
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| is_undefined(outcome))
        .map(|(grid, _)| *grid)
        .collect();
    let mut instead = if undefined.is_empty() {
        Vec::new().into_iter()
    } else {
        plan.intervals(&undefined, policy.confidence).into_iter()
    };
    outcomes
        .into_iter()
        .map(|outcome| {
            let defined = outcome.interval().map(|interval| (interval, method));
            defined.or_else(|| Some((instead.next()?, IntervalMethod::Percentile)))
        })
        .map(|interval| interval.expect("there is a percentile interval for each undefined one"))
        .collect()
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
