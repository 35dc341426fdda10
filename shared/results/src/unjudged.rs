//! Documents that nobody has judged, and how much their judgment would matter.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Schema};
use evalfarm_domain::{CandidateId, DocId, JobId, QueryId};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, optional_numbers, texts};

/// An unjudged document among the looked-at hits of a candidate or of the baseline.
#[derive(Debug, Clone, PartialEq)]
pub struct UnjudgedRow {
    /// The candidate that is compared with the baseline.
    pub candidate: CandidateId,
    /// The query.
    pub query: QueryId,
    /// The document.
    pub document: DocId,
    /// Its rank in the baseline's list, from 1; nothing when it is not among its looked-at hits.
    pub baseline_rank: Option<u32>,
    /// Its rank in the candidate's list.
    pub candidate_rank: Option<u32>,
    /// By how much the top grade for it alone would move the primary's difference on this query.
    pub swing: f64,
}

/// Returns the schema of `unjudged/`.
pub fn unjudged_schema() -> Schema {
    use ColumnType::{F64, Text, U64};
    Schema {
        name: "unjudged".to_owned(),
        version: 1,
        fields: vec![
            Field::required(
                "candidate",
                Text,
                "Candidate that is compared with the baseline.",
            ),
            Field::required("query", Text, "Query, as the dataset spells it."),
            Field::required(
                "document",
                Text,
                "Document without a judgment for the query.",
            ),
            Field::nullable(
                "baseline_rank",
                U64,
                "Its rank in the baseline's list, from 1; empty when it is not among the looked-at hits.",
            ),
            Field::nullable(
                "candidate_rank",
                U64,
                "Its rank in the candidate's list, from 1; empty when it is not among the looked-at hits.",
            ),
            Field::required(
                "swing",
                F64,
                "By how much the top grade for this document alone would move the difference of the primary metric on this query.",
            ),
        ],
    }
}

/// Returns rows as the bytes of a Parquet file.
pub fn unjudged_to_bytes(job: &JobId, rows: &[UnjudgedRow]) -> Result<Vec<u8>, ResultsError> {
    let rows = || rows.iter();
    let columns = vec![
        texts(rows().map(|row| row.candidate.as_str())),
        texts(rows().map(|row| row.query.as_str())),
        texts(rows().map(|row| row.document.as_str())),
        optional_numbers(rows().map(|row| row.baseline_rank)),
        optional_numbers(rows().map(|row| row.candidate_rank)),
        Column::F64(rows().map(|row| Some(row.swing)).collect()),
    ];
    job_table_to_bytes(unjudged_schema(), columns, job, &[])
}

/// Reads a file of such rows, which must be of this job.
pub fn read_unjudged(path: &Path, job: &JobId) -> Result<Vec<UnjudgedRow>, ResultsError> {
    let cells = Cells::read_all(path, &unjudged_schema(), job)?;
    unjudged_from(&cells).map_err(|error| error.in_file(path))
}

fn unjudged_from(cells: &Cells) -> Result<Vec<UnjudgedRow>, ResultsError> {
    let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let queries: Vec<QueryId> = cells.ids("query", "a query id")?;
    let documents: Vec<DocId> = cells.ids("document", "a document id")?;
    let baseline_ranks = cells.u32("baseline_rank")?;
    let candidate_ranks = cells.u32("candidate_rank")?;
    let swings = cells.required_f64("swing")?;
    let ids = candidates.into_iter().zip(queries).zip(documents);
    Ok(ids
        .enumerate()
        .map(|(at, ((candidate, query), document))| UnjudgedRow {
            candidate,
            query,
            document,
            baseline_rank: baseline_ranks[at],
            candidate_rank: candidate_ranks[at],
            swing: swings[at],
        })
        .collect())
}
