//! Cases of the case list and cases worked by hand.

use std::num::NonZeroU32;

use evalfarm_stats::{
    Confidence, Design, GridDifferences, PValue, PairedDifferences, Position, Resamples,
    ResamplingPlan, Statistic,
};

use crate::{assert_close, exact, grid, plan};

#[test]
fn s2_s3_s4_s13_exact_p_values_of_the_case_list() {
    // cases/vectors.json, kind perm-exact-two-sided.
    let cases: [(&[f64], f64); 5] = [
        (&[0.3], 1.0),
        (&[0.1; 5], 0.0625),
        (&[0.1, 0.3, -0.1, -0.7, 0.8], 0.75),
        (&[0.02; 8], 0.007_812_5),
        (&[0.1, -0.05, 0.2, 0.05, -0.1, 0.15], 0.343_75),
    ];
    for (differences, expected) in cases {
        let p = exact(differences).p.value();
        assert_close(p, expected, 1e-12, &format!("{differences:?}"));
    }
}

#[test]
fn s3_floors_are_what_the_test_gives() {
    for k in 1..=8_u32 {
        let differences = vec![0.25; k as usize];
        let floor = 2.0_f64.powi(1 - i32::try_from(k).unwrap());
        assert_close(exact(&differences).p.value(), floor.min(1.0), 0.0, "floor");
        assert_close(
            exact(&differences).p_above.value(),
            floor / 2.0,
            0.0,
            "one-sided",
        );
        assert_close(exact(&differences).p_below.value(), 1.0, 0.0, "other side");
    }
}

#[test]
fn s5_s6_no_exceedance_gives_one_over_resamples_plus_one() {
    // cases.md S5: 1/10,000 with B = 9,999, where scipy's doubled one-sided p is 2/10,000.
    let plan = plan(600, 9_999);
    let flip = plan.sign_flips(&[&grid(&plan, &[0.1; 600])])[0];
    assert!(!flip.exact);
    assert_close(flip.p.value(), 1.0 / 10_000.0, 0.0, "two-sided");
    assert_close(flip.p_above.value(), 1.0 / 10_000.0, 0.0, "one-sided");
}

#[test]
pub(crate) fn s1_differences_of_zero_give_p_one_and_an_interval_of_zero() {
    for rows in [1, 3, 600] {
        let plan = plan(rows, 1_000);
        let zeros = grid(&plan, &vec![0.0; rows]);
        let flip = plan.sign_flips(&[&zeros])[0];
        assert_eq!((flip.p, flip.exact), (PValue::ONE, true));
        let interval = plan.intervals(&[&zeros], Confidence::DEFAULT)[0];
        assert_eq!(interval.position, Position::Holds);
        assert!(interval.low.abs() + interval.high.abs() < f64::MIN_POSITIVE);
        assert_eq!(plan.max_t(&[&zeros], Statistic::Normalised), [PValue::ONE]);
    }
}

#[test]
fn s21_the_bootstrap_of_three_values_has_the_exact_shares() {
    // cases.md S21: means of (0, 0, 1) are 0, 1/3, 2/3, 1 with 8, 12, 6 and 1 of 27 samples. Its cumulative shares .296,
    // .741, .963 put these quantiles well inside a step, whatever the Monte Carlo error.
    let plan = plan(3, 20_000);
    let sample = grid(&plan, &[0.0, 0.0, 1.0]);
    for (confidence, low, high) in [
        (0.10, 1.0 / 3.0, 1.0 / 3.0),
        (0.50, 0.0, 2.0 / 3.0),
        (0.98, 0.0, 1.0),
    ] {
        let confidence = Confidence::try_from(confidence).unwrap();
        let interval = plan.intervals(&[&sample], confidence)[0];
        assert_close(interval.low, low, 1e-11, "low");
        assert_close(interval.high, high, 1e-11, "high");
    }
}

#[test]
fn step_down_maximum_equals_hand_enumeration() {
    // 64 sign vectors enumerated with Python's fractions; counts of 64. The first and second hypothesis change places when
    // the statistic is normalised.
    let hypotheses: [&[f64]; 3] = [
        &[0.5, 0.5, 0.5, 0.5, -0.5, 0.4],
        &[0.1; 6],
        &[-0.2, 0.1, 0.0, 0.1, -0.1, 0.3],
    ];
    let plan = plan(6, 64);
    let columns: Vec<GridDifferences> = hypotheses.iter().map(|d| grid(&plan, d)).collect();
    let columns: Vec<&GridDifferences> = columns.iter().collect();
    let raw: Vec<f64> = plan
        .sign_flips(&columns)
        .iter()
        .map(|f| f.p.value() * 64.0)
        .collect();
    assert_eq!(raw, [14.0, 2.0, 52.0]);
    for (statistic, expected) in [
        (Statistic::Mean, [14.0, 18.0, 52.0]),
        (Statistic::Normalised, [16.0, 2.0, 52.0]),
    ] {
        let q: Vec<f64> = plan
            .max_t(&columns, statistic)
            .iter()
            .map(|q| q.value() * 64.0)
            .collect();
        assert_eq!(q, expected, "{statistic:?}");
    }
}

/// Returns the two-sided p-value by the definition, on whole numbers.
fn obvious_p(differences: &[i64]) -> f64 {
    let observed: i64 = differences.iter().sum();
    let assignments = 1_u64 << differences.len();
    let exceeding = (0..assignments)
        .filter(|assignment| {
            let sum: i64 = differences
                .iter()
                .enumerate()
                .map(|(bit, d)| if assignment >> bit & 1 == 0 { *d } else { -d })
                .sum();
            sum.abs() >= observed.abs()
        })
        .count();
    exceeding as f64 / assignments as f64
}

#[test]
pub(crate) fn s4_tenths_tie_as_whole_numbers_do() {
    // 0.1-grid vectors, on which a plain floating-point comparison is wrong in one of five (cases.md S4).
    let mut state = 7_i64;
    for _ in 0..300 {
        let tenths: Vec<i64> = (0..8)
            .map(|_| {
                state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
                (state >> 16) % 21 - 10
            })
            .collect();
        let differences: Vec<f64> = tenths.iter().map(|&d| d as f64 / 10.0).collect();
        assert_close(
            exact(&differences).p.value(),
            obvious_p(&tenths),
            1e-12,
            &format!("{tenths:?}"),
        );
    }
}

#[test]
fn s23_reruns_of_a_query_are_not_extra_queries() {
    // Three runs of eight queries. Pooled as 24 rows a small lasting shift looks like 24 coin flips; as clusters it is 8.
    let rows = 24;
    let differences: Vec<f64> = (0..rows).map(|row| 0.01 * f64::from(row % 8 + 1)).collect();
    let queries: Vec<u32> = (0..rows).map(|row| row % 8).collect();
    let resamples = Resamples {
        count: NonZeroU32::new(10_000).unwrap(),
        seed: 1,
    };
    let sample = PairedDifferences::from_differences(differences).unwrap();
    let clustered = Design::new(24, None, Some(&queries)).unwrap();
    let plan = ResamplingPlan::new(clustered, resamples);
    let flip = plan.sign_flips(&[&plan.grid(&sample).unwrap()])[0];
    // All eight rise: 2^(1−8), exact.
    assert!(flip.exact);
    assert_close(flip.p.value(), 2.0_f64.powi(-7), 1e-15, "by query");
    let pooled = ResamplingPlan::new(Design::independent(24).unwrap(), resamples);
    let flip = pooled.sign_flips(&[&pooled.grid(&sample).unwrap()])[0];
    assert!(flip.p.value() < 2.0_f64.powi(-10), "pooling overstates");
}
