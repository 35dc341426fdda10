//! The queries of a job with everything that judging needs to know of them.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Schema};
use evalfarm_domain::{Fold, JobId, Query, QueryId};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, numbers, optional_texts, texts};

/// A query of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct JobQuery {
    /// Side of the split that it is on.
    pub fold: Fold,
    /// The query.
    pub query: Query,
    /// Judged documents of at least the job's relevance level.
    pub relevant: u32,
}

/// Returns the schema of `queries.parquet`.
pub fn queries_schema() -> Schema {
    use ColumnType::{F64, Text, U64};
    Schema {
        name: "queries".to_owned(),
        version: 1,
        fields: vec![
            Field::required("split", Text, "Side of the split: train, holdout or all."),
            Field::required("query", Text, "Query, as the dataset spells it."),
            Field::required("text", Text, "What the user typed."),
            Field::required("weight", F64, "Share of traffic."),
            Field::nullable(
                "cluster",
                Text,
                "Queries of one cluster are not independent; empty when it is alone.",
            ),
            Field::required(
                "columns",
                Text,
                "Further named columns, a JSON object of texts.",
            ),
            Field::required("relevant", U64, "Relevant judgments."),
        ],
    }
}

/// Returns queries as the bytes of a Parquet file.
///
/// # Panics
///
/// Never: a map of texts has a JSON form.
pub fn queries_to_bytes(job: &JobId, rows: &[JobQuery]) -> Result<Vec<u8>, ResultsError> {
    let json = |row: &JobQuery| {
        serde_json::to_string(&row.query.columns).expect("a map of texts has a JSON form")
    };
    let columns: Vec<String> = rows.iter().map(json).collect();
    let rows = || rows.iter();
    let table = vec![
        texts(rows().map(|row| row.fold.as_str())),
        texts(rows().map(|row| row.query.id.as_str())),
        texts(rows().map(|row| row.query.text.as_str())),
        Column::F64(rows().map(|row| Some(row.query.weight)).collect()),
        optional_texts(rows().map(|row| row.query.cluster.as_deref())),
        texts(columns.iter().map(String::as_str)),
        numbers(rows().map(|row| row.relevant)),
    ];
    job_table_to_bytes(queries_schema(), table, job, &[])
}

/// Reads the queries of a job.
pub fn read_queries(path: &Path, job: &JobId) -> Result<Vec<JobQuery>, ResultsError> {
    let cells = Cells::read_all(path, &queries_schema(), job)?;
    queries_from(&cells).map_err(|error| error.in_file(path))
}

fn queries_from(cells: &Cells) -> Result<Vec<JobQuery>, ResultsError> {
    let fold = |text: &str| {
        let folds = [Fold::Train, Fold::Holdout, Fold::All];
        folds.into_iter().find(|fold| fold.as_str() == text)
    };
    let folds = cells.required("split", "train, holdout or all", fold)?;
    let ids: Vec<QueryId> = cells.ids("query", "a query id")?;
    let texts = cells.required("text", "a text", |text| Some(text.to_owned()))?;
    let weights = cells.required_f64("weight")?;
    let clusters = cells.parsed("cluster", "a text", |text| Some(text.to_owned()))?;
    let columns = cells.required("columns", "a JSON object of texts", |text| {
        serde_json::from_str::<BTreeMap<String, String>>(text).ok()
    })?;
    let relevant = cells.required_u32("relevant")?;
    Ok(ids
        .into_iter()
        .zip(texts)
        .zip(clusters)
        .zip(columns)
        .enumerate()
        .map(|(at, (((id, text), cluster), columns))| JobQuery {
            fold: folds[at],
            query: Query {
                id,
                text,
                weight: weights[at],
                cluster,
                columns,
            },
            relevant: relevant[at],
        })
        .collect())
}
