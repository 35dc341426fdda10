//! Two arms: refusals, exact cases by hand, and the level when rows hang together.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::num::NonZeroU32;

use evalfarm_stats::{
    Arm, ArmRow, Better, Clustering, Confidence, EffectMeasure, Outcome, OutcomeScale, Resamples,
    Share, TwoSample, TwoSampleError, fisher_exact, normal_quantile,
};
use proptest::prelude::*;
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;

const SUCCESS: OutcomeScale = OutcomeScale::Bounded {
    low: 0.0,
    high: 1.0,
    better: Better::Higher,
};

const DURATION: OutcomeScale = OutcomeScale::Positive {
    better: Better::Lower,
};

fn resamples(count: u32) -> Resamples {
    Resamples {
        count: NonZeroU32::new(count).unwrap(),
        seed: 7,
    }
}

fn row(unit: u32, arm: Arm, value: f64) -> ArmRow {
    ArmRow {
        unit,
        arm,
        outcome: Outcome::Value(value),
    }
}

/// One row a unit: first the baseline's values, then the candidate's.
fn rows(baseline: &[f64], candidate: &[f64]) -> Vec<ArmRow> {
    let arms = baseline
        .iter()
        .map(|value| (Arm::Baseline, *value))
        .chain(candidate.iter().map(|value| (Arm::Candidate, *value)));
    (0..)
        .zip(arms)
        .map(|(unit, (arm, value))| row(unit, arm, value))
        .collect()
}

#[test]
fn a_unit_that_comes_back_without_a_declared_cluster_is_refused() {
    let mut repeated = rows(&[0.0, 1.0], &[1.0, 1.0]);
    repeated.push(row(1, Arm::Baseline, 1.0));
    let error = TwoSample::new(&repeated, SUCCESS, Clustering::Rows).unwrap_err();
    assert_eq!(
        error,
        TwoSampleError::RepeatedUnit {
            unit: 1,
            first: 1,
            row: 4
        }
    );
    let sample = TwoSample::new(&repeated, SUCCESS, Clustering::Units).unwrap();
    let counts = sample.counts(Arm::Baseline);
    assert_eq!((counts.rows, counts.clusters, counts.failed), (3, 2, 0));
    repeated.push(row(1, Arm::Candidate, 1.0));
    let error = TwoSample::new(&repeated, SUCCESS, Clustering::Units).unwrap_err();
    assert_eq!(error, TwoSampleError::UnitInBothArms { unit: 1, row: 5 });
}

#[test]
fn s16_values_off_the_scale_and_empty_arms_are_refused() {
    for value in [f64::NAN, f64::INFINITY, -0.5, 1.5] {
        let bad = rows(&[0.0, value], &[1.0]);
        let error = TwoSample::new(&bad, SUCCESS, Clustering::Rows).unwrap_err();
        assert!(
            matches!(error, TwoSampleError::Value { row: 1, .. }),
            "{error}"
        );
    }
    let error = TwoSample::new(&rows(&[0.5], &[]), SUCCESS, Clustering::Rows).unwrap_err();
    assert_eq!(error, TwoSampleError::EmptyArm(Arm::Candidate));
    let scale = OutcomeScale::Bounded {
        low: 1.0,
        high: 1.0,
        better: Better::Higher,
    };
    let error = TwoSample::new(&rows(&[1.0], &[1.0]), scale, Clustering::Rows).unwrap_err();
    assert!(matches!(error, TwoSampleError::Scale { .. }));
}

#[test]
fn an_exact_case_by_hand() {
    // Of the C(6, 3) = 20 choices of three from .1 … .6 two have a sum as far from the middle as .4 + .5 + .6.
    let sample = TwoSample::new(
        &rows(&[0.1, 0.2, 0.3], &[0.4, 0.5, 0.6]),
        SUCCESS,
        Clustering::Rows,
    )
    .unwrap();
    let result = sample.compare(resamples(100), Confidence::DEFAULT);
    assert!(result.exact);
    assert!((result.p.value() - 0.1).abs() < 1e-15);
    assert!((result.effect - 0.3).abs() < 1e-12);
    assert_eq!(result.measure, EffectMeasure::DifferenceOfMeans);
}

#[test]
fn ranks_put_a_failure_last_and_equal_scipy() {
    // scipy 1.17.1: mannwhitneyu([9, 30, inf, inf], [1, 2, 3, 9], method="exact") is not made for ties; by enumeration with
    // Python's fractions: rank sums 4.5+6+7.5+7.5 against 1+2+3+4.5, 4 of 70 choices are as far from 18.
    let mut all = rows(&[1.0, 2.0, 3.0, 9.0], &[9.0, 30.0]);
    for unit in [20, 21] {
        all.push(ArmRow {
            unit,
            arm: Arm::Candidate,
            outcome: Outcome::Failed,
        });
    }
    let sample = TwoSample::new(&all, DURATION, Clustering::Rows).unwrap();
    let result = sample.compare(resamples(100), Confidence::DEFAULT);
    assert!(result.exact);
    assert!(
        (result.p.value() - 4.0 / 70.0).abs() < 1e-15,
        "{}",
        result.p
    );
    // 15 of 16 pairs are worse, one ties: −15/16.
    assert_eq!(result.measure, EffectMeasure::CliffsDelta);
    assert!((result.effect + 15.0 / 16.0).abs() < 1e-15);
    assert_eq!(sample.counts(Arm::Candidate).failed, 2);
}

/// A person's success rate and ten sessions: a normal threshold model whose sessions correlate by about .3.
fn sessions(random: &mut ChaCha8Rng, persons: u32) -> Vec<ArmRow> {
    // On the latent scale .45 gives an intraclass correlation of the 0/1 outcomes of 2/π·asin(.45) = .297 at a rate of ½.
    let latent = 0.45_f64;
    let mut rows = Vec::new();
    for unit in 0..persons {
        let arm = if unit % 2 == 0 {
            Arm::Baseline
        } else {
            Arm::Candidate
        };
        let person = latent.sqrt() * normal(random);
        for _ in 0..10 {
            let session = person + (1.0 - latent).sqrt() * normal(random);
            rows.push(row(unit, arm, f64::from(u8::from(session > 0.0))));
        }
    }
    rows
}

fn normal(random: &mut ChaCha8Rng) -> f64 {
    normal_quantile((random.next_u64() as f64 + 0.5) / 2.0_f64.powi(64))
}

fn by_session(rows: &[ArmRow]) -> f64 {
    let arm = |arm: Arm| {
        let of = rows.iter().filter(|row| row.arm == arm);
        let successes = of.clone().filter(|row| row.outcome == Outcome::Value(1.0));
        Share::new(successes.count() as u64, of.count() as u64).unwrap()
    };
    fisher_exact(arm(Arm::Baseline), arm(Arm::Candidate)).value()
}

#[test]
fn ten_sessions_a_person_hold_the_level_by_person_and_break_it_by_session() {
    // The design effect of ten rows with correlation .3 is 1 + 9·.3 = 3.7, so a z test by session rejects with probability
    // 2·Φ(−1.96/√3.7) = .308; Fisher's is a little more cautious.
    let mut random = ChaCha8Rng::seed_from_u64(99);
    let simulations = 600;
    let (mut wrong, mut right) = (0, 0);
    for _ in 0..simulations {
        let rows = sessions(&mut random, 40);
        wrong += u32::from(by_session(&rows) <= 0.05);
        let sample = TwoSample::new(&rows, SUCCESS, Clustering::Units).unwrap();
        let result = sample.compare(resamples(199), Confidence::DEFAULT);
        right += u32::from(result.p.value() <= 0.05);
    }
    let share = |count: u32| f64::from(count) / f64::from(simulations);
    // Three binomial standard errors of 600: .057 at .3, .027 at .05.
    assert!(
        (share(wrong) - 0.29).abs() < 0.06,
        "by session {}",
        share(wrong)
    );
    assert!(share(right) <= 0.05 + 0.027, "by person {}", share(right));
    assert!(share(right) >= 0.05 - 0.03, "by person {}", share(right));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn s18_the_order_of_rows_does_not_matter(
        baseline in prop::collection::vec(0_u8..=10, 1..12),
        candidate in prop::collection::vec(0_u8..=10, 1..12),
    ) {
        let values = |tenths: &[u8]| tenths.iter().map(|t| f64::from(*t) / 10.0).collect::<Vec<_>>();
        let forward = rows(&values(&baseline), &values(&candidate));
        let mut backward = forward.clone();
        backward.reverse();
        for scale in [SUCCESS, DURATION] {
            let compare = |rows: &[ArmRow]| {
                let sample = TwoSample::new(rows, scale, Clustering::Rows).unwrap();
                sample.compare(resamples(1_000), Confidence::DEFAULT)
            };
            // Up to C(12, 6) = 924 assignments are enumerated; samples would differ with the order.
            if forward.len() <= 12 {
                let (a, b) = (compare(&forward), compare(&backward));
                prop_assert!(a.exact);
                prop_assert_eq!(a.p, b.p);
                prop_assert!((a.effect - b.effect).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn s7_the_same_bits_for_one_two_and_eight_threads(
        baseline in prop::collection::vec(0.0..1.0_f64, 10..40),
        candidate in prop::collection::vec(0.0..1.0_f64, 10..40),
    ) {
        let rows = rows(&baseline, &candidate);
        let sample = TwoSample::new(&rows, SUCCESS, Clustering::Rows).unwrap();
        let results: Vec<_> = [1, 2, 8]
            .into_iter()
            .map(|threads| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                pool.install(|| sample.compare(resamples(300), Confidence::DEFAULT))
            })
            .collect();
        prop_assert_eq!(results[0], results[1]);
        prop_assert_eq!(results[0], results[2]);
    }
}
