//! A p-value, which is never 0 and never NaN.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A p-value: greater than 0, at most 1.
///
/// A resampling test cannot give 0, because the observed assignment is one of those that are counted; a 0 is therefore the
/// sign of a wrong formula and is refused.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct PValue(f64);

/// A number that is no p-value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{value}` is not a p-value: it has to be greater than 0 and at most 1")]
pub struct PValueError {
    /// The rejected number.
    pub value: f64,
}

impl PValue {
    /// The p-value of a test that says nothing.
    pub const ONE: Self = Self(1.0);

    /// Returns the p-value as a number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Returns the larger of two p-values.
    #[must_use]
    pub fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Returns the p-value times a factor of at least 1, capped at 1.
    pub(crate) fn scaled(self, factor: f64) -> Self {
        debug_assert!(factor >= 1.0, "a factor below 1 could underflow to 0");
        Self((self.0 * factor).min(1.0))
    }

    /// Returns a sum of probabilities, held to 1 against rounding and above 0 against underflow.
    pub(crate) fn at_most_one(sum: f64) -> Self {
        debug_assert!(sum >= 0.0, "a sum of probabilities is no NaN");
        Self(sum.clamp(f64::MIN_POSITIVE, 1.0))
    }

    /// Returns `count / of` for `1 ≤ count ≤ of`.
    pub(crate) fn ratio(count: u64, of: u64) -> Self {
        debug_assert!(count >= 1 && count <= of, "the observed assignment counts");
        Self(count as f64 / of as f64)
    }

    /// Returns twice a one-sided p-value, capped at 1.
    #[must_use]
    pub fn doubled(self) -> Self {
        self.scaled(2.0)
    }
}

impl TryFrom<f64> for PValue {
    type Error = PValueError;

    fn try_from(value: f64) -> Result<Self, PValueError> {
        if value > 0.0 && value <= 1.0 {
            Ok(Self(value))
        } else {
            Err(PValueError { value })
        }
    }
}

impl From<PValue> for f64 {
    fn from(p: PValue) -> Self {
        p.0
    }
}

impl fmt::Display for PValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s8_nan_and_s6_zero_are_no_p_values() {
        for value in [f64::NAN, 0.0, -0.1, 1.0 + f64::EPSILON, f64::INFINITY] {
            assert!(PValue::try_from(value).is_err(), "{value}");
        }
        assert_eq!(PValue::try_from(1.0), Ok(PValue::ONE));
    }
}
