//! What is known of rows whose job lies beside them: two tables that were measured differently must not be compared.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};

use evalfarm_dataset::value_table::ValueTable;
use evalfarm_domain::{Fold, Gains, QueryId};
use evalfarm_results::{JobFolder, JobQuery, ResultsError};
use serde::Deserialize;
use serde_json::Value;

use crate::commands::gate::unopened;
use crate::failure::Failure;

/// The job of a table of our own rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Origin {
    folder: String,
    /// Whether the dataset was generated; unknown, and so false, before the job has a verdict.
    pub(super) synthetic: bool,
    /// How grades became gains, in words.
    pub(super) gains: Option<String>,
    /// What judging needs to know of the queries.
    pub(super) queries: BTreeMap<QueryId, JobQuery>,
    dataset: Option<String>,
    evaluation: Option<u64>,
    relevant_from: Option<f64>,
}

impl Origin {
    /// Looks for the job of a table: its folder, the folder of its rows, or one file of these was read. The queries are
    /// those of one side of its split. Rows that lie in no job folder have none; a damaged job is an error, because its
    /// queries, weights and clusters would be lost without a word.
    pub(super) fn of(table: &ValueTable, fold: Option<Fold>) -> Result<Option<Self>, Failure> {
        if table.candidate.is_none() {
            return Ok(None);
        }
        let Some(folder) = folder(&table.path)? else {
            return Ok(None);
        };
        let job = match JobFolder::open(&folder) {
            Ok(job) => job,
            Err(ResultsError::NoJob { .. }) if !is_robbed(&folder) => return Ok(None),
            Err(error) => return Err(unopened(error, &folder)),
        };
        if let Some(of) = table.job.as_ref().filter(|of| *of != job.job().as_str()) {
            return Err(Failure::infrastructure(format!(
                "`{}` has rows of job `{of}`, and lies in the folder of `{}`",
                table.path.display(),
                job.job()
            )));
        }
        let record = job.record();
        let verdict = job.verdict().map_err(Failure::infrastructure)?;
        let provenance = verdict
            .map(|verdict| provenance(&job, &verdict))
            .transpose()?;
        let queries = job.queries().map_err(Failure::infrastructure)?.into_iter();
        let queries = queries.filter(|query| Some(query.fold) == fold);
        Ok(Some(Self {
            folder: job.path().display().to_string(),
            synthetic: provenance.as_ref().is_some_and(|known| known.synthetic),
            gains: provenance.as_ref().map(|known| known.gains.to_string()),
            queries: queries
                .map(|query| (query.query.id.clone(), query))
                .collect(),
            dataset: record["dataset"].as_str().map(str::to_owned),
            evaluation: record["evaluation"].as_u64(),
            relevant_from: provenance.map(|known| known.relevant_from),
        }))
    }

    /// Returns the traffic weights that the job knows; nothing when all are 1.
    pub(super) fn weights(&self, queries: &[QueryId]) -> Option<Vec<f64>> {
        let weight = |id| self.queries.get(id).map_or(1.0, |known| known.query.weight);
        let weights: Vec<f64> = queries.iter().map(weight).collect();
        let alike = weights.iter().all(|weight| weight.total_cmp(&1.0).is_eq());
        (!alike).then_some(weights)
    }

    /// Returns the clusters that the job knows; nothing when each query is alone.
    pub(super) fn clusters(&self, queries: &[QueryId]) -> Option<Vec<String>> {
        let cluster = |id: &QueryId| self.queries.get(id)?.query.cluster.clone();
        queries.iter().any(|id| cluster(id).is_some()).then(|| {
            // A query without a cluster is its own; the two kinds of names cannot meet.
            let named = |id: &QueryId| match cluster(id) {
                Some(name) => format!("cluster {name}"),
                None => format!("query {id}"),
            };
            queries.iter().map(named).collect()
        })
    }

    /// Returns the relevant judgments a query; nothing when the job does not know every query.
    pub(super) fn relevant_per_query(&self, queries: &[QueryId]) -> Option<f64> {
        let relevant: Option<Vec<f64>> = queries
            .iter()
            .map(|id| Some(f64::from(self.queries.get(id)?.relevant)))
            .collect();
        relevant.map(|relevant| relevant.iter().sum::<f64>() / queries.len() as f64)
    }
}

/// What a job's verdict says of how it was measured.
#[derive(Debug, Deserialize)]
struct Provenance {
    synthetic: bool,
    gains: Gains,
    relevant_from: f64,
}

fn provenance(job: &JobFolder, verdict: &Value) -> Result<Provenance, Failure> {
    Provenance::deserialize(&verdict["provenance"]).map_err(|error| {
        Failure::infrastructure(format!(
            "`{}` does not say how the job was measured: {error}",
            job.path().join("verdict.json").display()
        ))
    })
}

/// Returns where the job of a path would be: the folder itself, or that of its `rows`, as far as the path is written.
fn folder(path: &Path) -> Result<Option<PathBuf>, Failure> {
    let absolute = std::path::absolute(path).map_err(Failure::infrastructure)?;
    let above = |steps: usize| {
        let written = path.ancestors().nth(steps);
        let written = written.filter(|folder| !folder.as_os_str().is_empty());
        written
            .or_else(|| absolute.ancestors().nth(steps))
            .map(Path::to_owned)
    };
    let is_rows = |folder: &Path| folder.ends_with("rows");
    Ok(if path.is_file() {
        absolute
            .parent()
            .is_some_and(is_rows)
            .then(|| above(2))
            .flatten()
    } else if is_rows(&absolute) {
        above(1)
    } else {
        above(0)
    })
}

/// Whether a folder without `job.json` holds what only a job leaves.
fn is_robbed(folder: &Path) -> bool {
    let left = ["queries.parquet", "candidates.parquet", "verdict.json"];
    left.iter().any(|name| folder.join(name).is_file())
}

/// Refuses two jobs on different datasets, or with different gains, relevance levels or versions of the evaluation. What
/// is not known of either is not compared.
pub(super) fn refuse_different(
    baseline: Option<&Origin>,
    candidate: Option<&Origin>,
) -> Result<(), Failure> {
    let (Some(baseline), Some(candidate)) = (baseline, candidate) else {
        return Ok(());
    };
    let difference = different(
        "datasets",
        baseline.dataset.as_ref(),
        candidate.dataset.as_ref(),
    )
    .or_else(|| different("gains", baseline.gains.as_ref(), candidate.gains.as_ref()))
    .or_else(|| {
        different(
            "relevance levels",
            baseline.relevant_from.as_ref(),
            candidate.relevant_from.as_ref(),
        )
    })
    .or_else(|| {
        different(
            "versions of the evaluation",
            baseline.evaluation.as_ref(),
            candidate.evaluation.as_ref(),
        )
    });
    match difference {
        None => Ok(()),
        Some(difference) => Err(Failure::input(format!(
            "the jobs `{}` and `{}` have different {difference}",
            baseline.folder, candidate.folder
        ))
        .with_hint("run both on one dataset with the same gains and the same version of evalfarm")),
    }
}

fn different<T: PartialEq + Display>(
    what: &str,
    baseline: Option<&T>,
    candidate: Option<&T>,
) -> Option<String> {
    let (Some(baseline), Some(candidate)) = (baseline, candidate) else {
        return None;
    };
    (baseline != candidate).then(|| format!("{what}: `{baseline}` and `{candidate}`"))
}
