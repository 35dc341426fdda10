//! More resamples on demand: the first ones stay, and the rise stops where no decision hangs on them.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::num::NonZeroU32;

use evalfarm_stats::{
    Confidence, Correction, Design, GridDifferences, PValue, PairedDifferences, Raised, Resamples,
    ResamplingPlan, SignFlip, SignFlipRun, Statistic,
};
use proptest::prelude::*;

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn plan(rows: usize, resamples: u32, seed: u64) -> ResamplingPlan {
    let resamples = Resamples {
        count: count(resamples),
        seed,
    };
    ResamplingPlan::new(Design::independent(rows).unwrap(), resamples)
}

fn grids(plan: &ResamplingPlan, data: &[Vec<f64>]) -> Vec<GridDifferences> {
    data.iter()
        .map(|values| {
            let sample = PairedDifferences::from_differences(values.clone()).unwrap();
            plan.grid(&sample).unwrap()
        })
        .collect()
}

/// Columns with zeros and with columns that come twice, as sweeps have them.
fn data() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (1..40_usize, 1..4_usize)
        .prop_flat_map(|(rows, hypotheses)| {
            let value = prop_oneof![3 => Just(0.0), 1 => -1.0..1.0_f64];
            prop::collection::vec(prop::collection::vec(value, rows), hypotheses)
        })
        .prop_map(|mut columns| {
            columns.extend_from_within(..1);
            columns
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn s7_extending_is_the_same_as_starting_with_more(data in data(), seed: u64, steps in 1..400_u32) {
        let few = plan(data[0].len(), 100, seed);
        let many = few.with_count(count(100 + steps));
        let columns = grids(&few, &data);
        let columns: Vec<&GridDifferences> = columns.iter().collect();
        let family: Vec<usize> = (0..columns.len()).collect();
        let mut run = SignFlipRun::new(&few, &columns, &family, Statistic::Normalised);
        prop_assert_eq!(run.flips(), few.sign_flips(&columns));
        prop_assert_eq!(run.adjusted(), few.max_t(&columns, Statistic::Normalised));
        run.extend(count(100 + steps / 2 + 1));
        run.extend(count(100 + steps));
        prop_assert_eq!(run.resamples(), count(100 + steps));
        prop_assert_eq!(run.flips(), many.sign_flips(&columns));
        prop_assert_eq!(run.adjusted(), many.max_t(&columns, Statistic::Normalised));
    }

    #[test]
    fn equal_columns_get_equal_results_and_change_nothing_else(data in data(), seed: u64) {
        let plan = plan(data[0].len(), 200, seed);
        let columns = grids(&plan, &data);
        let all: Vec<&GridDifferences> = columns.iter().collect();
        let distinct = &all[..all.len() - 1];
        let whole = plan.max_t(&all, Statistic::Normalised);
        prop_assert_eq!(whole[0], whole[all.len() - 1]);
        prop_assert_eq!(&whole[..distinct.len()], &plan.max_t(distinct, Statistic::Normalised)[..]);
        let intervals = plan.intervals(&all, Confidence::DEFAULT);
        prop_assert_eq!(intervals[0], intervals[all.len() - 1]);
    }

    #[test]
    fn p_values_lie_in_their_monte_carlo_intervals(data in data(), seed: u64) {
        let plan = plan(data[0].len(), 100, seed);
        let columns = grids(&plan, &data);
        let columns: Vec<&GridDifferences> = columns.iter().collect();
        let family: Vec<usize> = (0..columns.len()).collect();
        let run = SignFlipRun::new(&plan, &columns, &family, Statistic::Mean);
        for (flip, (low, high)) in run.flips().iter().zip(run.flip_bounds(Confidence::NINETY_NINE)) {
            prop_assert!(low.p <= flip.p && flip.p <= high.p);
            prop_assert!(!flip.exact || (low.p == flip.p && flip.p == high.p));
        }
        for (q, (low, high)) in run.adjusted().iter().zip(run.adjusted_bounds(Confidence::NINETY_NINE)) {
            prop_assert!(low <= *q && *q <= high);
        }
    }
}

/// 60 differences of ±.1, `up` of them positive.
fn signs(up: usize) -> Vec<f64> {
    (0..60)
        .map(|row| if row < up { 0.1 } else { -0.1 })
        .collect()
}

fn two_sided(_: usize, flip: SignFlip) -> PValue {
    flip.p
}

#[test]
fn resamples_rise_while_a_p_value_straddles_its_threshold() {
    // p = 2·P(Bin(60, ½) ≥ 38) = .0519 (scipy 1.17.1, binomtest(38, 60).pvalue), close to .05. With 1,000 resamples its 99 %
    // interval is some .036 wide; it leaves .05 only when its half width is below .0019, at about 90,000.
    let plan = plan(60, 1_000, 5);
    let columns = grids(&plan, &[signs(38)]);
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    let settled = |run: &SignFlipRun<'_>| {
        run.is_settled(Correction::Holm, 0.05, Confidence::NINETY_NINE, two_sided)
    };
    let mut run = SignFlipRun::new(&plan, &columns, &[0], Statistic::Normalised);
    assert_eq!(
        run.raise(count(4_000), settled),
        Raised::AtCap(count(4_000))
    );
    let raised = run.raise(count(1_000_000), settled);
    assert!(matches!(raised, Raised::Settled(_)), "{raised:?}");
    assert!(raised.resamples() > count(32_000));
    assert!(run.flips()[0].p.value() > 0.05);
    let error = 3.0 * (0.0519_f64 / f64::from(raised.resamples().get())).sqrt();
    assert!((run.flips()[0].p.value() - 0.0519).abs() < error);
}

#[test]
fn clear_cases_and_exact_ones_are_settled_at_once() {
    let plan = plan(60, 1_000, 5);
    let mut few = vec![0.0; 60];
    few[..8].fill(0.2);
    let columns = grids(&plan, &[signs(31), signs(60), few]);
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    let run = SignFlipRun::new(&plan, &columns, &[0, 1, 2], Statistic::Normalised);
    for correction in [
        Correction::Holm,
        Correction::BenjaminiHochberg,
        Correction::MaxT,
    ] {
        assert!(run.is_settled(correction, 0.05, Confidence::NINETY_NINE, two_sided));
    }
    // At Holm's first step of a large family 1,000 resamples cannot tell: 1/1,001 is above .05/872.
    assert!(!run.is_settled(
        Correction::Holm,
        0.05 / 290.0,
        Confidence::NINETY_NINE,
        two_sided
    ));
}
