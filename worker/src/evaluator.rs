//! One job's dataset and index, ready to evaluate any of the job's tasks.

use std::collections::BTreeMap;

use evalfarm_dataset::Dataset;
use evalfarm_domain::{Digest, EvaluateTask, Fold, JobSettings, Query, QueryId};
use evalfarm_metrics::MetricsError;
use evalfarm_results::RowBlock;
use evalfarm_retrieval::{
    Bm25Index, CacheBudget, Rankings, RefusedCandidate, SearchError, Searcher, SweepCache,
};

use crate::digests::DocumentDigests;
use crate::measured::{JudgedQuery, MeasuredQuery};
use crate::{Stop, Stopped};

/// Why a task was not evaluated. None of these is a property of one query: they stop the job.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The dataset is not the one that the job is about.
    #[error("the job is about dataset `{wanted}`, this dataset is `{found}`")]
    OtherDataset {
        /// Fingerprint that the job names.
        wanted: Digest,
        /// Fingerprint of the dataset at hand.
        found: Digest,
    },
    /// The job names a query that the dataset does not have.
    #[error("the job names query `{query}`, which the dataset does not have")]
    UnknownQuery {
        /// The missing query.
        query: QueryId,
    },
    /// The task's queries do not lie inside its fold.
    #[error("queries {first} to {first} + {count} do not lie inside fold `{fold}`")]
    Range {
        /// First query asked for.
        first: u32,
        /// Number of queries asked for.
        count: u32,
        /// The fold.
        fold: &'static str,
    },
    /// A candidate cannot be evaluated by this engine.
    #[error("a candidate was refused")]
    Refused(#[source] RefusedCandidate),
    /// The engine could not answer a query.
    #[error("query `{query}` could not be searched")]
    Search {
        /// The query.
        query: QueryId,
        /// Why.
        #[source]
        source: SearchError,
    },
    /// The judgments of a query cannot be measured.
    #[error("query `{query}` cannot be measured")]
    Metrics {
        /// The query.
        query: QueryId,
        /// What is wrong with its judgments.
        #[source]
        source: MetricsError,
    },
    /// Whoever wanted the task wants it no longer; nothing is wrong with it.
    #[error(transparent)]
    Stopped(#[from] Stopped),
}

/// Evaluates the tasks of one job.
///
/// Cheap to share between threads: each call brings its own scratch space, and what calls leave for each other is a cache that
/// changes how long a task takes and never what it gives.
#[derive(Debug)]
pub struct Evaluator<'a> {
    pub(crate) settings: &'a JobSettings,
    pub(crate) dataset: &'a Dataset,
    pub(crate) index: &'a Bm25Index,
    cache: SweepCache<'a>,
    digests: DocumentDigests<'a>,
    queries: BTreeMap<&'a QueryId, JudgedQuery<'a>>,
}

impl<'a> Evaluator<'a> {
    /// Checks that the dataset is the job's own and has every query that the job names.
    pub fn new(
        settings: &'a JobSettings,
        dataset: &'a Dataset,
        index: &'a Bm25Index,
    ) -> Result<Self, EvaluateError> {
        if dataset.manifest.fingerprint != settings.dataset {
            return Err(EvaluateError::OtherDataset {
                wanted: settings.dataset,
                found: dataset.manifest.fingerprint,
            });
        }
        let known: BTreeMap<&QueryId, &Query> = dataset
            .queries
            .iter()
            .map(|query| (&query.id, query))
            .collect();
        let mut queries = BTreeMap::new();
        for id in settings.folds.values().flatten() {
            let query = known
                .get(id)
                .ok_or_else(|| EvaluateError::UnknownQuery { query: id.clone() })?;
            queries.insert(id, JudgedQuery::new(query, settings, dataset)?);
        }
        Ok(Self {
            settings,
            dataset,
            index,
            cache: index.sweep_cache(CacheBudget::default()),
            digests: DocumentDigests::new(&dataset.corpus.documents),
            queries,
        })
    }

    /// Returns one row for each candidate and query of the task: candidates in task order, queries in fold order.
    ///
    /// Between two queries it looks at `stop`, and fails with [`EvaluateError::Stopped`] once that is set.
    pub fn evaluate(&self, task: &EvaluateTask, stop: &Stop) -> Result<RowBlock, EvaluateError> {
        let measured = self.measure(task, stop)?;
        let mut rows = Vec::with_capacity(task.candidates.len() * measured.len());
        for (position, candidate) in task.candidates.iter().enumerate() {
            let id = candidate.id();
            rows.extend(measured.iter().map(|query| query.row(position, &id)));
        }
        Ok(RowBlock {
            job: task.job.clone(),
            fold: task.fold,
            metrics: self.settings.measurement.metrics.clone(),
            rows,
        })
    }

    /// Returns what the task's rows say, with equal outcomes of a query once: queries in fold order.
    ///
    /// One query at a time, all candidates at once: the engine looks at each posting once, and candidates that rank alike share
    /// what is measured.
    /// Heeds `stop` as [`Self::evaluate`] does.
    pub fn measure(
        &self,
        task: &EvaluateTask,
        stop: &Stop,
    ) -> Result<Vec<MeasuredQuery<'a>>, EvaluateError> {
        let queries = self.range(task.fold, task.first_query, task.query_count)?;
        let prepared = self
            .index
            .prepare(&task.candidates)
            .map_err(EvaluateError::Refused)?;
        let depth = self.settings.measurement.depth.get() as usize;
        let mut searcher = self.searcher();
        let mut rankings = Rankings::default();
        let mut measured = Vec::with_capacity(queries.len());
        for judged in queries {
            stop.check()?;
            searcher
                .rank_many(&judged.query.text, &prepared, depth, &mut rankings)
                .map_err(|source| EvaluateError::Search {
                    query: judged.query.id.clone(),
                    source,
                })?;
            measured.push(judged.measure(&mut rankings, &self.digests));
        }
        Ok(measured)
    }

    /// Returns what one thread needs to search.
    pub(crate) fn searcher(&self) -> Searcher<'_> {
        self.cache.searcher()
    }

    pub(crate) fn range(
        &self,
        fold: Fold,
        first: u32,
        count: u32,
    ) -> Result<Vec<&JudgedQuery<'a>>, EvaluateError> {
        let ids = self
            .settings
            .queries(fold, first, count)
            .ok_or(EvaluateError::Range {
                first,
                count,
                fold: fold.as_str(),
            })?;
        // `new` has looked every id up.
        Ok(ids.iter().map(|id| &self.queries[id]).collect())
    }
}
