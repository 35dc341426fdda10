//! Blocked products of resamples with differences.

use std::ops::Range;

use ndarray::linalg::general_mat_mul;
use ndarray::{Array2, ArrayView2, Axis, Slice};
use rayon::prelude::*;

use crate::plan::{active_units, enumerate_signs};
use crate::{GridDifferences, ResamplingPlan};

/// Resamples that are multiplied at once; bounds memory, and is no part of the result.
///
/// A thread holds `BLOCK · (units + columns)` numbers: 4.7 MB for 1,400 units and 872 columns.
const BLOCK: u32 = 256;

/// What the columns are multiplied with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Factors {
    /// Random signs.
    Signs,
    /// Every assignment of signs to the active units, in binary counting order.
    AllSigns,
    /// How often the bootstrap draws each unit.
    Counts,
}

/// The columns of a family without the units in which none of them changes, ready to be multiplied with resamples.
pub(crate) struct Product<'a> {
    plan: &'a ResamplingPlan,
    factors: Factors,
    active: Vec<usize>,
    /// Columns × active units, whole numbers.
    columns: Array2<f64>,
}

/// One block of factors and the sums that come of it.
struct Scratch {
    /// Resamples × active units.
    factors: Array2<f64>,
    /// Columns × resamples.
    sums: Array2<f64>,
}

impl<'a> Product<'a> {
    /// Prepares columns for signs.
    pub(crate) fn of_signs(
        plan: &'a ResamplingPlan,
        factors: Factors,
        columns: &[&GridDifferences],
    ) -> Self {
        Self::new(plan, factors, active_units(columns), columns, None)
    }

    /// Prepares columns for counts; `masses`, when given, are a further, last column.
    pub(crate) fn of_counts(
        plan: &'a ResamplingPlan,
        columns: &[&GridDifferences],
        masses: Option<&[f64]>,
    ) -> Self {
        let active = match masses {
            Some(masses) => (0..masses.len()).collect(),
            None => active_units(columns),
        };
        Self::new(plan, Factors::Counts, active, columns, masses)
    }

    fn new(
        plan: &'a ResamplingPlan,
        factors: Factors,
        active: Vec<usize>,
        columns: &[&GridDifferences],
        last: Option<&[f64]>,
    ) -> Self {
        let rows: Vec<&[f64]> = columns
            .iter()
            .map(|column| column.sums())
            .chain(last)
            .collect();
        let columns = Array2::from_shape_fn((rows.len(), active.len()), |(column, unit)| {
            rows[column][active[unit]]
        });
        Self {
            plan,
            factors,
            active,
            columns,
        }
    }

    /// Multiplies the resamples of `range` with the columns, block by block on all threads, and folds each block of sums,
    /// columns × resamples in resample order, into a value; the values of ranges that follow each other are merged in order.
    ///
    /// Which blocks meet in one value depends on the threads, so `merge` has to be associative to the bit.
    pub(crate) fn fold<T: Send>(
        &self,
        range: Range<u32>,
        identity: impl Fn() -> T + Sync + Send,
        add: impl Fn(&mut T, ArrayView2<'_, f64>) + Sync + Send,
        merge: impl Fn(T, T) -> T + Sync + Send,
    ) -> T {
        let blocks = (range.end - range.start).div_ceil(BLOCK);
        (0..blocks)
            .into_par_iter()
            .fold(
                || (None, identity()),
                |(scratch, mut value), block| {
                    let first = range.start + block * BLOCK;
                    let size = BLOCK.min(range.end - first);
                    let mut scratch = scratch.unwrap_or_else(|| self.scratch(range.len()));
                    add(&mut value, self.sums(first, size, &mut scratch));
                    (Some(scratch), value)
                },
            )
            .map(|(_, value)| value)
            .reduce(&identity, merge)
    }

    fn scratch(&self, resamples: usize) -> Scratch {
        let size = resamples.min(BLOCK as usize);
        Scratch {
            factors: Array2::zeros((size, self.active.len())),
            sums: Array2::zeros((self.columns.nrows(), size)),
        }
    }

    /// Draws `size` resamples from `first` on and returns their sums.
    fn sums<'s>(&self, first: u32, size: u32, scratch: &'s mut Scratch) -> ArrayView2<'s, f64> {
        let size = size as usize;
        for (resample, mut row) in (first..).zip(scratch.factors.rows_mut().into_iter().take(size))
        {
            let row = row
                .as_slice_mut()
                .expect("rows of a standard layout are contiguous");
            match self.factors {
                Factors::Signs => self.plan.draw_signs(resample, &self.active, row),
                Factors::AllSigns => enumerate_signs(resample, row),
                Factors::Counts => self.plan.draw_counts(resample, &self.active, row),
            }
        }
        let factors = scratch.factors.slice_axis(Axis(0), Slice::from(..size));
        let mut sums = scratch.sums.slice_axis_mut(Axis(1), Slice::from(..size));
        general_mat_mul(1.0, &self.columns, &factors.t(), 0.0, &mut sums);
        scratch.sums.slice_axis(Axis(1), Slice::from(..size))
    }
}

/// Returns for each column the index of the first one that equals it: sweeps have many equal candidates.
pub(crate) fn first_equals(columns: &[&GridDifferences]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| columns[a].order(columns[b]).then(a.cmp(&b)));
    let mut first: Vec<usize> = (0..columns.len()).collect();
    for pair in order.windows(2) {
        if columns[pair[0]].order(columns[pair[1]]).is_eq() {
            first[pair[1]] = first[pair[0]];
        }
    }
    first
}
