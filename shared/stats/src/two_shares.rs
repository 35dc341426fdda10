//! Two shares compared: independent arms, and the two sides of pairs.

use std::cmp::Ordering;

use crate::special::{coin_pmfs, ln_choose};
use crate::{Confidence, PValue, Share, ShareInterval};

/// Relative slack under which two table probabilities count as equal, as in scipy's `fisher_exact`.
const EQUAL_PROBABILITY: f64 = 1e-7;

/// Relative probability below which a table no longer adds to any sum of double precision.
const VANISHING: f64 = 1e-300;

/// A 2 × 2 table of pairs: the same cases under a baseline and under a candidate.
///
/// Invariant: at least one pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PairedShares {
    /// Pairs in which both succeed.
    both: u64,
    /// Pairs in which the candidate alone succeeds: from wrong to right.
    gained: u64,
    /// Pairs in which the baseline alone succeeds: from right to wrong.
    lost: u64,
    /// Pairs in which neither succeeds.
    neither: u64,
}

impl PairedShares {
    /// Returns the table, or nothing when all four counts are 0.
    pub fn new(both: u64, gained: u64, lost: u64, neither: u64) -> Option<Self> {
        let table = Self {
            both,
            gained,
            lost,
            neither,
        };
        (table.pairs() > 0).then_some(table)
    }

    /// Counts the table of two columns of outcomes, or returns nothing when they are empty or differ in length.
    pub fn count(baseline: &[bool], candidate: &[bool]) -> Option<Self> {
        if baseline.len() != candidate.len() {
            return None;
        }
        let mut counts = [0_u64; 4];
        for (&before, &after) in baseline.iter().zip(candidate) {
            counts[2 * usize::from(before) + usize::from(after)] += 1;
        }
        let [neither, gained, lost, both] = counts;
        Self::new(both, gained, lost, neither)
    }

    /// Returns the number of pairs; at least 1.
    pub fn pairs(self) -> u64 {
        self.both + self.gained + self.lost + self.neither
    }

    /// Returns the pairs that went from wrong to right.
    pub fn gained(self) -> u64 {
        self.gained
    }

    /// Returns the pairs that went from right to wrong.
    pub fn lost(self) -> u64 {
        self.lost
    }

    /// Returns the candidate's share less the baseline's.
    pub fn difference(self) -> f64 {
        (self.gained as f64 - self.lost as f64) / self.pairs() as f64
    }

    /// Returns the two-sided p-value of McNemar's exact test.
    pub fn mcnemar(self) -> PValue {
        mcnemar_exact(self.gained, self.lost)
    }

    /// Returns the exact upper bound on the share of cases that go from right to wrong.
    ///
    /// # Panics
    ///
    /// Never: the table has pairs.
    pub fn lost_at_most(self, confidence: Confidence) -> f64 {
        self.lost_share().upper_bound(confidence)
    }

    fn lost_share(self) -> Share {
        Share::new(self.lost, self.pairs())
            .expect("a table has pairs, and lost ones are among them")
    }

    /// Returns Newcombe's hybrid score interval of the difference of the paired shares.
    ///
    /// ```text
    /// δ = √((p₁−l₁)² − 2φ(p₁−l₁)(u₂−p₂) + (u₂−p₂)²),   ε likewise with u₁, l₂;   interval [d − δ, d + ε]
    /// ```
    ///
    /// p₁, p₂ the candidate's and the baseline's share, [l, u] their Wilson intervals, φ the correlation of the table with
    /// ½n taken from a positive ad − bc (not below 0), and 0 when a margin is empty. Source: Newcombe, *Improved confidence
    /// intervals for the difference between binomial proportions based on paired data*, 1998, method 10.
    ///
    /// # Panics
    ///
    /// Never: the table has pairs.
    pub fn newcombe(self, confidence: Confidence) -> ShareInterval {
        let n = self.pairs();
        let share = |successes| Share::new(successes, n).expect("a margin is part of the table");
        let candidate = share(self.both + self.gained);
        let baseline = share(self.both + self.lost);
        score_interval(candidate, baseline, self.correlation(), confidence)
    }

    fn correlation(self) -> f64 {
        let [both, gained, lost, neither] =
            [self.both, self.gained, self.lost, self.neither].map(|count| count as f64);
        let margins = (both + gained) * (lost + neither) * (both + lost) * (gained + neither);
        if margins <= 0.0 {
            return 0.0;
        }
        let product = both * neither - gained * lost;
        let corrected = if product > 0.0 {
            (product - self.pairs() as f64 / 2.0).max(0.0)
        } else {
            product
        };
        corrected / margins.sqrt()
    }
}

/// Returns the two-sided p-value of McNemar's exact test: is a change from wrong to right as likely as one from right to wrong?
///
/// ```text
/// p = min(1, 2 · P(X ≤ min(gained, lost))),   X ~ Binomial(gained + lost, ½);   1 without changes
/// ```
///
/// Not the mid-p variant, which can exceed its level. Source: McNemar, *Note on the sampling error of the difference between
/// correlated proportions or percentages*, 1947, in its exact form; as statsmodels' `mcnemar(exact=True)`.
pub fn mcnemar_exact(gained: u64, lost: u64) -> PValue {
    let n = gained + lost;
    let tail: f64 = (0..=gained.min(lost))
        .zip(coin_pmfs(n))
        .map(|(_, probability)| probability)
        .sum();
    PValue::at_most_one(2.0 * tail)
}

/// Returns Newcombe's hybrid score interval of `first − second` for shares of independent samples.
///
/// ```text
/// [d − √((p₁−l₁)² + (u₂−p₂)²), d + √((u₁−p₁)² + (p₂−l₂)²)],   [l, u] the Wilson intervals
/// ```
///
/// Source: Newcombe, *Interval estimation for the difference between independent proportions*, 1998, method 10.
pub fn newcombe(first: Share, second: Share, confidence: Confidence) -> ShareInterval {
    score_interval(first, second, 0.0, confidence)
}

fn score_interval(
    first: Share,
    second: Share,
    correlation: f64,
    confidence: Confidence,
) -> ShareInterval {
    let (p1, p2) = (first.value(), second.value());
    let (one, two) = (first.wilson(confidence), second.wilson(confidence));
    let root = |a: f64, b: f64| (a * a - 2.0 * correlation * a * b + b * b).max(0.0).sqrt();
    ShareInterval {
        low: p1 - p2 - root(p1 - one.low, two.high - p2),
        high: p1 - p2 + root(one.high - p1, p2 - two.low),
    }
}

/// Returns the two-sided p-value of Fisher's exact test: are two independent shares the same?
///
/// The sum of the probabilities, given all margins, of the tables that are no more probable than the observed one (the
/// method of small p-values, as in R and scipy; a relative 1e-7 counts as equal). Source: Fisher, *The Design of
/// Experiments*, 1935; Agresti, *Categorical Data Analysis*, 3rd edition, 2013, section 3.5.
///
/// Probabilities are relative to the most probable table and follow from their neighbours', so that the time grows with the
/// square root of the counts: a second or two for 10^12 cases.
pub fn fisher_exact(first: Share, second: Share) -> PValue {
    let successes = first.successes() + second.successes();
    let tables = Hypergeometric::new(first.trials(), second.trials(), successes);
    let mode = tables.mode();
    let own = first.successes();
    let towards_own = match own.cmp(&mode) {
        Ordering::Less => tables.falling(mode).nth(usize_of(mode - own)),
        Ordering::Equal => Some(1.0),
        Ordering::Greater => tables.rising(mode).nth(usize_of(own - mode)),
    };
    // Beyond the last table of either side everything is below the smallest number there is.
    let observed = towards_own.unwrap_or_default() * (1.0 + EQUAL_PROBABILITY);
    let (mut all, mut extreme) = (0.0, 0.0);
    for weight in tables.falling(mode).chain(tables.rising(mode).skip(1)) {
        all += weight;
        if weight <= observed {
            extreme += weight;
        }
    }
    PValue::at_most_one(extreme / all)
}

fn usize_of(steps: u64) -> usize {
    usize::try_from(steps).unwrap_or(usize::MAX)
}

/// Successes of the first arm, given the successes of both.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hypergeometric {
    first: u64,
    second: u64,
    successes: u64,
    ln_total: f64,
}

impl Hypergeometric {
    pub(crate) fn new(first: u64, second: u64, successes: u64) -> Self {
        Self {
            first,
            second,
            successes,
            ln_total: ln_choose(first + second, successes),
        }
    }

    /// Returns the possible numbers of successes of the first arm.
    pub(crate) fn range(&self) -> std::ops::RangeInclusive<u64> {
        self.successes.saturating_sub(self.second)..=self.first.min(self.successes)
    }

    /// Returns the most probable number of successes of the first arm.
    fn mode(&self) -> u64 {
        let [first, second, successes] = [self.first, self.second, self.successes].map(u128::from);
        let mode = (first + 1) * (successes + 1) / (first + second + 2);
        let range = self.range();
        u64::try_from(mode)
            .unwrap_or(u64::MAX)
            .clamp(*range.start(), *range.end())
    }

    /// Returns the probability of k + 1 successes over that of k.
    fn step(&self, k: u64) -> f64 {
        let lacking = (self.second + k + 1 - self.successes) as f64;
        (self.first - k) as f64 / (k + 1) as f64 * ((self.successes - k) as f64 / lacking)
    }

    /// Returns the probabilities from `mode` upwards, relative to that of `mode`, until they vanish.
    fn rising(self, mode: u64) -> impl Iterator<Item = f64> {
        let last = *self.range().end();
        let mut next = Some((mode, 1.0));
        std::iter::from_fn(move || {
            let (k, weight) = next?;
            next = (k < last && weight > VANISHING).then(|| (k + 1, weight * self.step(k)));
            Some(weight)
        })
    }

    /// Returns the probabilities from `mode` downwards, relative to that of `mode`, until they vanish.
    fn falling(self, mode: u64) -> impl Iterator<Item = f64> {
        let first = *self.range().start();
        let mut next = Some((mode, 1.0));
        std::iter::from_fn(move || {
            let (k, weight) = next?;
            next = (k > first && weight > VANISHING).then(|| (k - 1, weight / self.step(k - 1)));
            Some(weight)
        })
    }

    pub(crate) fn probability(&self, k: u64) -> f64 {
        let ways = ln_choose(self.first, k) + ln_choose(self.second, self.successes - k);
        (ways - self.ln_total).exp()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_counted_pair_by_pair() {
        let baseline = [true, true, false, false, true];
        let candidate = [true, false, true, false, true];
        let table = PairedShares::count(&baseline, &candidate).unwrap();
        assert_eq!(PairedShares::new(2, 1, 1, 1), Some(table));
        assert_eq!(PairedShares::count(&[], &[]), None);
        assert_eq!(PairedShares::count(&[true], &[]), None);
    }

    #[test]
    fn fisher_takes_counts_of_any_size() {
        let share = |successes, trials| Share::new(successes, trials).unwrap();
        let p = |a, b| fisher_exact(a, b).value();
        // By hand: of C(10, 5) = 252 tables the two extreme ones; every table is as probable as its mirror image.
        assert!((p(share(5, 5), share(0, 5)) - 2.0 / 252.0).abs() < 1e-15);
        assert!((p(share(0, 5), share(0, 7)) - 1.0).abs() < 1e-15);
        assert!((p(share(5, 5), share(7, 7)) - 1.0).abs() < 1e-15);
        // For such counts the test is the z test: a difference of 2 standard errors has p = 2·Φ(−2) = .0455.
        let n = 1_000_000_000_000;
        let half = 500_000_000_000;
        let two_errors = 1_414_214; // 2·√(n/2), twice the standard error of the difference of two counts at ½
        assert!((p(share(half, n), share(half + two_errors, n)) - 0.045_500_26).abs() < 1e-6);
        assert!(p(share(half, n), share(half + half / 2, n)) < 1e-300);
    }

    #[test]
    fn a_table_without_changes_has_p_one_and_an_interval_around_zero() {
        let table = PairedShares::new(5, 0, 0, 5).unwrap();
        assert_eq!(table.mcnemar(), PValue::ONE);
        let interval = table.newcombe(Confidence::DEFAULT);
        assert!(interval.low < 0.0 && interval.high > 0.0);
    }
}
