//! The tests of a family, their correction, and whether they can decide at all.

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evalfarm_domain::Direction;
use evalfarm_stats::{
    Confidence, Correction, GridDifferences, PValue, ResamplingPlan, SignFlip, SignFlipRun,
    Statistic, benjamini_hochberg, decidable, holm, smallest_p,
};

use super::{Hypothesis, Trend, counts_in_family};
use crate::{Evidence, GatePolicy, MetricRole};

/// Changed queries beyond which a floor falls no further: 2^(1−k) is below any alpha and any resampling floor.
const MOST_NEEDED: usize = 64;

/// The tests of all hypotheses.
pub(super) struct Tested {
    pub(super) flips: Vec<SignFlip>,
    pub(super) corrected: Vec<Corrected>,
    /// Resamples drawn in the end.
    pub(super) resamples: NonZeroU32,
    /// Whether no decision hangs on Monte Carlo error.
    pub(super) settled: bool,
}

/// What the correction made of a hypothesis.
#[derive(Debug, Clone, Copy)]
pub(super) struct Corrected {
    pub(super) q: Option<PValue>,
    pub(super) decidable: bool,
    pub(super) needed: Option<usize>,
}

/// The family with what its correction needs to know.
struct Members<'a> {
    policy: &'a GatePolicy,
    correction: Correction,
    hypotheses: &'a [Hypothesis],
    /// Indices of the hypotheses that are corrected together.
    indices: Vec<usize>,
    /// By hypothesis.
    directions: Vec<Direction>,
    /// Whether one-sided values of an improvement are corrected instead of two-sided ones.
    one_sided: bool,
}

/// Returns the correction that the policy asks for, or the default of the kind of family.
///
/// Under BH many truly worse candidates loosen the threshold for the better ones, so candidates get the step-down maximum.
pub(super) fn correction(policy: &GatePolicy, evidence: &Evidence) -> Correction {
    policy.correction.unwrap_or(if one_candidate(evidence) {
        Correction::BenjaminiHochberg
    } else {
        Correction::MaxT
    })
}

fn one_candidate(evidence: &Evidence) -> bool {
    evidence.parts.candidates.len() == 1
}

/// Tests every hypothesis, with more resamples while one that could promote a candidate hangs on them.
pub(super) fn test(
    policy: &GatePolicy,
    evidence: &Evidence,
    correction: Correction,
    plan: &ResamplingPlan,
    hypotheses: &[Hypothesis],
) -> Tested {
    let family = Members {
        policy,
        correction,
        hypotheses,
        indices: (0..hypotheses.len())
            .filter(|&index| counts_in_family(hypotheses[index].role))
            .collect(),
        directions: hypotheses
            .iter()
            .map(|hypothesis| evidence.parts.metrics[hypothesis.metric].direction)
            .collect(),
        one_sided: correction == Correction::BenjaminiHochberg && !one_candidate(evidence),
    };
    let grids: Vec<&GridDifferences> = hypotheses.iter().map(|h| &h.grid).collect();
    let mut run = SignFlipRun::new(plan, &grids, &family.indices, Statistic::Normalised);
    let raised = run.raise(policy.max_resamples, |run| family.is_settled(run));
    let flips = run.flips();
    let adjusted = family.corrected(&flips, &run.adjusted());
    let resamples = raised.resamples();
    Tested {
        corrected: family.explained(&adjusted, resamples),
        flips,
        resamples,
        settled: match raised {
            evalfarm_stats::Raised::Settled(_) => true,
            evalfarm_stats::Raised::AtCap(_) => family.is_settled(&run),
        },
    }
}

impl Members<'_> {
    /// Returns the adjusted p-values of the members, from the tests of all hypotheses and the step-down maximum.
    fn corrected(&self, flips: &[SignFlip], maxima: &[PValue]) -> Vec<PValue> {
        let raw: Vec<PValue> = self
            .indices
            .iter()
            .map(|&index| self.tested(flips[index], index))
            .collect();
        match self.correction {
            Correction::BenjaminiHochberg => benjamini_hochberg(&raw),
            Correction::Holm => holm(&raw),
            // Enumerated p-values beside sampled maxima: a corrected value is never below the uncorrected one.
            Correction::MaxT => maxima.iter().zip(&raw).map(|(q, &p)| q.max(p)).collect(),
        }
    }

    /// Returns the p-value that is corrected: over several candidates BH takes the one-sided value of an improvement,
    /// doubled so that it is compared with alpha instead of alpha/2.
    fn tested(&self, flip: SignFlip, index: usize) -> PValue {
        match (self.one_sided, self.directions[index]) {
            (false, _) => flip.p,
            (true, Direction::Higher) => flip.p_above.doubled(),
            (true, Direction::Lower) => flip.p_below.doubled(),
        }
    }

    fn floor(&self, changed: usize, resamples: NonZeroU32) -> PValue {
        let floor = smallest_p(changed, resamples);
        let least = 2.0 / (1.0 + f64::from(resamples.get()));
        match PValue::try_from(least) {
            Ok(least) if self.one_sided => floor.max(least),
            Ok(_) | Err(_) => floor,
        }
    }

    fn floors(&self, resamples: NonZeroU32) -> Vec<PValue> {
        let changed = self
            .indices
            .iter()
            .map(|&i| self.hypotheses[i].grid.changed());
        changed
            .map(|changed| self.floor(changed, resamples))
            .collect()
    }

    /// Whether no decision that could promote a candidate hangs on Monte Carlo error: neither whether its improved primary
    /// is significant, nor, if it is, whether a guard that fell is.
    fn is_settled(&self, run: &SignFlipRun<'_>) -> bool {
        let bounds = run.flip_bounds(Confidence::NINETY_NINE);
        let maxima = run.adjusted_bounds(Confidence::NINETY_NINE);
        let end = |low: bool| {
            let pick = |(a, b)| if low { a } else { b };
            let flips: Vec<SignFlip> = bounds
                .iter()
                .map(|&(a, b)| if low { a } else { b })
                .collect();
            let maxima: Vec<PValue> = maxima.iter().map(|&ends| pick(ends)).collect();
            self.corrected(&flips, &maxima)
        };
        let (low, high) = (end(true), end(false));
        let alpha = self.policy.alpha;
        let promotable = |member: usize| {
            let hypothesis = &self.hypotheses[self.indices[member]];
            hypothesis.role == MetricRole::Primary && self.trend(member) == Trend::Better
        };
        let straddles = |low: PValue, high: PValue| low.value() <= alpha && high.value() > alpha;
        let mut rejectable = Vec::new();
        for member in (0..self.indices.len()).filter(|&member| promotable(member)) {
            if straddles(low[member], high[member]) {
                return false;
            }
            if low[member].value() <= alpha {
                rejectable.push(self.hypotheses[self.indices[member]].candidate);
            }
        }
        let guards_settled = self.indices.iter().enumerate().all(|(member, &index)| {
            let hypothesis = &self.hypotheses[index];
            let matters = hypothesis.role == MetricRole::Guard
                && self.trend(member) == Trend::Worse
                && rejectable.binary_search(&hypothesis.candidate).is_ok();
            let (low, high) = bounds[index];
            !matters || !straddles(low.p, high.p)
        });
        guards_settled && !self.more_would_decide(run.resamples(), promotable)
    }

    /// Whether a family is too large for the resamples drawn, but not for the cap.
    fn more_would_decide(&self, resamples: NonZeroU32, promotable: impl Fn(usize) -> bool) -> bool {
        let decides =
            |resamples| decidable(&self.floors(resamples), self.correction, self.policy.alpha);
        let cap = self.policy.max_resamples;
        if resamples >= cap {
            return false;
        }
        let (now, then) = (decides(resamples), decides(cap));
        (0..now.len()).any(|member| promotable(member) && then[member] && !now[member])
    }

    fn trend(&self, member: usize) -> Trend {
        let index = self.indices[member];
        Trend::of(self.hypotheses[index].grid.sign(), self.directions[index])
    }

    /// Returns what is known of each hypothesis, undecidable primaries with the changed queries that they lack.
    fn explained(&self, adjusted: &[PValue], resamples: NonZeroU32) -> Vec<Corrected> {
        let floors = self.floors(resamples);
        let can = decidable(&floors, self.correction, self.policy.alpha);
        let outside = Corrected {
            q: None,
            decidable: false,
            needed: None,
        };
        let mut corrected = vec![outside; self.hypotheses.len()];
        // Equal floors lack equally many.
        let mut known: BTreeMap<u64, Option<usize>> = BTreeMap::new();
        for (member, &index) in self.indices.iter().enumerate() {
            let lacking = !can[member] && self.hypotheses[index].role == MetricRole::Primary;
            let needed = lacking.then(|| {
                let floor = floors[member].value().to_bits();
                *known
                    .entry(floor)
                    .or_insert_with(|| self.needed(&floors, member, resamples))
            });
            corrected[index] = Corrected {
                q: Some(adjusted[member]),
                decidable: can[member],
                needed: needed.flatten(),
            };
        }
        corrected
    }

    /// Returns the least number of changed queries with which a member could be rejected, the others staying as they are.
    fn needed(&self, floors: &[PValue], member: usize, resamples: NonZeroU32) -> Option<usize> {
        let mut floors = floors.to_vec();
        let mut suffices = |changed: usize| {
            floors[member] = self.floor(changed, resamples);
            decidable(&floors, self.correction, self.policy.alpha)[member]
        };
        if !suffices(MOST_NEEDED) {
            return None;
        }
        // Floors fall with the changes, so the answer can be halved down to.
        let (mut lacking, mut enough) = (0, MOST_NEEDED);
        while enough - lacking > 1 {
            let middle = usize::midpoint(lacking, enough);
            if suffices(middle) {
                enough = middle;
            } else {
                lacking = middle;
            }
        }
        Some(enough)
    }
}
