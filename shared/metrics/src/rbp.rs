//! Rank-biased precision.

use evalfarm_domain::Grade;

use crate::ranking::is_relevant;

/// Returns the rank-biased precision of `hits`, cut at k.
///
/// ```text
/// RBP(p)@k = (1 − p) · Σ_{i ≤ k, hit i relevant} p^{i−1}
/// ```
///
/// `persistence` p is the probability that the user looks at the next hit. Relevance is binary. The value is the lower
/// bound: what lies beyond the ranking, and unjudged hits, count as not relevant.
///
/// Source: Moffat and Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, TOIS 2008.
pub(crate) fn rank_biased_precision(
    hits: &[Option<Grade>],
    relevant_from: Grade,
    persistence: f64,
) -> f64 {
    let mut weight = 1.0 - persistence;
    let mut sum = 0.0;
    for &hit in hits {
        if is_relevant(hit, relevant_from) {
            sum += weight;
        }
        // Products instead of `powi`, whose rounding is left to the platform.
        weight *= persistence;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn a_ranking_worked_by_hand() {
        // 0.5 · (1 + 0.5²) = 0.625
        let ranking = hits(&[Some(1.0), None, Some(2.0), Some(0.0)]);
        assert_close(rank_biased_precision(&ranking, Grade::RELEVANT, 0.5), 0.625);
        assert_close(rank_biased_precision(&[], Grade::RELEVANT, 0.5), 0.0);
    }
}
