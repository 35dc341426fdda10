//! What is kept of candidates whose rows are not stored: their means, and a digest of all that was measured.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Labels, Schema};
use evalfarm_domain::{CandidateId, Digest, Fold, JobId, Metric};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, texts};
use crate::rows::{SPLIT_KEY, fold_of};

/// One candidate over all queries of a fold.
#[derive(Debug, Clone, PartialEq)]
pub struct MeansRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// Mean of the scored values of each metric, every query counted once.
    pub means: Vec<f64>,
    /// Mean of the first metric with queries counted by their weights: what a sweep climbs.
    pub weighted: f64,
    /// Digest of every scored value and every ranking: equal for two candidates exactly when these are.
    pub class: u64,
}

impl MeansRow {
    /// Sums up what was measured of a candidate: for each metric the scored value of each query, the digest of each query's
    /// ranking, and the weight of each query.
    ///
    /// ```text
    /// mean = Σ v / n      weighted = Σ w·v / Σ w
    /// ```
    ///
    /// Sums run in the order of the queries, so that the same values give the same bits wherever they are summed up. There
    /// has to be at least one query.
    pub fn new(
        candidate: CandidateId,
        scored: &[&[f64]],
        digests: &[u64],
        weights: &[f64],
    ) -> Self {
        let mean = |values: &&[f64]| values.iter().sum::<f64>() / values.len() as f64;
        let primary = scored.first().copied().unwrap_or_default();
        let weighted = primary.iter().zip(weights);
        let sum: f64 = weighted.map(|(value, weight)| value * weight).sum();
        Self {
            candidate,
            means: scored.iter().map(mean).collect(),
            weighted: sum / weights.iter().sum::<f64>(),
            class: class(scored, digests),
        }
    }
}

fn class(scored: &[&[f64]], digests: &[u64]) -> u64 {
    let values = scored.iter().copied().flatten();
    let words = values
        .map(|value| value.to_bits())
        .chain(digests.iter().copied());
    let bytes: Vec<u8> = words.flat_map(u64::to_le_bytes).collect();
    let mut head = [0; 8];
    head.copy_from_slice(&Digest::of(&bytes).as_bytes()[..8]);
    u64::from_le_bytes(head)
}

/// Returns the schema of `means/`.
pub fn means_schema(metrics: &[Metric]) -> Schema {
    use ColumnType::{F64, Text, U64};
    let mut fields = vec![
        Field::required("job", Text, "Job that the row belongs to."),
        Field::required("candidate", Text, "Candidate."),
        Field::required(
            "split",
            Text,
            "Side of the split that the means are over: train, holdout or all.",
        ),
    ];
    for metric in metrics {
        fields.push(Field::required(
            format!("mean_{}", metric.slug()),
            F64,
            format!("Mean of scored {metric}, every query counted once."),
        ));
    }
    fields.extend([
        Field::required(
            "weighted_primary",
            F64,
            "Mean of the first metric, queries counted by their weights.",
        ),
        Field::required(
            "result_class",
            U64,
            "Digest of all values and rankings: equal when the results are.",
        ),
    ]);
    Schema {
        name: "means".to_owned(),
        version: 1,
        fields,
    }
}

/// Returns rows as the bytes of a Parquet file.
pub fn means_to_bytes(
    job: &JobId,
    fold: Fold,
    metrics: &[Metric],
    rows: &[MeansRow],
) -> Result<Vec<u8>, ResultsError> {
    if let Some(row) = rows.iter().find(|row| row.means.len() != metrics.len()) {
        return Err(ResultsError::MeansShape {
            candidate: row.candidate.clone(),
            found: row.means.len(),
            expected: metrics.len(),
        });
    }
    let repeated = |text| Column::Labels(Labels::repeated(text, rows.len()));
    let mut columns = vec![
        repeated(job.as_str()),
        texts(rows.iter().map(|row| row.candidate.as_str())),
        repeated(fold.as_str()),
    ];
    for metric in 0..metrics.len() {
        let means = rows.iter().map(|row| Some(row.means[metric]));
        columns.push(Column::F64(means.collect()));
    }
    columns.extend([
        Column::F64(rows.iter().map(|row| Some(row.weighted)).collect()),
        Column::U64(rows.iter().map(|row| Some(row.class)).collect()),
    ]);
    let more = [(SPLIT_KEY, fold.as_str())];
    job_table_to_bytes(means_schema(metrics), columns, job, &more)
}

/// Reads a file of means, which must be of this job, fold and metrics.
pub fn read_means(
    path: &Path,
    job: &JobId,
    fold: Fold,
    metrics: &[Metric],
) -> Result<Vec<MeansRow>, ResultsError> {
    let cells = Cells::read_all(path, &means_schema(metrics), job)?;
    means_from(&cells, job, fold, metrics).map_err(|error| error.in_file(path))
}

fn means_from(
    cells: &Cells,
    job: &JobId,
    fold: Fold,
    metrics: &[Metric],
) -> Result<Vec<MeansRow>, ResultsError> {
    let found = fold_of(cells, job)?;
    if found != fold {
        return Err(ResultsError::Cell {
            column: SPLIT_KEY.to_owned(),
            row: 0,
            value: found.to_string(),
            expected: "the side of the split that the task is about",
        });
    }
    let candidates: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let weighted = cells.required_f64("weighted_primary")?;
    let classes = cells.required_u64("result_class")?;
    let mut rows: Vec<MeansRow> = candidates
        .into_iter()
        .zip(weighted.into_iter().zip(classes))
        .map(|(candidate, (weighted, class))| MeansRow {
            candidate,
            means: Vec::with_capacity(metrics.len()),
            weighted,
            class,
        })
        .collect();
    for metric in metrics {
        let means = cells.required_f64(&format!("mean_{}", metric.slug()))?;
        for (row, mean) in rows.iter_mut().zip(means) {
            row.means.push(mean);
        }
    }
    Ok(rows)
}
