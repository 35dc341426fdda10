//! One pass over the postings, then every candidate as a re-weighting.

use std::sync::Arc;

use evalfarm_domain::{Combine, FieldName};

use crate::contenders::{Contenders, Margin};
use crate::field_lists::FieldLists;
use crate::index::quoted;
use crate::matrix::{ABSENT, Matrix};
use crate::sweep::Sweeper;
use crate::terms::{Decoder, TermCache, query_terms};
use crate::top::TopDocuments;
use crate::{Bm25Index, Prepared, PreparedCandidate, Rankings, SearchError, SweepCache};

/// A hit: a document with a posting in a field that the candidate searches, whatever its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScoredDocument {
    /// Index into the corpus's documents.
    pub row: u32,
    /// The score; finite and not negative.
    pub score: f32,
}

/// Candidates that are worth pruning for: fewer are evaluated on all matching documents.
const FEWEST_TO_PRUNE: usize = 4;

/// The same where fields add up, which makes pruning dearer.
const FEWEST_TO_PRUNE_SUMS: usize = 12;

/// Deepest lists that are pruned for: deeper ones leave too many documents.
const DEEPEST_TO_PRUNE: usize = 128;

/// Bytes of decoded terms that a searcher without a shared cache keeps.
const OWN_TERMS: usize = 16 << 20;

/// What one thread needs to search: an index and buffers that grow to the largest query.
#[derive(Debug)]
pub struct Searcher<'a> {
    index: &'a Bm25Index,
    cache: Option<&'a SweepCache<'a>>,
    own_terms: TermCache,
    decoder: Decoder,
    lists: FieldLists,
    /// The query whose lists and matrix are at hand.
    listed: Option<Box<str>>,
    filled: bool,
    matrix: Matrix,
    best: Vec<f32>,
    sums: Vec<f32>,
    top: TopDocuments,
    sweeper: Sweeper,
}

impl<'a> Searcher<'a> {
    pub(crate) fn new(index: &'a Bm25Index) -> Self {
        Self {
            index,
            cache: None,
            own_terms: TermCache::new(OWN_TERMS),
            decoder: Decoder::default(),
            lists: FieldLists::default(),
            listed: None,
            filled: false,
            matrix: Matrix::new(index.documents),
            best: Vec::new(),
            sums: Vec::new(),
            top: TopDocuments::default(),
            sweeper: Sweeper::default(),
        }
    }

    pub(crate) fn with_cache(cache: &'a SweepCache<'a>) -> Self {
        Self {
            cache: Some(cache),
            ..Self::new(cache.index)
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
        if let Some(contenders) = self.contenders(text, candidates, depth)? {
            for (position, candidate) in candidates.candidates().iter().enumerate() {
                visit(position, self.sweeper.select(&contenders, candidate, depth));
            }
            return Ok(());
        }
        self.fill(text)?;
        for (position, candidate) in candidates.candidates().iter().enumerate() {
            self.weigh(candidate);
            let hits = self.top.select(&self.best, self.matrix.rows(), depth);
            visit(position, hits);
        }
        Ok(())
    }

    /// Answers a query for many candidates at once: fills `rankings` with the best `depth` documents of each.
    ///
    /// The rankings are those of [`Self::search_many`]. Documents that cannot be among the best whatever the weights are left
    /// out before any candidate is looked at, and candidates are evaluated side by side.
    pub fn rank_many(
        &mut self,
        text: &str,
        candidates: &Prepared,
        depth: usize,
        rankings: &mut Rankings,
    ) -> Result<(), SearchError> {
        self.check(candidates)?;
        let all = candidates.candidates();
        if let Some(contenders) = self.contenders(text, candidates, depth)? {
            self.sweeper
                .rank(&contenders, all, &candidates.blocks, depth, rankings);
            return Ok(());
        }
        self.fill(text)?;
        rankings.clear(all.len());
        for candidate in all {
            self.weigh(candidate);
            let hits = self.top.select(&self.best, self.matrix.rows(), depth);
            rankings.add(hits.iter().map(|hit| hit.row));
        }
        Ok(())
    }

    /// Returns, for each of `rows`, the fields that the candidate at `position` searches and in which the document has a
    /// term of the query; none for a document that is no hit, and none for a position that does not exist.
    pub fn matched_fields(
        &mut self,
        text: &str,
        candidates: &Prepared,
        position: usize,
        rows: &[u32],
    ) -> Result<Vec<Vec<&'a FieldName>>, SearchError> {
        self.check(candidates)?;
        self.fill(text)?;
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

    /// Returns the documents that can enter the top `depth` of any of the candidates, unless they are too few candidates or
    /// the lists too deep for that to pay.
    fn contenders(
        &mut self,
        text: &str,
        candidates: &Prepared,
        depth: usize,
    ) -> Result<Option<Arc<Contenders>>, SearchError> {
        let needs = candidates.needs(depth);
        let fewest = if needs.tie_breaker > 0.0 {
            FEWEST_TO_PRUNE_SUMS
        } else {
            FEWEST_TO_PRUNE
        };
        if !(1..=DEEPEST_TO_PRUNE).contains(&depth) {
            return Ok(None);
        }
        if let Some(kept) = self.cache.and_then(|cache| cache.contenders(text, &needs)) {
            return Ok(Some(kept));
        }
        // With a cache the next round of candidates is spared the postings, which pays for a single candidate already.
        if self.cache.is_none() && candidates.candidates().len() < fewest {
            return Ok(None);
        }
        self.list(text)?;
        let margin = Margin::for_columns(needs.columns.len());
        let contenders = Arc::new(Contenders::find(&mut self.lists, needs, margin));
        if let Some(cache) = self.cache {
            cache.keep(text, &contenders);
        }
        Ok(Some(contenders))
    }

    /// Has the lists of a query at hand.
    fn list(&mut self, text: &str) -> Result<(), SearchError> {
        if self.listed.as_deref() == Some(text) {
            return Ok(());
        }
        self.listed = None;
        let terms = query_terms(self.index, text).into_iter();
        let cache = self.cache.map_or(&self.own_terms, |cache| &cache.terms);
        let decoder = &mut self.decoder;
        let get = |(term, count): (String, u32)| cache.get(self.index, &term, count, decoder);
        let terms = terms.map(get);
        let terms = terms.collect::<Result<_, _>>()?;
        let columns = self.index.columns.len();
        self.lists.collect(terms, columns, self.index.documents);
        self.listed = Some(text.into());
        self.filled = false;
        Ok(())
    }

    /// Has the matrix of a query at hand.
    fn fill(&mut self, text: &str) -> Result<(), SearchError> {
        self.list(text)?;
        if !self.filled {
            let columns = self.index.columns.len();
            (0..columns).for_each(|column| self.lists.merge(column));
            self.matrix.fill(&self.lists, self.index.columns.len());
            self.filled = true;
        }
        Ok(())
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
