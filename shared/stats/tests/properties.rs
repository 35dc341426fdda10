//! What holds for any data: the same bits for any number of threads, bounds, and who may move whom.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::num::NonZeroU32;

use evalfarm_stats::{
    Confidence, Design, GridDifferences, Interval, IntervalMethod, IntervalOutcome, PValue,
    PairedDifferences, Resamples, ResamplingPlan, SignFlip, Statistic,
};
use proptest::prelude::*;

fn plan(design: Design, seed: u64) -> ResamplingPlan {
    let count = NonZeroU32::new(500).unwrap();
    ResamplingPlan::new(design, Resamples { count, seed })
}

fn columns(plan: &ResamplingPlan, data: &[Vec<f64>]) -> Vec<GridDifferences> {
    data.iter()
        .map(|values| {
            let sample = PairedDifferences::from_differences(values.clone()).unwrap();
            plan.grid(&sample).unwrap()
        })
        .collect()
}

type Outcome = (Vec<SignFlip>, Vec<Interval>, Vec<PValue>);

/// BCa intervals, whose jackknife has sums of its own.
fn bca(design: &Design, seed: u64, data: &[Vec<f64>]) -> Vec<IntervalOutcome> {
    let plan = plan(design.clone(), seed);
    let columns = columns(&plan, data);
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    plan.intervals_by(&columns, IntervalMethod::Bca, Confidence::DEFAULT)
}

fn outcome(design: &Design, seed: u64, data: &[Vec<f64>]) -> Outcome {
    let plan = plan(design.clone(), seed);
    let columns = columns(&plan, data);
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    (
        plan.sign_flips(&columns),
        plan.intervals(&columns, Confidence::DEFAULT),
        plan.max_t(&columns, Statistic::Normalised),
    )
}

/// Differences of several hypotheses over the same rows, many of them 0 as in practice.
fn data() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (1..60_usize, 1..5_usize).prop_flat_map(|(rows, hypotheses)| {
        let value = prop_oneof![Just(0.0), -1.0..1.0_f64];
        prop::collection::vec(prop::collection::vec(value, rows), hypotheses)
    })
}

fn designs(rows: usize) -> [Design; 3] {
    let weights: Vec<f64> = (0..rows).map(|row| 0.5 + (row % 7) as f64).collect();
    let clusters: Vec<u32> = (0..rows)
        .map(|row| u32::try_from(row / 2).unwrap())
        .collect();
    [
        Design::independent(rows).unwrap(),
        Design::new(rows, Some(weights.clone()), None).unwrap(),
        Design::new(rows, Some(weights), Some(&clusters)).unwrap(),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn s7_the_same_bits_for_one_two_and_eight_threads(data in data(), seed: u64) {
        for design in designs(data[0].len()) {
            let runs: Vec<(Outcome, Vec<IntervalOutcome>)> = [1, 2, 8]
                .into_iter()
                .map(|threads| {
                    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
                    pool.install(|| (outcome(&design, seed, &data), bca(&design, seed, &data)))
                })
                .collect();
            prop_assert_eq!(&runs[0], &runs[1]);
            prop_assert_eq!(&runs[0], &runs[2]);
        }
    }

    #[test]
    fn s7_a_hypothesis_does_not_depend_on_its_company(data in data(), seed: u64) {
        for design in designs(data[0].len()) {
            let (together, intervals, _) = outcome(&design, seed, &data);
            for (index, values) in data.iter().enumerate() {
                let (alone, interval, _) = outcome(&design, seed, std::slice::from_ref(values));
                prop_assert_eq!(alone[0], together[index]);
                prop_assert_eq!(interval[0], intervals[index]);
            }
        }
    }

    #[test]
    fn intervals_lie_within_the_data_and_p_values_within_their_bounds(data in data(), seed: u64) {
        for design in designs(data[0].len()) {
            let (flips, intervals, _) = outcome(&design, seed, &data);
            for ((values, flip), interval) in data.iter().zip(flips).zip(intervals) {
                let least = values.iter().copied().fold(f64::INFINITY, f64::min);
                let greatest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                prop_assert!(interval.low <= interval.high);
                prop_assert!(least - 1e-11 <= interval.low && interval.high <= greatest + 1e-11);
                if !flip.exact {
                    prop_assert!(flip.p.value() >= 1.0 / 501.0);
                }
                prop_assert!(flip.p.value() >= flip.p_above.value().min(flip.p_below.value()));
            }
        }
    }

    #[test]
    fn swapping_the_sides_mirrors_the_result(data in data(), seed: u64) {
        let design = Design::independent(data[0].len()).unwrap();
        let mirrored: Vec<Vec<f64>> = data.iter().map(|v| v.iter().map(|d| -d).collect()).collect();
        let (flips, intervals, adjusted) = outcome(&design, seed, &data);
        let (swapped, ends, same) = outcome(&design, seed, &mirrored);
        prop_assert_eq!(adjusted, same);
        for (a, b) in flips.iter().zip(&swapped) {
            prop_assert_eq!(a.p, b.p);
            prop_assert_eq!(a.p_above, b.p_below);
        }
        for (a, b) in intervals.iter().zip(&ends) {
            // Interpolation between two resamples rounds differently from either side.
            prop_assert!((a.low + b.high).abs() < 1e-12 && (a.high + b.low).abs() < 1e-12);
        }
    }

    #[test]
    fn s12_adding_a_hypothesis_only_raises_step_down_values(
        data in prop::collection::vec(prop::collection::vec(-1.0..1.0_f64, 30), 2..5),
        seed: u64,
    ) {
        let design = Design::independent(30).unwrap();
        let (flips, _, whole) = outcome(&design, seed, &data);
        let (_, _, part) = outcome(&design, seed, &data[..data.len() - 1]);
        for (small, large) in part.iter().zip(&whole) {
            prop_assert!(large >= small);
        }
        for (flip, adjusted) in flips.iter().zip(&whole) {
            prop_assert!(*adjusted >= flip.p);
        }
    }
}

#[test]
fn clusters_flip_together() {
    // Two rows in each of six clusters, all rising: 2^(1 − 6), not 2^(1 − 12).
    let clusters: Vec<u32> = (0..12).map(|row| row / 2).collect();
    let design = Design::new(12, None, Some(&clusters)).unwrap();
    let (flips, _, _) = outcome(&design, 1, &[vec![0.1; 12]]);
    assert!(flips[0].exact);
    assert!((flips[0].p.value() - 0.031_25).abs() < 1e-12);
}

#[test]
fn equal_weights_change_nothing() {
    let values = vec![
        (0..40)
            .map(|i| f64::from(i % 5) / 10.0 - 0.1)
            .collect::<Vec<f64>>(),
    ];
    let plain = outcome(&Design::independent(40).unwrap(), 3, &values);
    let weighted = outcome(
        &Design::new(40, Some(vec![2.0; 40]), None).unwrap(),
        3,
        &values,
    );
    assert_eq!(plain.0, weighted.0);
    assert!((plain.1[0].low - weighted.1[0].low).abs() < 1e-12);
    assert!((plain.1[0].high - weighted.1[0].high).abs() < 1e-12);
}

#[test]
fn s15_columns_that_wait_for_a_pass_of_their_own_get_the_same_interval() {
    // 100 columns of 200,000 resampled sums are 160 MB, more than is held at once.
    let data: Vec<Vec<f64>> = (1..=100_u32)
        .map(|column| vec![0.0, f64::from(column) / 100.0, 1.0])
        .collect();
    let resamples = Resamples {
        count: NonZeroU32::new(200_000).unwrap(),
        seed: 2,
    };
    let plan = ResamplingPlan::new(Design::independent(3).unwrap(), resamples);
    let columns = columns(&plan, &data);
    let all: Vec<&GridDifferences> = columns.iter().collect();
    let together = plan.intervals(&all, Confidence::DEFAULT);
    for index in [0, 82, 83, 99] {
        assert_eq!(
            together[index],
            plan.intervals(&all[index..=index], Confidence::DEFAULT)[0]
        );
    }
}
