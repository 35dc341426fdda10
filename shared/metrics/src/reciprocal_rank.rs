//! Reciprocal rank.

use evalfarm_domain::Grade;

use crate::ranking::is_relevant;

/// Returns 1/rank of the first relevant hit; 0 when none of `hits`, cut at k, is relevant.
///
/// Without a cutoff this is `trec_eval`'s `recip_rank`; a first relevant hit at rank 11 gives RR 0.0909 but RR@10 0.
///
/// Source: Voorhees, *The TREC-8 question answering track report*, 1999.
pub(crate) fn reciprocal_rank(hits: &[Option<Grade>], relevant_from: Grade) -> f64 {
    hits.iter()
        .position(|&hit| is_relevant(hit, relevant_from))
        .map_or(0.0, |index| 1.0 / (index as f64 + 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn the_first_relevant_hit_decides() {
        let ranking = hits(&[None, Some(0.0), Some(1.0), Some(3.0)]);
        assert_close(reciprocal_rank(&ranking, Grade::RELEVANT), 1.0 / 3.0);
        assert_close(reciprocal_rank(&ranking[..2], Grade::RELEVANT), 0.0);
        assert_close(reciprocal_rank(&[], Grade::RELEVANT), 0.0);
    }
}
