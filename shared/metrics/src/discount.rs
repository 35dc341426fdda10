//! What a rank is worth: 1/log2(rank + 1).

use std::f64::consts::{LOG2_E, SQRT_2};

/// Ranks whose discount is in the table; deeper ones are computed when they are met. Engines are asked for at most
/// 1,000 hits.
const TABLE_RANKS: usize = 1024;

static DISCOUNTS: [f64; TABLE_RANKS] = table();

const fn table() -> [f64; TABLE_RANKS] {
    let mut discounts = [0.0; TABLE_RANKS];
    let mut index = 0;
    while index < TABLE_RANKS {
        discounts[index] = compute(index);
        index += 1;
    }
    discounts
}

/// Returns `1/log2(rank + 1)` for the hit at `index` = rank − 1; exactly 1 for the first.
///
/// Source: Järvelin and Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, TOIS 2002, in the form that
/// Burges et al. (ICML 2005) and `trec_eval` use, which discounts the second rank already.
pub(crate) fn discount(index: usize) -> f64 {
    DISCOUNTS
        .get(index)
        .copied()
        .unwrap_or_else(|| compute(index))
}

/// Returns Σ gain · discount in rank order.
pub(crate) fn discounted_sum(gains: impl Iterator<Item = f64>) -> f64 {
    gains
        .enumerate()
        .fold(0.0, |sum, (index, gain)| sum + gain * discount(index))
}

const fn compute(index: usize) -> f64 {
    1.0 / log2_of(index as u64 + 2)
}

/// Returns log2 of a whole number, with an error below 2 units in the last place and exactly for powers of two.
///
/// ```text
/// n = 2^e · m,   1/√2 < m ≤ √2
/// log2 n = e + 2/ln 2 · artanh((m − 1)/(m + 1)),   artanh s = s + s³/3 + s⁵/5 + …
/// ```
///
/// The standard library's `log2` is the platform's, and platforms differ in the last bit: two workers would then store
/// different values for one ranking. |s| ≤ 0.172, so the first term left out is below 2^-80.
const fn log2_of(n: u64) -> f64 {
    const LAST_TERM: u32 = 14;
    let mut exponent = n.ilog2();
    let mut mantissa = n as f64 / (1_u64 << exponent) as f64;
    if mantissa > SQRT_2 {
        mantissa /= 2.0;
        exponent += 1;
    }
    let s = (mantissa - 1.0) / (mantissa + 1.0);
    let square = s * s;
    let mut series = 0.0;
    let mut term = LAST_TERM + 1;
    while term > 0 {
        term -= 1;
        series = series * square + 1.0 / (2 * term + 1) as f64;
    }
    exponent as f64 + 2.0 * LOG2_E * s * series
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn discounts_are_those_of_the_platform_to_the_last_bits() {
        for index in (0..5000).chain([1_000_000, 4_294_967_294]) {
            let expected = 1.0 / (index as f64 + 2.0).log2();
            let error = (discount(index) - expected).abs() / expected;
            assert!(error <= 3.0 * f64::EPSILON, "index {index}: {error:e}");
        }
    }

    #[test]
    fn powers_of_two_are_exact() {
        // log2 4 = 2, log2 16 = 4, log2 65536 = 16.
        for (index, expected) in [(0, 1.0_f64), (2, 0.5), (14, 0.25), (65534, 0.0625)] {
            assert_eq!(discount(index).to_bits(), expected.to_bits());
        }
    }

    #[test]
    fn the_table_and_the_ranks_below_it_are_one_function() {
        for index in [0, 1, 2, 500, TABLE_RANKS - 1] {
            assert_eq!(discount(index).to_bits(), compute(index).to_bits());
        }
        assert!(discount(TABLE_RANKS) < discount(TABLE_RANKS - 1));
    }

    #[test]
    fn the_bits_are_pinned() {
        // log2 3 = 1.58496250072115618145… (OEIS A020857) rounded to f64, and its reciprocal rounded again: CPython 3.
        // 0.63092975357145743709… itself would round to the neighbour below.
        assert_eq!(discount(1).to_bits(), 0.630_929_753_571_457_5_f64.to_bits());
    }

    #[test]
    fn nothing_sums_to_positive_zero() {
        assert!(discounted_sum(std::iter::empty()).is_sign_positive());
    }
}
