//! Terms of a query with what they add to each document's scores.

use std::collections::HashMap;
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use tantivy::postings::BlockSegmentPostings;

use crate::index::IndexedField;
use crate::matrix::ABSENT;
use crate::{Bm25Index, SearchError};

/// The documents that have a term in one field, with what the term adds to their scores in it.
///
/// Invariants: as many scores as rows; rows ascend; scores are finite and not negative.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Posting {
    pub(crate) rows: Box<[u32]>,
    pub(crate) scores: Box<[f32]>,
    /// The greatest score, and in each place a score that as many others reach as come before it, falling; at most [`BEST`].
    pub(crate) best: Box<[f32]>,
}

/// Best scores that a posting keeps: depths up to this are pruned for without adding all postings up.
const BEST: usize = 16;

impl Posting {
    /// Returns the posting of these rows, ascending, and scores.
    pub(crate) fn new(rows: Box<[u32]>, scores: Box<[f32]>) -> Self {
        let best = best(&scores);
        Self { rows, scores, best }
    }

    /// Returns the memory that the posting takes.
    fn bytes(&self) -> usize {
        size_of::<Self>()
            + size_of_val(&*self.rows)
            + size_of_val(&*self.scores)
            + size_of_val(&*self.best)
    }
}

/// Returns the greatest scores of [`BEST`] groups, falling: other groups have what is reached, at least once each. These are not
/// quite the best scores of all, but found without a branch a score.
fn best(scores: &[f32]) -> Box<[f32]> {
    let mut best = [ABSENT; BEST];
    let (groups, rest) = scores.as_chunks::<BEST>();
    for group in groups.iter().map(|group| &group[..]).chain([rest]) {
        for (best, &score) in best.iter_mut().zip(group) {
            *best = if score > *best { score } else { *best };
        }
    }
    best.sort_unstable_by(|one, other| other.total_cmp(one));
    best[..scores.len().min(BEST)].into()
}

/// A term that occurs a given number of times in a query: one posting for each field of the corpus.
#[derive(Debug)]
pub(crate) struct TermScores(Box<[Posting]>);

impl TermScores {
    /// Returns a term with one posting for each field.
    #[cfg(test)]
    pub(crate) fn new(postings: Box<[Posting]>) -> Self {
        Self(postings)
    }

    /// Reads the term's postings and computes its contributions.
    fn decode(
        index: &Bm25Index,
        term: &str,
        occurrences: u32,
        decoder: &mut Decoder,
    ) -> Result<Self, SearchError> {
        let postings = index.columns.iter().map(|field| {
            posting(field, term, occurrences, decoder).map_err(|source| SearchError::Postings {
                field: field.name().clone(),
                source,
            })
        });
        Ok(Self(postings.collect::<Result<_, _>>()?))
    }

    /// Returns the posting of one field.
    pub(crate) fn posting(&self, column: usize) -> &Posting {
        &self.0[column]
    }

    /// Returns the memory that the term takes.
    fn bytes(&self) -> usize {
        self.0.iter().map(Posting::bytes).sum()
    }
}

/// What postings are decoded with, used again for the next term.
#[derive(Default)]
pub(crate) struct Decoder(Option<BlockSegmentPostings>);

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").finish_non_exhaustive()
    }
}

fn posting(
    field: &IndexedField,
    term: &str,
    occurrences: u32,
    decoder: &mut Decoder,
) -> std::io::Result<Posting> {
    let Some(postings) = field.postings(term, &mut decoder.0)? else {
        return Ok(Posting::default());
    };
    let documents = postings.doc_freq() as usize;
    let mut rows = Vec::with_capacity(documents);
    let mut scores = Vec::with_capacity(documents);
    // A term that occurs twice in the query is one clause with a doubled boost.
    let weight = occurrences as f32 * field.statistics.idf(postings.doc_freq());
    while !postings.docs().is_empty() {
        let block = postings.docs();
        rows.extend_from_slice(block);
        let lengths = block.iter().map(|&row| field.lengths[row as usize]);
        let statistics = &field.statistics;
        statistics.contributions(weight, postings.freqs(), lengths, &mut scores);
        postings.advance();
    }
    Ok(Posting::new(rows.into(), scores.into()))
}

/// By term, each with how often it occurs in the query; nearly always once.
type Terms = HashMap<Box<str>, Vec<(u32, Arc<TermScores>)>>;

/// Decoded terms, shared by threads, up to a number of bytes. What does not fit is decoded again for each query, which
/// changes the time and never the scores.
#[derive(Debug)]
pub(crate) struct TermCache {
    budget: usize,
    bytes: AtomicUsize,
    terms: RwLock<Terms>,
}

impl TermCache {
    /// Returns an empty cache that holds at most `budget` bytes of postings.
    pub(crate) fn new(budget: usize) -> Self {
        Self {
            budget,
            bytes: AtomicUsize::new(0),
            terms: RwLock::default(),
        }
    }

    /// Returns a term, decoded now if it was not before.
    pub(crate) fn get(
        &self,
        index: &Bm25Index,
        term: &str,
        occurrences: u32,
        decoder: &mut Decoder,
    ) -> Result<Arc<TermScores>, SearchError> {
        let find = |stored: &Terms| {
            let stored = stored.get(term)?.iter();
            let mut stored = stored.filter(|&&(count, _)| count == occurrences);
            stored.next().map(|(_, scores)| Arc::clone(scores))
        };
        let terms = self.terms.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(scores) = find(&terms) {
            return Ok(scores);
        }
        drop(terms);
        let scores = Arc::new(TermScores::decode(index, term, occurrences, decoder)?);
        let bytes = scores.bytes() + term.len();
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Ok(scores);
        }
        let mut terms = self.terms.write().unwrap_or_else(PoisonError::into_inner);
        if let Some(stored) = find(&terms) {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return Ok(stored);
        }
        let stored = terms.entry(term.into()).or_default();
        stored.push((occurrences, Arc::clone(&scores)));
        Ok(scores)
    }
}

/// Returns the distinct terms of a query with how often they occur, in byte order.
pub(crate) fn query_terms(index: &Bm25Index, text: &str) -> Vec<(String, u32)> {
    let mut terms: Vec<(String, u32)> = Vec::new();
    index
        .analyzer
        .for_each_token(text, |token| terms.push((token.to_owned(), 1)));
    terms.sort_unstable();
    terms.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        kept.1 = kept.1.saturating_add(u32::from(same));
        same
    });
    terms
}
