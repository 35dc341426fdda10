//! The dataset of a sweep: opened where it is stored, or generated into the cache.

use std::path::{Path, PathBuf};

use evalfarm_coordinator::Progress;
use evalfarm_coordinator::sweep::DatasetSource;
use evalfarm_dataset::{Dataset, DatasetError};

use crate::commands::dataset::generate::{generated_name, store_generated};
use crate::failure::Failure;

/// A dataset and the ledger of looks at its holdout, which lies beside it.
pub(crate) struct Source {
    pub(crate) dataset: Dataset,
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
        }),
        DatasetSource::Generated(wanted) => {
            let folder = cache.join("datasets").join(generated_name(wanted));
            // The cache may be gone, half deleted or of an older version: it can always be made again.
            let dataset = if let Ok(dataset) = Dataset::open(&folder) {
                dataset
            } else {
                progress.note(&format!("generating {}", generated_name(wanted)));
                store_generated(&folder, wanted)?;
                dataset_at(&folder)?
            };
            Ok(Source {
                dataset,
                ledger: ledger(&folder),
            })
        }
    }
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
    let mut name = folder.file_name().unwrap_or_default().to_owned();
    name.push(".looks.jsonl");
    folder.with_file_name(name)
}
