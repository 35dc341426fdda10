//! The scores of one query's documents under each candidate of a block.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use super::block::{Block, LANES, Lanes};
use crate::matrix::ABSENT;

/// Most fields of a document whose products are all computed before anything is stored.
const FEW: usize = 5;

/// Leaves the score of a document with these cells under each candidate in `scores`, [`ABSENT`] where it is no hit.
#[inline(always)]
pub(super) fn weigh(cells: &[(u32, f32)], block: &Block, scores: &mut Lanes<f32>) {
    match cells.len() {
        0 => *scores = Lanes::of(ABSENT),
        1 => weigh_few::<1>(cells, block, scores),
        2 => weigh_few::<2>(cells, block, scores),
        3 => weigh_few::<3>(cells, block, scores),
        4 => weigh_few::<4>(cells, block, scores),
        FEW => weigh_few::<FEW>(cells, block, scores),
        _ => weigh_many(cells, block, scores),
    }
}

/// The same for `N` cells: the compiler unrolls the loop over them, and maxima and sums stay in registers.
#[inline(always)]
fn weigh_few<const N: usize>(cells: &[(u32, f32)], block: &Block, scores: &mut Lanes<f32>) {
    let Some(cells) = cells.first_chunk::<N>() else {
        return;
    };
    let cells = cells.map(|(column, score)| (block.weights(column as usize), score));
    match block.combine() {
        None => {
            for lane in 0..LANES {
                let mut best = ABSENT;
                for (weights, score) in cells {
                    best = greater(weights[lane] * score, best);
                }
                scores[lane] = best;
            }
        }
        Some([of_sum, of_best]) => {
            for lane in 0..LANES {
                let (mut best, mut sum) = (ABSENT, 0.0);
                for (weights, score) in cells {
                    let product = weights[lane] * score;
                    best = greater(product, best);
                    sum += greater(product, 0.0);
                }
                scores[lane] = combined(of_sum[lane] * sum, of_best[lane], best);
            }
        }
    }
}

/// The same for any number of cells, one after the other.
#[inline(always)]
fn weigh_many(cells: &[(u32, f32)], block: &Block, scores: &mut Lanes<f32>) {
    let (mut best, mut sums) = (Lanes::of(ABSENT), Lanes::of(0.0));
    for &(column, score) in cells {
        let weights = block.weights(column as usize);
        for lane in 0..LANES {
            let product = weights[lane] * score;
            best[lane] = greater(product, best[lane]);
            sums[lane] += greater(product, 0.0);
        }
    }
    match block.combine() {
        None => *scores = best,
        Some([of_sum, of_best]) => {
            for lane in 0..LANES {
                scores[lane] = combined(of_sum[lane] * sums[lane], of_best[lane], best[lane]);
            }
        }
    }
}

/// Returns a weighted sum and a weighted maximum together, [`ABSENT`] for what is no hit.
#[inline(always)]
fn combined(sum: f32, of_best: f32, best: f32) -> f32 {
    let combined = sum + of_best * best;
    if best >= 0.0 { combined } else { ABSENT }
}

/// Returns `one` if it is greater than `other`, which no NaN is.
#[inline(always)]
fn greater(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}
