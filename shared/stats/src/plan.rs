//! One resampling plan for a job: the same resamples for every candidate and metric.

use std::num::NonZeroU32;

use rand::RngCore;
use serde::{Deserialize, Serialize};

use crate::random::{below, stream};
use crate::{Design, GridDifferences, GridError, PairedDifferences};

/// How many resamples to draw, and from which seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Resamples {
    /// Number of resamples `B`.
    pub count: NonZeroU32,
    /// Seed of the `ChaCha8` streams.
    pub seed: u64,
}

/// The resamples of a job.
///
/// Resample `b` reads `ChaCha8` streams of its own: `2b` for signs and `2b + 1` for the bootstrap, both of the generator
/// that `seed_from_u64(seed)` gives. Which thread draws it, and how many resamples are drawn before, does not matter.
///
/// * The sign of unit `u` is bit `u mod 64` of the stream's 64-bit word `u / 64`; a set bit is minus.
/// * Bootstrap draw `t` takes unit `⌊word[t] · U / 2^64⌋` of `U`; its bias is below U/2^64.
#[derive(Debug, Clone)]
pub struct ResamplingPlan {
    design: Design,
    resamples: Resamples,
}

impl ResamplingPlan {
    /// Returns the plan of a job.
    pub fn new(design: Design, resamples: Resamples) -> Self {
        Self { design, resamples }
    }

    /// Returns the weights and clusters that the plan resamples under.
    pub fn design(&self) -> &Design {
        &self.design
    }

    /// Returns number and seed of the resamples.
    pub fn resamples(&self) -> Resamples {
        self.resamples
    }

    /// Returns the same plan with more or fewer resamples: those that both have are the same.
    #[must_use]
    pub fn with_count(&self, count: NonZeroU32) -> Self {
        Self {
            design: self.design.clone(),
            resamples: Resamples {
                count,
                seed: self.resamples.seed,
            },
        }
    }

    /// Puts the differences of one hypothesis on the grid.
    pub fn grid(&self, differences: &PairedDifferences) -> Result<GridDifferences, GridError> {
        GridDifferences::new(differences, &self.design)
    }

    /// Draws the signs of resample `resample` for the `active` units.
    pub(crate) fn draw_signs(&self, resample: u32, active: &[usize], row: &mut [f64]) {
        let mut stream = stream(self.resamples.seed, 2 * u64::from(resample));
        let words: Vec<u64> = (0..self.design.units().div_ceil(64))
            .map(|_| stream.next_u64())
            .collect();
        for (sign, &unit) in row.iter_mut().zip(active) {
            *sign = sign_of(words[unit / 64] >> (unit % 64));
        }
    }

    /// Counts how often bootstrap resample `resample` draws each of the `active` units.
    pub(crate) fn draw_counts(&self, resample: u32, active: &[usize], row: &mut [f64]) {
        let mut stream = stream(self.resamples.seed, 2 * u64::from(resample) + 1);
        let units = self.design.units();
        let mut counts = vec![0_u32; units];
        for _ in 0..units {
            counts[below(&mut stream, units)] += 1;
        }
        for (count, &unit) in row.iter_mut().zip(active) {
            *count = f64::from(counts[unit]);
        }
    }
}

/// Returns the number of assignments of signs to `changed` units, when it is not more than `resamples`: enumerating is then
/// exact and no more work.
pub(crate) fn enumerable(changed: usize, resamples: u32) -> Option<u32> {
    let shift = u32::try_from(changed).ok()?;
    1_u32
        .checked_shl(shift)
        .filter(|&assignments| assignments <= resamples)
}

/// Writes the signs of assignment `assignment`, in binary counting order.
pub(crate) fn enumerate_signs(assignment: u32, row: &mut [f64]) {
    for (bit, sign) in row.iter_mut().enumerate() {
        *sign = sign_of(u64::from(assignment) >> bit);
    }
}

/// Returns −1 for a set lowest bit and 1 for a clear one, without a branch.
fn sign_of(word: u64) -> f64 {
    f64::from_bits(1.0_f64.to_bits() | (word << 63))
}

/// Returns the units in which any column differs from 0, ascending.
pub(crate) fn active_units(columns: &[&GridDifferences]) -> Vec<usize> {
    let units = columns.first().map_or(0, |column| column.sums().len());
    (0..units)
        .filter(|&unit| columns.iter().any(|column| column.sums()[unit].abs() > 0.0))
        .collect()
}
