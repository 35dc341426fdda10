//! Two independent arms.

use evalfarm_gate::{
    Arms, ArmsError, ArmsHypothesis, ArmsJudgement, GatePolicy, RawGatePolicy, Verdict, judge_arms,
};
use evalfarm_stats::{
    Arm, ArmRow, Better, Clustering, Outcome, OutcomeScale, Share, TwoSample, TwoSampleError,
};

fn shares(name: &str, baseline: (u64, u64), candidate: (u64, u64)) -> ArmsHypothesis {
    let share = |(successes, trials)| Share::new(successes, trials).unwrap();
    ArmsHypothesis {
        name: name.to_owned(),
        arms: Arms::Shares {
            baseline: share(baseline),
            candidate: share(candidate),
            better: Better::Higher,
            failed: [0, 0],
        },
    }
}

fn policy(raw: RawGatePolicy) -> GatePolicy {
    GatePolicy::try_from(raw).unwrap()
}

fn judged(hypotheses: &[ArmsHypothesis]) -> ArmsJudgement {
    judge_arms(&GatePolicy::default(), hypotheses).unwrap()
}

#[test]
fn the_minimum_is_stated_and_enforced() {
    // 0 of 19 against 19 of 19 has p far below any level, and is still too little to decide on.
    let few = judged(&[shares("h", (0, 19), (19, 19))]);
    assert_eq!(few.verdict, Verdict::InsufficientEvidence);
    assert!(few.results[0].reason.contains("at least 20 needed"));
    assert_eq!(few.min_per_arm, 20);
    assert_eq!(
        judged(&[shares("h", (0, 20), (20, 20))]).verdict,
        Verdict::Promote
    );
    let more = policy(RawGatePolicy {
        min_per_arm: Some(30),
        ..RawGatePolicy::default()
    });
    let more = judge_arms(&more, &[shares("h", (0, 20), (20, 20))]).unwrap();
    assert_eq!(more.verdict, Verdict::InsufficientEvidence);
}

#[test]
fn an_inconclusive_comparison_stays_open_and_says_what_it_needs() {
    // Fleiss, Levin and Paik 2003, section 4.2; R's power.prop.test gives 388 by the z test. Fisher needs 404 (issue 3).
    let result = judged(&[shares("h", (50, 100), (60, 100))]);
    assert_eq!(result.verdict, Verdict::InsufficientEvidence);
    assert_eq!(result.results[0].needed_per_arm, Some(404));
    assert!(
        result.results[0].reason.contains("404"),
        "{}",
        result.results[0].reason
    );
}

#[test]
fn fisher_and_newcombe_are_as_calculated_by_hand() {
    // By hand in exact fractions: the tables with 60 and 50 successes of 100 whose probability is no larger; and Wilson's ends
    // squared and added, as Newcombe 1998 writes.
    let result = &judged(&[shares("h", (50, 100), (60, 100))]).results[0];
    assert!(
        (result.p.value() - 0.200_707_600_136).abs() < 1e-12,
        "{}",
        result.p
    );
    let interval = result.interval.unwrap();
    assert!(
        (interval.low + 0.037_302_103_215).abs() < 1e-11,
        "{}",
        interval.low
    );
    assert!(
        (interval.high - 0.232_123_054_203).abs() < 1e-11,
        "{}",
        interval.high
    );
}

#[test]
fn harm_is_easy_and_promotion_hard() {
    assert_eq!(
        judged(&[shares("h", (60, 100), (40, 100))]).verdict,
        Verdict::Block
    );
    // p .03 alone promotes; beside three others Holm asks for .0125, and the harm of the mirrored pair needs no correction.
    let alone = judged(&[shares("a", (40, 100), (56, 100))]);
    assert_eq!(alone.verdict, Verdict::Promote);
    let others: Vec<ArmsHypothesis> = ["a", "b", "c", "d"]
        .into_iter()
        .map(|name| match name {
            "a" => shares(name, (40, 100), (56, 100)),
            _ => shares(name, (50, 100), (50, 100)),
        })
        .collect();
    let together = judged(&others);
    assert_eq!(together.family, 4);
    assert_eq!(together.results[0].verdict, Verdict::InsufficientEvidence);
    let harmed = judged(&[
        shares("a", (56, 100), (40, 100)),
        shares("b", (0, 100), (90, 100)),
    ]);
    assert_eq!(harmed.results[1].verdict, Verdict::Promote);
    assert_eq!(
        harmed.verdict,
        Verdict::Block,
        "the verdict is the worst of theirs"
    );
}

#[test]
fn an_effect_too_small_to_matter_is_blocked_whether_found_or_excluded() {
    let policy = policy(RawGatePolicy {
        min_effect: Some(0.05),
        ..RawGatePolicy::default()
    });
    let verdict = |hypothesis| judge_arms(&policy, &[hypothesis]).unwrap().verdict;
    assert_eq!(
        verdict(shares("found", (50_000, 100_000), (51_000, 100_000))),
        Verdict::Block
    );
    assert_eq!(
        verdict(shares("excluded", (5_000, 10_000), (5_000, 10_000))),
        Verdict::Block
    );
    assert_eq!(
        verdict(shares("open", (50, 100), (52, 100))),
        Verdict::InsufficientEvidence
    );
    assert_eq!(
        verdict(shares("enough", (500, 1_000), (580, 1_000))),
        Verdict::Promote
    );
}

fn rows(outcomes: &[(u32, Arm, f64)], clustering: Clustering) -> Result<TwoSample, TwoSampleError> {
    let rows: Vec<ArmRow> = outcomes
        .iter()
        .map(|&(unit, arm, value)| ArmRow {
            unit,
            arm,
            outcome: Outcome::Value(value),
        })
        .collect();
    let scale = OutcomeScale::Positive {
        better: Better::Lower,
    };
    TwoSample::new(&rows, scale, clustering)
}

#[test]
fn clusters_count_and_costs_are_better_when_they_fall() {
    let values = |arm, base: f64, shift: u32| {
        (0..30_u32).map(move |unit| (unit + shift, arm, base + f64::from(unit % 7)))
    };
    let all: Vec<(u32, Arm, f64)> = values(Arm::Baseline, 100.0, 0)
        .chain(values(Arm::Candidate, 90.0, 100))
        .collect();
    let judge = |rows| {
        let arms = Arms::Rows(rows);
        judged(&[ArmsHypothesis {
            name: "latency".to_owned(),
            arms,
        }])
    };
    assert_eq!(
        judge(rows(&all, Clustering::Rows).unwrap()).verdict,
        Verdict::Promote
    );
    // Ten rows a person: two people in each arm are two cases, however many rows they have.
    let people: Vec<(u32, Arm, f64)> = all
        .iter()
        .map(|&(unit, arm, v)| (unit / 15, arm, v))
        .collect();
    assert!(matches!(
        rows(&people, Clustering::Rows),
        Err(TwoSampleError::RepeatedUnit { .. })
    ));
    let few = judge(rows(&people, Clustering::Units).unwrap());
    assert_eq!(few.verdict, Verdict::InsufficientEvidence);
}

#[test]
fn no_hypothesis_and_two_of_one_name_are_refused() {
    assert_eq!(
        judge_arms(&GatePolicy::default(), &[]),
        Err(ArmsError::Empty)
    );
    let twice = [shares("h", (1, 30), (2, 30)), shares("h", (1, 30), (2, 30))];
    assert!(matches!(
        judge_arms(&GatePolicy::default(), &twice),
        Err(ArmsError::Twice { .. })
    ));
}

#[test]
fn failures_beyond_the_tolerance_never_promote() {
    // Shares of 60 cases in each arm of which so many failed, and the verdict with the tolerance.
    use Verdict::{Block, InsufficientEvidence, Promote};
    for (successes, failed, tolerance, verdict) in [
        ((0, 60), [0, 0], 0.0, Promote),
        ((0, 60), [60, 0], 0.0, InsufficientEvidence),
        ((10, 50), [1, 0], 0.0, InsufficientEvidence),
        ((10, 50), [0, 1], 0.0, Block),
        ((50, 10), [1, 0], 0.0, Block),
        ((50, 10), [0, 0], 0.0, Block),
        ((30, 30), [1, 1], 0.0, Block),
        // 3 of 60 are 5 %, and 4 are more.
        ((10, 50), [3, 3], 0.05, Promote),
        ((10, 50), [4, 3], 0.05, InsufficientEvidence),
        ((10, 50), [3, 4], 0.05, Block),
    ] {
        let mut hypothesis = shares("h", (successes.0, 60), (successes.1, 60));
        if let Arms::Shares { failed: counts, .. } = &mut hypothesis.arms {
            *counts = failed;
        }
        let policy = policy(RawGatePolicy {
            max_failed_share: Some(tolerance),
            ..RawGatePolicy::default()
        });
        let judged = judge_arms(&policy, &[hypothesis]).unwrap();
        let result = &judged.results[0];
        let case = format!("{successes:?} {failed:?} {tolerance}: {}", result.reason);
        assert_eq!(judged.verdict, verdict, "{case}");
        assert_eq!([result.baseline.failed, result.candidate.failed], failed);
    }
}

#[test]
fn failed_rows_of_either_arm_never_promote() {
    let judge = |failed: fn(usize, Arm) -> bool| {
        let arms = [Arm::Baseline, Arm::Candidate];
        let rows: Vec<ArmRow> = (0..60_u32)
            .flat_map(|unit| arms.map(|arm| (unit, arm)))
            .map(|(unit, arm)| ArmRow {
                unit: unit + 100 * arm as u32,
                arm,
                outcome: if failed(unit as usize, arm) {
                    Outcome::Failed
                } else if arm == Arm::Baseline {
                    Outcome::Value(100.0 + f64::from(unit))
                } else {
                    Outcome::Value(10.0 + f64::from(unit % 7))
                },
            })
            .collect();
        let scale = OutcomeScale::Positive {
            better: Better::Lower,
        };
        let rows = TwoSample::new(&rows, scale, Clustering::Rows).unwrap();
        judged(&[ArmsHypothesis {
            name: "latency".to_owned(),
            arms: Arms::Rows(rows),
        }])
        .verdict
    };
    assert_eq!(judge(|_, _| false), Verdict::Promote);
    let baseline = judge(|_, arm| arm == Arm::Baseline);
    assert_eq!(baseline, Verdict::InsufficientEvidence);
    let candidate = judge(|unit, arm| unit == 0 && arm == Arm::Candidate);
    assert_eq!(candidate, Verdict::Block);
}
