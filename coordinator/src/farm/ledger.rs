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
    let mut text = io::read_to_string(&file)?;
    // What a coordinator that was killed wrote half: its look is written again, or comes from the store.
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        text.truncate(whole);
        file.set_len(whole as u64)?;
    }
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

#[cfg(test)]
mod tests {
    use evalfarm_domain::CandidateId;
    use evalfarm_store::Limits;

    use super::*;
    use crate::looks::record;

    fn look(job: &str) -> Look {
        Look {
            holdout: Digest::of(b"holdout"),
            baseline: CandidateId::try_from("c0".to_owned()).unwrap(),
            candidate: CandidateId::try_from("c1".to_owned()).unwrap(),
            policy: Digest::of(b"policy"),
            job: JobId::try_from(job).unwrap(),
        }
    }

    async fn store_with(jobs: &[&str], dataset: Digest) -> Store {
        let store = Store::in_memory(Limits::default());
        for job in jobs {
            let line = serde_json::to_vec(&look(job)).unwrap();
            store.add_look(dataset, Bytes::from(line)).await.unwrap();
        }
        store
    }

    #[tokio::test]
    async fn with_an_empty_disk_no_job_is_held_for_an_earlier_one_than_it_was() {
        let jobs = ["j1", "j2", "j3", "j4"];
        let dataset = Digest::of(b"data");
        let store = store_with(&jobs, dataset).await;
        for job in jobs {
            let folder = tempfile::tempdir().unwrap();
            let ledger = folder.path().join("looks.jsonl");
            let own = look(job);
            bring_in(&store, dataset, &ledger, &own.job).await.unwrap();
            assert_eq!(record(&ledger, &own).unwrap().same_hypothesis, 3, "{job}");
            // A second time nothing is added.
            bring_in(&store, dataset, &ledger, &own.job).await.unwrap();
            assert_eq!(fs::read_to_string(&ledger).unwrap().lines().count(), 4);
        }
    }

    #[tokio::test]
    async fn a_look_that_was_written_half_is_made_good() {
        let dataset = Digest::of(b"data");
        let folder = tempfile::tempdir().unwrap();
        let ledger = folder.path().join("looks.jsonl");
        let (first, second) = (look("j1"), look("j2"));
        record(&ledger, &first).unwrap();
        let mut text = fs::read_to_string(&ledger).unwrap();
        text.push_str("{\"holdout\":\"5fe");
        fs::write(&ledger, text).unwrap();
        let store = store_with(&["j2"], dataset).await;
        bring_in(&store, dataset, &ledger, &second.job)
            .await
            .unwrap();
        assert_eq!(record(&ledger, &second).unwrap().same_hypothesis, 1);
        assert_eq!(record(&ledger, &first).unwrap().same_hypothesis, 0);
        bring_out(&store, dataset, &ledger).await.unwrap();
        assert_eq!(store.looks(dataset).await.unwrap().len(), 2);
    }
}
