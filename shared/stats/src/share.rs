//! A share of counted cases, and intervals and bounds for it.

use serde::{Deserialize, Serialize};

use crate::Confidence;
use crate::special::{beta_quantile, z_critical};

/// `successes` of `trials`.
///
/// Invariants: at least one trial, and no more successes than trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Share {
    successes: u64,
    trials: u64,
}

/// Counts that are no share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ShareError {
    /// There were no trials, so there is no share.
    #[error("a share needs at least one trial")]
    NoTrials,
    /// More successes than trials.
    #[error("`{successes}` successes in `{trials}` trials")]
    TooMany {
        /// Successes given.
        successes: u64,
        /// Trials given.
        trials: u64,
    },
}

/// A two-sided confidence interval of a share, or of a difference of shares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ShareInterval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Share {
    /// Returns `successes` of `trials`.
    pub fn new(successes: u64, trials: u64) -> Result<Self, ShareError> {
        if trials == 0 {
            Err(ShareError::NoTrials)
        } else if successes > trials {
            Err(ShareError::TooMany { successes, trials })
        } else {
            Ok(Self { successes, trials })
        }
    }

    /// Returns the number of successes.
    pub fn successes(self) -> u64 {
        self.successes
    }

    /// Returns the number of trials; at least 1.
    pub fn trials(self) -> u64 {
        self.trials
    }

    /// Returns successes over trials.
    pub fn value(self) -> f64 {
        self.successes as f64 / self.trials as f64
    }

    /// Returns Wilson's score interval.
    ///
    /// ```text
    /// (p + z²/2n ± z·√(p(1−p)/n + z²/4n²)) / (1 + z²/n)
    /// ```
    ///
    /// It is 0 at its lower end for no success and 1 at its upper end for no failure. Source: Wilson, *Probable inference, the
    /// law of succession, and statistical inference*, 1927.
    pub fn wilson(self, confidence: Confidence) -> ShareInterval {
        let z = z_critical(1.0 - f64::from(confidence));
        let n = self.trials as f64;
        let p = self.value();
        let scale = 1.0 + z * z / n;
        let centre = p + z * z / (2.0 * n);
        let half = z * (p * (1.0 - p) / n + z * z / (4.0 * n * n)).sqrt();
        ShareInterval {
            // Both ends are exact where the formula only rounds to them.
            low: if self.successes == 0 {
                0.0
            } else {
                (centre - half) / scale
            },
            high: if self.successes == self.trials {
                1.0
            } else {
                (centre + half) / scale
            },
        }
    }

    /// Returns the exact interval of Clopper and Pearson: it covers the true share with at least the confidence.
    ///
    /// ```text
    /// low  = B(α/2;     x,     n − x + 1),   0 for x = 0
    /// high = B(1 − α/2; x + 1, n − x),       1 for x = n
    /// ```
    ///
    /// with `B(q; a, b)` the q quantile of the beta distribution. Source: Clopper and Pearson, *The use of confidence or
    /// fiducial limits illustrated in the case of the binomial*, 1934.
    pub fn clopper_pearson(self, confidence: Confidence) -> ShareInterval {
        let tail = (1.0 - f64::from(confidence)) / 2.0;
        ShareInterval {
            low: self.lower_limit(tail),
            high: self.upper_limit(tail),
        }
    }

    /// Returns the exact one-sided upper bound: the true share lies at or below it with at least the confidence.
    ///
    /// For no success in n trials it is `1 − (1 − confidence)^(1/n)`, about 3/n at 95 %. Source: Clopper and Pearson, 1934.
    pub fn upper_bound(self, confidence: Confidence) -> f64 {
        self.upper_limit(1.0 - f64::from(confidence))
    }

    fn lower_limit(self, tail: f64) -> f64 {
        if self.successes == 0 {
            return 0.0;
        }
        let failures = (self.trials - self.successes) as f64;
        beta_quantile(tail, self.successes as f64, failures + 1.0)
    }

    fn upper_limit(self, tail: f64) -> f64 {
        if self.successes == self.trials {
            return 1.0;
        }
        let failures = (self.trials - self.successes) as f64;
        // The quantile of the failures from below keeps the precision of a small tail.
        1.0 - beta_quantile(tail, failures, self.successes as f64 + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_are_no_share_are_refused() {
        assert_eq!(Share::new(0, 0), Err(ShareError::NoTrials));
        assert_eq!(
            Share::new(3, 2),
            Err(ShareError::TooMany {
                successes: 3,
                trials: 2
            })
        );
    }

    #[test]
    fn nothing_seen_in_n_trials_has_the_bound_of_the_textbook() {
        // 1 − .05^(1/600), by hand.
        let bound = Share::new(0, 600).unwrap().upper_bound(Confidence::DEFAULT);
        assert!((bound - (1.0 - 0.05_f64.powf(1.0 / 600.0))).abs() < 1e-14);
        let all = Share::new(7, 7).unwrap();
        assert!((all.upper_bound(Confidence::DEFAULT) - 1.0).abs() < f64::MIN_POSITIVE);
    }
}
