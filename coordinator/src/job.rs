//! A job: a sweep over one dataset, with everything that decides its result and nothing else.

use std::collections::BTreeMap;

use evalfarm_dataset::split::{SplitError, SplitManifest, SplitOptions, hash_order};
use evalfarm_dataset::{Dataset, Manifest};
use evalfarm_domain::{Digest, Fold, Grade, JobId, JobSettings, Measurement, Query, QueryId};
use evalfarm_results::JobQuery;
use serde::{Deserialize, Serialize};

use crate::sweep::{Judge, SplitSource, SweepFile};

/// Number of the evaluation: what the same sweep over the same data gives. It is part of every job's identity and rises
/// when a change of this program changes any stored value.
pub const EVALUATION: u32 = 2;

/// A sweep that cannot become a job on this dataset.
#[derive(Debug, thiserror::Error)]
pub enum JobError {
    /// The split cannot be made or does not fit the dataset.
    #[error("the split does not fit the dataset")]
    Split(#[source] SplitError),
    /// More queries were asked for than there are.
    #[error("`sample = {asked}` asks for more queries than the {available} of the dataset")]
    Sample {
        /// Queries asked for.
        asked: u32,
        /// Queries of the dataset.
        available: usize,
    },
    /// The sweep names a field that the corpus does not have.
    #[error("the sweep names field `{field}`, the corpus has {known}")]
    UnknownField {
        /// The field.
        field: String,
        /// Every field of the corpus.
        known: String,
    },
    /// A fold has no queries.
    #[error("fold `{fold}` has no queries")]
    EmptyFold {
        /// The fold.
        fold: Fold,
    },
}

/// A sweep over one dataset.
#[derive(Debug)]
pub struct Job {
    /// What was asked.
    pub sweep: SweepFile,
    /// What a worker needs to know.
    pub settings: JobSettings,
    /// What the dataset says of itself.
    pub manifest: Manifest,
    /// The dataset's queries, each with the number of its relevant judgments.
    pub(crate) queries: BTreeMap<QueryId, (Query, u32)>,
}

/// What is written into a job's folder before its first row: a run that is resumed has to be of the same job.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct JobRecord {
    /// Version of this form.
    pub schema_version: u32,
    /// [`EVALUATION`] of the program that made the rows.
    pub evaluation: u32,
    /// The job.
    pub job: JobId,
    /// Name of the sweep.
    pub name: String,
    /// Fingerprint of the dataset.
    pub dataset: Digest,
    /// SHA-256 of each fold's query ids in bytewise order, joined by commas.
    pub folds: BTreeMap<Fold, Digest>,
    /// The sweep in canonical form.
    pub sweep: serde_json::Value,
}

impl Job {
    /// Binds a sweep to the dataset that it is about.
    pub fn new(sweep: SweepFile, dataset: &Dataset) -> Result<Self, JobError> {
        check_fields(&sweep, dataset)?;
        let folds = folds(&sweep, dataset)?;
        if let Some((&fold, _)) = folds.iter().find(|(_, ids)| ids.is_empty()) {
            return Err(JobError::EmptyFold { fold });
        }
        let about = &dataset.manifest;
        let measurement =
            sweep
                .metrics
                .measurement(&about.gains, about.relevant_from, about.top_grade);
        let relevant_from = measurement.relevant_from;
        let settings = JobSettings {
            job: job_id(&sweep, about.fingerprint, &measurement, &folds),
            dataset: about.fingerprint,
            engine: sweep.engine,
            served_by: sweep.served_by.clone(),
            measurement,
            folds,
        };
        let relevant = |query: &Query| relevant(query, dataset, relevant_from);
        let queries = dataset.queries.iter();
        let queries = queries
            .map(|query| (query.id.clone(), (query.clone(), relevant(query))))
            .collect();
        Ok(Self {
            sweep,
            settings,
            manifest: about.clone(),
            queries,
        })
    }

    /// Returns what is written into the job's folder.
    ///
    /// # Panics
    ///
    /// Never: the canonical form of a sweep is JSON.
    pub fn record(&self) -> JobRecord {
        let folds = self.settings.folds.iter();
        JobRecord {
            schema_version: 1,
            evaluation: EVALUATION,
            job: self.settings.job.clone(),
            name: self.sweep.name.to_string(),
            dataset: self.settings.dataset,
            folds: folds.map(|(&fold, ids)| (fold, ids_digest(ids))).collect(),
            sweep: serde_json::from_str(&self.sweep.canonical_json())
                .expect("the canonical form is JSON"),
        }
    }

    /// The fold that candidates are judged on.
    pub(crate) fn judged_fold(&self) -> Fold {
        match self.sweep.judge {
            Judge::WinnerOnHoldout => Fold::Holdout,
            Judge::AllOnAll => Fold::All,
        }
    }

    /// Traffic weights of a fold's queries, in fold order.
    pub(crate) fn weights(&self, fold: Fold) -> Vec<f64> {
        let queries = self.ids(fold).iter().filter_map(|id| self.queries.get(id));
        queries.map(|(query, _)| query.weight).collect()
    }

    /// The queries of a fold with what judging needs to know of them, in fold order.
    pub(crate) fn queries(&self, fold: Fold) -> Vec<JobQuery> {
        let ids = self.ids(fold).iter();
        ids.filter_map(|id| self.queries.get(id))
            .map(|(query, relevant)| JobQuery {
                fold,
                query: query.clone(),
                relevant: *relevant,
            })
            .collect()
    }

    /// The query ids of a fold; none when the job does not use the fold.
    pub(crate) fn ids(&self, fold: Fold) -> &[QueryId] {
        self.settings
            .folds
            .get(&fold)
            .map(Vec::as_slice)
            .unwrap_or_default()
    }
}

/// SHA-256 of ids joined by commas, as a split manifest has it.
pub(crate) fn ids_digest(ids: &[QueryId]) -> Digest {
    let texts: Vec<&str> = ids.iter().map(QueryId::as_str).collect();
    Digest::of(texts.join(",").as_bytes())
}

fn job_id(
    sweep: &SweepFile,
    dataset: Digest,
    measurement: &Measurement,
    folds: &BTreeMap<Fold, Vec<QueryId>>,
) -> JobId {
    let evaluation = EVALUATION.to_le_bytes();
    let canonical = sweep.canonical_json();
    let measurement =
        serde_json::to_vec(measurement).expect("every part of a measurement has a JSON form");
    let folds: Vec<(Fold, Digest)> = folds
        .iter()
        .map(|(&fold, ids)| (fold, ids_digest(ids)))
        .collect();
    let head = [
        evaluation.as_slice(),
        canonical.as_bytes(),
        dataset.as_bytes(),
        measurement.as_slice(),
    ];
    let tail = folds
        .iter()
        .flat_map(|(fold, digest)| [fold.as_str().as_bytes(), digest.as_bytes().as_slice()]);
    let digest = Digest::of_parts(head.into_iter().chain(tail));
    JobId::try_from(format!("j{}", digest.short(20))).expect("21 characters are an id")
}

fn check_fields(sweep: &SweepFile, dataset: &Dataset) -> Result<(), JobError> {
    let known = &dataset.corpus.fields;
    match sweep
        .baseline
        .fields
        .iter()
        .find(|field| !known.contains(field))
    {
        None => Ok(()),
        Some(field) => {
            let known: Vec<String> = known.iter().map(|field| format!("`{field}`")).collect();
            Err(JobError::UnknownField {
                field: field.to_string(),
                known: known.join(", "),
            })
        }
    }
}

fn folds(sweep: &SweepFile, dataset: &Dataset) -> Result<BTreeMap<Fold, Vec<QueryId>>, JobError> {
    let ids = || dataset.queries.iter().map(|query| query.id.clone());
    let split = match (&sweep.split, sweep.sample) {
        (None, sample) => {
            let mut all: Vec<QueryId> = ids().collect();
            if let Some(sample) = sample {
                let available = all.len();
                let asked = sample.get();
                if asked as usize > available {
                    return Err(JobError::Sample { asked, available });
                }
                all = hash_order(all, sweep.seed);
                all.truncate(asked as usize);
            }
            all.sort_unstable();
            return Ok(BTreeMap::from([(Fold::All, all)]));
        }
        (Some(SplitSource::Computed(sizes)), _) => SplitManifest::compute(
            ids(),
            sizes.seed,
            sizes.total as usize,
            sizes.train as usize,
            &SplitOptions::default(),
        )
        .map_err(JobError::Split)?,
        (Some(SplitSource::Manifest(path)), _) => {
            SplitManifest::read(path).map_err(JobError::Split)?
        }
    };
    split
        .check_queries(&dataset.queries)
        .map_err(JobError::Split)?;
    let sorted = |fold| {
        let mut ids = split.queries(fold);
        ids.sort_unstable();
        (fold, ids)
    };
    Ok(BTreeMap::from([Fold::Train, Fold::Holdout].map(sorted)))
}

/// Returns the number of a query's judgments of at least this grade.
fn relevant(query: &Query, dataset: &Dataset, relevant_from: Grade) -> u32 {
    let judged = dataset.judgments.query(query.id.as_str());
    let relevant = judged.map_or(0, |judged| {
        judged
            .iter()
            .filter(|(_, grade)| *grade >= relevant_from)
            .count()
    });
    u32::try_from(relevant).unwrap_or(u32::MAX)
}
