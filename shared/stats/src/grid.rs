//! The exact grid: differences as whole multiples of one unit, so that no sum depends on its order.

use crate::{Design, PairedDifferences};

/// Relative part of the tolerance under which two sums count as equal: 1e-12 of the sum of absolute differences, from
/// scipy's fix of the same fault (scipy pull request 15869) and `cases.md` S4.
pub(crate) const RELATIVE_TOLERANCE: f64 = 1e-12;

/// Bits that the largest possible sum takes. f64 holds whole numbers up to 2^53 exactly; two bits are left for what
/// rounding adds.
const SUM_BITS: i32 = 51;

/// Least mass for which the unit is chosen. It keeps the unit above the rounding noise of metric values (a few 2^-53 of
/// their magnitude) for small samples too: the unit is at least 2^-41 of the largest value.
const LEAST_MASS: f64 = 1024.0;

/// The paired differences of one metric, each rounded to a whole number of grid units and added up by unit of resampling.
///
/// ```text
/// M = largest |value| of either side,   L = max(1024, U · max_u Σ_{i∈u} w[i])
/// unit  = 2^(⌈log2 M⌉ + ⌈log2 L⌉ − 51)
/// g[i]  = round(w[i] · d[i] / unit),    c[u] = Σ_{i∈u} g[i]
/// ```
///
/// with `U` units of resampling (rows, or clusters) and weights `w` (1 without). Any sum of signed or resampled `c` is then
/// a whole number below 2^53, exact in f64 in any order, with or without fused operations. Error bound: each weighted
/// difference moves by at most unit/2, so a sum over k changed rows by at most k·unit/2 and the mean by at most
/// k·unit/(2·Σw): below 1e-12 · M for up to 1,024 rows of weight 1, and growing in proportion to the rows.
#[derive(Debug, Clone, PartialEq)]
pub struct GridDifferences {
    /// `c[u]`, whole numbers.
    sums: Vec<f64>,
    /// Size of a grid unit, in the metric's own unit; a power of two.
    unit: f64,
    /// `Σ |g[i]|`, in grid units.
    absolute: f64,
    /// Rows whose `g[i]` is not 0.
    nonzero_rows: usize,
    /// Units whose sum is beyond the relative tolerance.
    changed: usize,
    /// Rows that rose and rows that fell by more than the relative tolerance.
    rose: usize,
    fell: usize,
    /// `Σ w[i]`.
    mass: f64,
    standard_error: Option<f64>,
}

/// Differences that do not fit a design.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{found}` differences for a design of `{rows}` rows")]
pub struct GridError {
    /// Number of differences.
    pub found: usize,
    /// Rows of the design.
    pub rows: usize,
}

impl GridDifferences {
    /// Puts differences on the grid that their magnitude and the design ask for.
    pub fn new(differences: &PairedDifferences, design: &Design) -> Result<Self, GridError> {
        let values = differences.as_slice();
        if values.len() != design.rows() {
            return Err(GridError {
                found: values.len(),
                rows: design.rows(),
            });
        }
        let masses = design.masses();
        let greatest_mass = masses.iter().copied().fold(0.0, f64::max);
        let bound = (design.units() as f64 * greatest_mass).max(LEAST_MASS);
        let unit = power_of_two(ceil_log2(differences.magnitude()) + ceil_log2(bound) - SUM_BITS);
        let grid: Vec<f64> = values
            .iter()
            .enumerate()
            .map(|(row, value)| (value / unit * design.weight(row)).round())
            .collect();
        let mut sums = vec![0.0; design.units()];
        for (row, value) in grid.iter().enumerate() {
            sums[design.unit(row)] += value;
        }
        let absolute: f64 = grid.iter().map(|value| value.abs()).sum();
        let noise = RELATIVE_TOLERANCE * absolute;
        let mass = masses.iter().sum();
        Ok(Self {
            unit,
            absolute,
            nonzero_rows: grid.iter().filter(|value| value.abs() > 0.0).count(),
            changed: sums.iter().filter(|sum| sum.abs() > noise).count(),
            rose: grid.iter().filter(|&&value| value > noise).count(),
            fell: grid.iter().filter(|&&value| value < -noise).count(),
            mass,
            standard_error: standard_error(&sums, &masses, unit, mass),
            sums,
        })
    }

    /// Returns the (weighted) mean difference, in the metric's own unit; exactly 0 when the differences cancel.
    pub fn mean(&self) -> f64 {
        self.to_mean(self.observed())
    }

    /// Returns the sum of the absolute (weighted) differences, in the metric's own unit.
    pub fn absolute_sum(&self) -> f64 {
        self.absolute * self.unit
    }

    /// Returns the number of units of resampling that changed: rows, or clusters when the design has them.
    ///
    /// A change below 1e-12 of the sum of absolute differences is rounding noise and does not count.
    pub fn changed(&self) -> usize {
        self.changed
    }

    /// Returns the number of rows whose difference is positive.
    pub fn rose(&self) -> usize {
        self.rose
    }

    /// Returns the number of rows whose difference is negative.
    pub fn fell(&self) -> usize {
        self.fell
    }

    /// Whether the mean difference is positive, negative or, within the tolerance, neither.
    pub fn sign(&self) -> crate::Position {
        self.position(self.observed())
    }

    /// Returns the tolerance of the mean, in the metric's own unit: `max(k units, 1e-12 · Σ|d|) / Σw`, `k` rows changed.
    ///
    /// `k` units, because either of two sums that are equal in the reals is off by at most k/2 units.
    pub fn mean_tolerance(&self) -> f64 {
        self.to_mean(self.tolerance())
    }

    /// Returns the estimated standard error of the mean difference, or nothing for a single unit of resampling.
    ///
    /// ```text
    /// se² = U/(U−1) · Σ_u (c[u] − W[u]·mean)² / (Σ W)²,   W[u] = Σ_{i∈u} w[i]
    /// ```
    ///
    /// Without weights and clusters this is sd/√n with the sample standard deviation. Source: Cochran, *Sampling
    /// Techniques*, 3rd edition, 1977, section 6.4 (variance of a ratio, linearised).
    pub fn standard_error(&self) -> Option<f64> {
        self.standard_error
    }

    /// Returns the sums of the units of resampling, in grid units.
    pub(crate) fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Returns the sum over all units, in grid units.
    pub(crate) fn observed(&self) -> f64 {
        self.sums.iter().sum()
    }

    /// Returns the tolerance of a sum, in grid units.
    pub(crate) fn tolerance(&self) -> f64 {
        (self.nonzero_rows as f64).max(RELATIVE_TOLERANCE * self.absolute)
    }

    /// Returns the mean that a sum in grid units stands for.
    pub(crate) fn to_mean(&self, sum: f64) -> f64 {
        sum * self.unit / self.mass
    }

    /// Returns on which side of 0 a sum in grid units lies, 0 and its tolerance being neither.
    pub(crate) fn position(&self, sum: f64) -> crate::Position {
        if sum > self.tolerance() {
            crate::Position::Above
        } else if sum < -self.tolerance() {
            crate::Position::Below
        } else {
            crate::Position::Holds
        }
    }

    /// Returns the sums of the changed units in the metric's own unit, moved so that the mean is `effect`; nothing when no
    /// unit changed.
    pub(crate) fn moved_to(&self, effect: f64) -> Option<Vec<f64>> {
        let noise = RELATIVE_TOLERANCE * self.absolute;
        let changed: Vec<f64> = self
            .sums
            .iter()
            .filter(|sum| sum.abs() > noise)
            .map(|sum| sum * self.unit)
            .collect();
        let count = changed.len() as f64;
        let shift = (effect * self.mass - changed.iter().sum::<f64>()) / count;
        (count > 0.0).then(|| changed.iter().map(|sum| sum + shift).collect())
    }

    /// Orders columns so that two are equal when every statistic of theirs is.
    pub(crate) fn order(&self, other: &Self) -> std::cmp::Ordering {
        let sums = self.sums.iter().zip(&other.sums);
        sums.map(|(a, b)| a.total_cmp(b))
            .find(|order| order.is_ne())
            .unwrap_or(self.sums.len().cmp(&other.sums.len()))
            .then(self.unit.total_cmp(&other.unit))
            .then(self.absolute.total_cmp(&other.absolute))
            .then(self.nonzero_rows.cmp(&other.nonzero_rows))
    }

    /// Returns the total mass of the design.
    pub(crate) fn mass(&self) -> f64 {
        self.mass
    }
}

fn standard_error(sums: &[f64], masses: &[f64], unit: f64, mass: f64) -> Option<f64> {
    let units = sums.len();
    if units < 2 {
        return None;
    }
    let mean = sums.iter().sum::<f64>() / mass;
    let squares: f64 = sums
        .iter()
        .zip(masses)
        .map(|(sum, weight)| (sum - weight * mean).powi(2))
        .sum();
    let units = units as f64;
    Some((units / (units - 1.0) * squares).sqrt() * unit / mass)
}

/// Returns the least `e` with `value ≤ 2^e`, from the bits; −1022 for 0 and subnormal numbers.
pub(crate) fn ceil_log2(value: f64) -> i32 {
    let bits = value.to_bits();
    let biased = (bits >> 52) & 0x7ff;
    let exponent = i32::try_from(biased).expect("an exponent has eleven bits") - 1023;
    let fraction = bits & ((1 << 52) - 1);
    exponent.max(-1022) + i32::from(fraction != 0)
}

/// Returns 2^exponent, the exponent clamped to the normal range.
pub(crate) fn power_of_two(exponent: i32) -> f64 {
    let biased = u64::try_from(exponent.clamp(-1022, 1023) + 1023).expect("clamped to at least 1");
    f64::from_bits(biased << 52)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Position;

    fn grid(values: &[f64]) -> GridDifferences {
        let sample = PairedDifferences::from_differences(values.to_vec()).unwrap();
        GridDifferences::new(&sample, &Design::independent(values.len()).unwrap()).unwrap()
    }

    #[test]
    fn powers_of_two_come_from_the_bits() {
        assert_eq!(ceil_log2(1.0), 0);
        assert_eq!(ceil_log2(1.5), 1);
        assert_eq!(ceil_log2(2.0), 1);
        assert_eq!(ceil_log2(0.1), -3);
        assert_eq!(ceil_log2(1024.0), 10);
        assert_eq!(power_of_two(-41).to_bits(), (2.0_f64).powi(-41).to_bits());
        assert_eq!(power_of_two(3).to_bits(), 8.0_f64.to_bits());
    }

    #[test]
    fn s4_differences_that_cancel_have_mean_zero() {
        // 0.1 + 0.2 - 0.3 is 5.6e-17 in f64.
        let sample = grid(&[0.1, 0.2, -0.3]);
        assert_eq!(sample.sign(), Position::Holds);
        assert!(sample.mean().abs() <= sample.mean_tolerance());
        assert_eq!(sample.changed(), 3);
    }

    #[test]
    fn rounding_noise_of_equal_values_is_no_change() {
        let baseline: Vec<f64> = (1..40).map(|i| 1.0 / f64::from(i)).collect();
        let candidate: Vec<f64> = baseline.iter().map(|v| (v * 3.0) / 3.0 + 1e-16).collect();
        let sample = PairedDifferences::new(&baseline, &candidate).unwrap();
        let grid = GridDifferences::new(&sample, &Design::independent(39).unwrap()).unwrap();
        assert_eq!((grid.changed(), grid.rose(), grid.fell()), (0, 0, 0));
    }

    #[test]
    fn the_mean_is_within_the_documented_bound() {
        let values: Vec<f64> = (0..600).map(|i| (f64::from(i) * 0.7).sin() / 3.0).collect();
        let plain = values.iter().sum::<f64>() / 600.0;
        assert!((grid(&values).mean() - plain).abs() < 1e-12);
    }

    #[test]
    fn the_standard_error_without_weights_is_sd_over_root_n() {
        let values = [0.1, -0.3, 0.25, 0.0, 0.7];
        let sample = PairedDifferences::from_differences(values.to_vec()).unwrap();
        let expected = sample.standard_deviation().unwrap() / 5.0_f64.sqrt();
        assert!((grid(&values).standard_error().unwrap() - expected).abs() < 1e-12);
    }

    #[test]
    fn weights_and_clusters_enter_the_mean() {
        // By hand: (2·0.5 + 1·(−0.1) + 1·0.3) / 4 = 0.3; the two clusters are rows {0, 2} and {1}.
        let sample = PairedDifferences::from_differences(vec![0.5, -0.1, 0.3]).unwrap();
        let design = Design::new(3, Some(vec![2.0, 1.0, 1.0]), Some(&[4, 8, 4])).unwrap();
        let grid = GridDifferences::new(&sample, &design).unwrap();
        assert!((grid.mean() - 0.3).abs() < 1e-12);
        assert_eq!(grid.changed(), 2);
        assert_eq!((grid.rose(), grid.fell()), (2, 1));
    }

    #[test]
    fn huge_and_tiny_values_stay_finite() {
        for scale in [1e300, 1e-300, f64::MIN_POSITIVE] {
            let sample = grid(&[scale, -scale, scale]);
            assert!(sample.mean().is_finite());
        }
    }
}
