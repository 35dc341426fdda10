//! Average precision.

use evalfarm_domain::Grade;

use crate::ranking::is_relevant;

/// Returns the average precision of `hits`, cut at k; 0 when no document is relevant.
///
/// ```text
/// AP@k = 1/R · Σ_{i ≤ k, hit i relevant} (relevant hits among the first i) / i
/// ```
///
/// R is the number of *all* relevant documents, so what was not retrieved counts as precision 0 (case M20); it is not
/// min(k, R) either.
///
/// Source: Buckley and Voorhees, in *TREC: Experiment and Evaluation in Information Retrieval*, 2005; `trec_eval`'s
/// `map` and `map_cut`.
pub(crate) fn average_precision(
    hits: &[Option<Grade>],
    relevant_from: Grade,
    relevant: usize,
) -> f64 {
    if relevant == 0 {
        return 0.0;
    }
    let mut found = 0.0;
    let mut sum = 0.0;
    for (index, &hit) in hits.iter().enumerate() {
        if is_relevant(hit, relevant_from) {
            found += 1.0;
            sum += found / (index as f64 + 1.0);
        }
    }
    sum / relevant as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn precisions_at_the_relevant_hits_over_all_relevant() {
        // (1/1 + 2/3) / 3
        let ranking = hits(&[Some(1.0), None, Some(1.0)]);
        assert_close(average_precision(&ranking, Grade::RELEVANT, 3), 5.0 / 9.0);
        assert_close(average_precision(&ranking, Grade::RELEVANT, 0), 0.0);
        assert_close(average_precision(&[], Grade::RELEVANT, 3), 0.0);
    }
}
