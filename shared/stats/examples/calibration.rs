//! Do the tests keep their promises? The figures of `docs/statistics.md`, section "Calibration".
//!
//! ```text
//! cargo run --release -p evalfarm-stats --example calibration
//! ```
//!
//! Uses the published per-query values when they are on this machine (`EVALFARM_REFERENCE_DATA`, or beside the checkout) and
//! generated differences when not, and says which.

#![expect(
    clippy::print_stdout,
    reason = "an example talks to whoever started it"
)]
#![expect(
    clippy::unwrap_used,
    reason = "an example that cannot run has nothing to recover"
)]

use std::fs::File;
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_stats::{
    Confidence, Design, FamilySimulation, PairedDifferences, Resamples, ResamplingPlan, Share,
    found_effects, level_band, minimum_detectable_effect, normal_quantile, rejected_copies,
};
use evalfarm_testkit::reference_data;
use serde_json::Value;

const ALPHA: f64 = 0.05;
const COPIES: u32 = 4_000;
const SAMPLES: u32 = 4_000;
const FAMILIES: u32 = 1_000;

fn main() {
    for (name, differences) in pairs() {
        level(&name, &differences);
        power(&name, &differences);
    }
    for correlation in [0.0, 0.5] {
        families(correlation);
    }
}

fn count(count: u32) -> NonZeroU32 {
    NonZeroU32::new(count).unwrap()
}

fn resamples() -> Resamples {
    Resamples {
        count: count(10_000),
        seed: 20_260_816,
    }
}

fn line(what: &str, share: Share) {
    let interval = share.wilson(Confidence::DEFAULT);
    println!(
        "{what}: {:.4} ({} of {}, 95 % [{:.4}, {:.4}])",
        share.value(),
        share.successes(),
        share.trials(),
        interval.low,
        interval.high
    );
}

fn level(name: &str, differences: &PairedDifferences) {
    let rejected = rejected_copies(differences, count(COPIES), resamples(), ALPHA);
    line(
        &format!("{name}: sign-permuted copies rejected at .05"),
        rejected,
    );
    let band = level_band(ALPHA, count(COPIES), Confidence::NINETY_NINE);
    println!(
        "  99 % band of the level: [{:.4}, {:.4}]",
        band.low, band.high
    );
}

fn power(name: &str, differences: &PairedDifferences) {
    let rows = differences.as_slice().len();
    let design = Design::independent(rows).unwrap();
    let plan = ResamplingPlan::new(design.clone(), resamples());
    let grid = plan.grid(differences).unwrap();
    let effect = minimum_detectable_effect(grid.standard_error().unwrap(), ALPHA, 0.80);
    let samples = count(SAMPLES);
    let found = found_effects(differences, &design, effect, samples, resamples(), ALPHA);
    line(
        &format!("{name}: planted effect of {effect:.4} (stated for power .80) found"),
        found,
    );
}

fn families(correlation: f64) {
    let simulation = FamilySimulation {
        candidates: 218,
        worse: 109,
        harm: 0.25,
        correlation,
        queries: count(600),
        families: count(FAMILIES),
        resamples: resamples(),
        alpha: ALPHA,
    };
    let errors = simulation.run();
    let what = |correction: &str| {
        format!(
            "families of 218, 109 worse, correlation {correlation}: false promotion under {correction}"
        )
    };
    line(&what("max-T"), errors.max_t);
    line(&what("Holm"), errors.holm);
    line(&what("one-sided BH"), errors.bh_one_sided);
    line(&what("two-sided BH"), errors.bh_two_sided);
}

fn pairs() -> Vec<(String, PairedDifferences)> {
    let Some(folder) = reference_data("searchops") else {
        let values = (0..600)
            .map(|row| {
                let quantile = normal_quantile((f64::from(row) + 0.5) / 600.0);
                if row % 2 == 0 { quantile / 4.0 } else { 0.0 }
            })
            .collect();
        let generated = PairedDifferences::from_differences(values).unwrap();
        return vec![("generated".to_owned(), generated)];
    };
    let pair = |file: &str, metric: &str| {
        let baseline = column(&folder, "baseline-v7-holdout.json", metric);
        let sample = PairedDifferences::new(&baseline, &column(&folder, file, metric)).unwrap();
        (format!("{file} {metric}"), sample)
    };
    vec![
        pair("rerank-holdout-n50.json", "ndcg10"),
        pair("rerank-holdout-n20.json", "mrr10"),
        pair("sweep-best-holdout.json", "ndcg10"),
    ]
}

fn column(folder: &Path, file: &str, metric: &str) -> Vec<f64> {
    let whole: Value = serde_json::from_reader(File::open(folder.join(file)).unwrap()).unwrap();
    let mut rows: Vec<(u64, f64)> = whole["queries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|query| {
            (
                query["query_id"].as_u64().unwrap(),
                query[metric].as_f64().unwrap(),
            )
        })
        .collect();
    rows.sort_by_key(|row| row.0);
    rows.into_iter().map(|row| row.1).collect()
}
