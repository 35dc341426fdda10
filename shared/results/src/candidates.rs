//! The candidates of a job: what they are and how they did on average.

use std::path::Path;

use evalfarm_columnar::{Column, ColumnType, Field, Labels, Schema};
use evalfarm_domain::{CandidateId, Fold, JobId, Metric};

use crate::ResultsError;
use crate::cells::{Cells, job_table_to_bytes, numbers, optional_texts, texts};

/// Means of the scored values of one metric; nothing where the candidate was not evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct FoldMeans {
    /// Mean over the train queries.
    pub train: Option<f64>,
    /// Mean over the holdout queries.
    pub holdout: Option<f64>,
    /// Mean over every query of a job without split.
    pub all: Option<f64>,
}

impl FoldMeans {
    fn get(&self, fold: Fold) -> Option<f64> {
        match fold {
            Fold::Train => self.train,
            Fold::Holdout => self.holdout,
            Fold::All => self.all,
        }
    }

    fn set(&mut self, fold: Fold, mean: Option<f64>) {
        match fold {
            Fold::Train => self.train = mean,
            Fold::Holdout => self.holdout = mean,
            Fold::All => self.all = mean,
        }
    }
}

/// One candidate of a job.
#[derive(Debug, Clone, PartialEq)]
pub struct CandidateRow {
    /// The candidate.
    pub candidate: CandidateId,
    /// Position in the order in which the candidates were planned, from 0.
    pub index: u32,
    /// The part of the sweep that proposed it first, e.g. `baseline`, `scan`, `descent`.
    pub stage: String,
    /// Every name under which it was asked for; several when equal configurations were given.
    pub labels: Vec<String>,
    /// Its canonical JSON.
    pub config: String,
    /// The first candidate whose rankings are the same for every query, when that is another one.
    pub same_results_as: Option<CandidateId>,
    /// Means, one for each metric of the job.
    pub means: Vec<FoldMeans>,
}

const FOLDS: [Fold; 3] = [Fold::Train, Fold::Holdout, Fold::All];

fn mean_column(fold: Fold, metric: Metric) -> String {
    format!("{fold}_{}", metric.slug())
}

/// Returns the schema of `candidates.parquet`.
pub fn candidates_schema(metrics: &[Metric]) -> Schema {
    use ColumnType::{F64, Text, U64};
    let mut fields = vec![
        Field::required("job", Text, "Job."),
        Field::required("candidate", Text, "Candidate."),
        Field::required("index", U64, "Position in the plan, from 0."),
        Field::required(
            "stage",
            Text,
            "The part of the sweep that proposed it first.",
        ),
        Field::required(
            "labels",
            Text,
            "Names under which it was asked for, a JSON array.",
        ),
        Field::required("config", Text, "Canonical configuration, JSON."),
        Field::nullable(
            "same_results_as",
            Text,
            "First candidate with the same ranking for every query; empty when it is this one.",
        ),
    ];
    for &metric in metrics {
        for fold in FOLDS {
            let description = format!(
                "Mean of scored {metric} over the {fold} queries; empty when not evaluated."
            );
            fields.push(Field::nullable(mean_column(fold, metric), F64, description));
        }
    }
    Schema {
        name: "candidates".to_owned(),
        version: 1,
        fields,
    }
}

/// Returns candidates as the bytes of a Parquet file.
///
/// # Panics
///
/// Never: a list of texts has a JSON form.
pub fn candidates_to_bytes(
    job: &JobId,
    metrics: &[Metric],
    rows: &[CandidateRow],
) -> Result<Vec<u8>, ResultsError> {
    if let Some(row) = rows.iter().find(|row| row.means.len() != metrics.len()) {
        return Err(ResultsError::MeansShape {
            candidate: row.candidate.clone(),
            found: row.means.len(),
            expected: metrics.len(),
        });
    }
    let labels: Vec<String> = rows
        .iter()
        .map(|row| serde_json::to_string(&row.labels).expect("texts have a JSON form"))
        .collect();
    let job_column = Column::Labels(Labels::repeated(job.as_str(), rows.len()));
    let rows = || rows.iter();
    let mut columns = vec![
        job_column,
        texts(rows().map(|row| row.candidate.as_str())),
        numbers(rows().map(|row| row.index)),
        texts(rows().map(|row| row.stage.as_str())),
        texts(labels.iter().map(String::as_str)),
        texts(rows().map(|row| row.config.as_str())),
        optional_texts(rows().map(|row| row.same_results_as.as_ref().map(CandidateId::as_str))),
    ];
    for metric in 0..metrics.len() {
        for fold in FOLDS {
            columns.push(Column::F64(
                rows().map(|row| row.means[metric].get(fold)).collect(),
            ));
        }
    }
    job_table_to_bytes(candidates_schema(metrics), columns, job, &[])
}

/// Reads a file of candidates, which must be of this job and these metrics.
pub fn read_candidates(
    path: &Path,
    job: &JobId,
    metrics: &[Metric],
) -> Result<Vec<CandidateRow>, ResultsError> {
    let cells = Cells::read_all(path, &candidates_schema(metrics), job)?;
    candidates_from(&cells, metrics).map_err(|error| error.in_file(path))
}

fn candidates_from(cells: &Cells, metrics: &[Metric]) -> Result<Vec<CandidateRow>, ResultsError> {
    let own = |text: &str| Some(text.to_owned());
    let ids: Vec<CandidateId> = cells.ids("candidate", "a candidate id")?;
    let indices = cells.required_u32("index")?;
    let stages = cells.required("stage", "text", own)?;
    let labels = cells.required("labels", "a JSON array of texts", |text| {
        serde_json::from_str::<Vec<String>>(text).ok()
    })?;
    let configs = cells.required("config", "text", own)?;
    let same = cells.parsed("same_results_as", "a candidate id", |text| {
        CandidateId::try_from(text).ok()
    })?;
    let mut means = vec![vec![FoldMeans::default(); metrics.len()]; ids.len()];
    for (at, &metric) in metrics.iter().enumerate() {
        for fold in FOLDS {
            let column = cells.f64(&mean_column(fold, metric))?;
            for (row, &mean) in means.iter_mut().zip(column) {
                row[at].set(fold, mean);
            }
        }
    }
    let texts = stages.into_iter().zip(labels).zip(configs);
    let rows = ids.into_iter().zip(texts).zip(same).zip(means);
    Ok(rows
        .enumerate()
        .map(
            |(at, (((candidate, ((stage, labels), config)), same_results_as), means))| {
                CandidateRow {
                    candidate,
                    index: indices[at],
                    stage,
                    labels,
                    config,
                    same_results_as,
                    means,
                }
            },
        )
        .collect())
}
