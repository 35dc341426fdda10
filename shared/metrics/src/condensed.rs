//! Condensed lists: rankings without their unjudged hits.

use evalfarm_domain::Grade;

/// Fills `condensed` with the judged hits of a ranking, in rank order, replacing what it held.
///
/// Metrics of a condensed list say how a ranking would look if its unjudged hits were not there. When they contradict
/// the metrics of the full list, the difference is one of coverage. An empty result means that nothing was judged.
///
/// Source: Sakai, *Alternatives to Bpref*, SIGIR 2007.
pub fn condense_into(hits: &[Option<Grade>], condensed: &mut Vec<Option<Grade>>) {
    condensed.clear();
    condensed.extend(hits.iter().filter(|hit| hit.is_some()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ranking::testing::{hits, judged};

    #[test]
    fn judged_hits_move_up() {
        let mut condensed = judged(&[3.0]);
        condense_into(&hits(&[None, Some(0.0), None, Some(2.0)]), &mut condensed);
        assert_eq!(condensed, judged(&[0.0, 2.0]));
        condense_into(&hits(&[None]), &mut condensed);
        assert!(condensed.is_empty());
    }
}
