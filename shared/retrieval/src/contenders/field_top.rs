//! The best k scores of one field.

use super::Margin;
use crate::field_lists::FieldList;
use crate::matrix::ABSENT;

/// Scores that are looked at together before any of them is looked at alone.
const CHUNK: usize = 32;

/// Finds the k-th best score; the buffer is used again for the next field.
pub(super) struct KthBest {
    depth: usize,
    /// The best scores so far, falling; at most `depth`.
    best: Vec<f32>,
    survivors: Vec<(u32, f32)>,
}

/// Returns by how much other fields can raise a score above that of a document's best field: `1 + t · (fields − 1)`.
pub(super) fn relaxed(tie_breaker: f32, fields: usize) -> f32 {
    1.0 + tie_breaker * fields.saturating_sub(1) as f32
}

impl KthBest {
    pub(super) fn new(depth: usize) -> Self {
        Self {
            depth,
            best: Vec::new(),
            survivors: Vec::new(),
        }
    }

    /// Returns the k-th best of `scores`, [`ABSENT`] when there are fewer.
    pub(super) fn of(&mut self, scores: &[f32]) -> f32 {
        self.best.clear();
        let mut least = ABSENT;
        for chunk in scores.chunks(CHUNK) {
            if any_above(chunk, least) {
                for &score in chunk {
                    if score > least {
                        least = self.insert(score);
                    }
                }
            }
        }
        least
    }

    /// Adds the rows of a field's own top k to `rows`: those that fewer than k others certainly precede.
    ///
    /// Documents are met in the tie order, so that one whose score k earlier ones reach is out; and one is out when the k-th
    /// best score of all exceeds its own by the margin.
    pub(super) fn pick_top(&mut self, list: FieldList<'_>, margin: Margin, rows: &mut Vec<u32>) {
        self.best.clear();
        self.survivors.clear();
        let mut least = ABSENT;
        let chunks = list.rows.rchunks(CHUNK).zip(list.scores.rchunks(CHUNK));
        for (chunk_rows, chunk) in chunks {
            if any_above(chunk, least) {
                for (&row, &score) in chunk_rows.iter().zip(chunk).rev() {
                    if score > least {
                        self.survivors.push((row, score));
                        least = self.insert(score);
                    }
                }
            }
        }
        let kept = self.survivors.iter();
        let kept = kept.filter(|&&(_, score)| margin.raised(score) > least);
        rows.extend(kept.map(|&(row, _)| row));
    }

    /// Adds a score if it is among the best, and returns the least of these, [`ABSENT`] as long as there are fewer than k.
    pub(super) fn insert_if_above(&mut self, score: f32) -> f32 {
        let least = self.least();
        if score > least {
            self.insert(score)
        } else {
            least
        }
    }

    fn least(&self) -> f32 {
        match self.best.last() {
            Some(&least) if self.best.len() == self.depth => least,
            Some(_) | None => ABSENT,
        }
    }

    /// Adds a score that is above the least of the best, and returns the new least, [`ABSENT`] as long as there are fewer
    /// than k.
    fn insert(&mut self, score: f32) -> f32 {
        if self.best.len() < self.depth {
            self.best.push(score);
        }
        // Nearly always few have to move, which a loop does faster than a search and a copy.
        let mut at = self.best.len() - 1;
        while at > 0 && self.best[at - 1] < score {
            self.best[at] = self.best[at - 1];
            at -= 1;
        }
        self.best[at] = score;
        self.least()
    }
}

/// Adds the rows whose scores are worth keeping to `rows`.
pub(super) fn pick(list: FieldList<'_>, keep: impl Fn(f32) -> bool, rows: &mut Vec<u32>) {
    let kept = list.rows.iter().zip(list.scores);
    rows.extend(kept.filter(|&(_, &score)| keep(score)).map(|(&row, _)| row));
}

/// Whether any score is greater than `least`.
#[expect(
    clippy::needless_bitwise_bool,
    reason = "without a branch a score the loop is a few vector instructions"
)]
fn any_above(scores: &[f32], least: f32) -> bool {
    scores
        .iter()
        .fold(false, |any, &score| any | (score > least))
}
