//! The dataset of a sweep: opened where it is stored, or generated into the cache.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use evalfarm_coordinator::Progress;
use evalfarm_coordinator::sweep::{DatasetSource, GeneratedDataset};
use evalfarm_dataset::{Dataset, DatasetError};

use crate::commands::dataset::generate::{generated_name, store_generated};
use crate::failure::Failure;

/// A dataset, its folder, and the ledger of looks at its holdout, which lies beside it.
pub(crate) struct Source {
    pub(crate) dataset: Dataset,
    pub(crate) folder: PathBuf,
    pub(crate) ledger: PathBuf,
}

/// Opens the dataset, generating it first when the sweep asks for generated data that the cache does not hold.
pub(crate) fn prepare(
    source: &DatasetSource,
    cache: &Path,
    progress: &dyn Progress,
) -> Result<Source, Failure> {
    match source {
        DatasetSource::Stored(folder) => Ok(Source {
            dataset: dataset_at(folder)?,
            ledger: ledger(folder),
            folder: folder.clone(),
        }),
        DatasetSource::Generated(wanted) => {
            let folder = cache.join("datasets").join(generated_name(wanted));
            let dataset = cached(&folder, wanted, progress)?;
            Ok(Source {
                dataset,
                ledger: ledger(&folder),
                folder,
            })
        }
    }
}

/// Opens a generated dataset, or generates and stores it. Any number of processes may do so at once for one cache: one
/// generates, the others wait for it.
fn cached(
    folder: &Path,
    wanted: &GeneratedDataset,
    progress: &dyn Progress,
) -> Result<Dataset, Failure> {
    if let Ok(dataset) = Dataset::open(folder) {
        return Ok(dataset);
    }
    let parent = folder.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent).map_err(Failure::infrastructure)?;
    // The operating system lets go of the lock however the process ends.
    let lock = File::create(beside(folder, ".lock")).map_err(Failure::infrastructure)?;
    lock.lock().map_err(Failure::infrastructure)?;
    // Whoever held the lock before may have generated it.
    if let Ok(dataset) = Dataset::open(folder) {
        return Ok(dataset);
    }
    // The cache may be gone, half deleted or of an older version: it can always be made again.
    progress.note(&format!("generating {}", generated_name(wanted)));
    store_generated(folder, wanted)?;
    dataset_at(folder)
}

/// Opens a stored dataset.
pub(crate) fn dataset_at(folder: &Path) -> Result<Dataset, Failure> {
    Dataset::open(folder).map_err(dataset_failure)
}

/// Wraps an error of a dataset with its own hint.
pub(crate) fn dataset_failure(error: DatasetError) -> Failure {
    let hint = error.hint();
    let failure = Failure::input(error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

fn ledger(folder: &Path) -> PathBuf {
    beside(folder, ".looks.jsonl")
}

/// Returns the path of a file that belongs to a dataset and lies beside it, so that it is no part of its content.
fn beside(folder: &Path, suffix: &str) -> PathBuf {
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(suffix);
    folder.with_file_name(name)
}
