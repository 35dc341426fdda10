//! Unjudged hits of guards, and of candidates that nobody looked at.

use evalfarm_gate::{LimitCode, Outcome, ReasonCode, Unjudged, Verdict, judge_all};

use crate::scene::{METRICS, Scene, check, codes, criterion, id, metric, moved};

const QUERIES: usize = 200;

/// A scene whose second guard, recall, is harmed.
fn harmed() -> Scene {
    let mut scene = Scene::promoted(QUERIES);
    scene.candidate().values[2] = moved(QUERIES, 5, 40);
    assert_eq!(codes(&scene.judge()), [ReasonCode::GuardHarmed]);
    scene
}

fn looked_at(candidate: &str, metric: &str, delta: f64) -> Unjudged {
    Unjudged {
        candidate: id(candidate),
        metric: metric.parse::<evalfarm_domain::Metric>().unwrap().name(),
        condensed_baseline: vec![0.5; QUERIES],
        condensed_candidate: vec![0.5 + delta; QUERIES],
        lowest: None,
        highest: None,
    }
}

#[test]
fn a_guard_harmed_by_holes_is_undecided_and_not_blocked() {
    let mut scene = harmed();
    scene.candidate().judged = Some(vec![Some(0.6); QUERIES]);
    let judgement = scene.judge();
    assert_eq!(codes(&judgement), [ReasonCode::GuardCoverage]);
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    assert_eq!(judgement.reasons[0].metric, Some(metric(METRICS[2]).name));
    // The policy may allow the gap, and then the harm is one.
    scene.policy.max_judged_gap = Some(0.3);
    assert_eq!(codes(&scene.judge()), [ReasonCode::GuardHarmed]);
}

#[test]
fn condensed_lists_may_reverse_a_guard_and_its_margin() {
    let mut scene = harmed();
    let max_drop = [(METRICS[2].to_owned(), 0.001)].into_iter().collect();
    scene.policy.max_drop = Some(max_drop);
    let lists = |delta| {
        Some(vec![
            looked_at("candidate", METRICS[0], 0.1),
            looked_at("candidate", METRICS[2], delta),
        ])
    };
    scene.parts.context.unjudged = lists(0.02);
    assert_eq!(codes(&scene.judge()), [ReasonCode::GuardCoverage]);
    scene.parts.context.unjudged = lists(-0.02);
    assert_eq!(
        codes(&scene.judge()),
        [ReasonCode::GuardHarmed, ReasonCode::MaxDrop]
    );
}

#[test]
fn a_block_for_another_reason_stays_one_beside_a_guard_made_of_holes() {
    let mut scene = harmed();
    scene.candidate().judged = Some(vec![Some(0.6); QUERIES]);
    scene.policy.min_effect = Some(0.2);
    let judgement = scene.judge();
    assert_eq!(
        codes(&judgement),
        [ReasonCode::BelowMinEffect, ReasonCode::GuardCoverage]
    );
    assert_eq!(judgement.verdict, Verdict::Block);
}

#[test]
fn a_guard_that_needs_no_judgments_has_no_holes() {
    let mut scene = harmed();
    scene.parts.metrics[2] = metric("zero_result");
    scene.candidate().values[2] = moved(QUERIES, 40, 5);
    scene.candidate().judged = Some(vec![Some(0.6); QUERIES]);
    assert_eq!(codes(&scene.judge()), [ReasonCode::GuardHarmed]);
}

#[test]
fn in_a_large_family_nobody_is_promoted_whose_lists_were_not_looked_at() {
    let mut scene = Scene::promoted(QUERIES);
    let twins = (1..40).map(|index| {
        let mut twin = scene.parts.candidates[0].clone();
        twin.id = id(&format!("twin{index:02}"));
        twin
    });
    let twins: Vec<_> = twins.collect();
    scene.parts.candidates.extend(twins);
    let family = |scene: &Scene| {
        let family = judge_all(&scene.policy(), &scene.evidence()).unwrap();
        family.judgements.iter().for_each(check);
        family
    };
    let before = family(&scene);
    let promoted =
        |verdict| move |judgement: &&evalfarm_gate::Judgement| judgement.verdict == verdict;
    let count = before
        .judgements
        .iter()
        .filter(promoted(Verdict::Promote))
        .count();
    assert_eq!(count, 40, "before anybody looks, all are alike");
    let looked: Vec<Unjudged> = ["candidate", "twin07"]
        .map(|name| looked_at(name, METRICS[0], 0.1))
        .to_vec();
    scene.parts.context.unjudged = Some(looked);
    let after = family(&scene);
    assert_eq!(after.verdict, Verdict::Promote);
    for judgement in &after.judgements {
        let examined = ["candidate", "twin07"].contains(&judgement.candidate.as_str());
        if examined {
            assert_eq!(judgement.verdict, Verdict::Promote);
        } else {
            assert_eq!(codes(judgement), [ReasonCode::Unexamined]);
            assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
        }
    }
    // Lists that were looked at and that all lack this family promote nobody.
    scene.parts.context.unjudged = Some(Vec::new());
    assert_eq!(family(&scene).verdict, Verdict::InsufficientEvidence);
}

#[test]
fn nothing_changed_is_the_only_reason_and_states_no_detectable_effect() {
    let mut scene = Scene::promoted(QUERIES);
    scene.candidate().values = vec![moved(QUERIES, 0, 0); 3];
    let judgement = scene.judge();
    assert_eq!(codes(&judgement), [ReasonCode::NoChange]);
    let not_improved = criterion(&judgement, ReasonCode::PrimaryNotImproved);
    assert_eq!(not_improved.outcome, Outcome::NotTested);
    let mut limits = judgement.limits.iter();
    let detectable = limits
        .find(|limit| limit.code == LimitCode::MinimumDetectableEffect)
        .unwrap();
    assert_eq!(detectable.value, None);
    assert_eq!(
        detectable.text,
        "the primary did not change, so no detectable effect can be stated"
    );
}
