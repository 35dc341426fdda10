//! The level and the power that a plan aims at.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

/// A significance level and a wanted power, both greater than 0 and less than 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "(f64, f64)", into = "(f64, f64)")]
pub struct PowerGoal {
    alpha: f64,
    power: f64,
}

/// Numbers from which no power follows.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum PowerError {
    /// The level is no proper fraction.
    #[error("alpha `{0}` is not greater than 0 and less than 1")]
    Alpha(f64),
    /// The wanted power is no proper fraction, or not above the level.
    #[error("power `{0}` is not greater than alpha and less than 1")]
    Power(f64),
    /// A share does not lie in [0, 1].
    #[error("share `{0}` is not between 0 and 1")]
    Share(f64),
    /// The shares of gains and losses add up to more than 1.
    #[error("the shares of gains and losses add up to `{0}`, which is more than 1")]
    Shares(f64),
    /// There is no effect to find.
    #[error("an effect of 0 cannot be found by any number of cases")]
    NoEffect,
    /// An effect is NaN or infinite.
    #[error("effect `{0}` is not finite")]
    Effect(f64),
    /// More cases would be needed than the search looks at.
    #[error("more than `{0}` cases would be needed")]
    TooMany(u64),
}

impl PowerGoal {
    /// A two-sided level of 5 % and a power of 80 %, the customary ones (Cohen 1988, section 2.4).
    pub const DEFAULT: Self = Self {
        alpha: 0.05,
        power: 0.80,
    };

    /// Returns a goal of a two-sided level and a power above it.
    pub fn new(alpha: f64, power: f64) -> Result<Self, PowerError> {
        if !(alpha > 0.0 && alpha < 1.0) {
            return Err(PowerError::Alpha(alpha));
        }
        if !(power > alpha && power < 1.0) {
            return Err(PowerError::Power(power));
        }
        Ok(Self { alpha, power })
    }

    /// Returns the two-sided level.
    pub fn alpha(self) -> f64 {
        self.alpha
    }

    /// Returns the wanted power.
    pub fn power(self) -> f64 {
        self.power
    }

    /// Returns the goal for one hypothesis of a family of `m`: the level is that of the first step of Holm, `alpha/m`.
    ///
    /// It is the level at which a hypothesis is rejected whatever the others do; for max-T, which uses the dependence of the
    /// hypotheses, it is on the safe side.
    #[must_use]
    pub fn corrected_for(self, m: NonZeroUsize) -> Self {
        Self {
            alpha: self.alpha / m.get() as f64,
            power: self.power,
        }
    }
}

impl TryFrom<(f64, f64)> for PowerGoal {
    type Error = PowerError;

    fn try_from((alpha, power): (f64, f64)) -> Result<Self, PowerError> {
        Self::new(alpha, power)
    }
}

impl From<PowerGoal> for (f64, f64) {
    fn from(goal: PowerGoal) -> Self {
        (goal.alpha, goal.power)
    }
}

/// Most cases that a search for a sample size looks at.
pub(crate) const MOST_CASES: u64 = 1 << 40;

/// Returns the least `n` from `low` on for which a rising function holds, by doubling and halving.
pub(crate) fn least_count(low: u64, holds: impl Fn(u64) -> bool) -> Result<u64, PowerError> {
    if holds(low) {
        return Ok(low);
    }
    let mut below = low;
    let mut above = low.saturating_mul(2).max(2);
    while !holds(above) {
        if above >= MOST_CASES {
            return Err(PowerError::TooMany(MOST_CASES));
        }
        below = above;
        above *= 2;
    }
    while above - below > 1 {
        let middle = below + (above - below) / 2;
        if holds(middle) {
            above = middle;
        } else {
            below = middle;
        }
    }
    Ok(above)
}
