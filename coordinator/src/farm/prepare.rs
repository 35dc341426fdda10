//! From a submission to a job.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use evalfarm_domain::{Digest, JobId};
use evalfarm_process::ErrorChain;
use evalfarm_store::StoreError;
use tokio::task::spawn_blocking;

use super::farm::Farm;
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
    /// The split manifest that was sent along cannot be used.
    #[error("the split manifest cannot be used: {why}")]
    Split {
        /// Why, with causes and without the place where it is kept here.
        why: String,
    },
    /// The sweep does not fit the dataset.
    #[error("the sweep does not fit the dataset")]
    Job(#[source] JobError),
    /// The dataset is not there, or cannot be used.
    #[error("the dataset cannot be used")]
    Dataset(#[source] StoreError),
    /// The submission was another job when it was stored, by a release that evaluates otherwise.
    #[error(
        "this release makes job `{now}` of the submission that was stored as `{stored}`: submit the sweep again"
    )]
    OtherJob {
        /// What it was stored as.
        stored: JobId,
        /// What it is now.
        now: JobId,
    },
    /// A split manifest could not be kept.
    #[error("failed to keep `{path}`")]
    Keep {
        /// The file.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
    /// The coordinator stops.
    #[error("the coordinator stops")]
    Stopping,
}

impl PrepareError {
    /// Whether the submission has to change: trying again would not help.
    pub(crate) fn is_input(&self) -> bool {
        match self {
            Self::Sweep(_)
            | Self::SplitManifest { .. }
            | Self::Split { .. }
            | Self::Job(_)
            | Self::OtherJob { .. } => true,
            Self::Dataset(error) => matches!(error, StoreError::NoDataset { .. }),
            Self::Keep { .. } | Self::Stopping => false,
        }
    }
}

/// Makes the job of a submission; the dataset is fetched when it is not in the cache.
///
/// A few at a time: a dataset is in memory meanwhile, and any number may be submitted, or taken up, at once.
pub(crate) async fn prepare(farm: &Farm, submission: &Submission) -> Result<Job, PrepareError> {
    let _turn = farm.preparing.acquire().await;
    let (submission, folder) = (submission.clone(), farm.folder.join("splits"));
    let fingerprint = submission.dataset;
    let (sweep, kept) = off_the_runtime(move || read_sweep(&submission, &folder)).await?;
    let cached = farm.cache.dataset(&farm.store, fingerprint).await;
    let cached = cached.map_err(PrepareError::Dataset)?;
    off_the_runtime(move || {
        Job::new(sweep, &cached.dataset).map_err(|error| match (error, kept) {
            (JobError::Split(error), Some(kept)) => PrepareError::Split {
                why: without_place(&ErrorChain(&error).to_string(), &kept),
            },
            (error, _) => PrepareError::Job(error),
        })
    })
    .await
}

/// Makes the job of a submission that was stored as `stored`.
pub(crate) async fn prepare_again(
    farm: &Farm,
    submission: &Submission,
    stored: &JobId,
) -> Result<Job, PrepareError> {
    let job = prepare(farm, submission).await?;
    if job.settings.job == *stored {
        return Ok(job);
    }
    Err(PrepareError::OtherJob {
        stored: stored.clone(),
        now: job.settings.job,
    })
}

/// Reads the sweep of a submission, without its dataset; says where the split manifest is kept, if there is one.
fn read_sweep(
    submission: &Submission,
    folder: &Path,
) -> Result<(SweepFile, Option<PathBuf>), PrepareError> {
    // Paths of the sweep file are the submitter's and mean nothing here: none is ever opened.
    let mut sweep =
        SweepFile::parse(&submission.sweep, Path::new("")).map_err(PrepareError::Sweep)?;
    let named = matches!(sweep.split, Some(SplitSource::Manifest(_)));
    let kept = match (&submission.split_manifest, named) {
        (Some(text), true) => {
            let kept = kept_split(text, folder)?;
            sweep.split = Some(SplitSource::Manifest(kept.clone()));
            Some(kept)
        }
        (None, false) => None,
        (Some(_), false) | (None, true) => return Err(PrepareError::SplitManifest { named }),
    };
    Ok((sweep, kept))
}

/// Keeps a split manifest under its digest, where the sweep can read it.
fn kept_split(text: &str, folder: &Path) -> Result<PathBuf, PrepareError> {
    let path = folder.join(format!("{}.json", Digest::of(text.as_bytes())));
    let keep = || -> io::Result<()> {
        fs::create_dir_all(folder)?;
        let staged = tempfile::NamedTempFile::new_in(folder)?;
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

/// Returns what is said of a file without where it is kept on this machine.
fn without_place(text: &str, kept: &Path) -> String {
    text.replace(&kept.display().to_string(), "split manifest")
}

async fn off_the_runtime<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, PrepareError> + Send + 'static,
) -> Result<T, PrepareError> {
    match spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(PrepareError::Stopping),
        },
    }
}
