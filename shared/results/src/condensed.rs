//! Values on lists without their unjudged hits, and what the values could be if every hit were judged.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Schema};
use evalfarm_domain::{CandidateId, JobId, Metric, QueryId};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, texts};

/// One query of one candidate seen through its unjudged hits; one entry for each metric of the job.
#[derive(Debug, Clone, PartialEq)]
pub struct CondensedRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// The query.
    pub query: QueryId,
    /// Values on the list, 1,000 hits deep by default, from which unjudged hits were removed.
    pub values: Vec<f64>,
    /// The least difference to the baseline over all ways to judge the unjudged hits of both; nothing for the baseline
    /// itself and for metrics that do not add gains up.
    pub lowest: Vec<Option<f64>>,
    /// The largest such difference.
    pub highest: Vec<Option<f64>>,
}

/// Returns the schema of `condensed/`.
pub fn condensed_schema(metrics: &[Metric]) -> Schema {
    use ColumnType::{F64, Text};
    let mut fields = vec![
        Field::required("candidate", Text, "Candidate."),
        Field::required("query", Text, "Query, as the dataset spells it."),
    ];
    for metric in metrics {
        let slug = metric.slug();
        fields.push(Field::required(
            format!("condensed_{slug}"),
            F64,
            format!("{metric} of the list from which unjudged hits were removed (Sakai 2007)."),
        ));
        for (column, which) in [("lowest", "Least"), ("highest", "Largest")] {
            fields.push(Field::nullable(
                format!("{column}_{slug}"),
                F64,
                format!(
                    "{which} {metric} less the baseline's that judging every unjudged hit could give; empty for the \
                     baseline and where it is not known."
                ),
            ));
        }
    }
    Schema {
        name: "condensed".to_owned(),
        version: 1,
        fields,
    }
}

/// Returns rows as the bytes of a Parquet file; each row has one entry for each metric.
pub fn condensed_to_bytes(
    job: &JobId,
    metrics: &[Metric],
    rows: &[CondensedRow],
) -> Result<Vec<u8>, ResultsError> {
    let mut columns = vec![
        texts(rows.iter().map(|row| row.candidate.as_str())),
        texts(rows.iter().map(|row| row.query.as_str())),
    ];
    for metric in 0..metrics.len() {
        let cell = |column: &[Option<f64>]| column.get(metric).copied().flatten();
        let values = rows.iter().map(|row| row.values.get(metric).copied());
        columns.push(Column::F64(values.collect()));
        columns.push(Column::F64(
            rows.iter().map(|row| cell(&row.lowest)).collect(),
        ));
        columns.push(Column::F64(
            rows.iter().map(|row| cell(&row.highest)).collect(),
        ));
    }
    job_table_to_bytes(condensed_schema(metrics), columns, job, &[])
}

/// Reads a file of such rows, which must be of this job.
pub fn read_condensed(
    path: &Path,
    job: &JobId,
    metrics: &[Metric],
) -> Result<Vec<CondensedRow>, ResultsError> {
    let cells = Cells::read_all(path, &condensed_schema(metrics), job)?;
    condensed_from(&cells, metrics).map_err(|error| error.in_file(path))
}

fn condensed_from(cells: &Cells, metrics: &[Metric]) -> Result<Vec<CondensedRow>, ResultsError> {
    let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let queries: Vec<QueryId> = cells.ids("query", "a query id")?;
    let mut rows: Vec<CondensedRow> = candidates
        .into_iter()
        .zip(queries)
        .map(|(candidate, query)| CondensedRow {
            candidate,
            query,
            values: Vec::with_capacity(metrics.len()),
            lowest: Vec::with_capacity(metrics.len()),
            highest: Vec::with_capacity(metrics.len()),
        })
        .collect();
    for metric in metrics {
        let slug = metric.slug();
        let values = cells.required_f64(&format!("condensed_{slug}"))?;
        let lowest = cells.f64(&format!("lowest_{slug}"))?;
        let highest = cells.f64(&format!("highest_{slug}"))?;
        for (at, row) in rows.iter_mut().enumerate() {
            row.values.push(values[at]);
            row.lowest.push(lowest[at]);
            row.highest.push(highest[at]);
        }
    }
    Ok(rows)
}
