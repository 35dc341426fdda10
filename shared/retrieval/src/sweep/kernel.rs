//! The hot loop: the best documents of one query under each candidate of a block.
//!
//! Documents are the outer loop and candidates the inner one, over plain slices, so that the compiler turns the inner loops into
//! vector instructions without any of ours. Nothing here depends on their width: each lane computes the same products,
//! sums and comparisons in the same order.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use multiversion::multiversion;

use super::block::{Block, LANES};
use super::codes::{Layout, MOST_WORDS};
use crate::contenders::Contenders;
use crate::matrix::ABSENT;

/// Documents that are inserted into the lists at a time: the lists stay in registers meanwhile.
const STRIDE: usize = 4;

/// Buffers of the kernel: document by document, rank by rank or word by word, one number a lane and [`LANES`] apart.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    scores: Vec<f32>,
    /// The best scores, falling.
    top: Vec<f32>,
    /// Whose scores these are: position + 1; 0 where a list has ended.
    who: Vec<u32>,
    words: Vec<u32>,
}

/// Ranks the contenders under each candidate of a block and leaves the packed rankings in the scratch space.
pub(super) type Kernel = fn(&Contenders, &Block, Layout, &mut Scratch);

impl Scratch {
    /// Returns the packed ranking of a lane.
    pub(super) fn words(&self, lane: usize) -> [u32; MOST_WORDS] {
        std::array::from_fn(|word| self.words[word * LANES + lane])
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
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    rank_block_on_any(contenders, block, layout, scratch);
}

/// The kernel in the vectors of AVX2, whatever else the machine has.
#[cfg(test)]
#[multiversion(targets("x86_64+avx2+bmi1+bmi2+popcnt"))]
pub(super) fn rank_block_on_avx2(
    contenders: &Contenders,
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    rank_block_on_any(contenders, block, layout, scratch);
}

/// The kernel for whatever instruction set it is inlined into; by itself for the one that every machine has.
#[inline(always)]
pub(super) fn rank_block_on_any(
    contenders: &Contenders,
    block: &Block,
    layout: Layout,
    scratch: &mut Scratch,
) {
    weigh(contenders, block, scratch);
    if layout.depth <= 10 {
        select::<10>(block.lanes(), scratch);
    } else {
        select::<20>(block.lanes(), scratch);
    }
    pack(layout, block.lanes(), scratch);
}

/// Leaves each document's score under each candidate in the scratch space, [`ABSENT`] where it is no hit, and behind the last
/// document as many that are none as fill a stride.
#[inline(always)]
fn weigh(contenders: &Contenders, block: &Block, scratch: &mut Scratch) {
    let documents = contenders.rows().len();
    let lanes = block.lanes();
    scratch.scores.clear();
    scratch
        .scores
        .resize(documents.next_multiple_of(STRIDE) * LANES, ABSENT);
    for (position, best) in scratch
        .scores
        .chunks_exact_mut(LANES)
        .take(documents)
        .enumerate()
    {
        let best = &mut best[..lanes];
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
        let mut sums = [0.0; LANES];
        let sums = &mut sums[..lanes];
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

/// Keeps the best `K` documents of each lane, best first.
///
/// Documents come in the tie order, so that one precedes those before it only where its score is greater.
#[inline(always)]
fn select<const K: usize>(lanes: usize, scratch: &mut Scratch) {
    let Scratch {
        scores, top, who, ..
    } = scratch;
    top.clear();
    top.resize(K * LANES, ABSENT);
    who.clear();
    who.resize(K * LANES, 0);
    let (top, who) = (&mut top[..K * LANES], &mut who[..K * LANES]);
    let strides = scores.chunks_exact(STRIDE * LANES);
    for (first, stride) in (1_u32..).step_by(STRIDE).zip(strides) {
        insert::<K>(lanes.min(LANES), stride, first, top, who);
    }
}

/// Inserts the documents of a stride, whose numbers count from `first`, into the lists.
#[inline(always)]
fn insert<const K: usize>(
    lanes: usize,
    scores: &[f32],
    first: u32,
    top: &mut [f32],
    who: &mut [u32],
) {
    let scores = &scores[..STRIDE * LANES];
    let (top, who) = (&mut top[..K * LANES], &mut who[..K * LANES]);
    for lane in 0..lanes {
        let mut best = [0.0; K];
        let mut number = [0; K];
        for rank in 0..K {
            best[rank] = top[rank * LANES + lane];
            number[rank] = who[rank * LANES + lane];
        }
        for (new, at) in (first..).zip(0..STRIDE) {
            let score = scores[at * LANES + lane];
            for rank in (1..K).rev() {
                let moved = if score > best[rank - 1] {
                    number[rank - 1]
                } else {
                    new
                };
                number[rank] = if score > best[rank] {
                    moved
                } else {
                    number[rank]
                };
                let moved = if score > best[rank - 1] {
                    best[rank - 1]
                } else {
                    score
                };
                best[rank] = if moved > best[rank] {
                    moved
                } else {
                    best[rank]
                };
            }
            number[0] = if score > best[0] { new } else { number[0] };
            best[0] = if score > best[0] { score } else { best[0] };
        }
        for rank in 0..K {
            top[rank * LANES + lane] = best[rank];
            who[rank * LANES + lane] = number[rank];
        }
    }
}

/// Packs the lists of each lane, cut at the depth asked for.
#[inline(always)]
fn pack(layout: Layout, lanes: usize, scratch: &mut Scratch) {
    let Scratch { who, words, .. } = scratch;
    words.clear();
    words.resize(MOST_WORDS * LANES, 0);
    let ranks = who.chunks_exact(LANES).take(layout.depth as usize);
    for (rank, who) in (0_u32..).zip(ranks) {
        let (word, shift) = (rank / layout.ranks, rank % layout.ranks * layout.bits);
        let words = &mut words[word as usize * LANES..][..lanes];
        let who = &who[..lanes];
        for lane in 0..lanes {
            words[lane] |= who[lane] << (shift & 31);
        }
    }
}
