//! Each criterion alone, and each step before the later ones.

use crate::scene::{Scene, codes, criterion, moved};
use evalfarm_domain::{FailureKind, RerankStatus};
use evalfarm_gate::{Outcome, ReasonCode, Verdict};

const QUERIES: usize = 100;

type Break = fn(&mut Scene);

/// A change of the promoted scene, and the reasons that it brings, the deciding one first.
const ALONE: &[(Break, &[ReasonCode])] = &[
    (|_| {}, &[ReasonCode::Promoted]),
    (zero_result, &[ReasonCode::ZeroResult]),
    (
        |scene| {
            let statuses = scene.candidate().rerank.as_mut();
            for status in statuses.into_iter().flatten().take(2) {
                *status = RerankStatus::Timeout;
            }
        },
        &[ReasonCode::Degraded],
    ),
    (
        |scene| scene.candidate().failures[99] = Some(FailureKind::Timeout),
        &[ReasonCode::Failed],
    ),
    (coverage, &[ReasonCode::Coverage]),
    (guard_harmed, &[ReasonCode::GuardHarmed]),
    (
        |scene| {
            scene.candidate().values[2] = moved(QUERIES, 20, 20);
            scene.policy.max_drop = Some([("R@10".to_owned(), 0.005)].into());
        },
        &[ReasonCode::MaxDrop],
    ),
    (
        |scene| {
            let values = &mut scene.candidate().values[0];
            values[..60].fill(0.9);
            values[60..66].fill(0.1);
        },
        &[ReasonCode::CatastrophicShare],
    ),
    (
        |scene| scene.candidate().values = scene.parts.baseline.values.clone(),
        &[ReasonCode::NoChange],
    ),
    (
        |scene| {
            scene.candidate().values = vec![
                moved(QUERIES, 5, 0),
                moved(QUERIES, 0, 0),
                moved(QUERIES, 0, 0),
            ];
        },
        &[ReasonCode::Undecidable, ReasonCode::NotSignificant],
    ),
    (
        |scene| {
            *scene = Scene::promoted(19);
            scene.candidate().values = vec![moved(19, 12, 0); 3];
        },
        &[ReasonCode::TooFewQueries],
    ),
    (incomplete, &[ReasonCode::Incomplete]),
    (
        |scene| scene.parts.baseline.failures[99] = Some(FailureKind::TransportError),
        &[ReasonCode::BaselineFailed],
    ),
    (
        |scene| {
            let statuses = scene.parts.baseline.rerank.as_mut();
            for status in statuses.into_iter().flatten().take(2) {
                *status = RerankStatus::InvalidResponse;
            }
        },
        &[ReasonCode::BaselineDegraded],
    ),
    (
        |scene| scene.candidate().values[0] = moved(QUERIES, 5, 40),
        &[ReasonCode::PrimaryNotImproved],
    ),
    (
        // 21 of 30 changes are wins: p is .043 by the binomial distribution, and three times that after BH.
        |scene| {
            scene.candidate().values = vec![
                moved(QUERIES, 21, 9),
                moved(QUERIES, 0, 0),
                moved(QUERIES, 0, 0),
            ];
        },
        &[ReasonCode::NotSignificant],
    ),
    (
        // 27 of 38 changes are wins: p is .014, but the 99.99 % interval is wide.
        |scene| {
            scene.candidate().values[0] = moved(QUERIES, 27, 11);
            scene.policy.confidence = Some(0.9999);
        },
        &[ReasonCode::IntervalIncludesZero],
    ),
    (below_min_effect, &[ReasonCode::BelowMinEffect]),
    (noise, &[ReasonCode::NoiseBand]),
];

/// One criterion of each step, in the order of decision, made so that they can be broken together.
const STEPS: &[(Break, ReasonCode)] = &[
    (zero_result, ReasonCode::ZeroResult),
    (coverage, ReasonCode::Coverage),
    (guard_harmed, ReasonCode::GuardHarmed),
    (incomplete, ReasonCode::Incomplete),
    (below_min_effect, ReasonCode::BelowMinEffect),
    (noise, ReasonCode::NoiseBand),
];

fn zero_result(scene: &mut Scene) {
    if let Some(flags) = &mut scene.candidate().zero_results {
        flags[99] = true;
    }
}

fn coverage(scene: &mut Scene) {
    scene.parts.baseline.judged = Some(vec![Some(0.6); QUERIES]);
}

fn guard_harmed(scene: &mut Scene) {
    scene.candidate().values[2] = moved(QUERIES, 5, 40);
}

fn incomplete(scene: &mut Scene) {
    scene.parts.context.missing_rows = 1;
}

fn below_min_effect(scene: &mut Scene) {
    scene.policy.min_effect = Some(0.2);
}

fn noise(scene: &mut Scene) {
    scene.parts.context.noise_band = Some(0.5);
}

#[test]
fn each_criterion_decides_alone() {
    for (index, (change, expected)) in ALONE.iter().enumerate() {
        let mut scene = Scene::promoted(QUERIES);
        change(&mut scene);
        let judgement = scene.judge();
        assert_eq!(codes(&judgement), *expected, "row {index}");
        assert_eq!(judgement.verdict, expected[0].verdict(), "row {index}");
    }
}

#[test]
fn an_earlier_step_overrides_every_later_one_and_both_are_listed() {
    for (index, (change, first)) in STEPS.iter().enumerate() {
        for (other, later) in &STEPS[index + 1..] {
            let mut scene = Scene::promoted(QUERIES);
            other(&mut scene);
            change(&mut scene);
            let judgement = scene.judge();
            assert_eq!(codes(&judgement), [*first, *later]);
            assert_eq!(judgement.verdict, first.verdict());
        }
    }
}

#[test]
fn every_code_leads_to_the_verdict_of_the_design() {
    use Verdict::{Block, InsufficientEvidence, Promote};
    // Design section 8, the order of decision.
    let verdicts = [
        (2, Block),
        (3, InsufficientEvidence),
        (4, Block),
        (5, InsufficientEvidence),
        (6, Block),
        (7, InsufficientEvidence),
        (8, Promote),
    ];
    for (_, expected) in ALONE {
        for code in *expected {
            assert!(
                verdicts.contains(&(code.step(), code.verdict())),
                "{code:?}"
            );
        }
    }
}

#[test]
fn tolerances_are_not_tested_on_few_queries_and_nothing_is_promoted_there() {
    let mut scene = Scene::promoted(19);
    scene.candidate().values = vec![moved(19, 12, 0); 3];
    scene.candidate().failures[18] = Some(FailureKind::Timeout);
    let judgement = scene.judge();
    assert_eq!(judgement.reasons[0].code, ReasonCode::TooFewQueries);
    assert_eq!(
        criterion(&judgement, ReasonCode::Failed).outcome,
        Outcome::NotTested
    );
}

#[test]
fn a_guard_that_cannot_decide_does_not_block() {
    let mut scene = Scene::promoted(QUERIES);
    scene.candidate().values[2] = moved(QUERIES, 0, 5);
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::Promote);
    assert!(
        judgement.criteria.iter().any(|c| {
            c.reason.code == ReasonCode::GuardHarmed && c.outcome == Outcome::NotTested
        })
    );
    scene.candidate().values[2] = moved(QUERIES, 0, 6);
    assert_eq!(codes(&scene.judge()), [ReasonCode::GuardHarmed]);
}

#[test]
fn a_win_in_spite_of_lower_coverage_stands() {
    let mut scene = Scene::promoted(QUERIES);
    scene.candidate().judged = Some(vec![Some(0.6); QUERIES]);
    assert_eq!(scene.judge().verdict, Verdict::Promote);
    scene.candidate().values[0] = moved(QUERIES, 5, 40);
    let judgement = scene.judge();
    assert_eq!(
        codes(&judgement),
        [ReasonCode::Coverage, ReasonCode::PrimaryNotImproved]
    );
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
}

#[test]
fn what_was_not_recorded_is_not_tested_and_said() {
    let mut scene = Scene::promoted(QUERIES);
    let side = scene.candidate();
    (side.zero_results, side.rerank, side.judged) = (None, None, None);
    scene.parts.baseline.rerank = None;
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::Promote);
    for code in [
        ReasonCode::ZeroResult,
        ReasonCode::Degraded,
        ReasonCode::Coverage,
    ] {
        assert_eq!(criterion(&judgement, code).outcome, Outcome::NotTested);
    }
    let said: Vec<String> = judgement
        .limits
        .iter()
        .map(|limit| {
            serde_json::to_value(limit.code)
                .unwrap_or_default()
                .to_string()
        })
        .collect();
    for code in [
        "coverage_unknown",
        "degraded_unknown",
        "zero_result_unknown",
        "noise_band_unknown",
    ] {
        assert!(
            said.contains(&format!("\"{code}\"")),
            "{code} is not in {said:?}"
        );
    }
}
