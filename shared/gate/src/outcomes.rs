//! Two independent arms: outcomes of units that saw either the baseline or the candidate.

use std::collections::BTreeSet;

use evalfarm_stats::{
    Arm, ArmCounts, Better, EffectMeasure, OutcomeScale, PValue, PowerGoal, Share, ShareInterval,
    ShareTest, TwoSample, TwoShares, fisher_exact, holm, newcombe,
};
use serde::Serialize;

use crate::{GatePolicy, Verdict, wording};

/// Power that the stated number of cases aims at; the customary one, Cohen 1988, section 2.4.
const POWER: f64 = 0.80;

/// The outcomes of both arms.
#[derive(Debug, Clone)]
pub enum Arms {
    /// Independent successes and failures.
    Shares {
        /// Successes of the baseline's units.
        baseline: Share,
        /// Successes of the candidate's units.
        candidate: Share,
        /// Whether a success is good.
        better: Better,
        /// How many of the baseline's and of the candidate's cases failed; they are among the cases, as the worst outcome.
        failed: [usize; 2],
    },
    /// Rows with an outcome on a scale, possibly in clusters.
    Rows(TwoSample),
}

/// One of the hypotheses that are tested together.
#[derive(Debug, Clone)]
pub struct ArmsHypothesis {
    /// What it is called.
    pub name: String,
    /// The outcomes.
    pub arms: Arms,
}

/// Hypotheses that cannot be tested together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ArmsError {
    /// There are none.
    #[error("there is no hypothesis to test")]
    Empty,
    /// Two have the same name.
    #[error("hypothesis `{name}` occurs twice")]
    Twice {
        /// The name.
        name: String,
    },
}

/// What the arms say of one hypothesis.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmsResult {
    /// What it is called.
    pub hypothesis: String,
    /// The verdict. `INSUFFICIENT_EVIDENCE` stays open: more cases may decide it.
    pub verdict: Verdict,
    /// Why.
    pub reason: String,
    /// `fisher` or `cluster_permutation`.
    pub test: &'static str,
    /// Cases, clusters and failures of the baseline.
    pub baseline: ArmCounts,
    /// The same of the candidate.
    pub candidate: ArmCounts,
    /// Share of successes of the baseline, for successes.
    pub baseline_share: Option<f64>,
    /// Share of successes of the candidate, for successes.
    pub candidate_share: Option<f64>,
    /// The effect, candidate minus baseline.
    pub effect: f64,
    /// What the effect is.
    pub measure: EffectMeasure,
    /// Its interval: Newcombe's for shares, else the cluster bootstrap's; nothing when an arm has a single cluster.
    pub interval: Option<ShareInterval>,
    /// Two-sided p-value.
    pub p: PValue,
    /// `p` corrected by Holm over the hypotheses.
    pub q: PValue,
    /// Cases that each arm needs to find the policy's least effect, or the observed one, with a power of 80 %, at the level
    /// divided among the hypotheses; for successes only.
    pub needed_per_arm: Option<u64>,
}

/// What the arms say of all hypotheses.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ArmsJudgement {
    /// The worst of the verdicts: BLOCK, then `INSUFFICIENT_EVIDENCE`, then PROMOTE.
    pub verdict: Verdict,
    /// One result for each hypothesis, in their order.
    pub results: Vec<ArmsResult>,
    /// Number of hypotheses that were corrected together, by Holm.
    pub family: usize,
    /// Fewest independent cases (clusters, when there are any) in each arm with which anything is decided.
    pub min_per_arm: usize,
    /// Level of the tests.
    pub alpha: f64,
}

/// A hypothesis with its figures, before correction.
struct Figures {
    test: &'static str,
    counts: [ArmCounts; 2],
    shares: Option<[f64; 2]>,
    effect: f64,
    /// The effect with its sign turned so that more is better.
    improvement: f64,
    measure: EffectMeasure,
    interval: Option<ShareInterval>,
    p: PValue,
}

/// Judges independent arms. Of the policy it reads `alpha`, `confidence`, `resamples`, `seed`, `min_effect`, `min_per_arm` and
/// `max_failed_share`.
///
/// For each hypothesis, in this order:
///
/// 1. an arm with fewer independent cases than `min_per_arm` → `INSUFFICIENT_EVIDENCE`;
/// 2. more than `max_failed_share` of the candidate's cases failed → BLOCK;
/// 3. harm, uncorrected: worse with p below alpha, or an interval on the losing side → BLOCK;
/// 4. more than `max_failed_share` of the baseline's cases failed → `INSUFFICIENT_EVIDENCE`: a failure counts as the worst
///    outcome, so a baseline that fails makes any candidate look better;
/// 5. better, significant after Holm, with an interval that excludes 0: PROMOTE, or BLOCK when the effect is below `min_effect`;
/// 6. an interval that excludes an improvement of `min_effect` (when that is set) → BLOCK;
/// 7. anything else is inconclusive → `INSUFFICIENT_EVIDENCE`, and says how many cases would be needed.
pub fn judge_arms(
    policy: &GatePolicy,
    hypotheses: &[ArmsHypothesis],
) -> Result<ArmsJudgement, ArmsError> {
    let mut names = BTreeSet::new();
    if let Some(twice) = hypotheses.iter().find(|one| !names.insert(&one.name)) {
        let name = twice.name.clone();
        return Err(ArmsError::Twice { name });
    }
    let figures: Vec<Figures> = hypotheses
        .iter()
        .map(|one| figures(policy, &one.arms))
        .collect();
    let raw: Vec<PValue> = figures.iter().map(|one| one.p).collect();
    let corrected = holm(&raw);
    let results: Vec<ArmsResult> = hypotheses
        .iter()
        .zip(figures)
        .zip(corrected)
        .map(|((hypothesis, figures), q)| {
            decided(policy, hypothesis, &figures, q, hypotheses.len())
        })
        .collect();
    let has = |verdict| results.iter().any(|result| result.verdict == verdict);
    let verdict = match results.len() {
        0 => return Err(ArmsError::Empty),
        _ if has(Verdict::Block) => Verdict::Block,
        _ if has(Verdict::InsufficientEvidence) => Verdict::InsufficientEvidence,
        _ => Verdict::Promote,
    };
    Ok(ArmsJudgement {
        verdict,
        family: results.len(),
        results,
        min_per_arm: policy.min_per_arm,
        alpha: policy.alpha,
    })
}

fn figures(policy: &GatePolicy, arms: &Arms) -> Figures {
    match arms {
        Arms::Shares {
            baseline,
            candidate,
            better,
            failed,
        } => {
            let effect = candidate.value() - baseline.value();
            let counted = |share: &Share, failed: usize| {
                let rows = usize::try_from(share.trials()).unwrap_or(usize::MAX);
                ArmCounts {
                    rows,
                    clusters: rows,
                    failed,
                }
            };
            Figures {
                test: "fisher",
                counts: [counted(baseline, failed[0]), counted(candidate, failed[1])],
                shares: Some([baseline.value(), candidate.value()]),
                effect,
                improvement: towards(*better, effect),
                measure: EffectMeasure::DifferenceOfMeans,
                interval: Some(newcombe(*candidate, *baseline, policy.confidence)),
                p: fisher_exact(*candidate, *baseline),
            }
        }
        Arms::Rows(rows) => {
            let found = rows.compare(policy.resamples, policy.confidence);
            let improvement = match (found.measure, rows.scale()) {
                (EffectMeasure::DifferenceOfMeans, OutcomeScale::Bounded { better, .. }) => {
                    towards(better, found.effect)
                }
                // Ranks are compared by which row is better, so more is better already.
                (EffectMeasure::CliffsDelta, _)
                | (EffectMeasure::DifferenceOfMeans, OutcomeScale::Positive { .. }) => found.effect,
            };
            Figures {
                test: "cluster_permutation",
                counts: [rows.counts(Arm::Baseline), rows.counts(Arm::Candidate)],
                shares: None,
                effect: found.effect,
                improvement,
                measure: found.measure,
                interval: found.interval,
                p: found.p,
            }
        }
    }
}

fn towards(better: Better, effect: f64) -> f64 {
    match better {
        Better::Higher => effect,
        Better::Lower => -effect,
    }
}

fn decided(
    policy: &GatePolicy,
    hypothesis: &ArmsHypothesis,
    figures: &Figures,
    q: PValue,
    family: usize,
) -> ArmsResult {
    let needed = needed(policy, figures, family);
    let (verdict, reason) = decision(policy, figures, q, needed);
    let [baseline, candidate] = figures.counts;
    ArmsResult {
        hypothesis: hypothesis.name.clone(),
        verdict,
        reason,
        test: figures.test,
        baseline,
        candidate,
        baseline_share: figures.shares.map(|shares| shares[0]),
        candidate_share: figures.shares.map(|shares| shares[1]),
        effect: figures.effect,
        measure: figures.measure,
        interval: figures.interval,
        p: figures.p,
        q,
        needed_per_arm: needed,
    }
}

fn decision(
    policy: &GatePolicy,
    figures: &Figures,
    q: PValue,
    needed: Option<u64>,
) -> (Verdict, String) {
    let least = figures
        .counts
        .map(|arm| arm.clusters)
        .into_iter()
        .min()
        .unwrap_or_default();
    if least < policy.min_per_arm {
        let text = format!(
            "{least} independent cases in the smaller arm; at least {} needed in each",
            policy.min_per_arm
        );
        return (Verdict::InsufficientEvidence, text);
    }
    let [baseline_failed, candidate_failed] =
        figures.counts.map(|arm| too_many_failed(policy, arm));
    if let Some(failed) = candidate_failed {
        return (
            Verdict::Block,
            format!("failed cases of the candidate: {failed}"),
        );
    }
    let [low, high] = improvement_interval(figures);
    let shown = format!(
        "{} [{}, {}], p {}, corrected {}",
        wording::signed(figures.improvement),
        wording::signed(low),
        wording::signed(high),
        wording::p(figures.p.value()),
        wording::p(q.value()),
    );
    let alpha = policy.alpha;
    let worse = figures.improvement < 0.0 && (figures.p.value() < alpha || high < 0.0);
    if worse {
        return (Verdict::Block, format!("harmed: {shown}"));
    }
    if let Some(failed) = baseline_failed {
        let text = format!("failed cases of the baseline, counted as the worst: {failed}");
        return (Verdict::InsufficientEvidence, text);
    }
    if figures.improvement > 0.0 && q.value() <= alpha && low > 0.0 {
        if figures.improvement < policy.min_effect {
            let least = wording::limit(policy.min_effect);
            let text = format!("better by less than the {least} that matters: {shown}");
            return (Verdict::Block, text);
        }
        return (Verdict::Promote, format!("better: {shown}"));
    }
    if policy.min_effect > 0.0 && high < policy.min_effect {
        let least = wording::limit(policy.min_effect);
        let text = format!("an improvement of {least} is excluded: {shown}");
        return (Verdict::Block, text);
    }
    let more = needed.map_or(String::new(), |needed| {
        format!("; about {needed} cases in each arm would be needed to tell")
    });
    (
        Verdict::InsufficientEvidence,
        format!("inconclusive: {shown}{more}"),
    )
}

/// Says how many cases of an arm failed when they are more than the policy tolerates.
fn too_many_failed(policy: &GatePolicy, arm: ArmCounts) -> Option<String> {
    let share = arm.failed as f64 / arm.rows.max(1) as f64;
    (share > policy.max_failed_share).then(|| {
        let (failed, rows) = (arm.failed, arm.rows);
        let most = wording::share(policy.max_failed_share);
        format!("{failed} of {rows}; the policy tolerates {most}")
    })
}

/// Returns the interval as an improvement; all effects when there is none, so that it excludes nothing.
fn improvement_interval(figures: &Figures) -> [f64; 2] {
    match figures.interval {
        None => [f64::NEG_INFINITY, f64::INFINITY],
        Some(interval) if figures.improvement.to_bits() == figures.effect.to_bits() => {
            [interval.low, interval.high]
        }
        Some(interval) => [-interval.high, -interval.low],
    }
}

/// Returns the cases that each arm needs for the least effect that matters, or else for the observed one.
fn needed(policy: &GatePolicy, figures: &Figures, family: usize) -> Option<u64> {
    let [before, after] = figures.shares?;
    let after = if policy.min_effect > 0.0 {
        let sign = if figures.improvement.to_bits() == figures.effect.to_bits() {
            1.0
        } else {
            -1.0
        };
        (before + sign * policy.min_effect).clamp(0.0, 1.0)
    } else {
        after
    };
    let family = std::num::NonZeroUsize::new(family)?;
    let goal = PowerGoal::new(policy.alpha, POWER)
        .ok()?
        .corrected_for(family);
    let shares = TwoShares::new(before, after).ok()?;
    shares.sample_size(ShareTest::Fisher, goal).ok()
}
