//! Whether a test can say anything, computed before it is run.

use std::num::NonZeroU32;

use crate::{Correction, PValue, benjamini_hochberg, holm};

/// Returns the smallest two-sided p-value that a sign-flip test of `changed` units can give.
///
/// ```text
/// 2^(1−k) when all 2^k ≤ B assignments are enumerated, else max(2^(1−k), 1/(1+B));   1 for k = 0
/// ```
///
/// It is reached when all changes have the same sign. From k = 6 on it lies below .05.
///
/// # Panics
///
/// Never: the floor is at least 2^-999.
pub fn smallest_p(changed: usize, resamples: NonZeroU32) -> PValue {
    let exponent = i32::try_from(changed).unwrap_or(i32::MAX).min(1000);
    let floor = 2.0_f64.powi(1 - exponent.max(1));
    let enumerated = exponent < 32 && 2.0_f64.powi(exponent) <= f64::from(resamples.get());
    let least = 1.0 / (1.0 + f64::from(resamples.get()));
    let floor = if enumerated { floor } else { floor.max(least) };
    PValue::try_from(floor).expect("2^-999 is a normal number, and 2^0 is 1")
}

/// Returns for each hypothesis whether the family could reject it at `alpha`, given the smallest p-value of each.
///
/// The correction is applied to the floors themselves. A lone moving hypothesis among `m` then needs k ≥ 1 + log2(m/α)
/// changes under Benjamini-Hochberg and Holm. Under [`Correction::MaxT`] the hypothesis may hold the maximum in every
/// resample, so its own floor decides: k ≥ 1 + log2(1/α).
pub fn decidable(floors: &[PValue], correction: Correction, alpha: f64) -> Vec<bool> {
    let adjusted = match correction {
        Correction::BenjaminiHochberg => benjamini_hochberg(floors),
        Correction::Holm => holm(floors),
        Correction::MaxT => floors.to_vec(),
    };
    adjusted
        .iter()
        .map(|floor| floor.value() <= alpha)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const B: NonZeroU32 = NonZeroU32::new(10_000).unwrap();

    #[test]
    fn s3_floors_halve_with_each_changed_query() {
        // cases.md S3.
        let expected = [
            1.0,
            0.5,
            0.25,
            0.125,
            0.0625,
            0.031_25,
            0.015_625,
            0.007_812_5,
        ];
        for (k, floor) in (1..).zip(expected) {
            assert_eq!(smallest_p(k, B).value().to_bits(), f64::to_bits(floor));
        }
        assert_eq!(smallest_p(0, B), PValue::ONE);
    }

    #[test]
    fn s6_sampled_floors_are_one_over_resamples_plus_one() {
        assert_eq!(
            smallest_p(13, B).value().to_bits(),
            2.0_f64.powi(-12).to_bits()
        );
        for k in [15, 600, usize::MAX] {
            assert_eq!(
                smallest_p(k, B).value().to_bits(),
                (1.0 / 10_001.0_f64).to_bits()
            );
        }
    }

    #[test]
    fn s3_a_lone_moving_metric_of_three_needs_seven_changes_under_bh() {
        for (k, expected) in [(5, false), (6, false), (7, true)] {
            let floors = [smallest_p(k, B), PValue::ONE, PValue::ONE];
            for correction in [Correction::BenjaminiHochberg, Correction::Holm] {
                assert_eq!(decidable(&floors, correction, 0.05)[0], expected, "k = {k}");
            }
            assert_eq!(decidable(&floors, Correction::MaxT, 0.05)[0], k >= 6);
        }
        let all_move = [smallest_p(6, B); 3];
        assert!(decidable(&all_move, Correction::BenjaminiHochberg, 0.05)[0]);
        assert!(!decidable(&all_move, Correction::Holm, 0.05)[0]);
    }

    #[test]
    fn s9_an_empty_family_has_an_empty_result() {
        assert!(decidable(&[], Correction::Holm, 0.05).is_empty());
    }
}
