//! Power and sample sizes for shares: two independent arms, and pairs.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

use crate::normal_quantile;
use crate::power::goal::{MOST_CASES, PowerError, PowerGoal, least_count};
use crate::special::{binomial_pmf, coin_pmfs, normal_cdf, rising_root, z_critical};
use crate::two_shares::Hypergeometric;

/// Standard deviations of a binomial count beyond which its tail is below 1e-15.
const REACH: f64 = 8.5;

/// Cases by the normal approximation beyond which it states the number that an exact test needs, corrected for continuity:
/// there both agree to a fraction of a percent, and exact sums over so many tables for so many sizes take minutes.
const EXACT_SIZES: u64 = 2_000;

/// Cases beyond which the power of an exact test is that of the normal approximation, corrected for continuity.
const EXACT_POWER: u64 = 20_000;

/// The test that will compare two independent shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ShareTest {
    /// The z test with the pooled variance under the hypothesis.
    Z,
    /// Fisher's exact test.
    Fisher,
}

/// Two true shares that are compared by independent arms of the same size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TwoShares {
    first: f64,
    second: f64,
}

impl TwoShares {
    /// Returns the pair of true shares, each between 0 and 1.
    pub fn new(first: f64, second: f64) -> Result<Self, PowerError> {
        for share in [first, second] {
            if !(0.0..=1.0).contains(&share) {
                return Err(PowerError::Share(share));
            }
        }
        Ok(Self { first, second })
    }

    /// Returns the probability that the test rejects at the two-sided `alpha` with `per_arm` cases in each arm.
    ///
    /// ```text
    /// z:      Φ((|p₁−p₂|·√n − z(1−α/2)·√(2p̄q̄)) / √(p₁q₁ + p₂q₂)),   p̄ = (p₁+p₂)/2
    /// Fisher: Σ P(X₁=x₁)·P(X₂=x₂) over the tables with p ≤ α,   X binomial; exact up to 20,000 cases in each arm, beyond
    ///         as z with |p₁−p₂| − 1/n, the correction for continuity
    /// ```
    ///
    /// Source: Fleiss, Levin and Paik, *Statistical Methods for Rates and Proportions*, 3rd edition, 2003, section 4.2.
    pub fn power(self, test: ShareTest, per_arm: u64, alpha: f64) -> f64 {
        match test {
            ShareTest::Z => self.z_power(per_arm, alpha, 0.0),
            ShareTest::Fisher if per_arm > EXACT_POWER => {
                self.z_power(per_arm, alpha, 1.0 / per_arm as f64)
            }
            ShareTest::Fisher => self.fisher_power(per_arm, alpha),
        }
    }

    /// Returns the least number of cases per arm with which the test has the wanted power.
    ///
    /// The power of an exact test is a saw: it can dip below the goal again at a slightly larger number. This is the first
    /// number that reaches the goal. 0.50 against 0.60 at 80 % needs 388 by z, 404 by Fisher.
    ///
    /// Beyond 2,000 cases by z Fisher's number is `n/4·(1 + √(1 + 4/(n·|p₁−p₂|)))²`, n that by z: Casagrande, Pike and Smith 1978,
    /// in Fleiss, Levin and Paik, section 4.2.
    pub fn sample_size(self, test: ShareTest, goal: PowerGoal) -> Result<u64, PowerError> {
        if (self.first - self.second).abs() < f64::MIN_POSITIVE {
            return Err(PowerError::NoEffect);
        }
        let by_z = least_count(1, |n| self.z_power(n, goal.alpha(), 0.0) >= goal.power())?;
        match test {
            ShareTest::Z => Ok(by_z),
            ShareTest::Fisher if by_z > EXACT_SIZES => {
                Ok(for_continuity(by_z, (self.first - self.second).abs(), 2.0))
            }
            ShareTest::Fisher => {
                first_count(by_z, |n| self.fisher_power(n, goal.alpha()) >= goal.power())
            }
        }
    }

    fn z_power(self, per_arm: u64, alpha: f64, correction: f64) -> f64 {
        let (p, q) = (self.first, self.second);
        let pooled = f64::midpoint(p, q);
        let null = (2.0 * pooled * (1.0 - pooled)).sqrt();
        let spread = (p * (1.0 - p) + q * (1.0 - q)).sqrt();
        let difference = ((p - q).abs() - correction).max(0.0);
        let distance = difference * (per_arm as f64).sqrt() - z_critical(alpha) * null;
        if spread > 0.0 {
            normal_cdf(distance / spread)
        } else {
            // Shares of 0 and 1 have no spread: the outcome is certain.
            f64::from(u8::from(distance > 0.0))
        }
    }

    fn fisher_power(self, per_arm: u64, alpha: f64) -> f64 {
        let first = Binomial::new(per_arm, self.first);
        let second = Binomial::new(per_arm, self.second);
        let least = first.range.start() + second.range.start();
        let most = first.range.end() + second.range.end();
        let power: f64 = (least..=most)
            .map(|successes| {
                let inner = acceptance(per_arm, successes, alpha);
                let table = |k: u64| first.probability(k) * second.probability(successes - k);
                let low = first
                    .range
                    .start()
                    .max(&successes.saturating_sub(*second.range.end()))
                    .to_owned();
                let high = first
                    .range
                    .end()
                    .min(&(successes - second.range.start()))
                    .to_owned();
                (low..=high)
                    .filter(|k| !inner.contains(k))
                    .map(table)
                    .sum::<f64>()
            })
            .sum();
        power.min(1.0)
    }
}

/// A binomial count, cut to where it has probability.
struct Binomial {
    range: RangeInclusive<u64>,
    probabilities: Vec<f64>,
}

impl Binomial {
    fn new(trials: u64, share: f64) -> Self {
        let range = likely(trials, share);
        let probabilities = range
            .clone()
            .map(|k| binomial_pmf(k, trials, share))
            .collect();
        Self {
            range,
            probabilities,
        }
    }

    fn probability(&self, k: u64) -> f64 {
        usize::try_from(k - self.range.start())
            .ok()
            .and_then(|index| self.probabilities.get(index))
            .copied()
            .unwrap_or(0.0)
    }
}

/// Returns the counts within the reach of the mean.
fn likely(trials: u64, share: f64) -> RangeInclusive<u64> {
    let n = trials as f64;
    reach(n * share, (n * share * (1.0 - share)).sqrt(), n)
}

/// Returns the counts of `[0, most]` that lie within the reach of a mean.
fn reach(mean: f64, spread: f64, most: f64) -> RangeInclusive<u64> {
    // The last summand covers Poisson-like counts of rare successes.
    let reach = REACH * spread + 2.0 * REACH;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "held to [0, most] before it is cut"
    )]
    let bound = |value: f64| value.clamp(0.0, most) as u64;
    bound((mean - reach).floor())..=bound((mean + reach).ceil())
}

/// Returns the successes of the first arm that Fisher's test does not reject, given those of both arms.
///
/// Arms of equal size make the tables symmetric around the middle, so that they are rejected in pairs from the ends inwards.
fn acceptance(per_arm: u64, successes: u64, alpha: f64) -> RangeInclusive<u64> {
    let tables = Hypergeometric::new(per_arm, per_arm, successes);
    let (first, last) = tables.range().into_inner();
    let (n, s) = (per_arm as f64, successes as f64);
    let spread = (s * (2.0 * n - s) / (4.0 * (2.0 * n - 1.0).max(1.0))).sqrt();
    let likely = reach(s / 2.0, spread, n);
    let mut low = first.max(*likely.start());
    let mut probability = tables.probability(low);
    let mut outside = 0.0;
    while 2 * low < first + last {
        if outside + 2.0 * probability > alpha {
            break;
        }
        outside += 2.0 * probability;
        let k = low as f64;
        // P(k + 1)/P(k) of the hypergeometric distribution.
        probability *= (n - k) * (s - k) / ((k + 1.0) * (n - s + k + 1.0));
        low += 1;
    }
    low..=(first + last - low)
}

/// Returns what a number of cases by the normal approximation becomes when each of `arms` counts is corrected by ½.
fn for_continuity(cases: u64, difference: f64, arms: f64) -> u64 {
    let n = cases as f64;
    let corrected = n / 4.0 * (1.0 + (1.0 + 2.0 * arms / (n * difference)).sqrt()).powi(2);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a float to integer cast saturates"
    )]
    let corrected = corrected.ceil() as u64;
    corrected
}

/// Returns the first number near and above `guess` for which `holds` is true, whose truth may come and go.
fn first_count(guess: u64, holds: impl Fn(u64) -> bool) -> Result<u64, PowerError> {
    // An exact test needs more cases than the z test, so the first is not far below the guess.
    let start = (guess - guess / 10).saturating_sub(5).max(1);
    let end = guess
        .saturating_mul(2)
        .saturating_add(1_000)
        .min(MOST_CASES);
    (start..=end)
        .find(|&n| holds(n))
        .ok_or(PowerError::TooMany(end))
}

/// Returns the smallest share above `first` that the test tells from it with the wanted power and `per_arm` cases in each
/// arm, or nothing when even a share of 1 is not.
pub fn two_shares_detectable(
    test: ShareTest,
    first: f64,
    per_arm: u64,
    goal: PowerGoal,
) -> Result<Option<f64>, PowerError> {
    let lacking =
        |second: f64| TwoShares { first, second }.power(test, per_arm, goal.alpha()) - goal.power();
    TwoShares::new(first, 1.0)?;
    Ok((lacking(1.0) >= 0.0).then(|| rising_root(first, 1.0, lacking)))
}

/// The true shares of pairs that a candidate changes: from wrong to right, and from right to wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PairedChange {
    gained: f64,
    lost: f64,
}

impl PairedChange {
    /// Returns the shares of gains and losses, which together are at most 1.
    pub fn new(gained: f64, lost: f64) -> Result<Self, PowerError> {
        for share in [gained, lost] {
            if !(0.0..=1.0).contains(&share) {
                return Err(PowerError::Share(share));
            }
        }
        if gained + lost > 1.0 {
            return Err(PowerError::Shares(gained + lost));
        }
        Ok(Self { gained, lost })
    }

    /// Returns the probability that McNemar's exact test of `pairs` pairs rejects at the two-sided `alpha`.
    ///
    /// ```text
    /// Σ_D P(D) · P(X ≤ c(D) or X ≥ D − c(D)),   D ~ Binomial(n, gained + lost),   X ~ Binomial(D, gained/(gained + lost))
    /// ```
    ///
    /// with c(D) the largest count that the test rejects. Exact. Source: Duffy, *Asymptotic and exact power for the McNemar
    /// test and its analogue with R controls per case*, 1984. Beyond 20,000 pairs the normal approximation of Connor 1987,
    /// corrected for continuity.
    pub fn power(self, pairs: u64, alpha: f64) -> f64 {
        let changing = self.gained + self.lost;
        if changing <= 0.0 {
            return 0.0;
        }
        if pairs > EXACT_POWER {
            let n = pairs as f64;
            let difference = ((self.gained - self.lost).abs() - 1.0 / n).max(0.0);
            let spread = (changing - difference * difference).max(0.0).sqrt();
            let spread = spread.max(f64::MIN_POSITIVE);
            let (mean, least) = (difference * n.sqrt(), z_critical(alpha) * changing.sqrt());
            // The exact sum counts rejections on the wrong side too.
            return normal_cdf((mean - least) / spread) + normal_cdf((-mean - least) / spread);
        }
        let share = self.gained / changing;
        let discordant = Binomial::new(pairs, changing);
        let power: f64 = discordant
            .range
            .clone()
            .map(|count| discordant.probability(count) * rejected(count, share, alpha))
            .sum();
        power.min(1.0)
    }

    /// Returns the first number of pairs with which McNemar's exact test has the wanted power; as that of every exact test
    /// it can dip below again at a slightly larger number. Beyond 2,000 pairs that of Connor 1987, corrected for continuity.
    pub fn sample_size(self, goal: PowerGoal) -> Result<u64, PowerError> {
        let difference = self.gained - self.lost;
        if difference.abs() < f64::MIN_POSITIVE {
            return Err(PowerError::NoEffect);
        }
        // Connor, *Sample size for testing differences in proportions for the paired-sample design*, 1987.
        let changing = self.gained + self.lost;
        let root = z_critical(goal.alpha()) * changing.sqrt()
            + normal_quantile(goal.power()) * (changing - difference * difference).max(0.0).sqrt();
        let guess = (root / difference).powi(2).ceil();
        if guess >= MOST_CASES as f64 {
            return Err(PowerError::TooMany(MOST_CASES));
        }
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a square below the most cases"
        )]
        let guess = guess as u64;
        if guess > EXACT_SIZES {
            return Ok(for_continuity(guess, difference.abs(), 1.0));
        }
        first_count(guess, |pairs| {
            self.power(pairs, goal.alpha()) >= goal.power()
        })
    }
}

/// Returns the probability that `count` changes, each a gain with probability `share`, are rejected.
fn rejected(count: u64, share: f64, alpha: f64) -> f64 {
    let mut tail = 0.0;
    let mut power = 0.0;
    for (least, probability) in (0..count.div_ceil(2)).zip(coin_pmfs(count)) {
        tail += probability;
        if 2.0 * tail > alpha {
            break;
        }
        power += binomial_pmf(least, count, share) + binomial_pmf(count - least, count, share);
    }
    power
}

#[cfg(test)]
mod tests {
    use super::*;

    fn goal() -> PowerGoal {
        PowerGoal::new(0.05, 0.80).unwrap()
    }

    #[test]
    fn corrections_for_continuity_go_on_where_exact_sums_end() {
        // The second document's .50 to .55: 1,565 by z, 1,606 by exact sums.
        assert_eq!(for_continuity(1_565, 0.05, 2.0), 1_605);
        let change = PairedChange::new(0.06, 0.03).unwrap();
        let exact = change.sample_size(goal()).unwrap() as f64;
        // By hand after Connor: (1.96·√.09 + .8416·√.0891)²/.03² = 782.2.
        let corrected = for_continuity(783, 0.03, 1.0) as f64;
        assert!(
            (exact / corrected - 1.0).abs() < 0.03,
            "{exact} {corrected}"
        );

        let shares = TwoShares::new(0.50, 0.51).unwrap();
        let [exact, corrected] =
            [EXACT_POWER, EXACT_POWER + 1].map(|n| shares.power(ShareTest::Fisher, n, 0.05));
        assert!((exact - corrected).abs() < 0.005, "{exact} {corrected}");
        let change = PairedChange::new(0.051, 0.050).unwrap();
        let [exact, corrected] = [EXACT_POWER, EXACT_POWER + 1].map(|n| change.power(n, 0.05));
        assert!((exact - corrected).abs() < 0.005, "{exact} {corrected}");
    }

    #[test]
    fn effects_of_any_size_have_a_sample_size() {
        // By hand: 2·.25·(1.96 + .8416)²/.0001² = 3.924e8, and 1/.0001 for continuity.
        let needed = TwoShares::new(0.5, 0.5001)
            .unwrap()
            .sample_size(ShareTest::Fisher, goal())
            .unwrap() as f64;
        assert!((needed / 3.924_64e8 - 1.0).abs() < 1e-3, "{needed}");
        let pairs = PairedChange::new(0.0501, 0.05).unwrap();
        assert!(pairs.sample_size(goal()).unwrap() > 70_000_000);
    }
}
