//! What queries have in common, kept between tasks.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use crate::contenders::{Contenders, Needs};
use crate::terms::TermCache;
use crate::{Bm25Index, Searcher};

/// How much memory a [`SweepCache`] may take, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CacheBudget {
    /// For postings with finished contributions, 8 bytes a document and term.
    pub terms: usize,
    /// For the documents of each query that can enter a top k: about 1 KB a query.
    pub contenders: usize,
}

impl Default for CacheBudget {
    /// Returns 64 MiB for terms and 128 MiB for contenders.
    fn default() -> Self {
        Self {
            terms: 64 << 20,
            contenders: 128 << 20,
        }
    }
}

/// What the searchers of several threads share over one index: decoded terms, and per query the documents that matter to a
/// sweep, so that the next round of candidates need not look at postings again.
///
/// It is filled in whatever order threads come and holds no more than its budget; what it does not hold is computed again, so
/// that it changes times and never a result.
#[derive(Debug)]
pub struct SweepCache<'index> {
    pub(crate) index: &'index Bm25Index,
    pub(crate) terms: TermCache,
    budget: usize,
    bytes: AtomicUsize,
    contenders: RwLock<HashMap<Box<str>, Arc<Contenders>>>,
}

impl Bm25Index {
    /// Returns an empty cache for sweeps over this index.
    pub fn sweep_cache(&self, budget: CacheBudget) -> SweepCache<'_> {
        SweepCache {
            index: self,
            terms: TermCache::new(budget.terms),
            budget: budget.contenders,
            bytes: AtomicUsize::new(0),
            contenders: RwLock::default(),
        }
    }
}

impl SweepCache<'_> {
    /// Returns what one thread needs to search with this cache.
    pub fn searcher(&self) -> Searcher<'_> {
        Searcher::with_cache(self)
    }

    /// Returns the contenders of a query, if those that are kept satisfy the needs.
    pub(crate) fn contenders(&self, text: &str, needs: &Needs) -> Option<Arc<Contenders>> {
        let kept = self.contenders.read();
        let kept = kept.unwrap_or_else(PoisonError::into_inner);
        let contenders = kept.get(text)?;
        contenders
            .needs()
            .cover(needs)
            .then(|| Arc::clone(contenders))
    }

    /// Keeps the contenders of a query in place of others, if the budget allows it.
    pub(crate) fn keep(&self, text: &str, contenders: &Arc<Contenders>) {
        let bytes = contenders.bytes() + text.len();
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.budget {
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return;
        }
        let kept = self.contenders.write();
        let mut kept = kept.unwrap_or_else(PoisonError::into_inner);
        if let Some(replaced) = kept.insert(text.into(), Arc::clone(contenders)) {
            let bytes = replaced.bytes() + text.len();
            self.bytes.fetch_sub(bytes, Ordering::Relaxed);
        }
    }
}
