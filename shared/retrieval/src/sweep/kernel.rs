//! The hot loop: the best documents of one query under each candidate of a block.
//!
//! Documents are the outer loop and candidates the inner one, over plain arrays, so that the compiler turns the inner loops into
//! vector instructions without any of ours. Nothing here depends on their width: each lane computes the same products,
//! sums and comparisons in the same order.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use multiversion::multiversion;

use super::block::{Block, LANES, Lanes};
use super::codes::{DEEPEST, Layout, MOST_WORDS};
use super::keys::{Keys, Narrow, Wide};
use super::network::{DOZEN, STRIDE, TEN, merge, sort_dozen};
use super::weigh::weigh;
use crate::contenders::Contenders;
use crate::matrix::ABSENT;

/// Buffers of the kernel: document by document, rank by rank or word by word.
#[derive(Debug)]
pub(super) struct Scratch {
    scores: Vec<Lanes<f32>>,
    /// The place of each document in the tie order, counted from the end and from 1.
    places: Vec<u32>,
    words: Words,
}

/// Packed rankings, word by word.
type Words = [Lanes<u64>; MOST_WORDS];

impl Default for Scratch {
    fn default() -> Self {
        Self {
            scores: Vec::new(),
            places: Vec::new(),
            words: [Lanes::of(0); MOST_WORDS],
        }
    }
}

/// Ranks the contenders under each candidate of a block and leaves the packed rankings in the scratch space.
pub(super) type Kernel = fn(&Contenders, &Block, Layout, &mut Scratch);

impl Scratch {
    /// Returns the packed ranking of a lane.
    pub(super) fn words(&self, lane: usize) -> [u64; MOST_WORDS] {
        std::array::from_fn(|word| self.words[word][lane])
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
    weigh_all(contenders, block, layout, scratch);
    let Scratch {
        scores,
        places,
        words,
    } = scratch;
    let wide = Wide {
        mask: layout.mask(),
    };
    if layout.depth as usize > TEN {
        pack(
            wide,
            layout,
            &select::<_, DEEPEST>(wide, scores, places),
            words,
        );
        return;
    }
    let mut floors = Lanes::of(0);
    if let Some(narrow) = Narrow::new(contenders, block, layout, &mut floors) {
        let top = select::<_, TEN>(narrow, scores, places);
        if narrow.is_exact(&top[layout.depth as usize - 1], scores) {
            pack(narrow, layout, &top, words);
            return;
        }
    }
    pack(wide, layout, &select::<_, TEN>(wide, scores, places), words);
}

/// Leaves each document's score under each candidate and its place in the scratch space, and behind the last document as many
/// that are no hits as fill a dozen and strides.
#[inline(always)]
fn weigh_all(contenders: &Contenders, block: &Block, layout: Layout, scratch: &mut Scratch) {
    let Scratch { scores, places, .. } = scratch;
    let documents = contenders.rows().len();
    let padded = documents.max(DOZEN).next_multiple_of(STRIDE);
    scores.resize(padded, Lanes::of(ABSENT));
    places.clear();
    for (position, scores) in scores.iter_mut().enumerate() {
        // In one loop with what is behind the last: filled apart, that would be scattered document by document.
        let cells = if position < documents {
            contenders.cells(position)
        } else {
            &[]
        };
        weigh(cells, block, scores);
    }
    places.extend((1..=layout.documents).rev());
    places.resize(padded, 1);
}

/// Returns the keys of the best `K` documents of each lane, best first.
#[inline(always)]
fn select<S: Keys, const K: usize>(
    keys: S,
    scores: &[Lanes<f32>],
    places: &[u32],
) -> [Lanes<S::Key>; K] {
    let mut top = [Lanes::of(keys.none()); K];
    let Some((scores, more_scores)) = scores.split_first_chunk::<DOZEN>() else {
        return top;
    };
    let Some((places, more_places)) = places.split_first_chunk::<DOZEN>() else {
        return top;
    };
    for lane in 0..LANES {
        let mut dozen = std::array::from_fn(|at| keys.key(scores[at][lane], places[at], lane));
        sort_dozen(&mut dozen);
        for (top, key) in top.iter_mut().zip(dozen) {
            top[lane] = key;
        }
    }
    let (more_scores, _) = more_scores.as_chunks::<STRIDE>();
    let (more_places, _) = more_places.as_chunks::<STRIDE>();
    for (scores, places) in more_scores.iter().zip(more_places) {
        for lane in 0..LANES {
            let new = std::array::from_fn(|at| keys.key(scores[at][lane], places[at], lane));
            let mut best: [S::Key; K] = std::array::from_fn(|rank| top[rank][lane]);
            merge(&mut best, new);
            for rank in 0..K {
                top[rank][lane] = best[rank];
            }
        }
    }
    top
}

/// Packs the places of the best documents of each lane, cut at the depth asked for.
#[inline(always)]
fn pack<S: Keys>(keys: S, layout: Layout, top: &[Lanes<S::Key>], words: &mut Words) {
    *words = [Lanes::of(0); MOST_WORDS];
    for (rank, top) in (0_u32..).zip(top.iter().take(layout.depth as usize)) {
        let (word, shift) = (rank / layout.ranks, rank % layout.ranks * layout.bits);
        let words = &mut words[word as usize];
        for lane in 0..LANES {
            words[lane] |= keys.place(top[lane]) << (shift & 63);
        }
    }
}
