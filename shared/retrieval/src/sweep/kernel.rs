//! The hot loop: scores, ranks and packed rankings of one block of candidates.
//!
//! Documents are the outer loop and candidates the inner one, over plain slices of one length, so that the compiler turns the
//! inner loops into vector instructions without any of ours. Nothing here depends on their width: products, comparisons and
//! sums are the same operations in the same order in each lane.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use multiversion::multiversion;

use super::block::Block;
use super::codes::{Layout, MOST_WORDS};
use crate::contenders::Contenders;
use crate::matrix::ABSENT;

/// Buffers of the kernel: document by document or word by word, one number a lane.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    scores: Vec<f32>,
    sums: Vec<f32>,
    ranks: Vec<u32>,
    words: Vec<u64>,
    /// How many pairs each document comes first in.
    pub(super) leads: Vec<u32>,
}

/// Pairs of documents whose order depends on the weights.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pairs<'a> {
    pub(super) pairs: &'a [(u16, u16)],
    /// How many of them each document comes first in.
    pub(super) leads: &'a [u32],
}

/// Ranks the contenders under each candidate of a block and leaves the packed rankings in the scratch space.
pub(super) type Kernel = fn(&Contenders, Pairs<'_>, &Block, Layout, &mut Scratch);

impl Scratch {
    fn resize(&mut self, documents: usize, lanes: usize, words: usize) {
        self.scores.resize(documents * lanes, 0.0);
        self.sums.resize(lanes, 0.0);
        self.ranks.resize(documents * lanes, 0);
        self.words.clear();
        self.words.resize(words * lanes, 0);
    }

    /// Returns the packed ranking of a lane.
    pub(super) fn words(&self, lane: usize, lanes: usize) -> [u64; MOST_WORDS] {
        std::array::from_fn(|word| self.words.get(word * lanes + lane).copied().unwrap_or(0))
    }
}

/// The kernel in the widest vectors that the machine has.
#[multiversion(targets(
    "x86_64+avx512f+avx512bw+avx512cd+avx512dq+avx512vl+avx2+bmi1+bmi2+popcnt",
    "x86_64+avx2+bmi1+bmi2+popcnt",
    "aarch64+neon"
))]
pub(super) fn rank_block(
    contenders: &Contenders,
    pairs: Pairs<'_>,
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    rank_block_on_any(contenders, pairs, block, layout, scratch);
}

/// The kernel in the vectors of AVX2, whatever else the machine has.
#[cfg(test)]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(super) fn rank_block_on_avx2(
    contenders: &Contenders,
    pairs: Pairs<'_>,
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    rank_block_on_any(contenders, pairs, block, layout, scratch);
}

/// The kernel for whatever instruction set it is inlined into; by itself for the one that every machine has.
#[inline(always)]
pub(super) fn rank_block_on_any(
    contenders: &Contenders,
    pairs: Pairs<'_>,
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    let documents = contenders.rows().len();
    let lanes = block.lanes();
    scratch.resize(documents, lanes, layout.words);
    weigh(contenders, block, scratch);
    let ahead = contenders.ahead().iter().zip(pairs.leads);
    for (ranks, (&ahead, &leads)) in scratch.ranks.chunks_exact_mut(lanes).zip(ahead) {
        ranks.fill(ahead + leads);
    }
    for &(first, second) in pairs.pairs {
        let [first, second] = [first, second].map(usize::from);
        let (before, behind) = scratch.ranks.split_at_mut(second * lanes);
        compare(
            &scratch.scores[first * lanes..][..lanes],
            &scratch.scores[second * lanes..][..lanes],
            &mut before[first * lanes..][..lanes],
            &mut behind[..lanes],
        );
    }
    pack(layout, lanes, scratch);
}

/// Leaves each document's score under each candidate in the scratch space, negative where it is no hit.
#[inline(always)]
fn weigh(contenders: &Contenders, block: &Block, scratch: &mut Scratch) {
    let lanes = block.lanes();
    let sums = &mut scratch.sums[..lanes];
    let documents = scratch.scores.chunks_exact_mut(lanes).enumerate();
    for (position, best) in documents {
        let best = &mut best[..lanes];
        best.fill(ABSENT);
        let cells = contenders.cells(position).iter();
        let cells = cells.map(|&(column, score)| (block.weights(column as usize), score));
        let Some((of_sum, of_maximum)) = block.combine() else {
            for (weights, score) in cells {
                let weights = &weights[..lanes];
                for lane in 0..lanes {
                    best[lane] = greater(weights[lane] * score, best[lane]);
                }
            }
            continue;
        };
        sums.fill(0.0);
        for (weights, score) in cells {
            let weights = &weights[..lanes];
            for lane in 0..lanes {
                let product = weights[lane] * score;
                best[lane] = greater(product, best[lane]);
                sums[lane] += greater(product, 0.0);
            }
        }
        let (of_sum, of_maximum) = (&of_sum[..lanes], &of_maximum[..lanes]);
        for lane in 0..lanes {
            let combined = of_sum[lane] * sums[lane] + of_maximum[lane] * best[lane];
            best[lane] = if best[lane] >= 0.0 { combined } else { ABSENT };
        }
    }
}

/// Returns `one` if it is greater than `other`, which no NaN is.
#[inline(always)]
fn greater(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

/// Moves the second of two documents one rank back, and the first one rank up, wherever the first precedes: it comes earlier
/// in the tie order.
#[inline(always)]
fn compare(first: &[f32], second: &[f32], first_ranks: &mut [u32], second_ranks: &mut [u32]) {
    let lanes = first.len();
    let (second, first_ranks) = (&second[..lanes], &mut first_ranks[..lanes]);
    let second_ranks = &mut second_ranks[..lanes];
    for lane in 0..lanes {
        let precedes = u32::from(first[lane] >= second[lane]);
        first_ranks[lane] -= precedes;
        second_ranks[lane] += precedes;
    }
}

/// Packs the positions of the best hits of each lane by their ranks.
#[inline(always)]
fn pack(layout: Layout, lanes: usize, scratch: &mut Scratch) {
    let documents = scratch.scores.chunks_exact(lanes);
    let documents = documents.zip(scratch.ranks.chunks_exact(lanes));
    for (position, (scores, ranks)) in (1_u64..).zip(documents) {
        let mut from = 0;
        for words in scratch.words.chunks_exact_mut(lanes) {
            let until = (layout.depth - from).min(layout.ranks);
            let (words, scores, ranks) = (&mut words[..lanes], &scores[..lanes], &ranks[..lanes]);
            for lane in 0..lanes {
                let rank = ranks[lane].wrapping_sub(from);
                let is_in = rank < until && scores[lane] >= 0.0;
                let packed = position.wrapping_shl(rank.wrapping_mul(layout.bits));
                words[lane] |= if is_in { packed } else { 0 };
            }
            from += until;
        }
    }
}
