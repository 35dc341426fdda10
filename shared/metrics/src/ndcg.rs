//! Normalised discounted cumulative gain.

use evalfarm_domain::{DcgGain, Gains, Grade};

use crate::discount::discounted_sum;
use crate::ranking::Cutoff;

/// Returns nDCG of a ranking, between 0 and 1; 0 when the ideal is 0.
///
/// ```text
/// DCG@k = Σ_{i=1}^{k} gain(grade_i) / log2(i + 1)        nDCG@k = DCG@k / ideal
/// ```
///
/// `hits` is cut at k; an unjudged hit gains nothing. `ideal` comes from [`ideal_dcg`] with the same gain and cutoff.
///
/// Source: Järvelin and Kekäläinen, TOIS 2002; `trec_eval` 9 and 10, `ndcg_cut`.
pub(crate) fn ndcg(hits: &[Option<Grade>], gain: impl Fn(Grade) -> f64, ideal: f64) -> f64 {
    if ideal <= 0.0 {
        return 0.0;
    }
    let dcg = discounted_sum(hits.iter().map(|hit| hit.map_or(0.0, &gain)));
    // Only rounding can lift a ranking of distinct documents above the ideal.
    (dcg / ideal).min(1.0)
}

/// Returns the DCG@k of the best possible ranking: *all* judged documents by falling gain, cut at k. 0 when no judged
/// document gains anything.
///
/// Not the best order of what was retrieved: a run that returns one of two relevant documents at rank 1 has 0.613147,
/// not 1 (cases M14, M15).
pub(crate) fn ideal_dcg(falling_gains: &[f64], cutoff: Cutoff) -> f64 {
    discounted_sum(cutoff.top(falling_gains).iter().copied())
}

/// Returns the gain of a grade, or nothing when the declared gain map does not list it.
pub(crate) fn gain_of(gain: DcgGain, declared: &Gains, grade: Grade) -> Option<f64> {
    match gain {
        DcgGain::Declared => declared.gain(grade),
        DcgGain::Exponential => Gains::Exponential.gain(grade),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits, judged};

    fn linear(grade: Grade) -> f64 {
        Gains::Linear.gain(grade).unwrap()
    }

    #[test]
    fn a_ranking_worked_by_hand() {
        // DCG = 0 + 2/log2 3 + 3/2 + 1/log2 5 = 3.192535988, ideal = 3 + 2/log2 3 + 1/2 = 4.761859507.
        let value = ndcg(
            &judged(&[0.0, 2.0, 3.0, 1.0]),
            linear,
            ideal_dcg(&[3.0, 2.0, 1.0, 0.0], Cutoff::new(None)),
        );
        assert_close(value, 0.670_438_945_211_932_3); // pytrec_eval-terrier 0.5.11
    }

    #[test]
    fn nothing_to_gain_is_zero_and_not_nan() {
        assert_close(ndcg(&judged(&[0.0]), linear, 0.0), 0.0);
        assert_close(ndcg(&[], linear, 1.0), 0.0);
        assert_close(ndcg(&hits(&[None, None]), linear, 1.0), 0.0);
    }

    #[test]
    fn a_perfect_ranking_is_exactly_one() {
        let gains = [3.0, 3.0, 2.0, 1.0, 1.0, 0.0];
        let value = ndcg(
            &judged(&gains),
            linear,
            ideal_dcg(&gains, Cutoff::new(None)),
        );
        assert_eq!(value.to_bits(), 1.0_f64.to_bits());
    }
}
