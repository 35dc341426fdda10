//! What was found, and how deep the relevant documents lie.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Schema};
use evalfarm_domain::{CandidateId, DocId, FieldName, Grade, JobId, QueryId};

use crate::ResultsError;
use crate::cells::{Cells, complete, job_table_to_bytes, numbers, optional_numbers, texts};

/// One hit of one query of one candidate.
#[derive(Debug, Clone, PartialEq)]
pub struct HitRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// The query.
    pub query: QueryId,
    /// Position in the ranking, from 1.
    pub rank: u32,
    /// The document.
    pub document: DocId,
    /// The engine's score.
    pub score: f32,
    /// The document's grade for the query; nothing when it is unjudged.
    pub grade: Option<Grade>,
    /// Fields of positive weight in which the query matched, in the corpus's order; no name has a comma.
    pub matched_fields: Vec<FieldName>,
}

/// Where a relevant document of a query lies in a candidate's ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct RelevantRank {
    /// The candidate.
    pub candidate: CandidateId,
    /// The query.
    pub query: QueryId,
    /// The relevant document.
    pub document: DocId,
    /// Its grade.
    pub grade: Grade,
    /// Its position, from 1; nothing when it is not among the hits that were looked at (1,000 by default).
    pub rank: Option<u32>,
}

/// Returns the schema of `hits/`.
pub fn hits_schema() -> Schema {
    use ColumnType::{F32, F64, Text, U64};
    Schema {
        name: "hits".to_owned(),
        version: 1,
        fields: vec![
            Field::required("candidate", Text, "Candidate."),
            Field::required("query", Text, "Query, as the dataset spells it."),
            Field::required("rank", U64, "Position in the ranking, from 1."),
            Field::required("document", Text, "Document, as the dataset spells it."),
            Field::required(
                "score",
                F32,
                "The engine's score, in the engine's precision.",
            ),
            Field::nullable(
                "grade",
                F64,
                "Grade of the document; empty when it is unjudged.",
            ),
            Field::required(
                "matched_fields",
                Text,
                "Fields in which the query matched, separated by commas; may be empty.",
            ),
        ],
    }
}

/// Returns the schema of `relevant/`.
pub fn relevant_schema() -> Schema {
    use ColumnType::{F64, Text, U64};
    Schema {
        name: "relevant".to_owned(),
        version: 1,
        fields: vec![
            Field::required("candidate", Text, "Candidate."),
            Field::required("query", Text, "Query, as the dataset spells it."),
            Field::required("document", Text, "Relevant document of the query."),
            Field::required("grade", F64, "Grade of the document."),
            Field::nullable(
                "rank",
                U64,
                "Position in the ranking, from 1; empty when it lies deeper than was looked.",
            ),
        ],
    }
}

/// Returns hits as the bytes of a Parquet file.
pub fn hits_to_bytes(job: &JobId, rows: &[HitRow]) -> Result<Vec<u8>, ResultsError> {
    let mut matched = Vec::with_capacity(rows.len());
    for row in rows {
        if let Some(field) = row.matched_fields.iter().find(|f| f.as_str().contains(',')) {
            return Err(ResultsError::FieldComma {
                field: field.clone(),
            });
        }
        let names: Vec<&str> = row.matched_fields.iter().map(FieldName::as_str).collect();
        matched.push(names.join(","));
    }
    let rows = || rows.iter();
    let columns = vec![
        texts(rows().map(|row| row.candidate.as_str())),
        texts(rows().map(|row| row.query.as_str())),
        numbers(rows().map(|row| row.rank)),
        texts(rows().map(|row| row.document.as_str())),
        Column::F32(rows().map(|row| Some(row.score)).collect()),
        Column::F64(rows().map(|row| row.grade.map(Grade::value)).collect()),
        texts(matched.iter().map(String::as_str)),
    ];
    job_table_to_bytes(hits_schema(), columns, job, &[])
}

/// Reads a file of hits, which must be of this job.
pub fn read_hits(path: &Path, job: &JobId) -> Result<Vec<HitRow>, ResultsError> {
    let cells = Cells::read_all(path, &hits_schema(), job)?;
    hits_from(&cells).map_err(|error| error.in_file(path))
}

fn hits_from(cells: &Cells) -> Result<Vec<HitRow>, ResultsError> {
    let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let queries: Vec<QueryId> = cells.ids("query", "a query id")?;
    let documents: Vec<DocId> = cells.ids("document", "a document id")?;
    let ranks = ranks_from_one(cells)?;
    let ranks = complete("rank", ranks)?;
    let scores = cells.required_f32("score")?;
    let grades = cells.grades("grade")?;
    let matched = cells.required("matched_fields", "a list of field names", |text| {
        let names = text.split(',').filter(|_| !text.is_empty());
        names
            .map(|name| FieldName::try_from(name).ok())
            .collect::<Option<Vec<_>>>()
    })?;
    let ids = candidates.into_iter().zip(queries).zip(documents);
    Ok(ids
        .zip(matched)
        .enumerate()
        .map(
            |(at, (((candidate, query), document), matched_fields))| HitRow {
                candidate,
                query,
                rank: ranks[at],
                document,
                score: scores[at],
                grade: grades[at],
                matched_fields,
            },
        )
        .collect())
}

/// Returns the ranks of relevant documents as the bytes of a Parquet file.
pub fn relevant_to_bytes(job: &JobId, rows: &[RelevantRank]) -> Result<Vec<u8>, ResultsError> {
    let rows = || rows.iter();
    let columns = vec![
        texts(rows().map(|row| row.candidate.as_str())),
        texts(rows().map(|row| row.query.as_str())),
        texts(rows().map(|row| row.document.as_str())),
        Column::F64(rows().map(|row| Some(row.grade.value())).collect()),
        optional_numbers(rows().map(|row| row.rank)),
    ];
    job_table_to_bytes(relevant_schema(), columns, job, &[])
}

/// Reads a file of the ranks of relevant documents, which must be of this job.
pub fn read_relevant(path: &Path, job: &JobId) -> Result<Vec<RelevantRank>, ResultsError> {
    let cells = Cells::read_all(path, &relevant_schema(), job)?;
    relevant_from(&cells).map_err(|error| error.in_file(path))
}

fn relevant_from(cells: &Cells) -> Result<Vec<RelevantRank>, ResultsError> {
    let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let queries: Vec<QueryId> = cells.ids("query", "a query id")?;
    let documents: Vec<DocId> = cells.ids("document", "a document id")?;
    let grades = complete("grade", cells.grades("grade")?)?;
    let ranks = ranks_from_one(cells)?;
    let ids = candidates.into_iter().zip(queries).zip(documents);
    Ok(ids
        .zip(grades)
        .zip(ranks)
        .map(
            |((((candidate, query), document), grade), rank)| RelevantRank {
                candidate,
                query,
                document,
                grade,
                rank,
            },
        )
        .collect())
}

fn ranks_from_one(cells: &Cells) -> Result<Vec<Option<u32>>, ResultsError> {
    let ranks = cells.u32("rank")?;
    match ranks.iter().position(|&rank| rank == Some(0)) {
        None => Ok(ranks),
        Some(row) => Err(ResultsError::Cell {
            column: "rank".to_owned(),
            row,
            value: "0".to_owned(),
            expected: "a rank, which begins at 1",
        }),
    }
}
