//! The BCa interval against its definition.

use evalfarm_stats::{
    Confidence, Design, IntervalMethod, IntervalOutcome, PairedDifferences, Resamples,
    ResamplingPlan, Undefined,
};
use std::num::NonZeroU32;

use crate::{assert_close, grid, plan};

fn bca(differences: &[f64], count: u32) -> IntervalOutcome {
    let plan = plan(differences.len(), count);
    let column = grid(&plan, differences);
    plan.intervals_by(&[&column], IntervalMethod::Bca, Confidence::DEFAULT)[0]
}

#[test]
fn s1_without_spread_there_is_no_bca_interval() {
    for values in [&[0.0; 5][..], &[0.1; 8], &[0.3]] {
        assert_eq!(
            bca(values, 500),
            IntervalOutcome::Undefined(Undefined::NoSpread)
        );
    }
}

#[test]
fn s21_ties_at_the_observed_mean_count_half() {
    // (0, 0, 1): 8/27 below 1/3 and 12/27 at it, so z0 = z(14/27) = .0464; jackknife means ½, ½, 0 give the acceleration
    // Σ(m̄ − m)³/(6·(Σ(m̄ − m)²)^1.5) = (1/36)/(6·(1/6)^1.5) = .0680. A 50 % interval then ends at the quantiles Φ(.0464 + …):
    // .2892 and .7931 of shares 8, 20, 26, 27 of 27, which are 0 and 2/3.
    let plan = plan(3, 20_000);
    let column = grid(&plan, &[0.0, 0.0, 1.0]);
    let half = Confidence::try_from(0.5).unwrap();
    let interval = plan.intervals_by(&[&column], IntervalMethod::Bca, half)[0]
        .interval()
        .unwrap();
    assert_close(interval.low, 0.0, 1e-11, "low");
    assert_close(interval.high, 2.0 / 3.0, 1e-11, "high");
}

#[test]
fn equal_weights_and_singleton_clusters_change_nothing() {
    let values: Vec<f64> = (0..40)
        .map(|i| f64::from(i * i % 17) / 40.0 - 0.1)
        .collect();
    let resamples = Resamples {
        count: NonZeroU32::new(2_000).unwrap(),
        seed: 4,
    };
    let sample = PairedDifferences::from_differences(values).unwrap();
    let labels: Vec<u32> = (0..40).collect();
    let ends = |design: Design| {
        let plan = ResamplingPlan::new(design, resamples);
        let column = plan.grid(&sample).unwrap();
        let outcome = plan.intervals_by(&[&column], IntervalMethod::Bca, Confidence::DEFAULT)[0];
        outcome.interval().unwrap()
    };
    let plain = ends(Design::independent(40).unwrap());
    for design in [
        Design::new(40, Some(vec![3.0; 40]), None).unwrap(),
        Design::new(40, None, Some(&labels)).unwrap(),
    ] {
        let other = ends(design);
        assert_close(other.low, plain.low, 1e-12, "low");
        assert_close(other.high, plain.high, 1e-12, "high");
    }
}

#[test]
fn clusters_are_left_out_whole() {
    // Doubling every row inside its cluster leaves units, resamples and jackknife as they were.
    let values: Vec<f64> = (0..30)
        .map(|i| f64::from(i * i % 13) / 20.0 - 0.2)
        .collect();
    let doubled: Vec<f64> = values.iter().flat_map(|&value| [value, value]).collect();
    let labels: Vec<u32> = (0..60).map(|row| row / 2).collect();
    let resamples = Resamples {
        count: NonZeroU32::new(2_000).unwrap(),
        seed: 4,
    };
    let single = ResamplingPlan::new(Design::independent(30).unwrap(), resamples);
    let clustered = ResamplingPlan::new(Design::new(60, None, Some(&labels)).unwrap(), resamples);
    let ends = |plan: &ResamplingPlan, values: Vec<f64>| {
        let sample = PairedDifferences::from_differences(values).unwrap();
        let column = plan.grid(&sample).unwrap();
        let outcome = plan.intervals_by(&[&column], IntervalMethod::Bca, Confidence::DEFAULT)[0];
        outcome.interval().unwrap()
    };
    let (one, two) = (ends(&single, values), ends(&clustered, doubled));
    assert_close(one.low, two.low, 1e-11, "low");
    assert_close(one.high, two.high, 1e-11, "high");
}
