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
///
/// A document under a candidate is one number: its score as f64, which leaves 29 of the fraction's bits 0, and in these bits its
/// place in the tie order, counted from the end. So numbers compare as documents rank, none are equal, and the greater and the
/// lesser of two carry along whose they are.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    keys: Vec<f64>,
    /// The best keys, falling; [`NONE`] where a list has ended.
    top: Vec<f64>,
    words: Vec<u64>,
}

/// What ends a list: less than any hit, and more than a document that is none, whose score is [`ABSENT`] and whose place is not 0.
const NONE: f64 = ABSENT as f64;

/// Ranks the contenders under each candidate of a block and leaves the packed rankings in the scratch space.
pub(super) type Kernel = fn(&Contenders, &Block, Layout, &mut Scratch);

impl Scratch {
    /// Returns the packed ranking of a lane.
    pub(super) fn words(&self, lane: usize) -> [u64; MOST_WORDS] {
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

/// Leaves each document's key under each candidate in the scratch space, and behind the last document as many that are no hits
/// as fill a dozen or a stride.
#[inline(always)]
fn weigh(contenders: &Contenders, block: &Block, scratch: &mut Scratch) {
    let documents = contenders.rows().len();
    let padded = documents.next_multiple_of(STRIDE).max(DOZEN);
    scratch.keys.resize(padded * LANES, NONE);
    let (keys, behind) = scratch.keys.split_at_mut(documents * LANES);
    behind.fill(NONE);
    let mut scores = [ABSENT; LANES];
    let visits = keys.chunks_exact_mut(LANES).zip(contenders.likely());
    for (keys, &position) in visits {
        let keys = &mut keys[..block.lanes()];
        let position = position as usize;
        let place = (documents - position) as u64;
        let cells = contenders.cells(position);
        if let Some(factors) = block.combine() {
            weigh_sum(cells, block, factors, &mut scores);
            for (key, &score) in keys.iter_mut().zip(&scores) {
                *key = key_of(score, place);
            }
        } else {
            weigh_maximum(cells, block, &mut scores, (place, keys));
        }
    }
}

/// Leaves a document's keys under each candidate of plain maxima; `best` is scratch space.
#[inline(always)]
fn weigh_maximum(
    cells: &[(u32, f32)],
    block: &Block,
    best: &mut [f32; LANES],
    (place, keys): (u64, &mut [f64]),
) {
    let best = &mut best[..keys.len()];
    let weights = |column: u32| block.weights(column as usize);
    match cells {
        [] => keys.fill(NONE),
        &[(column, score)] => {
            for (key, weight) in keys.iter_mut().zip(weights(column)) {
                *key = key_of(greater(weight * score, ABSENT), place);
            }
        }
        &[(first, score), ref between @ .., (last, last_score)] => {
            let mut other = [ABSENT; LANES];
            let (mut best, mut next) = (best, &mut other[..keys.len()]);
            for (best, weight) in best.iter_mut().zip(weights(first)) {
                *best = greater(weight * score, ABSENT);
            }
            for &(column, score) in between {
                raise(next, best, weights(column), score);
                std::mem::swap(&mut best, &mut next);
            }
            // The last field and the key in one loop: reading back what was just stored would stall.
            let best = best.iter().zip(weights(last));
            for (key, (&best, weight)) in keys.iter_mut().zip(best) {
                *key = key_of(greater(weight * last_score, best), place);
            }
        }
    }
}

/// Leaves a document's score under each candidate in `scores`, given the factors of sum and maximum; [`ABSENT`] where it is no
/// hit.
#[inline(always)]
fn weigh_sum(
    cells: &[(u32, f32)],
    block: &Block,
    (of_sum, of_maximum): (&[f32], &[f32]),
    scores: &mut [f32; LANES],
) {
    let lanes = block.lanes();
    let (mut one, mut other, mut sums) = ([ABSENT; LANES], [ABSENT; LANES], [0.0; LANES]);
    let (mut best, mut next) = (&mut one[..lanes], &mut other[..lanes]);
    let sums = &mut sums[..lanes];
    for &(column, score) in cells {
        let weights = &block.weights(column as usize)[..lanes];
        raise(next, best, weights, score);
        std::mem::swap(&mut best, &mut next);
        for lane in 0..lanes {
            sums[lane] += greater(weights[lane] * score, 0.0);
        }
    }
    let scores = &mut scores[..lanes];
    let (of_sum, of_maximum) = (&of_sum[..lanes], &of_maximum[..lanes]);
    for lane in 0..lanes {
        let combined = of_sum[lane] * sums[lane] + of_maximum[lane] * best[lane];
        scores[lane] = if best[lane] >= 0.0 { combined } else { ABSENT };
    }
}

/// Returns `one` if it is greater than `other`, which no NaN is.
#[inline(always)]
fn greater(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}

/// Leaves in `next` the greater of each `best` and a document's product in a field.
///
/// What may stay as it is goes to another place nevertheless: kept in place it would be stored under a condition, by an
/// instruction of AVX2 that took a fifth of the kernel's time on an EPYC processor.
#[inline(always)]
fn raise(next: &mut [f32], best: &[f32], weights: &[f32], score: f32) {
    let lanes = next.len();
    let (best, weights) = (&best[..lanes], &weights[..lanes]);
    for lane in 0..lanes {
        next[lane] = greater(weights[lane] * score, best[lane]);
    }
}

/// Returns the key of a document with this score and place.
#[inline(always)]
fn key_of(score: f32, place: u64) -> f64 {
    f64::from_bits(f64::from(score).to_bits() | place)
}

/// Keeps the best `K` documents of each lane, best first.
#[inline(always)]
fn select<const K: usize>(lanes: usize, scratch: &mut Scratch) {
    let Scratch { keys, top, .. } = scratch;
    top.clear();
    top.resize(K * LANES, NONE);
    sort_dozen::<K>(lanes, keys, top);
    for keys in keys.chunks_exact(STRIDE * LANES).skip(DOZEN / STRIDE) {
        if enters(lanes, keys, &top[(K - 1) * LANES..]) {
            insert::<K>(lanes, keys, top);
        }
    }
}

/// Documents that are sorted at once.
const DOZEN: usize = 12;

/// Leaves the best of the first [`DOZEN`] documents of each lane in `top`, best first, at most `K`.
///
/// A sorting network of 39 exchanges, where inserting one document after the other takes more than twice as many. Source: the
/// smallest known for 12 inputs (Knuth, volume 3, 5.3.4), as listed by Dobbelaere, *Smallest and fastest sorting networks*.
#[inline(always)]
fn sort_dozen<const K: usize>(lanes: usize, keys: &[f64], top: &mut [f64]) {
    let (keys, top) = (&keys[..DOZEN * LANES], &mut top[..K * LANES]);
    for lane in 0..lanes.min(LANES) {
        let mut best: [f64; DOZEN] = std::array::from_fn(|at| keys[at * LANES + lane]);
        exchange(&mut best, 0, 8);
        exchange(&mut best, 1, 7);
        exchange(&mut best, 2, 6);
        exchange(&mut best, 3, 11);
        exchange(&mut best, 4, 10);
        exchange(&mut best, 5, 9);
        exchange(&mut best, 0, 1);
        exchange(&mut best, 2, 5);
        exchange(&mut best, 3, 4);
        exchange(&mut best, 6, 9);
        exchange(&mut best, 7, 8);
        exchange(&mut best, 10, 11);
        exchange(&mut best, 0, 2);
        exchange(&mut best, 1, 6);
        exchange(&mut best, 5, 10);
        exchange(&mut best, 9, 11);
        exchange(&mut best, 0, 3);
        exchange(&mut best, 1, 2);
        exchange(&mut best, 4, 6);
        exchange(&mut best, 5, 7);
        exchange(&mut best, 8, 11);
        exchange(&mut best, 9, 10);
        exchange(&mut best, 1, 4);
        exchange(&mut best, 3, 5);
        exchange(&mut best, 6, 8);
        exchange(&mut best, 7, 10);
        exchange(&mut best, 1, 3);
        exchange(&mut best, 2, 5);
        exchange(&mut best, 6, 9);
        exchange(&mut best, 8, 10);
        exchange(&mut best, 2, 3);
        exchange(&mut best, 4, 5);
        exchange(&mut best, 6, 7);
        exchange(&mut best, 8, 9);
        exchange(&mut best, 4, 6);
        exchange(&mut best, 5, 7);
        exchange(&mut best, 3, 4);
        exchange(&mut best, 5, 6);
        exchange(&mut best, 7, 8);
        for rank in 0..if K < DOZEN { K } else { DOZEN } {
            // What is no hit ends the list.
            let kept = best[rank];
            top[rank * LANES + lane] = if kept > NONE { kept } else { NONE };
        }
    }
}

/// Puts the greater of two first.
#[inline(always)]
fn exchange(keys: &mut [f64; DOZEN], first: usize, second: usize) {
    let (one, other) = (keys[first], keys[second]);
    keys[first] = if one > other { one } else { other };
    keys[second] = if one > other { other } else { one };
}

/// Returns whether a document of a stride is better than the least of the best in any lane.
#[inline(always)]
fn enters(lanes: usize, keys: &[f64], least: &[f64]) -> bool {
    let (keys, least) = (&keys[..STRIDE * LANES], &least[..LANES]);
    let mut any = 0;
    for lane in 0..lanes.min(LANES) {
        for at in 0..STRIDE {
            any |= u64::from(keys[at * LANES + lane] > least[lane]);
        }
    }
    any != 0
}

/// Inserts the documents of a stride into the best `K` of each lane.
#[inline(always)]
fn insert<const K: usize>(lanes: usize, keys: &[f64], top: &mut [f64]) {
    let (keys, top) = (&keys[..STRIDE * LANES], &mut top[..K * LANES]);
    for lane in 0..lanes.min(LANES) {
        let mut best: [f64; K] = std::array::from_fn(|rank| top[rank * LANES + lane]);
        for at in 0..STRIDE {
            let new = keys[at * LANES + lane];
            for rank in (1..K).rev() {
                let moved = if new < best[rank - 1] {
                    new
                } else {
                    best[rank - 1]
                };
                best[rank] = if moved > best[rank] {
                    moved
                } else {
                    best[rank]
                };
            }
            best[0] = if new > best[0] { new } else { best[0] };
        }
        for rank in 0..K {
            top[rank * LANES + lane] = best[rank];
        }
    }
}

/// Packs the places of the best documents of each lane, cut at the depth asked for.
#[inline(always)]
fn pack(layout: Layout, lanes: usize, scratch: &mut Scratch) {
    let Scratch { top, words, .. } = scratch;
    words.clear();
    words.resize(MOST_WORDS * LANES, 0);
    let mask = layout.mask();
    let ranks = top.chunks_exact(LANES).take(layout.depth as usize);
    for (rank, top) in (0_u32..).zip(ranks) {
        let (word, shift) = (rank / layout.ranks, rank % layout.ranks * layout.bits);
        let words = &mut words[word as usize * LANES..][..lanes];
        let top = &top[..lanes];
        for lane in 0..lanes {
            words[lane] |= (top[lane].to_bits() & mask) << (shift & 63);
        }
    }
}
