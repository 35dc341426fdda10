//! Expected reciprocal rank.

use evalfarm_domain::Grade;

/// Returns the expected reciprocal rank of `hits`, cut at k, between 0 and 1.
///
/// ```text
/// ERR@k = Σ_{i=1}^{k} 1/i · R_i · Π_{j<i} (1 − R_j),        R_i = (2^{grade_i} − 1) / 2^{top}
/// ```
///
/// R is the probability that the hit satisfies the user, who reads on otherwise. It reads the grade and not the gain:
/// gains are free up to a factor, a probability is not. So a gain map changes nDCG but not ERR, and of a map only its
/// highest grade counts, as `top_grade`. An unjudged or negative hit never satisfies. ERR is not normalised: a perfect
/// ranking is below 1.
///
/// Source: Chapelle, Metzler, Zhang and Grinspan, *Expected reciprocal rank for graded relevance*, CIKM 2009, equations
/// 2 and 4; TREC's `gdeval.pl` is the same with `top` fixed at 4.
pub(crate) fn expected_reciprocal_rank(hits: &[Option<Grade>], top_grade: Grade) -> f64 {
    let scale = top_grade.value().max(0.0).exp2();
    let mut reading_on = 1.0;
    let mut sum = 0.0;
    for (index, hit) in hits.iter().enumerate() {
        let satisfied = hit.map_or(0.0, |grade| (grade.value().max(0.0).exp2() - 1.0) / scale);
        sum += reading_on * satisfied / (index as f64 + 1.0);
        reading_on *= 1.0 - satisfied;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, grade, hits, judged};

    #[test]
    fn a_ranking_worked_by_hand() {
        // top 2: R = 1/4, 3/4, 0. ERR = 1/4 + 1/2 · 3/4 · 3/4 = 17/32.
        let value = expected_reciprocal_rank(&judged(&[1.0, 2.0, 0.0]), grade(2.0));
        assert_close(value, 17.0 / 32.0);
    }

    #[test]
    fn unjudged_and_negative_hits_never_satisfy() {
        let value = expected_reciprocal_rank(&hits(&[None, Some(-2.0), Some(1.0)]), grade(1.0));
        assert_close(value, 1.0 / 6.0); // R = 1/2 at rank 3
        assert_close(expected_reciprocal_rank(&judged(&[0.0]), grade(0.0)), 0.0);
        assert_close(expected_reciprocal_rank(&judged(&[-1.0]), grade(-1.0)), 0.0);
    }
}
