//! Does the gate keep its promises on real differences? The figures of `docs/statistics.md`, section "Calibration".
//!
//! ```text
//! cargo run --release -p evalfarm-gate --example gate_calibration
//! ```
//!
//! Judges swapped and planted copies of the published per-query values under the default policy, so it needs them on this
//! machine (`EVALFARM_REFERENCE_DATA`, or beside the checkout).

#![expect(
    clippy::print_stdout,
    reason = "an example talks to whoever started it"
)]

#[path = "../tests/gate/experiment.rs"]
mod experiment;

use std::collections::BTreeMap;
use std::num::NonZeroU32;

use evalfarm_gate::{Evidence, EvidenceParts, GatePolicy, Judgement, Verdict, judge};
use evalfarm_stats::{Confidence, PairedDifferences, Share, found_effects, level_band};
use evalfarm_testkit::reference_data;

use experiment::{BASELINE, N20, N50, SWEEP, parts, planted, rows, swapped};

const COPIES: u32 = 2_000;
const SAMPLES: u32 = 4_000;
const SEED: u64 = 20_260_816;

fn main() {
    let Some(folder) = reference_data("searchops") else {
        println!("nothing to calibrate on: the published values are not on this machine");
        return;
    };
    let queries = rows(&folder, BASELINE).len();
    for candidate in [N50, N20, SWEEP] {
        println!("{candidate} against {BASELINE}, {queries} queries");
        let parts = parts(&folder, BASELINE, candidate);
        level(&parts);
        if candidate == N50 {
            power(&parts);
        }
    }
}

fn judged(parts: EvidenceParts) -> Judgement {
    let evidence = Evidence::new(parts).expect("the published values are valid");
    judge(&GatePolicy::default(), &evidence).expect("the default metrics are measured")
}

fn line(what: &str, successes: u32, trials: u32) {
    let share = Share::new(u64::from(successes), u64::from(trials)).expect("they are counted");
    let interval = share.clopper_pearson(Confidence::DEFAULT);
    println!(
        "  {what}: {:.4} ({successes} of {trials}, 95 % [{:.4}, {:.4}])",
        share.value(),
        interval.low,
        interval.high
    );
}

/// Copies in which no side is better: how often the primary's own test rejects, and how often the gate promotes.
fn level(parts: &EvidenceParts) {
    let alpha = GatePolicy::default().alpha();
    let (mut rejected, mut promoted) = (0, 0);
    for copy in 0..COPIES {
        let judgement = judged(swapped(parts, SEED, copy));
        rejected += u32::from(judgement.metrics[0].p.value() <= alpha);
        promoted += u32::from(judgement.verdict == Verdict::Promote);
    }
    let copies = NonZeroU32::new(COPIES).unwrap_or(NonZeroU32::MIN);
    let band = level_band(alpha, copies, Confidence::NINETY_NINE);
    line(
        "swapped copies, the primary's test rejects",
        rejected,
        COPIES,
    );
    println!(
        "    99 % band around {alpha}: [{:.4}, {:.4}]",
        band.low, band.high
    );
    let most = level_band(alpha / 2.0, copies, Confidence::NINETY_NINE).high;
    line("swapped copies, the gate promotes", promoted, COPIES);
    println!("    at most {} and the 99 % margin: {most:.4}", alpha / 2.0);
}

/// An effect of the size that the verdict states as detectable: how often the test and the gate find it.
fn power(parts: &EvidenceParts) {
    let policy = GatePolicy::default();
    let honest = judged(parts.clone());
    let effects: Vec<f64> = honest
        .metrics
        .iter()
        .map(|metric| metric.minimum_detectable_effect.unwrap_or_default())
        .collect();
    println!(
        "  planted effects of the stated detectable size, {:.4} for the primary:",
        effects[0]
    );
    let columns = (&parts.baseline.values[0], &parts.candidates[0].values[0]);
    let differences = PairedDifferences::new(columns.0, columns.1).expect("values are finite");
    let found = found_effects(
        &differences,
        effects[0],
        NonZeroU32::new(SAMPLES).unwrap_or(NonZeroU32::MIN),
        policy.resamples(),
        policy.alpha(),
    );
    line(
        "the two-sided test at alpha finds it",
        u32::try_from(found.successes()).unwrap_or(u32::MAX),
        SAMPLES,
    );
    let alone: Vec<f64> = (0..effects.len())
        .map(|metric| if metric == 0 { effects[0] } else { 0.0 })
        .collect();
    gate_power(
        "the gate promotes, every metric moved by its own",
        parts,
        &effects,
    );
    gate_power("the gate promotes, the primary moved alone", parts, &alone);
}

fn gate_power(what: &str, parts: &EvidenceParts, effects: &[f64]) {
    let mut reasons: BTreeMap<String, u32> = BTreeMap::new();
    for sample in 0..COPIES {
        let judgement = judged(planted(parts, effects, SEED, sample));
        let reason = format!("{} {:?}", judgement.verdict, judgement.reasons[0].code);
        *reasons.entry(reason).or_default() += 1;
    }
    let promoted = reasons
        .iter()
        .filter(|(reason, _)| reason.starts_with("PROMOTE"));
    line(what, promoted.map(|(_, count)| count).sum(), COPIES);
    for (reason, count) in &reasons {
        println!("    {reason}: {count}");
    }
}
