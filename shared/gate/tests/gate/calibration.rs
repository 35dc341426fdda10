//! Whether the gate keeps its promises on real differences whose truth is known, with few copies;
//! `examples/gate_calibration.rs` has the full numbers.

use crate::experiment::{BASELINE, N50, parts, planted, swapped};
use crate::scene::Scene;
use evalfarm_gate::{
    Evidence, EvidenceParts, GatePolicy, Judgement, RawGatePolicy, Verdict, judge,
};
use evalfarm_stats::{Confidence, Share, ShareInterval};
use evalfarm_testkit::reference_data;

const COPIES: u32 = 400;
const SEED: u64 = 20_260_816;

/// The published reranker against the published baseline, or generated differences of many sizes.
fn real() -> EvidenceParts {
    if let Some(folder) = reference_data("searchops") {
        return parts(&folder, BASELINE, N50);
    }
    let mut scene = Scene::promoted(600);
    for (metric, values) in scene.candidate().values.iter_mut().enumerate() {
        for (row, value) in values
            .iter_mut()
            .enumerate()
            .filter(|(row, _)| row % 2 == 0)
        {
            *value = 0.5 + 0.3 * ((row * 37 + metric * 11) as f64).sin();
        }
    }
    scene.parts
}

/// The default policy, with fewer resamples: a test at any number of them keeps its level.
fn judged(parts: EvidenceParts) -> Judgement {
    let raw = RawGatePolicy {
        resamples: Some(999),
        max_resamples: Some(999),
        ..RawGatePolicy::default()
    };
    let policy = GatePolicy::try_from(raw).unwrap();
    judge(&policy, &Evidence::new(parts).unwrap()).unwrap()
}

/// The exact interval of a share outside which an honest judge falls once in a thousand.
fn interval(counted: impl Iterator<Item = bool>) -> ShareInterval {
    let counted: Vec<bool> = counted.collect();
    let successes = counted.iter().filter(|one| **one).count();
    let share = Share::new(successes as u64, counted.len() as u64).unwrap();
    share.clopper_pearson(Confidence::try_from(0.999).unwrap())
}

fn rejected(judgements: &[Judgement], alpha: f64) -> ShareInterval {
    let values = judgements.iter().map(|one| one.metrics[0].p.value());
    interval(values.map(|p| p <= alpha))
}

fn promoted(judgements: &[Judgement]) -> ShareInterval {
    interval(judgements.iter().map(|one| one.verdict == Verdict::Promote))
}

#[test]
fn the_gate_keeps_its_level_on_swapped_copies() {
    let parts = real();
    let judgements: Vec<Judgement> = (0..COPIES)
        .map(|copy| judged(swapped(&parts, SEED, copy)))
        .collect();
    let rejects = rejected(&judgements, 0.05);
    assert!(rejects.low <= 0.05 && 0.05 <= rejects.high, "{rejects:?}");
    let promotes = promoted(&judgements);
    assert!(promotes.low <= 0.025, "{promotes:?}");
    // The bands can fail: a test at three times its level lies outside.
    let lax = rejected(&judgements, 0.15);
    assert!(lax.low > 0.05, "{lax:?}");
}

#[test]
fn the_gate_finds_what_is_there() {
    // At twice the detectable effect the power of each test is Φ(2·2.80 − 1.96) = .9999 (normal approximation).
    let parts = real();
    let stated = judged(parts.clone());
    let effects: Vec<f64> = stated
        .metrics
        .iter()
        .map(|metric| 2.0 * metric.minimum_detectable_effect.unwrap())
        .collect();
    let judgements: Vec<Judgement> = (0..COPIES / 8)
        .map(|sample| judged(planted(&parts, &effects, SEED, sample)))
        .collect();
    let rejects = rejected(&judgements, 0.05);
    assert!(rejects.high > 0.999, "{rejects:?}");
    let rises = judgements.iter().all(|one| one.metrics[0].delta > 0.0);
    assert!(rises, "a planted effect has its sign");
    // No effect planted: what is found is found by chance.
    let nothing = vec![0.0; effects.len()];
    let judgements: Vec<Judgement> = (0..COPIES / 2)
        .map(|sample| judged(planted(&parts, &nothing, SEED, sample)))
        .collect();
    let promotes = promoted(&judgements);
    assert!(promotes.low <= 0.025, "{promotes:?}");
}
