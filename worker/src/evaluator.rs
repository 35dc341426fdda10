//! One job's dataset and index, ready to evaluate any of the job's tasks.

use std::collections::BTreeMap;

use evalfarm_dataset::Dataset;
use evalfarm_domain::{
    Candidate, CandidateId, Digest, EvaluateTask, Fold, Grade, JobSettings, Query, QueryId,
    QueryJudgments, RerankStatus, RewriteStatus,
};
use evalfarm_metrics::{MetricsError, QueryMetrics};
use evalfarm_results::{QueryRow, RowBlock};
use evalfarm_retrieval::{
    Bm25Index, CacheBudget, Rankings, RefusedCandidate, SearchError, Searcher, SweepCache,
};

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
/// Cheap to share between threads: each call brings its own scratch space, and what calls leave for each other is a cache that
/// changes how long a task takes and never what it gives.
#[derive(Debug)]
pub struct Evaluator<'a> {
    pub(crate) settings: &'a JobSettings,
    pub(crate) dataset: &'a Dataset,
    pub(crate) index: &'a Bm25Index,
    cache: SweepCache<'a>,
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
                cache: index.sweep_cache(CacheBudget::default()),
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
        let mut searcher = self.searcher();
        let mut rankings = Rankings::default();
        // One query at a time, all candidates at once: the engine looks at each posting once, and candidates that rank alike
        // share what is measured.
        let mut measured = Vec::with_capacity(queries.len());
        for &query in &queries {
            searcher
                .rank_many(&query.text, &prepared, self.depth(), &mut rankings)
                .map_err(|source| EvaluateError::Search {
                    query: query.id.clone(),
                    source,
                })?;
            measured.push(self.measured(query, &rankings)?);
        }
        let mut rows = Vec::with_capacity(ids.len() * queries.len());
        for (position, id) in ids.iter().enumerate() {
            rows.extend(measured.iter().map(|query| query.row(position, id)));
        }
        Ok(RowBlock {
            job: task.job.clone(),
            fold: task.fold,
            metrics: self.settings.measurement.metrics.clone(),
            rows,
        })
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

    /// Measures each distinct ranking of a query once.
    fn measured(
        &self,
        query: &'a Query,
        rankings: &Rankings,
    ) -> Result<MeasuredQuery<'a>, EvaluateError> {
        let judgments = self.dataset.judgments.query(query.id.as_str());
        let metrics =
            QueryMetrics::new(&self.settings.measurement, judgments).map_err(|source| {
                EvaluateError::Metrics {
                    query: query.id.clone(),
                    source,
                }
            })?;
        let judged = self.grades_by_row(query);
        let documents = &self.dataset.corpus.documents;
        let mut grades = Vec::new();
        let mut outcomes = Vec::with_capacity(rankings.distinct());
        for rows in rankings.iter() {
            grades.clear();
            grades.extend(rows.iter().map(|&row| grade_of(&judged, row)));
            let mut values = Vec::with_capacity(self.settings.measurement.metrics.len());
            metrics.values_into(&grades, &mut values);
            let ids = rows.iter().map(|&row| documents[row as usize].id.as_str());
            outcomes.push(Outcome {
                values,
                judged: grades.iter().flatten().count(),
                hits: rows.len(),
                digest: digest(ids),
            });
        }
        Ok(MeasuredQuery {
            query,
            outcomes,
            codes: rankings.codes().to_vec(),
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

/// Returns the grade of a row's document, given the judged rows in ascending order.
pub(crate) fn grade_of(judged: &[(u32, Grade)], row: u32) -> Option<Grade> {
    let position = judged.binary_search_by_key(&row, |&(row, _)| row).ok()?;
    Some(judged[position].1)
}

/// What the judgments of a query make of one ranking.
struct Outcome {
    values: Vec<Option<f64>>,
    judged: usize,
    hits: usize,
    digest: u64,
}

/// A query under all candidates of a task.
struct MeasuredQuery<'a> {
    query: &'a Query,
    outcomes: Vec<Outcome>,
    /// For each candidate the position of its outcome.
    codes: Vec<u32>,
}

impl MeasuredQuery<'_> {
    /// Returns the row of the candidate at `position`.
    fn row(&self, position: usize, candidate: &CandidateId) -> QueryRow {
        let outcome = &self.outcomes[self.codes[position] as usize];
        let scored = outcome.values.iter().map(|value| value.unwrap_or(0.0));
        QueryRow {
            candidate: candidate.clone(),
            query: self.query.id.clone(),
            scored: scored.collect(),
            values: outcome.values.clone(),
            judged_share: (outcome.hits > 0).then(|| outcome.judged as f64 / outcome.hits as f64),
            zero_result: outcome.hits == 0,
            hits_returned: u32::try_from(outcome.hits).unwrap_or(u32::MAX),
            top_digest: outcome.digest,
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotRequested,
            failure: None,
        }
    }
}

/// Digest of ranked document ids: equal exactly when the rankings are.
fn digest<'a>(ids: impl Iterator<Item = &'a str>) -> u64 {
    let digest = Digest::of_parts(ids.map(str::as_bytes));
    let mut head = [0; 8];
    head.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(head)
}
