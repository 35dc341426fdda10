//! Inputs that made other gates fail open; ids are those of the case list.

use std::collections::BTreeMap;

use crate::scene::{METRICS, Scene, check, codes, criterion, id, metric, moved};
use evalfarm_domain::{Direction, FailureKind, MetricName};
use evalfarm_gate::{
    Agreement, Evidence, EvidenceError, FamilyJudgement, JudgedMetric, MetricRole, ReasonCode,
    Side, Verdict, judge, judge_all,
};
use evalfarm_stats::{Correction, benjamini_hochberg};
use proptest::prelude::*;

#[test]
fn s1_a_file_against_itself_has_changed_nothing() {
    let mut scene = Scene::promoted(100);
    scene.candidate().values = scene.parts.baseline.values.clone();
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    assert_eq!(judgement.reasons[0].code, ReasonCode::NoChange);
    for metric in &judgement.metrics {
        assert!(metric.exact && (metric.p.value() - 1.0).abs() < f64::EPSILON);
        assert!(metric.ci_low.abs() + metric.ci_high.abs() < f64::MIN_POSITIVE);
        assert_eq!((metric.dz, metric.affected_mean), (None, None));
    }
}

#[test]
fn s3_a_lone_moving_metric_of_three_is_undecidable_below_seven_changes() {
    for (k, verdict) in [
        (5, Verdict::InsufficientEvidence),
        (6, Verdict::InsufficientEvidence),
        (7, Verdict::Promote),
    ] {
        let mut scene = Scene::promoted(100);
        scene.candidate().values = vec![moved(100, k, 0), moved(100, 0, 0), moved(100, 0, 0)];
        let judgement = scene.judge();
        assert_eq!(judgement.verdict, verdict, "k = {k}");
        if verdict != Verdict::Promote {
            assert_eq!(judgement.reasons[0].code, ReasonCode::Undecidable);
            assert_eq!(judgement.reasons[0].limit, Some(7.0));
        }
    }
}

#[test]
fn s24_disagreement_of_p_value_and_interval_is_said() {
    // Five rises of equal size: p is 2^(1 - 5), while 99.3 % of the bootstrap samples contain one of them.
    let mut scene = Scene::promoted(100);
    scene.candidate().values[0] = moved(100, 5, 0);
    let judgement = scene.judge();
    let ndcg = &judgement.metrics[0];
    assert!((ndcg.p.value() - 0.0625).abs() < f64::EPSILON && ndcg.ci_low > 0.0);
    assert_eq!(ndcg.agreement, Agreement::OnlyInterval);
    let said = "nDCG@10: the interval excludes 0 and the p-value finds no change";
    assert!(judgement.limits.iter().any(|limit| limit.text == said));
}

#[test]
fn s12_the_family_is_printed_and_candidates_only_raise_corrected_values() {
    let mut scene = Scene::promoted(60);
    // More resamples would be drawn near the threshold, and another number of them moves every value a little.
    scene.policy.max_resamples = scene.policy.resamples;
    let judged = |scene: &Scene| judge_all(&scene.policy(), &scene.evidence());
    let mut before: Option<FamilyJudgement> = None;
    for extra in 1..6 {
        let mut side = scene.parts.candidates[0].clone();
        side.id = id(&format!("candidate {extra}"));
        side.values[0] = moved(60, 15 + 3 * extra, 12);
        scene.parts.candidates.push(side);
        let family = judged(&scene).unwrap();
        family.judgements.iter().for_each(check);
        let judgement = &family.judgements[0];
        assert_eq!(judgement.family.size, 3 * (extra + 1));
        assert_eq!(judgement.family.correction, Correction::MaxT);
        for (small, large) in before
            .iter()
            .flat_map(|b| &b.judgements)
            .zip(&family.judgements)
        {
            assert!(large.metrics[0].q >= small.metrics[0].q);
        }
        before = Some(family);
    }
}

#[test]
fn s16_a_value_that_is_not_finite_stops_everything_and_is_named() {
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e300] {
        let mut scene = Scene::promoted(60);
        scene.candidate().values[2] = vec![0.1; 60];
        scene.candidate().values[2][17] = value;
        let error = Evidence::new(scene.parts).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "`R@10` of query `q0017` is `{value}` in `candidate`: values have to be finite, at most 1e100 in magnitude"
            )
        );
    }
    let mut scene = Scene::promoted(60);
    scene.parts.baseline.values[0][3] = -f64::MAX;
    scene.candidate().values[0][3] = f64::MAX;
    let error = Evidence::new(scene.parts).unwrap_err();
    assert!(matches!(error, EvidenceError::NotFinite { .. }), "{error}");
}

#[test]
fn s17_a_candidate_that_answers_only_the_easy_half_is_blocked_with_the_counts() {
    let mut scene = Scene::promoted(100);
    // Easy queries have 1.0 and stay; the candidate has nothing for the other 50.
    for (side, hard) in [
        (&mut scene.parts.baseline, 0.1),
        (&mut scene.parts.candidates[0], 0.0),
    ] {
        for values in &mut side.values {
            values[..50].fill(1.0);
            values[50..].fill(hard);
        }
    }
    scene.candidate().failures[50..].fill(Some(FailureKind::Missing));
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::Block);
    assert_eq!(judgement.reasons[0].code, ReasonCode::Failed);
    assert!(judgement.reasons[0].text.contains("50 of 100"));
    assert_eq!(
        judgement.candidate_counts.failures,
        BTreeMap::from([(FailureKind::Missing, 50)])
    );
    assert_eq!(
        (judgement.metrics[0].n, judgement.metrics[0].losses),
        (100, 50)
    );
}

#[test]
fn w8_a_task_that_was_given_up_makes_the_job_incomplete_and_harms_nobody() {
    // Half of the candidate's queries were never finished: with timeouts in their place this is a BLOCK.
    let mut scene = Scene::promoted(100);
    scene.candidate().failures[50..].fill(Some(FailureKind::Unfinished));
    scene.candidate().values[0][50..].fill(0.0);
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    assert!(codes(&judgement).contains(&ReasonCode::Incomplete));
    assert_eq!(judgement.candidate_counts.failed, 0);
    assert_eq!(
        judgement.candidate_counts.failures,
        BTreeMap::from([(FailureKind::Unfinished, 50)])
    );
    // The losses are those that there were before, all of them on queries that were finished.
    let losses = Scene::promoted(100).judge().metrics[0].losses;
    assert_eq!(judgement.metrics[0].losses, losses);
    // One is enough to keep the others from being promoted.
    let mut scene = Scene::promoted(100);
    scene.parts.baseline.failures[99] = Some(FailureKind::Unfinished);
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    let incomplete = criterion(&judgement, ReasonCode::Incomplete);
    assert_eq!(incomplete.reason.observed, Some(1.0));
}

#[test]
fn g6_failures_never_help() {
    // The candidate fails where the baseline is worst, and reports a perfect value there all the same.
    let mut scene = Scene::promoted(100);
    scene.policy.max_failed_share = Some(1.0);
    let honest = scene.judge().metrics[0].delta;
    for row in 60..100 {
        scene.candidate().failures[row] = Some(FailureKind::Timeout);
        scene.candidate().values[0][row] = 1.0;
    }
    assert!(scene.judge().metrics[0].delta < honest);
    // A failed baseline makes no difference, whatever the candidate has there.
    let mut scene = Scene::promoted(100);
    scene.policy.max_failed_share = Some(1.0);
    scene
        .parts
        .baseline
        .failures
        .fill(Some(FailureKind::Timeout));
    let judgement = scene.judge();
    assert_eq!(judgement.reasons[0].code, ReasonCode::NoChange);
    assert_eq!(judgement.baseline_counts.failed, 100);
}

#[test]
fn g6_a_failed_candidate_has_the_worst_cost() {
    let mut scene = Scene::promoted(100);
    let name = MetricName::try_from("latency_ms").unwrap();
    scene.parts.metrics = vec![JudgedMetric::instrument(name, Direction::Lower)];
    scene.parts.baseline.values = vec![(0..100).map(|row| 100.0 + f64::from(row)).collect()];
    scene.candidate().values = vec![(0..100).map(|row| 90.0 + f64::from(row)).collect()];
    scene.policy.primary = Some("latency_ms".to_owned());
    scene.policy.catastrophic_drop = Some(200.0);
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::Promote);
    assert!((judgement.metrics[0].delta + 10.0).abs() < 1e-9);
    assert_eq!(
        (judgement.metrics[0].wins, judgement.metrics[0].losses),
        (100, 0)
    );
    assert!(judgement.metrics[0].dz.is_none_or(|dz| dz > 0.0));
    scene.candidate().failures[0] = Some(FailureKind::Timeout);
    scene.candidate().values[0][0] = 0.0;
    let judgement = scene.judge();
    assert_eq!(judgement.reasons[0].code, ReasonCode::Failed);
    assert_eq!(
        (judgement.metrics[0].wins, judgement.metrics[0].losses),
        (99, 1)
    );
}

#[test]
fn a_failed_query_does_not_make_up_for_an_empty_result() {
    let mut scene = Scene::promoted(100);
    scene.policy.max_failed_share = Some(0.5);
    for (side, row) in [
        (&mut scene.parts.baseline, 98),
        (&mut scene.parts.candidates[0], 99),
    ] {
        if let Some(flags) = &mut side.zero_results {
            flags[row] = true;
        }
    }
    assert_eq!(scene.judge().verdict, Verdict::Promote);
    scene.candidate().failures[98] = Some(FailureKind::Timeout);
    assert_eq!(codes(&scene.judge()), [ReasonCode::ZeroResult]);
}

#[test]
fn g4_a_collapse_on_three_queries_is_not_green() {
    let mut scene = Scene::promoted(3);
    scene.parts.baseline.values = vec![vec![1.0; 3]; METRICS.len()];
    scene.candidate().values = vec![vec![0.0; 3]; METRICS.len()];
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    assert!(codes(&judgement).contains(&ReasonCode::TooFewQueries));
    assert!(codes(&judgement).contains(&ReasonCode::PrimaryNotImproved));
}

#[test]
fn g4_four_collapses_of_eight_queries_are_not_green() {
    let mut scene = Scene::promoted(8);
    scene.parts.baseline.values = vec![vec![1.0; 8]; METRICS.len()];
    let collapsed = vec![0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0];
    scene.candidate().values = vec![collapsed; METRICS.len()];
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::InsufficientEvidence);
    // cases.md G4: p .125.
    assert!((judgement.metrics[0].p.value() - 0.125).abs() < f64::EPSILON);
}

#[test]
fn g5_a_policy_for_another_cutoff_is_refused() {
    let mut scene = Scene::promoted(30);
    scene.policy.primary = Some("nDCG@5".to_owned());
    let error = judge(&scene.policy(), &scene.evidence()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the policy's primary `nDCG@5` was not measured, only `nDCG@10`, `RR@10`, `R@10` were"
    );
    scene.policy.primary = None;
    scene.policy.guards = Some(vec!["P@10".to_owned()]);
    assert!(judge(&scene.policy(), &scene.evidence()).is_err());
}

#[test]
fn g8_a_risen_mean_does_not_hide_the_tail() {
    let mut scene = Scene::promoted(100);
    scene.candidate().values[0] = (0..100)
        .map(|row| if row < 94 { 0.7 } else { 0.1 })
        .collect();
    let judgement = scene.judge();
    assert_eq!(codes(&judgement), [ReasonCode::CatastrophicShare]);
    assert_eq!(judgement.metrics[0].catastrophic, 6);
    // Five of a hundred are tolerated, and a fall of exactly .30 is not yet one.
    scene.candidate().values[0] = (0..100)
        .map(|row| if row < 90 { 0.7 } else { 0.2 })
        .collect();
    assert_eq!(scene.judge().metrics[0].catastrophic, 0);
}

#[test]
fn columns_that_do_not_fit_are_refused() {
    let mut scene = Scene::promoted(30);
    scene.candidate().values[1].pop();
    let error = Evidence::new(scene.parts).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`candidate` has `29` values of `RR@10`, expected `30`"
    );
    let mut scene = Scene::promoted(30);
    scene.parts.queries[3] = scene.parts.queries[4].clone();
    let error = Evidence::new(scene.parts).unwrap_err();
    assert_eq!(error.to_string(), "query `q0004` occurs twice");
    let mut scene = Scene::promoted(30);
    scene.candidate().judged = Some(vec![Some(f64::NAN); 30]);
    assert!(matches!(
        Evidence::new(scene.parts),
        Err(EvidenceError::JudgedShare { .. })
    ));
    let mut scene = Scene::promoted(30);
    scene.parts.context.noise_band = Some(f64::NAN);
    assert!(matches!(
        Evidence::new(scene.parts),
        Err(EvidenceError::Context { .. })
    ));
    let mut scene = Scene::promoted(30);
    scene.parts.candidates.clear();
    assert_eq!(
        Evidence::new(scene.parts),
        Err(EvidenceError::Empty { what: "candidates" })
    );
    let scene = Scene::promoted(0);
    assert_eq!(
        Evidence::new(scene.parts),
        Err(EvidenceError::Empty { what: "queries" })
    );
}

#[test]
fn the_judged_share_of_a_job_is_no_guard() {
    let mut scene = Scene::promoted(100);
    scene.parts.metrics.push(metric("Judged@10"));
    scene.parts.baseline.values.push(vec![0.9; 100]);
    scene.candidate().values.push(vec![0.7; 100]);
    let judgement = scene.judge();
    assert_eq!(judgement.verdict, Verdict::Promote);
    assert_eq!(judgement.family.size, 3);
    assert_eq!(
        (judgement.metrics[3].role, judgement.metrics[3].q),
        (MetricRole::Descriptive, None)
    );
}

#[test]
fn the_best_promoted_candidate_leads_and_no_ops_do_not_matter() {
    let mut scene = Scene::promoted(100);
    let side = |name: &str, values: Vec<f64>| Side {
        values: vec![values; METRICS.len()],
        id: id(name),
        ..scene.parts.candidates[0].clone()
    };
    let no_op = side("no-op", moved(100, 0, 0));
    let better = side("better", moved(100, 60, 0));
    let worse = side("worse", moved(100, 0, 60));
    let rare = side("rare", moved(100, 3, 0));
    let cases = [
        (vec![&no_op, &worse], Verdict::Block, "worse"),
        (vec![&worse, &rare], Verdict::InsufficientEvidence, "rare"),
        (vec![&no_op], Verdict::InsufficientEvidence, "no-op"),
        (vec![&rare, &better, &worse], Verdict::Promote, "better"),
    ];
    for (candidates, verdict, leader) in cases {
        let mut scene = scene.clone();
        scene.parts.candidates = candidates.into_iter().cloned().collect();
        for correction in [
            None,
            Some(Correction::Holm),
            Some(Correction::BenjaminiHochberg),
        ] {
            scene.policy.correction = correction;
            let family = judge_all(&scene.policy(), &scene.evidence()).unwrap();
            assert_eq!((family.verdict, family.leader.as_str()), (verdict, leader));
            assert_eq!(family.leading().candidate.as_str(), leader);
            family.judgements.iter().for_each(check);
        }
    }
    scene.parts.candidates = vec![no_op.clone(), no_op];
    assert!(matches!(
        Evidence::new(scene.parts),
        Err(EvidenceError::Twice { .. })
    ));
}

#[test]
fn many_worse_candidates_do_not_help_a_lucky_one() {
    // One lucky candidate among 20 that are as good as the baseline, and 40 truly worse ones.
    let mut scene = Scene::promoted(200);
    scene.policy.guards = Some(Vec::new());
    // 72 of 118 changes are wins: two-sided p about .02 by the binomial distribution.
    scene.candidate().values[0] = moved(200, 72, 46);
    for other in 1..60 {
        let mut side = scene.parts.candidates[0].clone();
        side.id = id(&format!("candidate {other}"));
        side.values[0] = if other < 20 {
            moved(200, 59, 59)
        } else {
            moved(200, 10, 100)
        };
        side.values[0].rotate_right(other * 7 % 200);
        scene.parts.candidates.push(side);
    }
    let mut plain = Vec::new();
    for correction in [
        None,
        Some(Correction::BenjaminiHochberg),
        Some(Correction::Holm),
    ] {
        scene.policy.correction = correction;
        let family = judge_all(&scene.policy(), &scene.evidence()).unwrap();
        assert_eq!(family.verdict, Verdict::Block, "{correction:?}");
        let lucky = &family.judgements[0];
        assert_eq!(codes(lucky), [ReasonCode::NotSignificant]);
        plain = family.judgements.iter().map(|j| j.metrics[0].p).collect();
    }
    // Plain two-sided BH would have promoted it.
    assert!(benjamini_hochberg(&plain)[0].value() <= 0.05);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn s18_the_order_of_the_queries_changes_no_bit(
        order in Just((0..40_usize).collect::<Vec<usize>>()).prop_shuffle(),
        values in prop::collection::vec(0.0..1.0_f64, 40),
    ) {
        let mut scene = Scene::promoted(40);
        scene.candidate().values[0] = values;
        scene.candidate().failures[7] = Some(FailureKind::Timeout);
        scene.parts.weights = Some((1..=40_u8).map(f64::from).collect());
        scene.parts.clusters = Some((0..40).map(|row| format!("c{}", row / 3)).collect());
        let expected = scene.judge();
        let mut shuffled = scene.clone();
        let pick = |column: &[f64]| order.iter().map(|&row| column[row]).collect::<Vec<f64>>();
        let parts = &mut shuffled.parts;
        parts.queries = order.iter().map(|&row| scene.parts.queries[row].clone()).collect();
        parts.weights = scene.parts.weights.as_deref().map(pick);
        parts.clusters = scene.parts.clusters.as_ref().map(|c| order.iter().map(|&row| c[row].clone()).collect());
        for side in std::iter::once(&mut parts.baseline).chain(&mut parts.candidates) {
            side.values = side.values.iter().map(|column| pick(column)).collect();
            side.failures = order.iter().map(|&row| side.failures[row]).collect();
        }
        prop_assert_eq!(shuffled.judge(), expected);
    }

    #[test]
    fn s7_one_two_and_eight_threads_give_the_same_bytes(values in prop::collection::vec(0.0..1.0_f64, 40)) {
        let mut scene = Scene::promoted(40);
        scene.candidate().values[0] = values;
        let runs: Vec<String> = [1, 2, 8]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                serde_json::to_string(&pool.install(|| scene.judge())).unwrap()
            })
            .collect();
        prop_assert!(runs[0] == runs[1] && runs[0] == runs[2]);
    }
}
