//! Figures of the background documents beside what this crate computes; the list in `docs/statistics.md`.
//!
//! ```text
//! cargo run --release -p evalfarm-stats --example published_figures
//! ```

#![expect(
    clippy::print_stdout,
    reason = "an example talks to whoever started it"
)]
#![expect(
    clippy::unwrap_used,
    reason = "an example that cannot run has nothing to recover"
)]

use std::num::NonZeroU32;

use evalfarm_stats::{
    Confidence, Design, PairedDifferences, PairedShares, PowerGoal, Resamples, ResamplingPlan,
    Share, ShareTest, TwoShares, fisher_exact, mcnemar_exact, minimum_detectable_effect,
    smallest_p, two_shares_detectable,
};

fn main() {
    sample_sizes();
    small_arms();
    few_flips();
    changed_queries();
}

fn line(what: &str, value: impl std::fmt::Display) {
    println!("{what}: {value}");
}

fn share(successes: u64, trials: u64) -> Share {
    Share::new(successes, trials).unwrap()
}

fn sample_sizes() {
    for second in [0.60, 0.55] {
        let shares = TwoShares::new(0.50, second).unwrap();
        for test in [ShareTest::Z, ShareTest::Fisher] {
            let size = shares.sample_size(test, PowerGoal::DEFAULT).unwrap();
            line(
                &format!("cases per arm for .50 to {second:.2} at power .80 by {test:?}"),
                size,
            );
        }
    }
    for (second, per_arm) in [(0.60, 194), (0.55, 782), (0.60, 5)] {
        let shares = TwoShares::new(0.50, second).unwrap();
        let power = shares.power(ShareTest::Fisher, per_arm, 0.05);
        line(
            &format!("power of {per_arm} per arm for .50 to {second:.2} by Fisher"),
            format!("{power:.3}"),
        );
    }
}

fn small_arms() {
    let significant = |n: u64| {
        (0..=n)
            .flat_map(|a| (0..=n).map(move |b| (a, b)))
            .filter(|&(a, b)| fisher_exact(share(a, n), share(b, n)).value() <= 0.05)
            .collect::<Vec<_>>()
    };
    let p = fisher_exact(share(5, 5), share(0, 5)).value();
    line("p of 5 of 5 against 0 of 5 by Fisher", format!("{p:.4}"));
    line(
        "outcomes of 36 with five per arm that Fisher finds significant",
        significant(5).len(),
    );
    let least = significant(20)
        .iter()
        .map(|(a, b)| a.abs_diff(*b))
        .min()
        .unwrap();
    line(
        "smallest significant difference of 20 per arm, in cases",
        least,
    );
    let least = significant(20)
        .iter()
        .filter(|(a, _)| *a == 10)
        .map(|(a, b)| a.abs_diff(*b))
        .min()
        .unwrap();
    line("the same from 10 of 20", least);
    let found = two_shares_detectable(ShareTest::Fisher, 0.5, 20, PowerGoal::DEFAULT).unwrap();
    line(
        "share that 20 per arm tell from .50 at power .80",
        format!("{:.3}", found.unwrap()),
    );
}

fn few_flips() {
    for (lost, of) in [(3, 100), (3, 88), (0, 30), (0, 22)] {
        let bound = share(lost, of).upper_bound(Confidence::DEFAULT);
        line(
            &format!("95 % upper bound on the share lost, {lost} of {of} lost"),
            format!("{bound:.3}"),
        );
    }
    let table = PairedShares::new(85, 0, 3, 12).unwrap();
    let interval = table.newcombe(Confidence::DEFAULT);
    line(
        "95 % interval of .850 less .880 on the same 100 queries, 3 lost and none gained",
        format!("[{:.3}, {:.3}]", interval.low, interval.high),
    );
    line("p of three won and none lost", mcnemar_exact(3, 0));
}

fn changed_queries() {
    let resamples = Resamples {
        count: NonZeroU32::new(10_000).unwrap(),
        seed: 1,
    };
    for changed in [5, 6] {
        line(
            &format!("smallest two-sided p with {changed} changed queries"),
            smallest_p(changed, resamples.count),
        );
    }
    let differences = vec![0.1, 0.3, -0.1, -0.7, 0.8];
    let sample = PairedDifferences::from_differences(differences).unwrap();
    let plan = ResamplingPlan::new(Design::independent(5).unwrap(), resamples);
    let flip = plan.sign_flips(&[&plan.grid(&sample).unwrap()])[0];
    line("p of .1 .3 -.1 -.7 .8", flip.p);
    for sd in [0.1374, 0.2555, 0.0532] {
        let effect = minimum_detectable_effect(sd / 600.0_f64.sqrt(), 0.05, 0.80);
        line(
            &format!("detectable effect of 600 queries whose differences have sd {sd}"),
            format!("{effect:.4}"),
        );
    }
}
