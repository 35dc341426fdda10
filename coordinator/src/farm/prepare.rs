//! From a submission to a job.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use evalfarm_dataset::Dataset;
use evalfarm_domain::Digest;
use evalfarm_store::{LocalCache, Store, StoreError};

use crate::api::Submission;
use crate::sweep::{SplitSource, SweepFile, SweepFileError};
use crate::{Job, JobError};

/// A submission that cannot become a job.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// The sweep file is not one.
    #[error("the sweep file cannot be used")]
    Sweep(#[source] SweepFileError),
    /// The sweep file names a split manifest that was not sent along, or one was sent that it does not name.
    #[error("a split manifest is sent along exactly when the sweep file names one")]
    SplitManifest {
        /// Whether the sweep file names one.
        named: bool,
    },
    /// The sweep does not fit the dataset.
    #[error("the sweep does not fit the dataset")]
    Job(#[source] JobError),
    /// The dataset is not there, or cannot be used.
    #[error("the dataset cannot be used")]
    Dataset(#[source] StoreError),
    /// A split manifest could not be kept.
    #[error("failed to keep `{path}`")]
    Keep {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

impl PrepareError {
    /// Whether the submission has to change: trying again would not help.
    pub(crate) fn is_input(&self) -> bool {
        match self {
            Self::Sweep(_) | Self::SplitManifest { .. } | Self::Job(_) => true,
            Self::Dataset(error) => matches!(error, StoreError::NoDataset { .. }),
            Self::Keep { .. } => false,
        }
    }
}

/// Reads the sweep of a submission, without its dataset.
pub(crate) fn read_sweep(
    submission: &Submission,
    folder: &Path,
) -> Result<SweepFile, PrepareError> {
    // Relative paths of the sweep file are the submitter's and mean nothing here.
    let mut sweep =
        SweepFile::parse(&submission.sweep, Path::new("")).map_err(PrepareError::Sweep)?;
    let named = matches!(sweep.split, Some(SplitSource::Manifest(_)));
    match (&submission.split_manifest, named) {
        (Some(text), true) => {
            sweep.split = Some(SplitSource::Manifest(kept_split(text, folder)?));
        }
        (None, false) => {}
        (Some(_), false) | (None, true) => return Err(PrepareError::SplitManifest { named }),
    }
    Ok(sweep)
}

/// Makes the job of a submission; the dataset is fetched when it is not in the cache.
pub(crate) async fn prepare(
    submission: &Submission,
    store: &Store,
    cache: &LocalCache,
    folder: &Path,
) -> Result<Job, PrepareError> {
    let sweep = read_sweep(submission, folder)?;
    let cached = cache.dataset(store, submission.dataset).await;
    let cached = cached.map_err(PrepareError::Dataset)?;
    bind(sweep, &cached.dataset)
}

fn bind(sweep: SweepFile, dataset: &Dataset) -> Result<Job, PrepareError> {
    Job::new(sweep, dataset).map_err(PrepareError::Job)
}

/// Keeps a split manifest under its digest, where the sweep can read it.
fn kept_split(text: &str, folder: &Path) -> Result<PathBuf, PrepareError> {
    let folder = folder.join("splits");
    let path = folder.join(format!("{}.json", Digest::of(text.as_bytes())));
    let keep = || -> io::Result<()> {
        fs::create_dir_all(&folder)?;
        let staged = tempfile::NamedTempFile::new_in(&folder)?;
        fs::write(staged.path(), text)?;
        staged.persist(&path)?;
        Ok(())
    };
    keep().map_err(|source| PrepareError::Keep {
        path: path.clone(),
        source,
    })?;
    Ok(path)
}
