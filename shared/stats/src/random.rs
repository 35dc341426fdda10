//! Draws from a random stream.

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

/// Returns stream `number` of the generator that `seed` gives.
pub(crate) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut stream = ChaCha8Rng::seed_from_u64(seed);
    stream.set_stream(number);
    stream
}

/// Draws a whole number below `bound`, as `⌊word · bound / 2^64⌋` of one 64-bit word; its bias is below bound/2^64.
pub(crate) fn below(stream: &mut ChaCha8Rng, bound: usize) -> usize {
    let wide = u128::from(stream.next_u64()) * bound as u128;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the upper half of the product lies below the bound"
    )]
    let drawn = (wide >> 64) as usize;
    drawn
}
