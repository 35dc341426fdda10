//! The rows of one task.

use std::path::Path;

use evalfarm_columnar::{Column, Labels};
use evalfarm_domain::{
    CandidateId, FailureKind, Fold, JobId, Metric, QueryId, RerankStatus, RewriteStatus,
};

use super::rows_schema;
use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, numbers, optional_texts, texts};

/// The metadata key under which a file names its fold, so that a file without rows has one.
pub(crate) const SPLIT_KEY: &str = "split";

/// What was measured for one query of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// The query.
    pub query: QueryId,
    /// Measured values, one for each metric of the job; nothing when the query failed or the metric is undefined.
    pub values: Vec<Option<f64>>,
    /// Values that are judged, one for each metric of the job; the worst possible when the query failed.
    pub scored: Vec<f64>,
    /// Share of the returned hits that are judged, 0 to 1; nothing when nothing was returned.
    pub judged_share: Option<f64>,
    /// Whether the query was answered with no hit.
    pub zero_result: bool,
    /// Number of hits returned.
    pub hits_returned: u32,
    /// Digest of the returned document ids in order.
    pub top_digest: u64,
    /// What became of the rewrite stage.
    pub rewrite: RewriteStatus,
    /// What became of the rerank stage.
    pub rerank: RerankStatus,
    /// Why the query has no ranking; nothing when it has one.
    pub failure: Option<FailureKind>,
}

/// The rows of one task, or of any part of a job that lies on one side of the split.
#[derive(Debug, Clone, PartialEq)]
pub struct RowBlock {
    /// The job.
    pub job: JobId,
    /// The side of the split.
    pub fold: Fold,
    /// The job's metrics, in the order of each row's values.
    pub metrics: Vec<Metric>,
    /// The rows, in the order in which they are stored.
    pub rows: Vec<QueryRow>,
}

impl RowBlock {
    /// Returns the block as the bytes of a Parquet file: equal blocks give equal bytes.
    pub fn to_bytes(&self) -> Result<Vec<u8>, ResultsError> {
        for row in &self.rows {
            row.check(self.metrics.len())?;
        }
        let rows = || self.rows.iter();
        let repeated = |text| Column::Labels(Labels::repeated(text, self.rows.len()));
        let mut columns = vec![
            repeated(self.job.as_str()),
            texts(rows().map(|row| row.candidate.as_str())),
            repeated(self.fold.as_str()),
            texts(rows().map(|row| row.query.as_str())),
        ];
        for metric in 0..self.metrics.len() {
            columns.push(Column::F64(rows().map(|row| row.values[metric]).collect()));
            columns.push(Column::F64(
                rows().map(|row| Some(row.scored[metric])).collect(),
            ));
        }
        columns.extend([
            Column::F64(rows().map(|row| row.judged_share).collect()),
            Column::Bool(rows().map(|row| Some(row.zero_result)).collect()),
            numbers(rows().map(|row| row.hits_returned)),
            Column::U64(rows().map(|row| Some(row.top_digest)).collect()),
            texts(rows().map(|row| row.rewrite.as_str())),
            texts(rows().map(|row| row.rerank.as_str())),
            optional_texts(rows().map(|row| row.failure.map(FailureKind::as_str))),
        ]);
        let more = [(SPLIT_KEY, self.fold.as_str())];
        job_table_to_bytes(rows_schema(&self.metrics), columns, &self.job, &more)
    }

    /// Reads a file that [`Self::to_bytes`] gave, which must be of this job and these metrics.
    pub fn read(path: &Path, job: &JobId, metrics: &[Metric]) -> Result<Self, ResultsError> {
        let cells = Cells::read_all(path, &rows_schema(metrics), job)?;
        Self::from_cells(&cells, job, metrics).map_err(|error| error.in_file(path))
    }

    fn from_cells(cells: &Cells, job: &JobId, metrics: &[Metric]) -> Result<Self, ResultsError> {
        let fold = fold_of(cells, job)?;
        let queries: Vec<QueryId> = cells.ids("query", "a query id")?;
        let mut rows: Vec<QueryRow> = Vec::with_capacity(queries.len());
        let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
        let judged_share = cells.f64("judged_share")?;
        let zero_result = cells.required_bool("zero_result")?;
        let hits_returned = cells.required_u32("hits_returned")?;
        let top_digest = cells.required_u64("top_digest")?;
        let rewrite = cells.required("rewrite_status", STATUS, RewriteStatus::from_name)?;
        let rerank = cells.required("rerank_status", STATUS, RerankStatus::from_name)?;
        let failure = cells.parsed("failure", FAILURE, FailureKind::from_name)?;
        for (at, (candidate, query)) in candidates.into_iter().zip(queries).enumerate() {
            rows.push(QueryRow {
                candidate,
                query,
                values: Vec::with_capacity(metrics.len()),
                scored: Vec::with_capacity(metrics.len()),
                judged_share: judged_share[at],
                zero_result: zero_result[at],
                hits_returned: hits_returned[at],
                top_digest: top_digest[at],
                rewrite: rewrite[at],
                rerank: rerank[at],
                failure: failure[at],
            });
        }
        for metric in metrics {
            let slug = metric.slug();
            let values = cells.f64(&format!("value_{slug}"))?;
            let scored = cells.required_f64(&format!("scored_{slug}"))?;
            for ((row, &value), scored) in rows.iter_mut().zip(values).zip(scored) {
                row.values.push(value);
                row.scored.push(scored);
            }
        }
        for row in &rows {
            row.check(metrics.len())?;
        }
        Ok(Self {
            job: job.clone(),
            fold,
            metrics: metrics.to_vec(),
            rows,
        })
    }
}

pub(super) const STATUS: &str = "the status of a stage";
pub(super) const FAILURE: &str = "a kind of failure";

/// Returns the side of the split that a file names, having checked that all its rows name it and their job as well.
pub(crate) fn fold_of(cells: &Cells, job: &JobId) -> Result<Fold, ResultsError> {
    let named = cells.metadata(SPLIT_KEY).unwrap_or_default();
    let fold = Fold::from_name(named).ok_or_else(|| ResultsError::Cell {
        column: SPLIT_KEY.to_owned(),
        row: 0,
        value: named.to_owned(),
        expected: "a side of a split in the file's metadata",
    })?;
    cells.meanings("split", "the side that the file names", |text| {
        (text == fold.as_str()).then_some(())
    })?;
    let jobs = cells.labels("job")?.labels();
    match jobs.iter().find(|label| label.as_ref() != job.as_str()) {
        None => Ok(fold),
        Some(other) => Err(ResultsError::OtherJob {
            found: other.to_string(),
            expected: job.clone(),
        }),
    }
}

impl QueryRow {
    fn check(&self, metrics: usize) -> Result<(), ResultsError> {
        let wrong = [self.values.len(), self.scored.len()]
            .into_iter()
            .find(|&found| found != metrics);
        if let Some(found) = wrong {
            return Err(ResultsError::RowShape {
                candidate: self.candidate.clone(),
                query: self.query.clone(),
                found,
                expected: metrics,
            });
        }
        if self.failure.is_some() && self.values.iter().any(Option::is_some) {
            return Err(ResultsError::FailedWithValue {
                candidate: self.candidate.clone(),
                query: self.query.clone(),
            });
        }
        Ok(())
    }
}
