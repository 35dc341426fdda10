//! Success.

use evalfarm_domain::Grade;

use crate::ranking::is_relevant;

/// Returns 1 when any of `hits`, cut at k, is relevant, else 0: what others call hit rate.
///
/// Source: `trec_eval`'s `success_k`.
pub(crate) fn success(hits: &[Option<Grade>], relevant_from: Grade) -> f64 {
    f64::from(u8::from(
        hits.iter().any(|&hit| is_relevant(hit, relevant_from)),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn one_relevant_hit_is_enough() {
        let ranking = hits(&[None, Some(0.0), Some(1.0), Some(1.0)]);
        assert_close(success(&ranking, Grade::RELEVANT), 1.0);
        assert_close(success(&ranking[..2], Grade::RELEVANT), 0.0);
        assert_close(success(&[], Grade::RELEVANT), 0.0);
    }
}
