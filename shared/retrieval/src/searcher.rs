//! One pass over the postings, then every candidate as a re-weighting.

use std::num::NonZeroU32;
use std::sync::Arc;

use evalfarm_domain::{Combine, FieldName};

use crate::index::quoted;
use crate::matrix::{ABSENT, Matrix};
use crate::top::TopDocuments;
use crate::{Bm25Index, Prepared, PreparedCandidate, SearchError};

/// A hit: a document with a posting in a field that the candidate searches, whatever its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredDocument {
    /// Index into the corpus's documents.
    pub row: u32,
    /// The score; finite and not negative.
    pub score: f32,
}

/// What one thread needs to search: an index and buffers that grow to the largest query.
#[derive(Debug)]
pub struct Searcher<'index> {
    index: &'index Bm25Index,
    matrix: Matrix,
    best: Vec<f32>,
    sums: Vec<f32>,
    top: TopDocuments,
}

impl<'index> Searcher<'index> {
    pub(crate) fn new(index: &'index Bm25Index) -> Self {
        Self {
            index,
            matrix: Matrix::new(index.documents),
            best: Vec::new(),
            sums: Vec::new(),
            top: TopDocuments::default(),
        }
    }

    /// Answers a query for each candidate: calls `visit` with its position and its best `depth` hits, in candidate
    /// order.
    ///
    /// Hits are in the one order: score descending, then document id bytes descending. A query without tokens has none.
    pub fn search_many(
        &mut self,
        text: &str,
        candidates: &Prepared,
        depth: usize,
        visit: &mut dyn FnMut(usize, &[ScoredDocument]),
    ) -> Result<(), SearchError> {
        self.check(candidates)?;
        self.matrix.collect(self.index, text)?;
        for (position, candidate) in candidates.candidates().iter().enumerate() {
            self.weigh(candidate);
            let hits = self.top.select(&self.best, self.matrix.rows(), depth);
            visit(position, hits);
        }
        Ok(())
    }

    /// Returns, for each candidate, the rank (from 1) of each of `rows` among the best `depth` hits, and nothing for a row
    /// that is not among them.
    pub fn ranks_of(
        &mut self,
        text: &str,
        candidates: &Prepared,
        rows: &[u32],
        depth: usize,
    ) -> Result<Vec<Vec<Option<NonZeroU32>>>, SearchError> {
        let mut ranks = Vec::with_capacity(candidates.candidates().len());
        self.search_many(text, candidates, depth, &mut |_, hits| {
            let rank_of = |&row: &u32| {
                let position = hits.iter().position(|hit| hit.row == row)?;
                u32::try_from(position + 1).ok().and_then(NonZeroU32::new)
            };
            ranks.push(rows.iter().map(rank_of).collect());
        })?;
        Ok(ranks)
    }

    /// Returns, for each of `rows`, the fields that the candidate at `position` searches and in which the document has a
    /// term of the query; none for a document that is no hit, and none for a position that does not exist.
    pub fn matched_fields(
        &mut self,
        text: &str,
        candidates: &Prepared,
        position: usize,
        rows: &[u32],
    ) -> Result<Vec<Vec<&'index FieldName>>, SearchError> {
        self.check(candidates)?;
        self.matrix.collect(self.index, text)?;
        let candidate = candidates.candidates().get(position);
        let weights = candidate.map_or(&[][..], |candidate| &candidate.weights);
        let fields_of = |&row: &u32| {
            let slot = self.matrix.slot(row);
            let matches = |&&(column, _): &&(usize, f32)| {
                slot.is_some_and(|slot| self.matrix.column(column)[slot] >= 0.0)
            };
            let fields = weights.iter().filter(matches);
            fields
                .map(|&(column, _)| &self.index.fields[column])
                .collect()
        };
        Ok(rows.iter().map(fields_of).collect())
    }

    fn check(&self, candidates: &Prepared) -> Result<(), SearchError> {
        if Arc::ptr_eq(&candidates.fields, &self.index.fields)
            || candidates.fields == self.index.fields
        {
            return Ok(());
        }
        Err(SearchError::OtherFields {
            prepared: quoted(&candidates.fields),
            known: self.index.known_fields(),
        })
    }

    /// Leaves each slot's score under the candidate in `self.best`, negative where the document is no hit.
    ///
    /// Products are computed in f32 and summed in the corpus's field order, so that every build gives the same bits.
    fn weigh(&mut self, candidate: &PreparedCandidate) {
        let slots = self.matrix.rows().len();
        self.best.clear();
        self.best.resize(slots, ABSENT);
        let plain_maximum = candidate.combine == (Combine::BestFields { tie_breaker: 0.0 });
        if plain_maximum {
            for &(column, weight) in &candidate.weights {
                for (best, score) in self.best.iter_mut().zip(self.matrix.column(column)) {
                    *best = greater(*best, weight * score);
                }
            }
            return;
        }
        self.sums.clear();
        self.sums.resize(slots, 0.0);
        for &(column, weight) in &candidate.weights {
            let slots = self.best.iter_mut().zip(&mut self.sums);
            for ((best, sum), score) in slots.zip(self.matrix.column(column)) {
                let product = weight * score;
                *best = greater(*best, product);
                *sum += greater(product, 0.0);
            }
        }
        for (best, &sum) in self.best.iter_mut().zip(&self.sums) {
            if *best >= 0.0 {
                *best = PreparedCandidate::combined(candidate.combine, sum, *best);
            }
        }
    }
}

/// Returns the greater of two numbers that are not NaN; one instruction, unlike `f32::max`.
fn greater(one: f32, other: f32) -> f32 {
    if one > other { one } else { other }
}
