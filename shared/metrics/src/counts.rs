//! Counts, as values of a metric. Under `all` they are summed and not averaged, except `zero_result`.
//!
//! Source: `trec_eval`'s `num_q`, `num_ret`, `num_rel` and `num_rel_ret`.

use evalfarm_domain::Grade;

use crate::ranking::count_relevant;

/// Value of `NumQ` for one query; their sum is the number of queries.
pub(crate) const NUM_Q: f64 = 1.0;

/// Returns the number of hits returned, at whatever depth.
pub(crate) fn num_ret(hits: &[Option<Grade>]) -> f64 {
    hits.len() as f64
}

/// Returns the number of relevant documents as a value.
pub(crate) fn num_rel(relevant: usize) -> f64 {
    relevant as f64
}

/// Returns the number of relevant hits, at whatever depth.
pub(crate) fn num_rel_ret(hits: &[Option<Grade>], relevant_from: Grade) -> f64 {
    count_relevant(hits, relevant_from) as f64
}

/// Returns 1 when nothing was returned, else 0: a cost, whose mean is the zero-result rate.
pub(crate) fn zero_result(hits: &[Option<Grade>]) -> f64 {
    f64::from(u8::from(hits.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn hits_are_counted() {
        let ranking = hits(&[Some(1.0), None, Some(0.0), Some(2.0)]);
        assert_close(num_ret(&ranking), 4.0);
        assert_close(num_rel_ret(&ranking, Grade::RELEVANT), 2.0);
        assert_close(zero_result(&ranking), 0.0);
        assert_close(zero_result(&[]), 1.0);
    }
}
