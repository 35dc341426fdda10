//! Share of judged hits.

use evalfarm_domain::Grade;

/// Returns the judged share of `hits`, cut at k, or nothing when nothing was returned.
///
/// The divisor is what was returned, at most k, as in ir-measures. `trec_eval`'s `unj_k` counts the unjudged over k
/// instead, so a short list looks well judged there (case M24).
pub(crate) fn judged_share(hits: &[Option<Grade>]) -> Option<f64> {
    if hits.is_empty() {
        return None;
    }
    let judged = hits.iter().filter(|hit| hit.is_some()).count();
    Some(judged as f64 / hits.len() as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::hits;

    #[test]
    fn the_divisor_is_what_was_returned() {
        assert_eq!(
            judged_share(&hits(&[Some(1.0), None, Some(0.0), None])),
            Some(0.5)
        );
        assert_eq!(judged_share(&[]), None);
    }
}
