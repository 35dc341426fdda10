//! What the judgments of a query make of its rankings.

use evalfarm_dataset::Dataset;
use evalfarm_domain::{
    CandidateId, Digest, Document, Grade, JobSettings, Query, QueryJudgments, RerankStatus,
    RewriteStatus,
};
use evalfarm_metrics::{QueryMetrics, condensed_values};
use evalfarm_results::QueryRow;
use evalfarm_retrieval::Rankings;

use crate::EvaluateError;

/// A query with its judgments, ready to measure rankings.
#[derive(Debug)]
pub(crate) struct JudgedQuery<'a> {
    pub(crate) query: &'a Query,
    metrics: QueryMetrics,
    /// The judged documents that the corpus has, as its rows, ascending.
    grades: Vec<(u32, Grade)>,
}

impl<'a> JudgedQuery<'a> {
    /// Looks up the judgments of a query.
    pub(crate) fn new(
        query: &'a Query,
        settings: &JobSettings,
        dataset: &Dataset,
    ) -> Result<Self, EvaluateError> {
        let judgments = dataset.judgments.query(query.id.as_str());
        let metrics = QueryMetrics::new(&settings.measurement, judgments).map_err(|source| {
            EvaluateError::Metrics {
                query: query.id.clone(),
                source,
            }
        })?;
        let documents = &dataset.corpus.documents;
        let judged = judgments.into_iter().flat_map(QueryJudgments::iter);
        let row_of = |id| {
            let row = documents.binary_search_by(|document: &Document| document.id.cmp(id));
            u32::try_from(row.ok()?).ok()
        };
        Ok(Self {
            query,
            metrics,
            grades: judged
                .filter_map(|(id, grade)| Some((row_of(id)?, grade)))
                .collect(),
        })
    }

    /// Returns the judged documents that the corpus has, as its rows, ascending.
    pub(crate) fn grades(&self) -> &[(u32, Grade)] {
        &self.grades
    }

    /// Returns the grade of a row's document, nothing when it is not judged.
    pub(crate) fn grade(&self, row: u32) -> Option<Grade> {
        let position = self.grades.binary_search_by_key(&row, |&(row, _)| row);
        Some(self.grades[position.ok()?].1)
    }

    /// Returns the values of a list of rows without its unjudged hits.
    pub(crate) fn condensed(&self, rows: impl Iterator<Item = u32>) -> Vec<f64> {
        let grades: Vec<Option<Grade>> = rows.map(|row| self.grade(row)).collect();
        condensed_values(&self.metrics, &grades)
    }

    /// Measures each distinct ranking once.
    pub(crate) fn measure(&self, rankings: &Rankings, documents: &[Document]) -> MeasuredQuery<'a> {
        let mut grades = Vec::new();
        let mut of_one = Vec::new();
        let mut values = Vec::new();
        let mut outcomes = Vec::with_capacity(rankings.distinct());
        for rows in rankings.iter() {
            grades.clear();
            grades.extend(rows.iter().map(|&row| self.grade(row)));
            self.metrics.values_into(&grades, &mut of_one);
            values.extend_from_slice(&of_one);
            outcomes.push(Outcome {
                judged: grades.iter().flatten().count(),
                hits: rows.len(),
                digest: digest(rows, documents),
            });
        }
        MeasuredQuery {
            query: self.query,
            codes: rankings.codes().into(),
            outcomes,
            values,
        }
    }
}

/// What was measured for one query under all candidates of a task, equal outcomes once.
#[derive(Debug)]
pub struct MeasuredQuery<'a> {
    query: &'a Query,
    /// For each candidate the position of its outcome.
    codes: Box<[u32]>,
    outcomes: Vec<Outcome>,
    /// Outcome by outcome, one value for each metric.
    values: Vec<Option<f64>>,
}

/// What one ranking comes to, beside its values.
#[derive(Debug)]
struct Outcome {
    judged: usize,
    hits: usize,
    digest: u64,
}

impl MeasuredQuery<'_> {
    /// Returns the number of distinct outcomes.
    pub fn distinct(&self) -> usize {
        self.outcomes.len()
    }

    /// Returns the values of the candidate at `position` in its task, one for each metric of the job.
    pub fn values(&self, position: usize) -> &[Option<f64>] {
        let metrics = self.values.len() / self.outcomes.len().max(1);
        let outcome = self.codes[position] as usize;
        &self.values[outcome * metrics..][..metrics]
    }

    /// Returns the values that are judged, in the same order.
    pub(crate) fn scored(&self, position: usize) -> impl Iterator<Item = f64> {
        let values = self.values(position).iter();
        values.map(|value| value.unwrap_or(0.0))
    }

    /// Returns the digest of the ranking of the candidate at `position`.
    pub(crate) fn digest(&self, position: usize) -> u64 {
        self.outcomes[self.codes[position] as usize].digest
    }

    /// Returns the row of the candidate at `position`.
    pub(crate) fn row(&self, position: usize, candidate: &CandidateId) -> QueryRow {
        let values = self.values(position);
        let outcome = &self.outcomes[self.codes[position] as usize];
        QueryRow {
            candidate: candidate.clone(),
            query: self.query.id.clone(),
            scored: values.iter().map(|value| value.unwrap_or(0.0)).collect(),
            values: values.to_vec(),
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

/// Digest of the ranked document ids: equal exactly when the rankings are.
fn digest(rows: &[u32], documents: &[Document]) -> u64 {
    let ids = rows.iter().map(|&row| documents[row as usize].id.as_str());
    let digest = Digest::of_parts(ids.map(str::as_bytes));
    let mut head = [0; 8];
    head.copy_from_slice(&digest.as_bytes()[..8]);
    u64::from_le_bytes(head)
}
