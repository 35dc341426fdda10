//! The ledger of looks at a dataset's holdouts, kept in the store beside the dataset and in a file while jobs are judged.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;
use evalfarm_domain::{Digest, JobId};
use evalfarm_store::{Store, StoreError};

use crate::looks::Look;

/// Looks that could not be brought from the store, or to it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LedgerError {
    /// The store failed.
    #[error("the looks at the dataset could not be exchanged with the store")]
    Store(#[from] StoreError),
    /// The file failed.
    #[error("failed to use the ledger `{path}`")]
    File {
        /// The ledger.
        path: PathBuf,
        /// What went wrong.
        #[source]
        source: io::Error,
    },
}

/// Adds the looks of the store that the file does not have, so that a coordinator with an empty disk begins with what others
/// have seen. Their order is lost: those of `job` come last, as if all others had looked before it, so that no look is held for
/// an earlier one than it was.
pub(crate) async fn bring_in(
    store: &Store,
    dataset: Digest,
    ledger: &Path,
    job: &JobId,
) -> Result<(), LedgerError> {
    let mut stored = store.looks(dataset).await?;
    stored.sort_by_key(|look| is_of(look, job));
    append(ledger, &stored).map_err(|source| LedgerError::File {
        path: ledger.to_owned(),
        source,
    })
}

fn is_of(look: &[u8], job: &JobId) -> bool {
    serde_json::from_slice::<Look>(look).is_ok_and(|look| look.job == *job)
}

fn append(ledger: &Path, looks: &[Bytes]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .create(true)
        .read(true)
        .append(true)
        .open(ledger)?;
    // Whoever appends a look holds this lock as well; closing the file lets go of it.
    file.lock()?;
    let text = io::read_to_string(&file)?;
    let known: BTreeSet<&str> = text.lines().collect();
    let mut fresh = String::new();
    for look in looks {
        let line = String::from_utf8_lossy(look);
        if !line.contains('\n') && !known.contains(line.as_ref()) {
            fresh.push_str(&line);
            fresh.push('\n');
        }
    }
    file.write_all(fresh.as_bytes())?;
    file.sync_all()
}

/// Adds the looks of the file to the store.
pub(crate) async fn bring_out(
    store: &Store,
    dataset: Digest,
    ledger: &Path,
) -> Result<(), LedgerError> {
    let text = match fs::read_to_string(ledger) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(source) => {
            return Err(LedgerError::File {
                path: ledger.to_owned(),
                source,
            });
        }
    };
    for line in text.lines().filter(|line| !line.is_empty()) {
        store
            .add_look(dataset, Bytes::from(line.to_owned()))
            .await?;
    }
    Ok(())
}
