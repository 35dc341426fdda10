//! Corrections for testing many hypotheses at once.

use serde::{Deserialize, Serialize};

use crate::PValue;

/// How the p-values of a family are corrected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Correction {
    /// Benjamini and Hochberg: bounds the expected share of false rejections among the rejections.
    #[serde(rename = "bh")]
    BenjaminiHochberg,
    /// Holm: bounds the probability of any false rejection, under any dependence.
    #[serde(rename = "holm")]
    Holm,
    /// Westfall and Young's step-down maximum: as Holm, using the dependence that the shared resamples show.
    #[serde(rename = "max_t")]
    MaxT,
}

impl Correction {
    /// Returns the name that policies and verdicts use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BenjaminiHochberg => "bh",
            Self::Holm => "holm",
            Self::MaxT => "max_t",
        }
    }
}

/// Returns the adjusted p-values of Benjamini and Hochberg, in the order of `family`.
///
/// ```text
/// q(i) = min_{j ≥ i} min(1, m · p(j) / j),   p(1) ≤ … ≤ p(m)
/// ```
///
/// Rejecting q ≤ α bounds the false discovery rate by α for independent or positively dependent hypotheses. An empty
/// family has an empty result.
///
/// Source: Benjamini and Hochberg, *Controlling the false discovery rate*, 1995; adjusted form as in statsmodels' `fdr_bh`.
pub fn benjamini_hochberg(family: &[PValue]) -> Vec<PValue> {
    let m = family.len() as f64;
    let mut adjusted = family.to_vec();
    let mut least = PValue::ONE;
    for (index, &hypothesis) in ascending(family).iter().enumerate().rev() {
        let q = family[hypothesis].scaled(m / (index + 1) as f64);
        if q < least {
            least = q;
        }
        adjusted[hypothesis] = least;
    }
    adjusted
}

/// Returns the adjusted p-values of Holm, in the order of `family`.
///
/// ```text
/// q(i) = max_{j ≤ i} min(1, (m − j + 1) · p(j)),   p(1) ≤ … ≤ p(m)
/// ```
///
/// Rejecting q ≤ α bounds the family-wise error rate by α. An empty family has an empty result.
///
/// Source: Holm, *A simple sequentially rejective multiple test procedure*, 1979.
pub fn holm(family: &[PValue]) -> Vec<PValue> {
    let m = family.len();
    let mut adjusted = family.to_vec();
    let mut greatest = None;
    for (index, &hypothesis) in ascending(family).iter().enumerate() {
        let q = family[hypothesis].scaled((m - index) as f64);
        let q = greatest.map_or(q, |before| q.max(before));
        greatest = Some(q);
        adjusted[hypothesis] = q;
    }
    adjusted
}

/// Returns the indices of the family by ascending p-value, ties by index.
fn ascending(family: &[PValue]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..family.len()).collect();
    order.sort_by(|&a, &b| family[a].value().total_cmp(&family[b].value()));
    order
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn family(values: &[f64]) -> Vec<PValue> {
        values
            .iter()
            .map(|&p| PValue::try_from(p).unwrap())
            .collect()
    }

    fn numbers(family: &[PValue]) -> Vec<f64> {
        family.iter().map(|p| p.value()).collect()
    }

    #[test]
    fn s8_a_hypothesis_without_a_p_value_counts_as_one_and_keeps_its_place() {
        // cases.md S8: .001, .02, (NaN as 1), .04 with m = 4.
        let q = numbers(&benjamini_hochberg(&family(&[0.001, 0.02, 1.0, 0.04])));
        for (q, expected) in q.iter().zip([0.004, 0.04, 1.0, 0.16 / 3.0]) {
            assert!((q - expected).abs() < 1e-12, "{q} is not {expected}");
        }
    }

    #[test]
    fn s9_an_empty_family_has_an_empty_result() {
        assert!(benjamini_hochberg(&[]).is_empty());
        assert!(holm(&[]).is_empty());
    }

    #[test]
    fn holm_of_a_hand_worked_family() {
        // By hand: sorted .01 .02 .03 .04 times 4 3 2 1 = .04 .06 .06 .04, made monotone .04 .06 .06 .06.
        let q = numbers(&holm(&family(&[0.03, 0.01, 0.04, 0.02])));
        for (q, expected) in q.iter().zip([0.06, 0.04, 0.06, 0.06]) {
            assert!((q - expected).abs() < 1e-12, "{q} is not {expected}");
        }
    }

    proptest! {
        #[test]
        fn adjusted_values_are_no_smaller_and_keep_the_order(values in prop::collection::vec(1e-6..=1.0_f64, 1..40)) {
            let raw = family(&values);
            for adjusted in [benjamini_hochberg(&raw), holm(&raw)] {
                for (before, after) in raw.iter().zip(&adjusted) {
                    prop_assert!(after >= before);
                }
                let order = ascending(&raw);
                for pair in order.windows(2) {
                    prop_assert!(adjusted[pair[0]] <= adjusted[pair[1]]);
                }
            }
        }

        #[test]
        fn s12_adding_hypotheses_only_raises_holm(values in prop::collection::vec(1e-6..=1.0_f64, 2..40)) {
            let raw = family(&values);
            let whole = holm(&raw);
            let part = holm(&raw[..raw.len() - 1]);
            for (small, large) in part.iter().zip(&whole) {
                prop_assert!(large >= small);
            }
        }
    }
}
