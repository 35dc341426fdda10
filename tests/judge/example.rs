//! How often does a whole sweep promote where no candidate is better? The figures of `docs/statistics.md`, section
//! "Calibration".
//!
//! ```text
//! cargo run --release -p evalfarm-tests --example null_sweeps -- --sweeps 300
//! ```

#![expect(
    clippy::print_stdout,
    reason = "an example talks to whoever started it"
)]

mod sweeps;

use std::collections::BTreeMap;

use evalfarm_domain::Fold;
use evalfarm_gate::Verdict;
use evalfarm_stats::{Confidence, Share};

use sweeps::{CANDIDATES, Coins, Shop};

const PRODUCTS: u32 = 2_000;
const SPLIT: (u32, u32) = (600, 600);

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let sweeps: u64 = match arguments.as_slice() {
        [] => 300,
        [name, number] if name == "--sweeps" => number.parse().expect("`--sweeps` takes a number"),
        _ => panic!("usage: null_sweeps [--sweeps NUMBER]"),
    };
    let shop = Shop::new(PRODUCTS, SPLIT);
    let (train, holdout) = SPLIT;
    let [one, other] = shop.means(Fold::Holdout);
    println!("generated shop of {PRODUCTS} products; {train} train and {holdout} holdout queries");
    println!("the two real configurations: nDCG@10 {one:.4} and {other:.4} on the holdout");
    let (mut promoted, mut blocked, mut open, mut unbeaten) = (0, 0, 0, 0);
    let (mut train_delta, mut optimism) = (0.0, 0.0);
    let mut reasons: BTreeMap<String, u64> = BTreeMap::new();
    for seed in 1..=sweeps {
        let record = shop.sweep(Coins::fair(seed));
        let reason = format!("{} {:?}", record.verdict, record.reasons[0].code);
        *reasons.entry(reason).or_insert(0_u64) += 1;
        match record.verdict {
            Verdict::Promote => promoted += 1,
            Verdict::Block => blocked += 1,
            Verdict::InsufficientEvidence => open += 1,
        }
        unbeaten += u64::from(record.best.id == record.baseline.id);
        let selection = record
            .selection
            .expect("the winner was chosen on train queries");
        train_delta += selection.train_delta;
        optimism += selection.optimism;
    }
    println!("sweeps of {CANDIDATES} candidates as good as the baseline: {sweeps}");
    println!("PROMOTE {promoted}, BLOCK {blocked}, INSUFFICIENT_EVIDENCE {open}");
    for (reason, count) in &reasons {
        println!("  {reason}: {count}");
    }
    println!("sweeps in which nothing beat the baseline on the train queries: {unbeaten}");
    let share = Share::new(promoted, sweeps).expect("they are counted");
    let exact = share.clopper_pearson(Confidence::DEFAULT);
    println!(
        "share of PROMOTE: {:.4}, 95 % [{:.4}, {:.4}] (Clopper and Pearson)",
        share.value(),
        exact.low,
        exact.high
    );
    println!(
        "the winner on average: train {:+.4}, of which luck (optimism) {:+.4}",
        train_delta / sweeps as f64,
        optimism / sweeps as f64
    );
}
