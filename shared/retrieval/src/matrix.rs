//! For one query: each matching document's score in each field.

use crate::field_lists::FieldLists;

/// The score of a field in which a document has no posting. Products with a positive weight stay negative, scores are
/// never negative, so a document is a hit of a candidate iff its greatest product is not negative.
pub(crate) const ABSENT: f32 = -1.0;

/// The slot of a row that does not match.
const NO_SLOT: u32 = u32::MAX;

/// Per-field scores of all documents that match a query in any field; buffers are used again for the next query.
#[derive(Debug)]
pub(crate) struct Matrix {
    slots: Box<[u32]>,
    rows: Vec<u32>,
    /// Field by field, each with one score a slot.
    scores: Vec<f32>,
}

impl Matrix {
    /// Returns a matrix for a corpus of `documents` documents, without any match.
    pub(crate) fn new(documents: u32) -> Self {
        Self {
            slots: vec![NO_SLOT; documents as usize].into(),
            rows: Vec::new(),
            scores: Vec::new(),
        }
    }

    /// Returns the matching rows; a slot is an index into them.
    pub(crate) fn rows(&self) -> &[u32] {
        &self.rows
    }

    /// Returns the scores of one field, one a slot, [`ABSENT`] where a document has no posting in it.
    pub(crate) fn column(&self, column: usize) -> &[f32] {
        let slots = self.rows.len();
        &self.scores[column * slots..][..slots]
    }

    /// Returns the slot of a row that matches.
    pub(crate) fn slot(&self, row: u32) -> Option<usize> {
        let slot = self.slots.get(row as usize).copied();
        slot.filter(|&slot| slot != NO_SLOT)
            .map(|slot| slot as usize)
    }

    /// Replaces the matrix by that of another query, over `columns` fields.
    pub(crate) fn fill(&mut self, lists: &FieldLists, columns: usize) {
        for &row in &self.rows {
            self.slots[row as usize] = NO_SLOT;
        }
        self.rows.clear();
        for column in 0..columns {
            for &row in lists.list(column).rows {
                let slot = &mut self.slots[row as usize];
                if *slot == NO_SLOT {
                    *slot =
                        u32::try_from(self.rows.len()).expect("there are no more slots than rows");
                    self.rows.push(row);
                }
            }
        }
        let slots = self.rows.len();
        self.scores.clear();
        self.scores.resize(columns * slots, ABSENT);
        for column in 0..columns {
            let list = lists.list(column);
            let scores = &mut self.scores[column * slots..][..slots];
            for (&row, &score) in list.rows.iter().zip(list.scores) {
                scores[self.slots[row as usize] as usize] = score;
            }
        }
    }
}
