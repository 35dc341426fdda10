//! The tests of this crate against figures that other tools or hand calculation gave.
//!
//! `stats-reference/reference.json` was made with scipy 1.17.1 and statsmodels 0.15.0 on Python 3.11.7. When it is absent the
//! same tests run against the slow, obvious form of each procedure on generated data.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::fs::File;
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_stats::{
    Confidence, Design, GridDifferences, PValue, PairedDifferences, Position, Resamples,
    ResamplingPlan, SignFlip, Statistic, benjamini_hochberg,
};
use evalfarm_testkit::reference_data;
use serde_json::Value;

fn plan(rows: usize, count: u32) -> ResamplingPlan {
    let resamples = Resamples {
        count: NonZeroU32::new(count).unwrap(),
        seed: 20_260_816,
    };
    ResamplingPlan::new(Design::independent(rows).unwrap(), resamples)
}

fn grid(plan: &ResamplingPlan, differences: &[f64]) -> GridDifferences {
    let sample = PairedDifferences::from_differences(differences.to_vec()).unwrap();
    plan.grid(&sample).unwrap()
}

/// Tests differences with enough resamples that up to 16 changes are enumerated.
fn exact(differences: &[f64]) -> SignFlip {
    let plan = plan(differences.len(), 1 << 16);
    let flip = plan.sign_flips(&[&grid(&plan, differences)])[0];
    assert!(flip.exact);
    flip
}

fn assert_close(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() <= tolerance,
        "{what}: {found} is not {expected} ± {tolerance}"
    );
}

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
fn s1_differences_of_zero_give_p_one_and_an_interval_of_zero() {
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
fn s4_tenths_tie_as_whole_numbers_do() {
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

fn reference_cases(folder: &Path) -> Vec<Value> {
    // Python wrote NaN where scipy has no value, which JSON does not know.
    let text = std::fs::read_to_string(folder.join("reference.json")).unwrap();
    let whole: Value = serde_json::from_str(&text.replace(": NaN", ": null")).unwrap();
    whole["cases"].as_array().unwrap().clone()
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

#[test]
fn sign_flips_and_corrections_equal_scipy_and_statsmodels() {
    let Some(folder) = reference_data("stats-reference") else {
        // The generated vectors of `s4_tenths_tie_as_whole_numbers_do` stand in.
        return s4_tenths_tie_as_whole_numbers_do();
    };
    let (mut flips, mut corrections) = (0, 0);
    for case in reference_cases(&folder) {
        let name = case["name"].as_str().unwrap();
        match case["kind"].as_str().unwrap() {
            "paired_sign_flip_exact" => {
                flips += 1;
                let p = exact(&numbers(&case["input"]["diff"])).p.value();
                assert_close(p, case["expected"]["p"].as_f64().unwrap(), 1e-12, name);
            }
            "benjamini_hochberg" => {
                corrections += 1;
                let family: Vec<PValue> = numbers(&case["input"]["p"])
                    .into_iter()
                    .map(|p| PValue::try_from(p).unwrap())
                    .collect();
                let alpha = case["input"]["alpha"].as_f64().unwrap();
                let q = benjamini_hochberg(&family);
                for (q, expected) in q.iter().zip(numbers(&case["expected"]["adjusted"])) {
                    assert_close(q.value(), expected, 1e-12, name);
                }
                let reject: Vec<Value> = q.iter().map(|q| (q.value() <= alpha).into()).collect();
                assert_eq!(
                    &reject,
                    case["expected"]["reject"].as_array().unwrap(),
                    "{name}"
                );
            }
            _ => {}
        }
    }
    assert_eq!((flips, corrections), (16, 32));
}

fn column(folder: &Path, file: &str, metric: &str) -> Vec<f64> {
    let whole: Value = serde_json::from_reader(File::open(folder.join(file)).unwrap()).unwrap();
    let mut rows: Vec<(u64, f64)> = whole["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|q| (q["query_id"].as_u64().unwrap(), q[metric].as_f64().unwrap()))
        .collect();
    rows.sort_by_key(|row| row.0);
    rows.into_iter().map(|row| row.1).collect()
}

#[test]
fn s24_real_pairs_are_within_three_monte_carlo_errors() {
    let (Some(cases), Some(values)) = (
        reference_data("stats-reference"),
        reference_data("searchops"),
    ) else {
        return s1_differences_of_zero_give_p_one_and_an_interval_of_zero();
    };
    let mut checked = 0;
    for case in reference_cases(&cases) {
        if case["kind"] != "paired_real" {
            continue;
        }
        checked += 1;
        let name = case["name"].as_str().unwrap();
        let text = |key: &str| case["input"][key].as_str().unwrap().to_owned();
        let side = |key: &str| column(&values, &text(key), &text("metric"));
        let expected = |key: &str| case["expected"][key].as_f64().unwrap();
        let sample = PairedDifferences::new(&side("baseline"), &side("candidate")).unwrap();
        let plan = plan(sample.as_slice().len(), 10_000);
        let grid = plan.grid(&sample).unwrap();
        assert_close(grid.mean(), expected("delta"), 1e-12, name);
        assert_close(
            sample.standard_deviation().unwrap(),
            expected("sd_delta"),
            1e-12,
            name,
        );
        assert_close(grid.rose() as f64, expected("wins"), 0.0, name);
        assert_close(grid.fell() as f64, expected("losses"), 0.0, name);
        // Both sides are Monte Carlo: theirs from 4,999 resamples by its floor of .0002, ours from 10,000.
        let p = expected("p_permutation_mc");
        let error = (p * (1.0 - p) * (1.0 / 4_999.0 + 1.0 / 10_000.0)).sqrt();
        let found = plan.sign_flips(&[&grid])[0].p.value();
        assert_close(found, p, 3.0 * error + 1e-12, name);
        if case["expected"]["ci95_percentile_mc"].is_null() {
            continue;
        }
        // Standard error of a .025 quantile of a normal: √(.025 · .975 / B) / φ(1.96), in standard errors of the mean.
        let share: f64 = 0.025 * 0.975 * (1.0 / 4_999.0 + 1.0 / 10_000.0);
        let error = share.sqrt() / 0.058_45 * grid.standard_error().unwrap();
        let ends = numbers(&case["expected"]["ci95_percentile_mc"]);
        let interval = plan.intervals(&[&grid], Confidence::DEFAULT)[0];
        assert_close(interval.low, ends[0], 3.0 * error, name);
        assert_close(interval.high, ends[1], 3.0 * error, name);
    }
    assert_eq!(checked, 6);
}
