//! One resampling plan for a job: the same resamples for every candidate and metric.

use std::num::NonZeroU32;

use ndarray::{Array2, ArrayView2, Axis};
use rand::{RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::{Design, GridDifferences, GridError, PairedDifferences};

/// Resamples that are multiplied at once; bounds memory, and is no part of the result.
const BLOCK: u32 = 128;

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

/// What the rows of a block are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factors {
    /// Random signs.
    Signs,
    /// Every assignment of signs to the active units, in binary counting order.
    AllSigns,
    /// How often the bootstrap draws each unit.
    Counts,
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

    /// Puts the differences of one hypothesis on the grid.
    pub fn grid(&self, differences: &PairedDifferences) -> Result<GridDifferences, GridError> {
        GridDifferences::new(differences, &self.design)
    }

    /// Returns the number of assignments of signs to `changed` units, when it is not more than the resamples: enumerating
    /// is then exact and no more work.
    pub(crate) fn enumerable(&self, changed: usize) -> Option<u32> {
        let shift = u32::try_from(changed).ok()?;
        1_u32
            .checked_shl(shift)
            .filter(|&assignments| assignments <= self.resamples.count.get())
    }

    /// Multiplies the resamples of `rows` with the columns, block by block, and hands each block of sums, in resample
    /// order, to `fold`; returns its results in order.
    ///
    /// `matrix` has one row for each of the `active` units (ascending) and one column for each hypothesis, all whole
    /// numbers. A block is resamples × hypotheses.
    pub(crate) fn blocks<T: Send>(
        &self,
        factors: Factors,
        active: &[usize],
        matrix: &Array2<f64>,
        fold: impl Fn(ArrayView2<'_, f64>) -> T + Sync,
    ) -> Vec<T> {
        let total = match factors {
            Factors::Signs | Factors::Counts => self.resamples.count.get(),
            Factors::AllSigns => self
                .enumerable(active.len())
                .expect("callers enumerate only what is enumerable"),
        };
        let root = ChaCha8Rng::seed_from_u64(self.resamples.seed);
        (0..total.div_ceil(BLOCK))
            .into_par_iter()
            .map(|block| {
                let first = block * BLOCK;
                let size = BLOCK.min(total - first);
                let mut left = Array2::<f64>::zeros((size as usize, active.len()));
                for (resample, mut row) in (first..).zip(left.axis_iter_mut(Axis(0))) {
                    let row = row
                        .as_slice_mut()
                        .expect("rows of a standard layout are contiguous");
                    match factors {
                        Factors::Signs => self.draw_signs(&root, resample, active, row),
                        Factors::AllSigns => enumerate_signs(resample, row),
                        Factors::Counts => self.draw_counts(&root, resample, active, row),
                    }
                }
                fold(left.dot(matrix).view())
            })
            .collect()
    }

    fn draw_signs(&self, root: &ChaCha8Rng, resample: u32, active: &[usize], row: &mut [f64]) {
        let mut stream = root.clone();
        stream.set_stream(2 * u64::from(resample));
        let words: Vec<u64> = (0..self.design.units().div_ceil(64))
            .map(|_| stream.next_u64())
            .collect();
        for (sign, &unit) in row.iter_mut().zip(active) {
            *sign = sign_of(words[unit / 64] >> (unit % 64));
        }
    }

    fn draw_counts(&self, root: &ChaCha8Rng, resample: u32, active: &[usize], row: &mut [f64]) {
        let mut stream = root.clone();
        stream.set_stream(2 * u64::from(resample) + 1);
        let units = self.design.units();
        let mut counts = vec![0_u32; units];
        for _ in 0..units {
            let wide = u128::from(stream.next_u64()) * units as u128;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "the upper half of the product lies below units"
            )]
            let unit = (wide >> 64) as usize;
            counts[unit] += 1;
        }
        for (count, &unit) in row.iter_mut().zip(active) {
            *count = f64::from(counts[unit]);
        }
    }
}

fn enumerate_signs(assignment: u32, row: &mut [f64]) {
    for (bit, sign) in row.iter_mut().enumerate() {
        *sign = sign_of(u64::from(assignment) >> bit);
    }
}

fn sign_of(word: u64) -> f64 {
    if word & 1 == 0 { 1.0 } else { -1.0 }
}

/// Returns the units in which any column differs from 0, ascending.
pub(crate) fn active_units(columns: &[&GridDifferences]) -> Vec<usize> {
    let units = columns.first().map_or(0, |column| column.sums().len());
    (0..units)
        .filter(|&unit| columns.iter().any(|column| column.sums()[unit].abs() > 0.0))
        .collect()
}

/// Returns the active units × columns matrix of sums, with an optional last column.
pub(crate) fn matrix(
    active: &[usize],
    columns: &[&GridDifferences],
    last: Option<&[f64]>,
) -> Array2<f64> {
    let width = columns.len() + usize::from(last.is_some());
    Array2::from_shape_fn((active.len(), width), |(row, column)| {
        match (columns.get(column), last) {
            (Some(values), _) => values.sums()[active[row]],
            (None, Some(last)) => last[active[row]],
            (None, None) => 0.0,
        }
    })
}
