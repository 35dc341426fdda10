//! For one query: each matching document's score in each field.

use std::collections::BTreeMap;

use crate::index::IndexedField;
use crate::{Bm25Index, SearchError};

/// The score of a field in which a document has no posting. Products with a positive weight stay negative, scores are
/// never negative, so a document is a hit of a candidate iff its greatest product is not negative.
pub(crate) const ABSENT: f32 = -1.0;

/// The slot of a row that does not match.
const NO_SLOT: u32 = u32::MAX;

/// Per-field scores of the documents that match a query in any field; buffers are used again for the next query.
#[derive(Debug)]
pub(crate) struct Matrix {
    slots: Box<[u32]>,
    rows: Vec<u32>,
    /// Slot by slot, each with one sum a field.
    sums: Vec<f64>,
    /// Field by field, each with one score a slot.
    scores: Vec<f32>,
}

impl Matrix {
    /// Returns a matrix for a corpus of `documents` documents, without any match.
    pub(crate) fn new(documents: u32) -> Self {
        Self {
            slots: vec![NO_SLOT; documents as usize].into(),
            rows: Vec::new(),
            sums: Vec::new(),
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

    /// Replaces the matrix by that of another query.
    ///
    /// A field's score is the sum of its terms' contributions in byte order of the terms, in f64, rounded to f32, so that
    /// the order of the words in the query does not matter to the last bit.
    pub(crate) fn collect(&mut self, index: &Bm25Index, text: &str) -> Result<(), SearchError> {
        for &row in &self.rows {
            self.slots[row as usize] = NO_SLOT;
        }
        self.rows.clear();
        self.sums.clear();
        let terms = query_terms(index, text);
        let fields = index.columns.len();
        for (column, field) in index.columns.iter().enumerate() {
            for (term, &occurrences) in &terms {
                self.add_term(field, (column, fields), (term, occurrences))
                    .map_err(|source| SearchError::Postings {
                        field: field.name().clone(),
                        source,
                    })?;
            }
        }
        self.scores.clear();
        for column in 0..fields {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "Lucene rounds a sum to f32"
            )]
            let scores = self
                .sums
                .chunks_exact(fields)
                .map(|slot| slot[column] as f32);
            self.scores.extend(scores);
        }
        Ok(())
    }

    /// Adds the contributions of one term in one field.
    fn add_term(
        &mut self,
        field: &IndexedField,
        (column, fields): (usize, usize),
        (term, occurrences): (&str, u32),
    ) -> std::io::Result<()> {
        let Some(mut postings) = field.postings(term)? else {
            return Ok(());
        };
        // A term that occurs twice in the query is one clause with a doubled boost.
        let weight = occurrences as f32 * field.statistics.idf(postings.doc_freq());
        while !postings.docs().is_empty() {
            for (&row, &frequency) in postings.docs().iter().zip(postings.freqs()) {
                let length = field.lengths[row as usize];
                let added = field.statistics.contribution(weight, frequency, length);
                let slot = self.slot_for(row, fields);
                let sum = &mut self.sums[slot * fields + column];
                *sum = sum.max(0.0) + f64::from(added);
            }
            postings.advance();
        }
        Ok(())
    }

    /// Returns the slot of a row, a new one if it has none yet.
    fn slot_for(&mut self, row: u32, fields: usize) -> usize {
        let slot = &mut self.slots[row as usize];
        if *slot == NO_SLOT {
            *slot = u32::try_from(self.rows.len()).expect("there are no more slots than rows");
            self.rows.push(row);
            let end = self.sums.len() + fields;
            self.sums.resize(end, f64::from(ABSENT));
        }
        *slot as usize
    }
}

/// Returns the distinct terms of a query with how often they occur, in byte order.
pub(crate) fn query_terms(index: &Bm25Index, text: &str) -> BTreeMap<String, u32> {
    let mut terms = BTreeMap::new();
    index.analyzer.for_each_token(text, |token| {
        let occurrences: &mut u32 = terms.entry(token.to_owned()).or_default();
        *occurrences = occurrences.saturating_add(1);
    });
    terms
}
