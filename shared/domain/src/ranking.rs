//! Rankings: the one order in which hits are compared.

use std::cmp::Ordering;

use crate::DocId;

/// A document in a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The document.
    pub document: DocId,
    /// The engine's score; finite.
    pub score: f32,
}

/// Compares two hits by the one order of this project: score descending, then document id bytes descending.
///
/// This is `trec_eval`'s rule for run files. `Less` means that the first hit ranks before the second. Scores are compared
/// with `total_cmp`; ‑0.0 never occurs, because scores are sums of non-negative products.
pub fn rank_order(first: (f32, &str), second: (f32, &str)) -> Ordering {
    second
        .0
        .total_cmp(&first.0)
        .then_with(|| second.1.as_bytes().cmp(first.1.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_rank_by_descending_document_id() {
        // cases.md M1: x5, x7 and x9 with equal scores rank x9, x7, x5.
        let mut hits = vec![(3.0, "x5"), (3.0, "x9"), (3.0, "x7"), (4.0, "a")];
        hits.sort_by(|&a, &b| rank_order(a, b));
        assert_eq!(hits, [(4.0, "a"), (3.0, "x9"), (3.0, "x7"), (3.0, "x5")]);
    }
}
