//! One job's dataset and index, ready to evaluate any of the job's tasks.

use std::collections::BTreeMap;

use evalfarm_dataset::Dataset;
use evalfarm_domain::{
    Candidate, CandidateId, Digest, EvaluateTask, Fold, Grade, JobSettings, Query, QueryId,
    QueryJudgments, RerankStatus, RewriteStatus,
};
use evalfarm_metrics::{MetricsError, QueryMetrics};
use evalfarm_results::{QueryRow, RowBlock};
use evalfarm_retrieval::{Bm25Index, RefusedCandidate, ScoredDocument, SearchError};

/// Why a task could not be evaluated. None of these is a property of one query: they stop the job.
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
}

/// Evaluates the tasks of one job.
///
/// Cheap to share between threads: everything in it is read only, and each call brings its own scratch space.
#[derive(Debug)]
pub struct Evaluator<'a> {
    pub(crate) settings: &'a JobSettings,
    pub(crate) dataset: &'a Dataset,
    pub(crate) index: &'a Bm25Index,
    queries: BTreeMap<&'a QueryId, &'a Query>,
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
        let queries: BTreeMap<&QueryId, &Query> = dataset
            .queries
            .iter()
            .map(|query| (&query.id, query))
            .collect();
        let missing = settings
            .folds
            .values()
            .flatten()
            .find(|id| !queries.contains_key(id));
        match missing {
            Some(query) => Err(EvaluateError::UnknownQuery {
                query: query.clone(),
            }),
            None => Ok(Self {
                settings,
                dataset,
                index,
                queries,
            }),
        }
    }

    /// Returns one row for each candidate and query of the task: candidates in task order, queries in fold order.
    pub fn evaluate(&self, task: &EvaluateTask) -> Result<RowBlock, EvaluateError> {
        let queries = self.range(task.fold, task.first_query, task.query_count)?;
        let prepared = self
            .index
            .prepare(&task.candidates)
            .map_err(EvaluateError::Refused)?;
        let ids: Vec<_> = task.candidates.iter().map(Candidate::id).collect();
        let depth = self.depth();
        let mut searcher = self.index.searcher();
        // One query at a time, all candidates at once: the engine reads each posting list once.
        let mut by_query: Vec<Vec<QueryRow>> = Vec::with_capacity(queries.len());
        for &query in &queries {
            let measured = self.measured(query)?;
            let mut rows = Vec::with_capacity(ids.len());
            searcher
                .search_many(&query.text, &prepared, depth, &mut |position, hits| {
                    rows.push(measured.row(ids[position].clone(), hits));
                })
                .map_err(|source| EvaluateError::Search {
                    query: query.id.clone(),
                    source,
                })?;
            by_query.push(rows);
        }
        let mut columns: Vec<_> = by_query.into_iter().map(Vec::into_iter).collect();
        let mut rows = Vec::with_capacity(ids.len() * queries.len());
        for _ in &ids {
            rows.extend(columns.iter_mut().filter_map(Iterator::next));
        }
        Ok(RowBlock {
            job: task.job.clone(),
            fold: task.fold,
            metrics: self.settings.measurement.metrics.clone(),
            rows,
        })
    }

    pub(crate) fn range(
        &self,
        fold: Fold,
        first: u32,
        count: u32,
    ) -> Result<Vec<&'a Query>, EvaluateError> {
        let ids = self
            .settings
            .queries(fold, first, count)
            .ok_or(EvaluateError::Range {
                first,
                count,
                fold: fold.as_str(),
            })?;
        // `new` has looked every id up.
        Ok(ids.iter().map(|id| self.queries[id]).collect())
    }

    /// Hits looked at for each query.
    pub(crate) fn depth(&self) -> usize {
        self.settings.measurement.depth.get() as usize
    }

    fn measured(&self, query: &'a Query) -> Result<MeasuredQuery<'_>, EvaluateError> {
        let judgments = self.dataset.judgments.query(query.id.as_str());
        let metrics =
            QueryMetrics::new(&self.settings.measurement, judgments).map_err(|source| {
                EvaluateError::Metrics {
                    query: query.id.clone(),
                    source,
                }
            })?;
        Ok(MeasuredQuery {
            evaluator: self,
            query,
            metrics,
            grades: self.grades_by_row(query),
        })
    }

    /// Returns the judged documents of a query that the corpus has, as rows of the corpus in ascending order.
    pub(crate) fn grades_by_row(&self, query: &Query) -> Vec<(u32, Grade)> {
        let documents = &self.dataset.corpus.documents;
        self.dataset
            .judgments
            .query(query.id.as_str())
            .into_iter()
            .flat_map(QueryJudgments::iter)
            .filter_map(|(id, grade)| {
                let row = documents
                    .binary_search_by(|document| document.id.cmp(id))
                    .ok()?;
                Some((u32::try_from(row).ok()?, grade))
            })
            .collect()
    }
}

/// A query with what its judgments make of a ranking.
struct MeasuredQuery<'a> {
    evaluator: &'a Evaluator<'a>,
    query: &'a Query,
    metrics: QueryMetrics,
    grades: Vec<(u32, Grade)>,
}

impl MeasuredQuery<'_> {
    fn row(&self, candidate: CandidateId, hits: &[ScoredDocument]) -> QueryRow {
        let grades: Vec<Option<Grade>> = hits.iter().map(|hit| self.grade(hit.row)).collect();
        let mut values = Vec::new();
        self.metrics.values_into(&grades, &mut values);
        let judged = grades.iter().flatten().count();
        QueryRow {
            candidate,
            query: self.query.id.clone(),
            scored: values.iter().map(|value| value.unwrap_or(0.0)).collect(),
            values,
            judged_share: (!hits.is_empty()).then(|| judged as f64 / hits.len() as f64),
            zero_result: hits.is_empty(),
            hits_returned: u32::try_from(hits.len()).unwrap_or(u32::MAX),
            top_digest: self.digest(hits),
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotRequested,
            failure: None,
        }
    }

    fn grade(&self, row: u32) -> Option<Grade> {
        let position = self
            .grades
            .binary_search_by_key(&row, |&(row, _)| row)
            .ok()?;
        Some(self.grades[position].1)
    }

    /// Digest of the ranked document ids: equal exactly when the rankings are.
    fn digest(&self, hits: &[ScoredDocument]) -> u64 {
        let documents = &self.evaluator.dataset.corpus.documents;
        let ids = hits
            .iter()
            .map(|hit| documents[hit.row as usize].id.as_str().as_bytes());
        let digest = Digest::of_parts(ids);
        let mut head = [0; 8];
        head.copy_from_slice(&digest.as_bytes()[..8]);
        u64::from_le_bytes(head)
    }
}
