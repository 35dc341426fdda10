//! A document under a candidate as one number: numbers compare as documents rank, none are equal, and the greater and the
//! lesser of two carry along whose they are.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

use super::block::{Block, LANES, Lanes};
use super::codes::Layout;
use super::weigh::weigh;
use crate::contenders::Contenders;
use crate::matrix::ABSENT;

/// Numbers that stand for documents.
pub(super) trait Keys: Copy {
    /// The number.
    type Key: Copy + PartialOrd;

    /// Returns what no hit is less than or equal to and no other document is greater than.
    fn none(self) -> Self::Key;

    /// Returns the number of a document with this score and place under the candidate of a lane.
    fn key(self, score: f32, place: u32, lane: usize) -> Self::Key;

    /// Returns the place in a number, if it is that of a hit.
    fn place(self, key: Self::Key) -> u64;
}

/// The score as f64, which leaves the fraction's last 29 bits 0, and the place in these bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Wide {
    /// The bits of a place.
    pub(super) mask: u64,
}

impl Keys for Wide {
    type Key = f64;

    #[inline(always)]
    fn none(self) -> f64 {
        f64::from(ABSENT) // a document that is no hit has the same score and a place that is not 0
    }

    #[inline(always)]
    fn key(self, score: f32, place: u32, _lane: usize) -> f64 {
        f64::from_bits(f64::from(score).to_bits() | u64::from(place))
    }

    #[inline(always)]
    fn place(self, key: f64) -> u64 {
        if key > self.none() {
            key.to_bits() & self.mask
        } else {
            0
        }
    }
}

/// In 32 bits, so that a vector holds twice as many: how many f32 lie between the score and a floor, and the place below that.
///
/// The floor is as far below the best score that the query can give a candidate as the bits reach. What lies below
/// it, which is no hit or a bad one, counts as no hit; [`Self::is_exact`] says whether that makes a difference.
#[derive(Debug, Clone, Copy)]
pub(super) struct Narrow<'a> {
    /// For each candidate the bits of the floor.
    floors: &'a Lanes<i32>,
    /// Bits of a place.
    bits: u32,
}

/// Most bits of a place that leave enough for scores: from the best to a sixteenth of it.
const MOST_BITS: u32 = 7;

/// The floor below which there are only negative scores.
const BELOW_ZERO: i32 = -1;

impl<'a> Narrow<'a> {
    /// Returns the numbers for the candidates of a block, unless places take too many bits; leaves their floors in `floors`.
    #[inline(always)]
    pub(super) fn new(
        contenders: &Contenders,
        block: &Block,
        layout: Layout,
        floors: &'a mut Lanes<i32>,
    ) -> Option<Self> {
        let bits = layout.bits;
        if !(1..=MOST_BITS).contains(&bits) {
            return None;
        }
        let reach = i32::MAX >> (bits - 1);
        let mut best = Lanes::of(ABSENT);
        weigh(contenders.greatest(), block, &mut best);
        for lane in 0..LANES {
            floors[lane] = best[lane]
                .to_bits()
                .cast_signed()
                .saturating_sub(reach)
                .max(BELOW_ZERO);
        }
        Some(Self { floors, bits })
    }

    /// Whether lists whose last numbers are these leave no hit out because its score is below the floor.
    #[inline(always)]
    pub(super) fn is_exact(self, last: &Lanes<i32>, scores: &[Lanes<f32>]) -> bool {
        let mut unfilled = 0;
        for lane in 0..LANES {
            unfilled |= u32::from(last[lane] <= self.none());
        }
        unfilled == 0 || scores.iter().all(|scores| !self.any_below(scores))
    }

    /// Whether a document that is a hit of a candidate has a score at or below its floor.
    #[inline(always)]
    fn any_below(self, scores: &Lanes<f32>) -> bool {
        let mut below = 0;
        for lane in 0..LANES {
            let score = scores[lane].to_bits().cast_signed();
            below |= u32::from(score >= 0) & u32::from(score <= self.floors[lane]);
        }
        below != 0
    }
}

impl Keys for Narrow<'_> {
    type Key = i32;

    #[inline(always)]
    fn none(self) -> i32 {
        i32::MIN | ((1 << self.bits) - 1)
    }

    #[inline(always)]
    fn key(self, score: f32, place: u32, lane: usize) -> i32 {
        let floor = self.floors[lane];
        let score = score.to_bits().cast_signed(); // not negative numbers compare as their bits do
        let above = if score > floor { score } else { floor }.wrapping_sub(floor);
        (above << self.bits) ^ (place.cast_signed() ^ i32::MIN) // the least is that of the floor
    }

    #[inline(always)]
    fn place(self, key: i32) -> u64 {
        let place = if key > self.none() { key } else { 0 };
        u64::from((place & ((1 << self.bits) - 1)).cast_unsigned())
    }
}
