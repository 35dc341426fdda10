//! Whether the judge keeps its promises on data where the truth is known, made from the user's own rows.

use std::num::NonZeroU32;

use evalfarm_stats::{Confidence, Share, ShareInterval, found_effects, level_band, swapped_rows};
use serde::Serialize;

use crate::evidence::{Side, picked};
use crate::measure::paired;
use crate::{
    Evidence, EvidenceError, EvidenceParts, GatePolicy, Judgement, ReasonCode, Verdict, judge,
    wording,
};

/// Share of planted effects that has to be found, around the power of 80 % that a detectable effect is stated for. The
/// statement rests on the normal approximation, which a few hundred skewed differences keep to a few percent.
const POWER_BAND: ShareInterval = ShareInterval {
    low: 0.75,
    high: 0.85,
};

/// Confidence of the intervals by which a check passes or fails: one honest judge in a hundred fails a check by chance.
const CONFIDENCE: Confidence = Confidence::NINETY_NINE;

/// One promise and whether it was kept.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SelfCheck {
    /// What was done.
    pub check: &'static str,
    /// What has to come out.
    pub expected: String,
    /// What came out.
    pub observed: String,
    /// The observed share, if it is one.
    pub share: Option<f64>,
    /// Its exact 99 % interval.
    pub interval: Option<ShareInterval>,
    /// Whether the promise was kept; absent when the data cannot tell.
    pub passed: Option<bool>,
}

/// Checks the judge on the evidence of one baseline and one candidate under a policy.
///
/// * The baseline against itself has changed nothing and is never promoted.
/// * The same evidence in another order of the queries gives the same judgement to the bit.
/// * `copies` copies in which baseline and candidate change places on half of the queries (clusters), chosen at random:
///   neither side is better there. The primary's own test rejects at its level, and the gate promotes in at most alpha/2.
/// * An effect of the stated detectable size, planted in `copies` bootstrap samples of the centred differences, is found
///   about as often as stated.
pub fn selfcheck(
    policy: &GatePolicy,
    evidence: &Evidence,
    copies: NonZeroU32,
) -> Result<Vec<SelfCheck>, EvidenceError> {
    let honest = judge(policy, evidence)?;
    let mut checks = vec![
        against_itself(policy, evidence)?,
        in_another_order(policy, evidence, &honest)?,
    ];
    checks.extend(swapped_labels(policy, evidence, copies)?);
    checks.push(planted(policy, evidence, &honest, copies));
    Ok(checks)
}

fn against_itself(policy: &GatePolicy, evidence: &Evidence) -> Result<SelfCheck, EvidenceError> {
    let mut parts = evidence.parts.clone();
    let mut candidate = parts.baseline.clone();
    candidate.id = parts.candidates[0].id.clone();
    parts.candidates = vec![candidate];
    parts.context.unjudged = None;
    let judgement = judge(policy, &Evidence::new(parts)?)?;
    let reason = &judgement.reasons[0];
    let undecided = judgement.verdict == Verdict::InsufficientEvidence;
    let unchanged = judgement
        .criteria
        .iter()
        .any(|criterion| criterion.reason.code == ReasonCode::NoChange)
        && judgement.metrics.iter().all(|metric| metric.changed == 0);
    Ok(SelfCheck {
        check: "the baseline against itself",
        expected: "nothing changed, never PROMOTE".to_owned(),
        observed: format!("{}: {}", judgement.verdict, reason.text),
        share: None,
        interval: None,
        passed: Some(
            judgement.verdict != Verdict::Promote
                && unchanged
                && (undecided || reason.code.step() < 5),
        ),
    })
}

fn in_another_order(
    policy: &GatePolicy,
    evidence: &Evidence,
    honest: &Judgement,
) -> Result<SelfCheck, EvidenceError> {
    let mut parts = evidence.parts.clone();
    let order: Vec<usize> = (0..parts.queries.len()).rev().collect();
    reordered(&mut parts, &order);
    let again = judge(policy, &Evidence::new(parts)?)?;
    let same = again == *honest;
    Ok(SelfCheck {
        check: "the same queries in another order",
        expected: "the same judgement to the bit".to_owned(),
        observed: if same {
            "the same"
        } else {
            "another judgement"
        }
        .to_owned(),
        share: None,
        interval: None,
        passed: Some(same),
    })
}

fn reordered(parts: &mut EvidenceParts, order: &[usize]) {
    parts.queries = picked(&parts.queries, order);
    parts.weights = parts.weights.as_ref().map(|column| picked(column, order));
    parts.clusters = parts.clusters.as_ref().map(|column| picked(column, order));
    parts.baseline.reorder(order);
    for candidate in &mut parts.candidates {
        candidate.reorder(order);
    }
    parts.context.reorder(order);
}

/// Judges copies in which the sides change places on half of the queries.
fn swapped_labels(
    policy: &GatePolicy,
    evidence: &Evidence,
    copies: NonZeroU32,
) -> Result<[SelfCheck; 2], EvidenceError> {
    let (mut rejected, mut promoted) = (0_u64, 0_u64);
    for copy in 0..copies.get() {
        let swapped = swapped_rows(policy.resamples.seed, copy, evidence.design.units());
        let judgement = judge(policy, &relabelled(evidence, &swapped)?)?;
        rejected += u64::from(judgement.metrics[0].p.value() <= policy.alpha);
        promoted += u64::from(judgement.verdict == Verdict::Promote);
    }
    let alpha = policy.alpha;
    let share = |count| Share::new(count, u64::from(copies.get())).expect("copies are counted");
    let band = level_band(alpha, copies, CONFIDENCE);
    let (rejected, promoted) = (share(rejected), share(promoted));
    let most = level_band(alpha / 2.0, copies, CONFIDENCE).high;
    let labels = counted(
        "labels swapped at random: the primary's test",
        format!(
            "rejects in {} (99 % of honest tests: {} to {}), fewer where few values differ",
            wording::share(alpha),
            wording::share(band.low),
            wording::share(band.high),
        ),
        rejected,
        rejected.value() <= band.high,
    );
    let gate = counted(
        "labels swapped at random: the gate",
        format!(
            "promotes in at most {} (99 % of honest gates: up to {})",
            wording::share(alpha / 2.0),
            wording::share(most),
        ),
        promoted,
        promoted.value() <= most,
    );
    Ok([labels, gate])
}

/// Returns the evidence with the sides changed where a unit is swapped.
fn relabelled(evidence: &Evidence, swapped: &[bool]) -> Result<Evidence, EvidenceError> {
    let mut parts = evidence.parts.clone();
    let mut candidate = parts.candidates.swap_remove(0);
    parts.candidates.clear();
    let rows: Vec<bool> = (0..parts.queries.len())
        .map(|row| swapped[evidence.design.unit(row)])
        .collect();
    swap_sides(&mut parts.baseline, &mut candidate, &rows);
    parts.candidates.push(candidate);
    // They were about the sides as they were.
    parts.context.unjudged = None;
    Evidence::new(parts)
}

fn swap_sides(before: &mut Side, after: &mut Side, rows: &[bool]) {
    for (one, other) in before.values.iter_mut().zip(&mut after.values) {
        swap_columns(one, other, rows);
    }
    swap_columns(&mut before.failures, &mut after.failures, rows);
    swap_optional(&mut before.zero_results, &mut after.zero_results, rows);
    swap_optional(&mut before.rewrite, &mut after.rewrite, rows);
    swap_optional(&mut before.rerank, &mut after.rerank, rows);
    swap_optional(&mut before.judged, &mut after.judged, rows);
}

fn swap_columns<T>(one: &mut [T], other: &mut [T], rows: &[bool]) {
    for (row, _) in rows.iter().enumerate().filter(|(_, swapped)| **swapped) {
        std::mem::swap(&mut one[row], &mut other[row]);
    }
}

/// What only one side knows cannot change places, and is left out.
fn swap_optional<T>(one: &mut Option<Vec<T>>, other: &mut Option<Vec<T>>, rows: &[bool]) {
    if let (Some(one), Some(other)) = (one.as_mut(), other.as_mut()) {
        swap_columns(one, other, rows);
    } else {
        *one = None;
        *other = None;
    }
}

fn planted(
    policy: &GatePolicy,
    evidence: &Evidence,
    honest: &Judgement,
    copies: NonZeroU32,
) -> SelfCheck {
    let check = "a planted effect of the detectable size";
    let primary = &honest.metrics[0];
    let untold = |why: &str| SelfCheck {
        check,
        expected: "found in about 80.0 %".to_owned(),
        observed: why.to_owned(),
        share: None,
        interval: None,
        passed: None,
    };
    let parts = &evidence.parts;
    let Some(effect) = primary
        .minimum_detectable_effect
        .filter(|effect| *effect > 0.0)
    else {
        return untold("not looked at: nothing changed, so no effect is stated");
    };
    let metric = parts
        .metrics
        .iter()
        .position(|metric| metric.name == primary.metric);
    let pair = paired(evidence, &parts.candidates[0], metric.unwrap_or_default());
    let Ok(differences) = pair else {
        return untold("not looked at: a difference is not finite");
    };
    let found = found_effects(
        &differences,
        &evidence.design,
        effect,
        copies,
        policy.resamples,
        policy.alpha,
    );
    let interval = found.clopper_pearson(CONFIDENCE);
    counted(
        check,
        format!(
            "{} of {} found in about 80.0 % ({} to {})",
            primary.metric,
            wording::value(effect),
            wording::share(POWER_BAND.low),
            wording::share(POWER_BAND.high),
        ),
        found,
        interval.low <= POWER_BAND.high && interval.high >= POWER_BAND.low,
    )
}

fn counted(check: &'static str, expected: String, share: Share, passed: bool) -> SelfCheck {
    let interval = share.clopper_pearson(CONFIDENCE);
    SelfCheck {
        check,
        expected,
        observed: format!(
            "{} of {} ({}, 99 % interval {} to {})",
            share.successes(),
            share.trials(),
            wording::share(share.value()),
            wording::share(interval.low),
            wording::share(interval.high),
        ),
        share: Some(share.value()),
        interval: Some(interval),
        passed: Some(passed),
    }
}
