//! Real pairs of a published experiment.

use std::fs::File;
use std::path::Path;

use evalfarm_stats::{Confidence, IntervalMethod, PairedDifferences};
use evalfarm_testkit::reference_data;
use serde_json::Value;

use crate::{assert_close, numbers, plan, reference_cases};

/// Returns one metric of one published run, by query.
pub(crate) fn column(folder: &Path, file: &str, metric: &str) -> Vec<f64> {
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
    let (Some(cases), Some(values)) = (reference_cases("paired_real"), reference_data("searchops"))
    else {
        return crate::hand::s1_differences_of_zero_give_p_one_and_an_interval_of_zero();
    };
    for case in cases {
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
        let delta = cliffs_delta(&side("baseline"), &side("candidate"));
        assert_close(delta, expected("cliffs_delta"), 1e-12, name);
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
        for (method, key) in [
            (IntervalMethod::Percentile, "ci95_percentile_mc"),
            (IntervalMethod::Bca, "ci95_bca_mc"),
        ] {
            let ends = numbers(&case["expected"][key]);
            let outcome = plan.intervals_by(&[&grid], method, Confidence::DEFAULT)[0];
            let interval = outcome.interval().unwrap();
            assert_close(interval.low, ends[0], 3.0 * error, name);
            assert_close(interval.high, ends[1], 3.0 * error, name);
        }
    }
}

/// Returns Cliff's delta by its definition, over all pairs of the two samples.
fn cliffs_delta(baseline: &[f64], candidate: &[f64]) -> f64 {
    let sum: i64 = candidate
        .iter()
        .flat_map(|after| {
            baseline
                .iter()
                .map(move |before| after.total_cmp(before) as i64)
        })
        .sum();
    sum as f64 / (baseline.len() * candidate.len()) as f64
}

#[test]
fn s25_the_sign_effect_of_pairs_is_not_cliffs_delta() {
    // Published as `cliffs_delta`: (wins − losses)/n on pairs, (255 − 64)/600 = .3183; Cliff's delta of the same data is .1839
    // (reference.json). Generated: every pair rises a little, far less than queries differ.
    let baseline: Vec<f64> = (0..50).map(f64::from).collect();
    let candidate: Vec<f64> = baseline.iter().map(|value| value + 0.5).collect();
    let sample = PairedDifferences::new(&baseline, &candidate).unwrap();
    let plan = plan(50, 1_000);
    let grid = plan.grid(&sample).unwrap();
    assert_eq!((grid.rose(), grid.fell()), (50, 0));
    // By hand: 50·51/2 pairs won, 50·49/2 lost, of 2,500.
    assert_close(cliffs_delta(&baseline, &candidate), 0.02, 1e-12, "delta");
}
