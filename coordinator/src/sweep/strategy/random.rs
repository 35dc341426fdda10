//! Seeded quasi-random points in a logarithmic box around a centre.
//!
//! The coordinates of point `i` are those of the additive recurrence with the generalised golden ratio, shifted at
//! random once a sequence:
//!
//! ```text
//! u[i][j] = frac(shift[j] + (i + 1)·φ_d^-(j+1)),   φ_d the positive root of x^(d+1) = x + 1
//! ```
//!
//! With `d` coordinates and the box `[low, high]` of a field, a coordinate `u < p` means the ratio 0 and any other one
//! `low·(high/low)^((u − p)/(1 − p))`, so that about the share `p` of the points lacks each field.
//!
//! Sources: M. Roberts, "The unreasonable effectiveness of quasirandom sequences" (2018) for the recurrence; Cranley and
//! Patterson (1976) for the random shift; box and zero probability are those of the published sweep, whose generator
//! was `NumPy`'s.

use std::collections::BTreeSet;

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::Serialize;

use super::{Batch, Stage, Strategy, axes};
use crate::sweep::values::to_digits;
use crate::sweep::{Observations, Point, Space};

/// Where random points lie.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RandomSettings {
    /// Number of points, at least 1.
    pub points: u32,
    /// Probability of the ratio 0 for each field, 0 ≤ p < 1.
    pub zero_probability: f64,
    /// A box reaches from centre ÷ spread to centre × spread, above 1.
    pub spread: f64,
    /// Smallest positive ratio, and the centre of a field whose own is smaller; at least `SMALLEST_RATIO`.
    pub min_ratio: f64,
}

impl Default for RandomSettings {
    /// Returns the box of the published sweep: 48 points, p .10, centre ÷ 3 to centre × 3, at least .02.
    fn default() -> Self {
        Self {
            points: 48,
            zero_probability: 0.10,
            spread: 3.0,
            min_ratio: 0.02,
        }
    }
}

/// Proposes the points of a box around the best point seen when it is first asked, in one batch.
#[derive(Debug)]
pub struct RandomBox {
    space: Space,
    settings: RandomSettings,
    seed: u64,
    prefix: &'static str,
    fixed: BTreeSet<usize>,
    asked: bool,
}

impl RandomBox {
    /// Returns the strategy; its stage is called `random`.
    pub fn new(space: Space, settings: RandomSettings, seed: u64) -> Self {
        Self::named("", space, settings, seed, BTreeSet::new())
    }

    /// Returns the strategy with a prefix before the name of its stage, and with axes that stay at the centre.
    pub(super) fn named(
        prefix: &'static str,
        space: Space,
        settings: RandomSettings,
        seed: u64,
        fixed: BTreeSet<usize>,
    ) -> Self {
        Self {
            space,
            settings,
            seed,
            prefix,
            fixed,
            asked: false,
        }
    }

    /// Returns the points around `centre`. A fixed axis uses up its coordinate all the same, so that fixing it moves no
    /// other ratio.
    fn points(&self, centre: &Point) -> Vec<Point> {
        let dimensions = centre.ratios().len();
        let steps = recurrence(dimensions);
        let mut generator = ChaCha8Rng::seed_from_u64(self.seed);
        let mut coordinates: Vec<f64> = (0..dimensions)
            .map(|_| unit(generator.next_u64()))
            .collect();
        let mut points = Vec::new();
        for _ in 0..self.settings.points {
            let mut point = centre.clone();
            for (axis, (coordinate, step)) in coordinates.iter_mut().zip(&steps).enumerate() {
                *coordinate = (*coordinate + step).fract();
                if !self.fixed.contains(&axis) {
                    let ratio = self.ratio(centre.ratios()[axis], *coordinate);
                    point = self.space.with(&point, axis, ratio);
                }
            }
            points.push(point);
        }
        points
    }

    /// Maps a coordinate in [0, 1) into the box around `centre`.
    ///
    /// The ratio is rounded to 6 significant digits: `ln` and `exp` may differ in the last bit between platforms, and a
    /// configuration that people copy should be short.
    fn ratio(&self, centre: f64, coordinate: f64) -> f64 {
        let zero = self.settings.zero_probability;
        if coordinate < zero {
            return 0.0;
        }
        let centre = centre.max(self.settings.min_ratio);
        let low = (centre / self.settings.spread).max(self.settings.min_ratio);
        let high = (centre * self.settings.spread).min(self.space.max_ratio());
        let position = (coordinate - zero) / (1.0 - zero);
        let ratio = low * (position * (high / low).ln()).exp();
        to_digits(ratio, 6).clamp(low.min(high), high)
    }
}

/// Returns a number in [0, 1) from the upper 53 bits, the most that an f64 holds.
fn unit(bits: u64) -> f64 {
    (bits >> 11) as f64 * (-53.0_f64).exp2()
}

/// Returns the steps `φ_d^-(j+1)` of the recurrence for `dimensions` coordinates.
///
/// φ is found by bisection, with additions and multiplications alone, so that it is the same number everywhere.
fn recurrence(dimensions: usize) -> Vec<f64> {
    let power = |x: f64| (0..=dimensions).fold(1.0, |product, _| product * x);
    let (mut low, mut high) = (1.0_f64, 2.0_f64);
    for _ in 0..64 {
        let middle = f64::midpoint(low, high);
        if power(middle) < middle + 1.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    let inverse = 1.0 / low;
    let steps = std::iter::successors(Some(inverse), |&step| Some(step * inverse));
    steps.take(dimensions).collect()
}

impl Strategy for RandomBox {
    fn next_batch(&mut self, seen: &Observations) -> Batch {
        match seen.best_point() {
            Some(centre) if !self.asked => {
                self.asked = true;
                let stage = Stage::new(format!("{}random", self.prefix));
                Batch::Evaluate(axes::proposals(&self.space, &stage, self.points(centre)))
            }
            _ => Batch::Finished,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_steps_are_powers_of_the_generalised_golden_ratio() {
        // Roberts (2018): φ_1 = 1.61803398874989484820, φ_2 = 1.32471795724474602596.
        let close = |a: f64, b: f64| (a - b).abs() < 1e-15;
        assert!(close(recurrence(1)[0], 1.0 / 1.618_033_988_749_895));
        let plane = recurrence(2);
        assert!(close(plane[0], 1.0 / 1.324_717_957_244_746));
        assert!(close(plane[1], plane[0] * plane[0]));
    }

    #[test]
    fn a_coordinate_is_below_one() {
        assert!(unit(u64::MAX) < 1.0);
        assert_eq!(unit(0).to_bits(), 0);
        assert!((unit(1 << 63) - 0.5).abs() < f64::EPSILON);
    }
}
