//! Rows by candidate and query, for whoever judges them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use evalfarm_columnar::Schema;
use evalfarm_domain::{
    CandidateId, FailureKind, Fold, JobId, Metric, QueryId, RerankStatus, RewriteStatus,
};

use super::block::{FAILURE, STATUS, fold_of};
use super::rows_schema;
use crate::ResultsError;
use crate::cells::Cells;

/// Which rows a view holds.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    /// The job.
    pub job: &'a JobId,
    /// The side of the split; files of the other side are left aside.
    pub fold: Fold,
    /// The job's metrics.
    pub metrics: &'a [Metric],
    /// The candidates, each once; rows of others are left aside.
    pub candidates: &'a [CandidateId],
    /// Every query of the fold, each once: the order of what the view returns.
    pub queries: &'a [QueryId],
}

/// What a row says beside its metrics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RowCell {
    /// Share of the returned hits that are judged; nothing when nothing was returned.
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

impl RowCell {
    /// Whether a stage was asked for and its input was scored instead of its output.
    pub fn is_degraded(&self) -> bool {
        self.rewrite.is_degraded() || self.rerank.is_degraded()
    }
}

/// The rows of some candidates on one side of the split, by candidate and query.
///
/// Invariant: a row for each of the wanted candidates and queries. Memory: 8 bytes a value and 32 a row, so that 10,000
/// candidates on 2,000 queries and four metrics need 1.3 GB; name fewer candidates to need less.
#[derive(Debug, Clone, PartialEq)]
pub struct RowsView {
    queries: usize,
    candidates: usize,
    /// By metric, candidate, query.
    scored: Vec<Vec<f64>>,
    /// By candidate, query.
    cells: Vec<RowCell>,
}

impl RowsView {
    /// Reads what is wanted from the files of a job, each file once and whole columns at a time.
    pub fn read(files: &[PathBuf], wanted: Wanted<'_>) -> Result<Self, ResultsError> {
        let mut filling = Filling::new(wanted);
        for path in files {
            filling.add(path).map_err(|error| error.in_file(path))?;
        }
        filling.finish()
    }

    /// Returns the scored values of a candidate and metric, by query; both are indices into what was wanted.
    pub fn scored(&self, candidate: usize, metric: usize) -> &[f64] {
        let start = candidate * self.queries;
        &self.scored[metric][start..start + self.queries]
    }

    /// Returns what the rows of a candidate say beside their metrics, by query.
    pub fn cells(&self, candidate: usize) -> &[RowCell] {
        let start = candidate * self.queries;
        &self.cells[start..start + self.queries]
    }

    /// Returns the number of candidates.
    pub fn candidates(&self) -> usize {
        self.candidates
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.queries
    }
}

/// A view while files are added to it.
struct Filling<'a> {
    wanted: Wanted<'a>,
    schema: Schema,
    candidate_at: HashMap<&'a str, usize>,
    query_at: HashMap<&'a str, usize>,
    scored: Vec<Vec<f64>>,
    cells: Vec<Option<RowCell>>,
}

impl<'a> Filling<'a> {
    fn new(wanted: Wanted<'a>) -> Self {
        let rows = wanted.candidates.len() * wanted.queries.len();
        let candidates = wanted.candidates.iter().enumerate();
        let queries = wanted.queries.iter().enumerate();
        Self {
            wanted,
            schema: rows_schema(wanted.metrics),
            candidate_at: candidates.map(|(at, id)| (id.as_str(), at)).collect(),
            query_at: queries.map(|(at, id)| (id.as_str(), at)).collect(),
            scored: vec![vec![0.0; rows]; wanted.metrics.len()],
            cells: vec![None; rows],
        }
    }

    fn add(&mut self, path: &Path) -> Result<(), ResultsError> {
        let scored: Vec<String> = self
            .wanted
            .metrics
            .iter()
            .map(|metric| format!("scored_{}", metric.slug()))
            .collect();
        let mut columns = vec!["job", "candidate", "split", "query"];
        columns.extend(scored.iter().map(String::as_str));
        columns.extend(["judged_share", "zero_result", "hits_returned", "top_digest"]);
        columns.extend(["rewrite_status", "rerank_status", "failure"]);
        let cells = Cells::read(path, &self.schema, &columns, self.wanted.job)?;
        if fold_of(&cells, self.wanted.job)? != self.wanted.fold {
            return Ok(());
        }
        let places = self.places(&cells)?;
        self.add_cells(&cells, &places)?;
        for (values, name) in self.scored.iter_mut().zip(&scored) {
            for (place, value) in places.iter().zip(cells.f64(name)?) {
                if let (Some(at), Some(value)) = (*place, *value) {
                    values[at] = value;
                }
            }
        }
        Ok(())
    }

    /// Returns where each row of a file goes, or nothing when its candidate is not wanted.
    fn places(&self, cells: &Cells) -> Result<Vec<Option<usize>>, ResultsError> {
        let candidates = cells.labels("candidate")?;
        let candidate_at: Vec<Option<usize>> = candidates
            .labels()
            .iter()
            .map(|label| self.candidate_at.get(&**label).copied())
            .collect();
        let queries = cells.labels("query")?;
        let mut query_at = Vec::with_capacity(queries.labels().len());
        for label in queries.labels() {
            let at = self.query_at.get(&**label);
            query_at.push(*at.ok_or_else(|| ResultsError::UnknownQuery {
                query: label.to_string(),
            })?);
        }
        let codes = candidates.codes().iter().zip(queries.codes());
        Ok(codes
            .map(|(&candidate, &query)| {
                let candidate = candidate_at[candidate? as usize]?;
                Some(candidate * self.wanted.queries.len() + query_at[query? as usize])
            })
            .collect())
    }

    fn add_cells(&mut self, cells: &Cells, places: &[Option<usize>]) -> Result<(), ResultsError> {
        let judged_share = cells.f64("judged_share")?;
        let zero_result = cells.required_bool("zero_result")?;
        let hits_returned = cells.required_u32("hits_returned")?;
        let top_digest = cells.required_u64("top_digest")?;
        let rewrite = cells.required("rewrite_status", STATUS, RewriteStatus::from_name)?;
        let rerank = cells.required("rerank_status", STATUS, RerankStatus::from_name)?;
        let failure = cells.parsed("failure", FAILURE, FailureKind::from_name)?;
        for (row, at) in places.iter().enumerate() {
            let Some(at) = *at else { continue };
            if self.cells[at].is_some() {
                let (candidate, query) = self.pair(at);
                return Err(ResultsError::DuplicateRow { candidate, query });
            }
            self.cells[at] = Some(RowCell {
                judged_share: judged_share[row],
                zero_result: zero_result[row],
                hits_returned: hits_returned[row],
                top_digest: top_digest[row],
                rewrite: rewrite[row],
                rerank: rerank[row],
                failure: failure[row],
            });
        }
        Ok(())
    }

    fn pair(&self, at: usize) -> (CandidateId, QueryId) {
        let queries = self.wanted.queries.len();
        let candidate = self.wanted.candidates[at / queries].clone();
        (candidate, self.wanted.queries[at % queries].clone())
    }

    fn finish(self) -> Result<RowsView, ResultsError> {
        let missing = self.cells.iter().filter(|cell| cell.is_none()).count();
        if let Some(at) = self.cells.iter().position(Option::is_none) {
            let (candidate, query) = self.pair(at);
            return Err(ResultsError::MissingRow {
                candidate,
                query,
                others: missing - 1,
            });
        }
        Ok(RowsView {
            queries: self.wanted.queries.len(),
            candidates: self.wanted.candidates.len(),
            scored: self.scored,
            cells: self.cells.into_iter().flatten().collect(),
        })
    }
}
