//! Recall.

use evalfarm_domain::Grade;

use crate::ranking::count_relevant;

/// Returns the relevant hits of `hits`, cut at k, over all relevant documents; 0 when no document is relevant.
///
/// Not capped: with 20 relevant documents R@10 is at most 0.5 (cases M19, M31). `R_cap@k`, over min(k, relevant), is
/// another metric and not offered.
///
/// Source: `trec_eval`'s `recall_k`.
pub(crate) fn recall(hits: &[Option<Grade>], relevant_from: Grade, relevant: usize) -> f64 {
    if relevant == 0 {
        return 0.0;
    }
    count_relevant(hits, relevant_from) as f64 / relevant as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, judged};

    #[test]
    fn the_divisor_is_all_that_is_relevant() {
        let ranking = judged(&[1.0, 0.0, 1.0]);
        assert_close(recall(&ranking, Grade::RELEVANT, 20), 0.1);
        assert_close(recall(&ranking, Grade::RELEVANT, 0), 0.0);
    }
}
