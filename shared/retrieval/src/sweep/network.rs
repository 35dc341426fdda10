//! Sorting networks over a few numbers a lane: the same exchanges for every lane, so that lanes are sorted side by side.

#![expect(
    clippy::inline_always,
    reason = "a function compiles for an instruction set only where it is inlined into one that is dispatched on it"
)]

/// Numbers that are sorted at once before others are merged into them.
pub(super) const DOZEN: usize = 12;

/// Numbers that are merged into sorted ones at a time.
pub(super) const STRIDE: usize = 4;

/// Depth of the lists that numbers are merged into.
pub(super) const TEN: usize = 10;

/// Puts the greater of two numbers first, for each pair of places, without a loop: the compiler would keep a loop over pairs, and
/// with it one over lanes, which is then not turned into vectors.
macro_rules! exchange {
    ($numbers:ident: $($first:literal $second:literal),+) => {$({
        let (one, other) = ($numbers[$first], $numbers[$second]);
        $numbers[$first] = if one > other { one } else { other };
        $numbers[$second] = if one > other { other } else { one };
    })+};
}

/// Sorts a dozen, the greatest first.
///
/// 39 exchanges, where inserting one after the other takes more than twice as many. Source: the smallest known for 12 inputs
/// (Knuth, volume 3, 5.3.4), as listed by Dobbelaere, *Smallest and fastest sorting networks*.
#[inline(always)]
pub(super) fn sort_dozen<T: Copy + PartialOrd>(numbers: &mut [T; DOZEN]) {
    exchange!(
        numbers: 0 8, 1 7, 2 6, 3 11, 4 10, 5 9, 0 1, 2 5, 3 4, 6 9, 7 8, 10 11,
        0 2, 1 6, 5 10, 9 11, 0 3, 1 2, 4 6, 5 7, 8 11, 9 10, 1 4, 3 5,
        6 8, 7 10, 1 3, 2 5, 6 9, 8 10, 2 3, 4 5, 6 7, 8 9, 4 6, 5 7,
        3 4, 5 6, 7 8
    );
}

/// Replaces the best `K`, the greatest first, by the best of these and some others.
#[inline(always)]
pub(super) fn merge<T: Copy + PartialOrd, const K: usize>(best: &mut [T; K], others: [T; STRIDE]) {
    if let Some(best) = best.first_chunk_mut::<TEN>().filter(|_| K == TEN) {
        merge_into_ten(best, others);
    } else {
        for other in others {
            insert(best, other);
        }
    }
}

/// Inserts a number into the best `K`, if it is greater than the least of them.
#[inline(always)]
fn insert<T: Copy + PartialOrd, const K: usize>(best: &mut [T; K], new: T) {
    for rank in (1..K).rev() {
        let better = best[rank - 1];
        let moved = if new < better { new } else { better };
        best[rank] = if moved > best[rank] {
            moved
        } else {
            best[rank]
        };
    }
    best[0] = if new > best[0] { new } else { best[0] };
}

/// Replaces the best ten.
///
/// Five exchanges sort the others. Each of them then meets the one of the ten that it would push out, and the greater stays: of
/// what falls and what rises these are the ten greatest (Batcher, *Sorting networks and their applications*, 1968). Fifteen
/// exchanges, found by a search, sort these, where inserting four numbers takes 40. A test checks all inputs.
#[inline(always)]
fn merge_into_ten<T: Copy + PartialOrd>(best: &mut [T; TEN], mut others: [T; STRIDE]) {
    exchange!(others: 0 2, 1 3, 0 1, 2 3, 1 2);
    for (at, other) in others.into_iter().enumerate() {
        let least = &mut best[TEN - 1 - at];
        *least = if other > *least { other } else { *least };
    }
    exchange!(
        best: 1 9, 7 9, 5 9, 4 8, 3 7, 0 4, 2 6, 2 4, 5 7, 6 8, 0 1, 2 3,
        4 5, 6 7, 8 9
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Zeros and ones are enough: a network that sorts them sorts everything (Knuth, volume 3, 5.3.4, theorem Z).
    #[test]
    fn every_dozen_of_zeros_and_ones_is_sorted() {
        for bits in 0..1_u32 << DOZEN {
            let mut numbers: [u32; DOZEN] = std::array::from_fn(|at| bits >> at & 1);
            sort_dozen(&mut numbers);
            assert!(numbers.is_sorted_by(|one, other| one >= other), "{bits:b}");
            assert_eq!(numbers.iter().sum::<u32>(), bits.count_ones());
        }
    }

    #[test]
    fn the_best_ten_are_kept_of_all_zeros_and_ones() {
        for ones in 0..=10 {
            for bits in 0..1_u32 << STRIDE {
                let mut best: [u32; TEN] = std::array::from_fn(|at| u32::from(at < ones));
                merge(&mut best, std::array::from_fn(|at| bits >> at & 1));
                let kept = (ones + bits.count_ones() as usize).min(TEN);
                let expected = std::array::from_fn(|at| u32::from(at < kept));
                assert_eq!(best, expected, "{ones} {bits:b}");
            }
        }
    }
}
