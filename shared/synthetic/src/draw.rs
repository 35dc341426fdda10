//! Seeded choices in integer arithmetic.
//!
//! Every thing that is generated has a stream of its own, named by what it is and its number, so that what one product
//! draws never moves another. Choices are integers throughout: no floating point, and nothing of the random crates
//! beyond the raw words of ChaCha8, whose values their authors promise to keep.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore as _, SeedableRng as _};

/// What a stream of random words is for.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Purpose {
    /// Which kinds and brands are frequent.
    World = 1,
    /// What a product is.
    Product = 2,
    /// How a product is described.
    Text = 3,
    /// What a group of queries is after.
    Intent = 4,
    /// How a query is worded.
    Wording = 5,
    /// Which documents are judged.
    Judging = 6,
}

/// A stream of choices.
#[derive(Debug)]
pub(crate) struct Draw(ChaCha8Rng);

impl Draw {
    /// Returns the stream of the `index`-th thing of a purpose.
    pub(crate) fn new(seed: u64, purpose: Purpose, index: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        key[8] = purpose as u8;
        let mut rng = ChaCha8Rng::from_seed(key);
        rng.set_stream(index);
        Self(rng)
    }

    /// Returns 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Returns a number below `limit`, 0 when the limit is 0.
    ///
    /// The high half of a product: off from uniform by at most `limit` in 2^32.
    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        let product = u64::from(self.0.next_u32()) * u64::from(limit);
        u32::try_from(product >> 32).expect("the high half of a product of two u32 is a u32")
    }

    /// Returns an index into something of `len` items.
    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(u32::try_from(len).unwrap_or(u32::MAX)) as usize
    }

    /// Returns true `per_mille` times in a thousand.
    pub(crate) fn chance(&mut self, per_mille: u32) -> bool {
        self.below(1_000) < per_mille
    }

    /// Returns one of the items, each as likely.
    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    /// Returns the position of one of the weights, each as likely as it is heavy.
    pub(crate) fn weighted(&mut self, weights: &[u32]) -> usize {
        let mut left = self.below(weights.iter().sum());
        for (position, &weight) in weights.iter().enumerate() {
            if left < weight {
                return position;
            }
            left -= weight;
        }
        weights.len() - 1
    }

    /// Puts the items into random order (Fisher and Yates).
    pub(crate) fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.index(last + 1));
        }
    }
}

/// Numbers whose frequency falls with their size: `n` is drawn in proportion to 1/(n + offset).
#[derive(Debug)]
pub(crate) struct Zipf(Vec<u64>);

impl Zipf {
    /// Returns the law for numbers below `len`, which is at least 1; a larger `offset`, at least 1, flattens it.
    pub(crate) fn new(len: usize, offset: u64) -> Self {
        let mut total = 0;
        let cumulative = (0..len as u64).map(|n| {
            total += (1 << 24) / (n + offset);
            total
        });
        Self(cumulative.collect())
    }

    /// Draws a number.
    pub(crate) fn draw(&self, draw: &mut Draw) -> usize {
        let total = u128::from(self.0.last().copied().unwrap_or(1));
        let target = (u128::from(draw.bits()) * total) >> 64;
        self.0.partition_point(|&sum| u128::from(sum) <= target)
    }
}

/// Maps the numbers below 2^`bits` one to one onto themselves, without visible order; `bits` is at most 46.
///
/// Each step is one to one: the exclusive or with a part of the key, an odd factor modulo a power of two, and the
/// exclusive or with the upper half.
pub(crate) fn scramble(number: u64, bits: u32, key: u64) -> u64 {
    let mask = (1 << bits) - 1;
    let mut mixed = number & mask;
    let mut spread = key.wrapping_add(1);
    for factor in ODD_FACTORS {
        // the upper bits of a product depend on all bits of the key
        spread = spread.wrapping_mul(factor);
        mixed ^= spread >> (64 - bits);
        mixed = mixed.wrapping_mul(factor) & mask;
        mixed ^= mixed >> (bits / 2);
    }
    mixed
}

/// Factors whose bits are well mixed, those of Steele, Lea and Flood's `SplitMix64` (2014).
const ODD_FACTORS: [u64; 3] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn scrambling_loses_no_number() {
        for bits in [8, 11, 12] {
            let seen: BTreeSet<u64> = (0..1 << bits).map(|n| scramble(n, bits, 77)).collect();
            assert_eq!(seen.len(), 1 << bits);
            assert_eq!(seen.last(), Some(&((1 << bits) - 1)));
            assert_ne!(scramble(0, bits, 77), scramble(0, bits, 78));
        }
    }

    #[test]
    fn frequencies_fall_as_one_over_n() {
        // 1/1 : 1/2 : 1/4 of 30,000 draws from {0 … 3}: expected 14,400, 7,200, 4,800, 3,600 (sum of 1/n is 25/12).
        let law = Zipf::new(4, 1);
        let mut draw = Draw::new(5, Purpose::World, 0);
        let mut counts = [0_i32; 4];
        for _ in 0..30_000 {
            counts[law.draw(&mut draw)] += 1;
        }
        for (count, expected) in counts.into_iter().zip([14_400, 7_200, 4_800, 3_600]) {
            assert!((count - expected).abs() < 500, "{counts:?}");
        }
    }

    #[test]
    fn streams_do_not_depend_on_one_another() {
        let mut first = Draw::new(1, Purpose::Product, 7);
        let mut other = Draw::new(1, Purpose::Text, 7);
        assert_ne!(first.bits(), other.bits());
        assert_eq!(
            Draw::new(1, Purpose::Product, 8).bits(),
            Draw::new(1, Purpose::Product, 8).bits()
        );
    }
}
