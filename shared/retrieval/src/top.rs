//! The best of many scored documents.

use std::cmp::Reverse;

use crate::ScoredDocument;

/// Selects the best documents by the one order: score descending, then document id bytes descending.
///
/// Rows are in ascending id order, so a higher row precedes at an equal score; and scores are finite and not negative, so
/// their bits order as they do. Score bits above row bits are therefore one integer that orders like
/// `evalfarm_domain::rank_order`, and no two documents have the same.
#[derive(Debug, Default)]
pub(crate) struct TopDocuments {
    keys: Vec<u64>,
    hits: Vec<ScoredDocument>,
}

impl TopDocuments {
    /// Returns the best `depth` of the documents, best first. A negative score marks a document that is no hit.
    pub(crate) fn select(
        &mut self,
        scores: &[f32],
        rows: &[u32],
        depth: usize,
    ) -> &[ScoredDocument] {
        self.keys.clear();
        self.hits.clear();
        if depth == 0 {
            return &self.hits;
        }
        let room = depth.saturating_mul(2).saturating_add(64);
        let mut least = 0;
        for (&score, &row) in scores.iter().zip(rows) {
            let key = u64::from(score.to_bits()) << 32 | u64::from(row);
            if score >= 0.0 && key >= least {
                self.keys.push(key);
                if self.keys.len() == room {
                    least = self.keep_best(depth);
                }
            }
        }
        if self.keys.len() > depth {
            self.keep_best(depth);
        }
        self.keys.sort_unstable_by_key(|&key| Reverse(key));
        self.hits.extend(self.keys.iter().map(|&key| unpack(key)));
        &self.hits
    }

    /// Drops all but the best `depth` keys, of which there are more, and returns the least of these.
    fn keep_best(&mut self, depth: usize) -> u64 {
        let (_, &mut least, _) = self
            .keys
            .select_nth_unstable_by_key(depth - 1, |&key| Reverse(key));
        self.keys.truncate(depth);
        least
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "each half of the key is taken on its own"
)]
fn unpack(key: u64) -> ScoredDocument {
    ScoredDocument {
        row: key as u32,
        score: f32::from_bits((key >> 32) as u32),
    }
}
