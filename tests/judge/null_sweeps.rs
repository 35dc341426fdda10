//! Choosing the best of many and judging it on other queries promotes nothing where nothing is better; the example
//! `null_sweeps` runs many more of these sweeps.

use std::collections::BTreeMap;

use evalfarm_coordinator::VerdictRecord;
use evalfarm_domain::Fold;
use evalfarm_gate::Verdict;

use crate::sweeps::{CANDIDATES, Coins, Shop};

const SWEEPS: u64 = 24;

fn promoted(records: &[VerdictRecord]) -> usize {
    let promoted = |record: &&VerdictRecord| record.verdict == Verdict::Promote;
    records.iter().filter(promoted).count()
}

#[test]
fn sweeps_of_equally_good_candidates_promote_none_and_of_better_ones_do() {
    let shop = Shop::new(1_000, (100, 400));
    let null: Vec<VerdictRecord> = (1..=SWEEPS)
        .map(|seed| shop.sweep(Coins::fair(seed)))
        .collect();
    // At a true share of .025, 4 or more of 24 come once in 350 times (binomial).
    assert!(promoted(&null) < 4, "{} of {SWEEPS}", promoted(&null));
    let mut optimism = 0.0;
    for record in &null {
        assert_eq!(record.judged_on, Fold::Holdout);
        assert_eq!(record.candidates, CANDIDATES + 1);
        let selection = record
            .selection
            .expect("the winner was chosen on train queries");
        assert!(
            selection.train_delta >= 0.0,
            "the best is no worse than the baseline"
        );
        optimism += selection.optimism;
    }
    // Nothing is better, so whatever the winner had on the train queries was luck.
    assert!(optimism > 0.0, "{optimism}");
    let seeds: BTreeMap<_, _> = null.iter().map(|one| (&one.job, &one.best.id)).collect();
    assert_eq!(seeds.len(), null.len(), "each sweep is another one");
    // The same sweeps with loaded coins: what is better is promoted.
    let [better, worse] = shop.means(Fold::Holdout);
    assert!(better - worse > 0.02, "{better} and {worse} are alike");
    let loaded: Vec<VerdictRecord> = (1..=4)
        .map(|seed| Coins {
            seed,
            baseline: 0.05,
            candidates: 0.95,
        })
        .map(|coins| shop.sweep(coins))
        .collect();
    assert!(promoted(&loaded) > 1, "{} of 4", promoted(&loaded));
}
