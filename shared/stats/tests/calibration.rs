//! The promises on simulated truth, with few samples; `examples/calibration.rs` has the full numbers.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::num::NonZeroU32;

use evalfarm_stats::{
    Confidence, Design, FamilySimulation, PairedDifferences, Resamples, ResamplingPlan, drawn_rows,
    found_effects, level_band, minimum_detectable_effect, rejected_copies, swapped_rows,
};

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn resamples(number: u32) -> Resamples {
    Resamples {
        count: count(number),
        seed: 20_260_816,
    }
}

/// Differences as metrics have them: most are 0, the rest of a few sizes.
fn differences() -> PairedDifferences {
    let values = (0..200_u32)
        .map(|row| match row % 5 {
            0 => f64::from(row % 7) / 10.0 - 0.25,
            1 => 0.1,
            _ => 0.0,
        })
        .collect();
    PairedDifferences::from_differences(values).unwrap()
}

#[test]
fn sign_permuted_copies_are_rejected_at_the_level() {
    let copies = count(500);
    let rejected = rejected_copies(&differences(), copies, resamples(1_000), 0.05);
    let band = level_band(0.05, copies, Confidence::NINETY_NINE);
    let share = rejected.value();
    assert!(
        band.low <= share && share <= band.high,
        "{share} not in {band:?}"
    );
    // By hand: .05 ± 2.5758·√(.05·.95/500).
    assert!((band.high - 0.075_1).abs() < 5e-5);
}

#[test]
fn an_effect_of_the_stated_size_is_found_at_about_the_stated_power() {
    let sample = differences();
    let weights = || Some((0..200_u32).map(|row| f64::from(1 + row % 3)).collect());
    let pairs: Vec<u32> = (0..200).map(|row| row / 2).collect();
    for design in [
        Design::independent(200).unwrap(),
        Design::new(200, weights(), None).unwrap(),
        Design::new(200, weights(), Some(&pairs)).unwrap(),
    ] {
        let plan = ResamplingPlan::new(design.clone(), resamples(1_000));
        let error = plan.grid(&sample).unwrap().standard_error().unwrap();
        let effect = minimum_detectable_effect(error, 0.05, 0.80);
        let samples = count(600);
        let found = found_effects(&sample, &design, effect, samples, resamples(1_000), 0.05);
        // .80 ± 3 standard errors of 600 samples.
        assert!((found.value() - 0.80).abs() < 0.049, "{design:?} {found:?}");
    }
}

#[test]
fn families_with_many_worse_candidates_promote_wrongly_under_bh_and_not_under_max_t() {
    let simulation = FamilySimulation {
        candidates: 218,
        worse: 113,
        harm: 0.5,
        correlation: 0.0,
        queries: count(100),
        families: count(40),
        resamples: resamples(2_000),
        alpha: 0.05,
    };
    let errors = simulation.run();
    // Bounds of .05 by design; three binomial standard errors of 40 families are .10.
    assert!(errors.max_t.value() <= 0.15, "{errors:?}");
    assert!(errors.holm.value() <= 0.15, "{errors:?}");
    // Under two-sided BH the worse half raises the threshold of the others to about α/2: 1 − (1 − .0125)^105 = .73.
    assert!(errors.bh_two_sided.value() > 0.5, "{errors:?}");
    assert!(
        errors.bh_one_sided.value() < errors.bh_two_sided.value(),
        "{errors:?}"
    );
}

#[test]
fn swaps_and_draws_depend_on_seed_and_number_alone() {
    assert_eq!(swapped_rows(1, 2, 100), swapped_rows(1, 2, 100));
    assert_eq!(swapped_rows(1, 2, 100)[..64], swapped_rows(1, 2, 64)[..]);
    assert_ne!(swapped_rows(1, 2, 100), swapped_rows(1, 3, 100));
    assert_ne!(swapped_rows(1, 2, 100), swapped_rows(2, 2, 100));
    let swaps = swapped_rows(5, 0, 10_000)
        .into_iter()
        .filter(|swap| *swap)
        .count();
    assert!(swaps.abs_diff(5_000) < 150, "{swaps}");
    let rows = drawn_rows(5, 0, 50);
    assert_eq!(rows.len(), 50);
    assert!(rows.iter().all(|row| *row < 50));
    assert_ne!(rows, drawn_rows(5, 1, 50));
}
