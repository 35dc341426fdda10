//! Precision at the number of relevant documents.

use evalfarm_domain::Grade;

use crate::ranking::count_relevant;

/// Returns the relevant hits among the first R over R, where R is the number of relevant documents; 0 when R is 0.
///
/// Source: `trec_eval`'s `Rprec`.
pub(crate) fn r_precision(hits: &[Option<Grade>], relevant_from: Grade, relevant: usize) -> f64 {
    if relevant == 0 {
        return 0.0;
    }
    let top = hits.get(..relevant).unwrap_or(hits);
    count_relevant(top, relevant_from) as f64 / relevant as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, judged};

    #[test]
    fn the_ranking_is_cut_at_the_number_of_relevant_documents() {
        let ranking = judged(&[1.0, 0.0, 1.0]);
        assert_close(r_precision(&ranking, Grade::RELEVANT, 2), 0.5);
        assert_close(r_precision(&ranking, Grade::RELEVANT, 5), 0.4);
        assert_close(r_precision(&ranking, Grade::RELEVANT, 0), 0.0);
    }
}
