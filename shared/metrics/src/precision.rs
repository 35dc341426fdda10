//! Precision.

use evalfarm_domain::Grade;

use crate::ranking::{Cutoff, count_relevant};

/// Returns the relevant hits among the first k over k, however few were returned.
///
/// Dividing by the number returned instead would reward a configuration for returning less (case M13).
///
/// Source: `trec_eval`'s `P_k`.
pub(crate) fn precision(hits: &[Option<Grade>], relevant_from: Grade, cutoff: Cutoff) -> f64 {
    count_relevant(cutoff.top(hits), relevant_from) as f64 / cutoff.get() as f64
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::ranking::testing::{assert_close, hits};

    #[test]
    fn the_divisor_is_k() {
        let ranking = hits(&[Some(1.0), None, Some(2.0)]);
        let at = |k| precision(&ranking, Grade::RELEVANT, Cutoff::new(NonZeroU32::new(k)));
        assert_close(at(1), 1.0);
        assert_close(at(2), 0.5);
        assert_close(at(10), 0.2);
    }
}
