//! From policy and evidence to a judgement.

use std::cmp::Ordering;

use evalfarm_domain::CandidateId;
use serde::{Deserialize, Serialize};

use crate::counts::SideCounts;
use crate::criteria::{Case, criteria, described};
use crate::limits::limits;
use crate::measure::{Comparison, Measured, MeasuredCandidate, Roles, measure};
use crate::{
    CriterionResult, Evidence, EvidenceError, Family, GatePolicy, Guards, Judgement, MetricRole,
    Outcome, Reason, ReasonCode, Side, Verdict,
};

/// The judgements of all candidates of one family.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct FamilyJudgement {
    /// PROMOTE when any candidate is promoted. Otherwise the candidates that changed something decide:
    /// `INSUFFICIENT_EVIDENCE` when one of these is undecided, BLOCK when all are blocked.
    pub verdict: Verdict,
    /// The candidate with the largest improvement of the primary among those with this verdict; the first of equals.
    pub leader: CandidateId,
    /// One judgement for each candidate, in the order of the evidence.
    pub judgements: Vec<Judgement>,
}

impl FamilyJudgement {
    /// Returns the leader's judgement.
    ///
    /// # Panics
    ///
    /// When the judgements were changed so that the leader is no longer among them.
    pub fn leading(&self) -> &Judgement {
        self.judgements
            .iter()
            .find(|judgement| judgement.candidate == self.leader)
            .expect("the leader is one of the candidates")
    }
}

/// Judges the evidence, and returns the judgement of the candidate that leads its family.
pub fn judge(policy: &GatePolicy, evidence: &Evidence) -> Result<Judgement, EvidenceError> {
    judge_all(policy, evidence).map(|family| family.leading().clone())
}

/// Judges every candidate of the evidence as one family.
pub fn judge_all(
    policy: &GatePolicy,
    evidence: &Evidence,
) -> Result<FamilyJudgement, EvidenceError> {
    let roles = roles(policy, evidence)?;
    let directed = (!policy.directions.is_empty()).then(|| evidence.directed(policy));
    let evidence = directed.as_ref().unwrap_or(evidence);
    let Measured { family, candidates } = measure(policy, evidence, &roles)?;
    check_flips(policy, &candidates)?;
    let policy = resolved(policy, &family);
    let mut judgements = Vec::new();
    for (side, measured) in evidence.parts.candidates.iter().zip(&candidates) {
        judgements.push(judge_one(&policy, evidence, &family, side, measured));
    }
    let verdict = overall(&judgements);
    let improvement = |index: &usize| candidates[*index].comparisons[0].improvement();
    let leader = (0..judgements.len())
        .filter(|&index| judgements[index].verdict == verdict)
        .reduce(
            |best, index| match improvement(&index).total_cmp(&improvement(&best)) {
                Ordering::Greater => index,
                Ordering::Less | Ordering::Equal => best,
            },
        )
        .unwrap_or_default();
    Ok(FamilyJudgement {
        verdict,
        leader: judgements[leader].candidate.clone(),
        judgements,
    })
}

/// Returns the metrics with what each is to the policy, the primary first; every metric that the policy names has to have
/// been measured.
fn roles(policy: &GatePolicy, evidence: &Evidence) -> Result<Roles, EvidenceError> {
    let metrics = &evidence.parts.metrics;
    let named = match &policy.guards {
        Guards::Others => &[],
        Guards::Named(names) => names.as_slice(),
    };
    let wanted = std::iter::once(("primary", &policy.primary))
        .chain(named.iter().map(|name| ("guard", name)))
        .chain(policy.max_drop.keys().map(|name| ("`max_drop`", name)))
        .chain(policy.max_flips.keys().map(|name| ("`max_flips`", name)))
        .chain(
            policy
                .max_flips_bound
                .keys()
                .map(|name| ("`max_flips_bound`", name)),
        )
        .chain(policy.directions.keys().map(|name| ("`directions`", name)));
    for (role, name) in wanted {
        if !metrics.iter().any(|metric| metric.name == *name) {
            let measured: Vec<String> = metrics.iter().map(|m| format!("`{}`", m.name)).collect();
            return Err(EvidenceError::NotMeasured {
                role,
                metric: name.clone(),
                measured: measured.join(", "),
            });
        }
    }
    let role = |index: usize| {
        let metric = &metrics[index];
        let guards = match &policy.guards {
            // A margin makes a guard of what does not guard by default.
            Guards::Others => metric.quality || policy.max_drop.contains_key(&metric.name),
            Guards::Named(names) => names.contains(&metric.name),
        };
        if metric.name == policy.primary {
            MetricRole::Primary
        } else if guards {
            MetricRole::Guard
        } else {
            MetricRole::Descriptive
        }
    };
    let mut roles: Vec<(usize, MetricRole)> = (0..metrics.len())
        .map(|index| (index, role(index)))
        .collect();
    roles.sort_by_key(|(_, role)| match role {
        MetricRole::Primary => 0,
        MetricRole::Guard => 1,
        MetricRole::Descriptive => 2,
    });
    Ok(Roles(roles))
}

/// A ceiling on flips needs something to count: a metric that is not 0 or 1 cannot pass it unseen.
fn check_flips(policy: &GatePolicy, candidates: &[MeasuredCandidate]) -> Result<(), EvidenceError> {
    for (key, limits) in [
        ("max_flips", &policy.max_flips),
        ("max_flips_bound", &policy.max_flips_bound),
    ] {
        let uncounted = |comparison: &&Comparison| {
            comparison.summary.flips.is_none() && limits.contains_key(&comparison.summary.metric)
        };
        let mut comparisons = candidates.iter().flat_map(|one| &one.comparisons);
        if let Some(comparison) = comparisons.find(uncounted) {
            let metric = comparison.summary.metric.clone();
            return Err(EvidenceError::NotBinary { key, metric });
        }
    }
    Ok(())
}

/// Returns the policy with what it left to the job filled in.
fn resolved(policy: &GatePolicy, family: &Family) -> GatePolicy {
    GatePolicy {
        guards: Guards::Named(family.metrics.iter().skip(1).cloned().collect()),
        correction: Some(family.correction),
        ..policy.clone()
    }
}

fn judge_one(
    policy: &GatePolicy,
    evidence: &Evidence,
    family: &Family,
    candidate: &Side,
    measured: &MeasuredCandidate,
) -> Judgement {
    let comparisons = &measured.comparisons;
    let baseline = &evidence.parts.baseline;
    let baseline_counts = SideCounts::of(baseline);
    let candidate_counts = SideCounts::of(candidate);
    let coverage = measured.coverage;
    let case = Case {
        policy,
        evidence,
        candidate,
        family,
        comparisons,
        baseline_counts: &baseline_counts,
        candidate_counts: &candidate_counts,
        coverage,
        slices: &measured.slices,
    };
    let criteria = criteria(&case);
    let limits = limits(&case);
    let reasons = reasons(&criteria, &comparisons[0]);
    Judgement {
        candidate: candidate.id.clone(),
        baseline: baseline.id.clone(),
        verdict: reasons[0].code.verdict(),
        reasons,
        criteria,
        family: family.clone(),
        limits,
        metrics: comparisons.iter().map(|c| c.summary.clone()).collect(),
        baseline_counts,
        candidate_counts,
        coverage,
        slices: measured.slices.clone(),
        policy: policy.clone(),
    }
}

/// Returns every broken criterion in the order of decision, or that there is none; never empty.
fn reasons(criteria: &[CriterionResult], primary: &Comparison) -> Vec<Reason> {
    let mut broken: Vec<Reason> = criteria
        .iter()
        .filter(|criterion| match criterion.outcome {
            Outcome::Broken => true,
            Outcome::Holds | Outcome::NotTested => false,
        })
        .map(|criterion| criterion.reason.clone())
        .collect();
    if broken.is_empty() {
        broken.push(Reason {
            code: ReasonCode::Promoted,
            text: format!("{}; every criterion holds", described(primary)),
            metric: Some(primary.summary.metric.clone()),
            observed: Some(primary.summary.delta),
            limit: None,
            margin: None,
        });
    }
    broken
}

fn overall(judgements: &[Judgement]) -> Verdict {
    let changed = judgements
        .iter()
        .filter(|judgement| judgement.reasons[0].code != ReasonCode::NoChange);
    let verdicts: Vec<Verdict> = changed.map(|judgement| judgement.verdict).collect();
    if verdicts.contains(&Verdict::Promote) {
        Verdict::Promote
    } else if verdicts.contains(&Verdict::InsufficientEvidence) || verdicts.is_empty() {
        Verdict::InsufficientEvidence
    } else {
        Verdict::Block
    }
}
