//! The tests of this crate against figures that other tools or hand calculation gave.
//!
//! `stats-reference/reference.json` was made with scipy 1.17.1 and statsmodels 0.15.0 on Python 3.11.7. When it is absent the
//! same tests run against the slow, obvious form of each procedure on generated data.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod bca;
mod hand;
mod power;
mod real;
mod shares;
mod tests_of_means;

use std::num::NonZeroU32;

use evalfarm_stats::{
    Design, GridDifferences, PairedDifferences, Resamples, ResamplingPlan, SignFlip,
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

/// Returns the reference cases of one kind, or nothing when they are not on this machine.
fn reference_cases(kind: &str) -> Option<Vec<Value>> {
    let folder = reference_data("stats-reference")?;
    // Python wrote NaN where scipy has no value, which JSON does not know.
    let text = std::fs::read_to_string(folder.join("reference.json")).unwrap();
    let whole: Value = serde_json::from_str(&text.replace(": NaN", ": null")).unwrap();
    let cases = whole["cases"].as_array().unwrap();
    let known = [
        ("paired_sign_flip_exact", 16),
        ("benjamini_hochberg", 32),
        ("paired_real", 6),
        ("wilson", 4),
        ("newcombe_diff", 2),
        ("mcnemar_exact", 3),
        ("paired_t_power", 12),
        ("paired_t_mde", 6),
    ];
    // Each kind has a test that asks for it, so that all 81 cases are used.
    assert_eq!(cases.len(), 81);
    assert_eq!(known.iter().map(|(_, count)| count).sum::<usize>(), 81);
    let found: Vec<Value> = cases
        .iter()
        .filter(|case| case["kind"] == kind)
        .cloned()
        .collect();
    assert!(known.contains(&(kind, found.len())), "`{kind}`");
    Some(found)
}

fn numbers(value: &Value) -> Vec<f64> {
    value
        .as_array()
        .unwrap()
        .iter()
        .map(|v| v.as_f64().unwrap())
        .collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().unwrap()
}

fn count(value: &Value) -> u64 {
    value.as_u64().unwrap()
}
