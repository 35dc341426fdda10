//! Datasets in the cache.

use std::path::Path;

use evalfarm_dataset::{Dataset, verify};
use evalfarm_domain::Digest;

use super::{Kept, LocalCache, Room};
use crate::datasets::damaged;
use crate::store::blocking;
use crate::{Store, StoreError};

/// A dataset from the store, and the entry of the cache that stays as long as this value.
#[derive(Debug)]
pub struct CachedDataset {
    /// The dataset, held to the fingerprint that was asked for.
    pub dataset: Dataset,
    /// Where it is.
    pub kept: Kept,
}

impl LocalCache {
    /// Returns the dataset of a fingerprint, which is downloaded first when it is not there or is damaged.
    ///
    /// What is downloaded has every digest recomputed from its content, see [`verify`]; what is there already has to have the bytes
    /// that were downloaded. Fails with [`StoreError::NoDataset`], [`StoreError::DamagedDataset`] or
    /// [`StoreError::OtherDataset`] about the store, or as [`Self::keep`] does about the cache.
    pub async fn dataset(
        &self,
        store: &Store,
        fingerprint: Digest,
    ) -> Result<CachedDataset, StoreError> {
        let name = format!("dataset-{fingerprint}");
        let open = move |folder: &Path| {
            let dataset = Dataset::open(folder).map_err(|error| damaged(fingerprint, error))?;
            is_asked_for(fingerprint, dataset.manifest.fingerprint)?;
            Ok(dataset)
        };
        let make = |room: Room| async move {
            store.download_dataset(fingerprint, &room).await?;
            blocking(move || {
                let manifest =
                    verify(room.folder()).map_err(|error| damaged(fingerprint, error))?;
                is_asked_for(fingerprint, manifest.fingerprint)
            })
            .await
        };
        let (dataset, kept) = self.keep(&name, open, make).await?;
        Ok(CachedDataset { dataset, kept })
    }
}

fn is_asked_for(expected: Digest, found: Digest) -> Result<(), StoreError> {
    if found == expected {
        Ok(())
    } else {
        Err(StoreError::OtherDataset { expected, found })
    }
}
