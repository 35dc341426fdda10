//! For one query: the scores of each field, one list a field.

use std::sync::Arc;

use crate::terms::{Posting, TermScores};

/// The scores of one field: the documents that have a term of the query in it.
///
/// Invariants: as many scores as rows; rows ascend; scores are finite and not negative.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FieldList<'a> {
    pub(crate) rows: &'a [u32],
    pub(crate) scores: &'a [f32],
}

/// The terms of a query, and their contributions added up in the fields where this was asked for; buffers are used again for
/// the next query.
#[derive(Debug, Default)]
pub(crate) struct FieldLists {
    terms: Vec<Arc<TermScores>>,
    documents: u32,
    /// Where several terms meet in a field: one sum a document of the corpus, 0 between uses.
    sums: Vec<f64>,
    /// One bit a document of the corpus, 0 between uses.
    touched: Vec<u64>,
    merged: Vec<Merged>,
}

/// The list of a field in which several terms meet.
#[derive(Debug, Default)]
struct Merged {
    rows: Vec<u32>,
    scores: Vec<f32>,
    is_done: bool,
}

impl FieldLists {
    /// Turns to another query: its terms in byte order, over `columns` fields of a corpus of `documents` documents.
    pub(crate) fn collect(&mut self, terms: Vec<Arc<TermScores>>, columns: usize, documents: u32) {
        self.terms = terms;
        self.documents = documents;
        self.merged.resize_with(columns, Merged::default);
        for merged in &mut self.merged {
            merged.is_done = false;
        }
    }

    /// Returns the number of documents of the corpus.
    pub(crate) fn documents(&self) -> u32 {
        self.documents
    }

    /// Returns the postings of one field that have a document, in byte order of their terms.
    pub(crate) fn postings(&self, column: usize) -> impl Iterator<Item = &Posting> {
        postings(&self.terms, column)
    }

    /// Lends the postings of one field and a buffer of one sum a document of the corpus, all 0 and to be left so.
    pub(crate) fn with_sums<T>(
        &mut self,
        column: usize,
        add_up: impl FnOnce(&[&Posting], &mut [f64]) -> T,
    ) -> T {
        self.sums.resize(self.documents as usize, 0.0);
        let postings: Vec<&Posting> = postings(&self.terms, column).collect();
        add_up(&postings, &mut self.sums)
    }

    /// Has the list of one field at hand.
    pub(crate) fn merge(&mut self, column: usize) {
        let merged = &mut self.merged[column];
        if merged.is_done {
            return;
        }
        merged.is_done = true;
        merged.rows.clear();
        merged.scores.clear();
        if postings(&self.terms, column).nth(1).is_some() {
            self.sums.resize(self.documents as usize, 0.0);
            self.touched.resize(self.documents.div_ceil(64) as usize, 0);
            let postings = postings(&self.terms, column);
            merge(postings, &mut self.sums, &mut self.touched, merged);
        }
    }

    /// Returns the list of one field, which has to be at hand.
    pub(crate) fn list(&self, column: usize) -> FieldList<'_> {
        let mut found = postings(&self.terms, column);
        match (found.next(), found.next()) {
            (None, _) => FieldList::default(),
            (Some(only), None) => FieldList {
                rows: &only.rows,
                scores: &only.scores,
            },
            (Some(_), Some(_)) => FieldList {
                rows: &self.merged[column].rows,
                scores: &self.merged[column].scores,
            },
        }
    }
}

/// Returns the postings of a field that have a document, in byte order of their terms.
fn postings(terms: &[Arc<TermScores>], column: usize) -> impl Iterator<Item = &Posting> {
    let postings = terms.iter().map(move |term| term.posting(column));
    postings.filter(|posting| !posting.rows.is_empty())
}

/// Adds postings up.
///
/// A field's score is the sum of its terms' contributions in byte order of the terms, in f64, rounded to f32, so that the
/// order of the words in the query does not matter to the last bit.
fn merge<'a>(
    postings: impl Iterator<Item = &'a Posting>,
    sums: &mut [f64],
    touched: &mut [u64],
    merged: &mut Merged,
) {
    let (mut first, mut last) = (usize::MAX, 0);
    for posting in postings {
        for (&row, &score) in posting.rows.iter().zip(&posting.scores) {
            sums[row as usize] += f64::from(score);
            touched[row as usize / 64] |= 1 << (row % 64);
        }
        if let (Some(&low), Some(&high)) = (posting.rows.first(), posting.rows.last()) {
            first = first.min(low as usize / 64);
            last = last.max(high as usize / 64);
        }
    }
    let words = touched.iter_mut().enumerate().take(last + 1).skip(first);
    for (at, word) in words {
        let mut bits = std::mem::take(word);
        while bits != 0 {
            let row = at * 64 + bits.trailing_zeros() as usize;
            bits &= bits - 1;
            #[expect(
                clippy::cast_possible_truncation,
                reason = "Lucene rounds a sum to f32, and rows are u32"
            )]
            {
                merged.rows.push(row as u32);
                merged.scores.push(sums[row] as f32);
            }
            sums[row] = 0.0;
        }
    }
}
