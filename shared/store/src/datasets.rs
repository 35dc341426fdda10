//! Datasets in the store.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use evalfarm_dataset::{Dataset, StoredFile};
use evalfarm_domain::Digest;
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::Deserialize;

use crate::path::plain;
use crate::store::{blocking, digest};
use crate::{Creation, ObjectPath, Room, Store, StoreError};

pub(crate) const MANIFEST: &str = "manifest.json";

/// What became of a dataset that was to be published.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Publication {
    /// It was not there and is now.
    Published,
    /// A dataset of this fingerprint was there. Its name, source and licence may be others: they are not part of the content.
    AlreadyThere,
}

/// What has to be known of a manifest before the dataset can be opened, in every version.
#[derive(Debug, Deserialize)]
struct Contents {
    fingerprint: Digest,
    files: Vec<StoredFile>,
}

impl Contents {
    fn read(manifest: &[u8]) -> Result<Self, StoreError> {
        let contents: Self = serde_json::from_slice(manifest).map_err(StoreError::Manifest)?;
        for file in &contents.files {
            plain("dataset file", &file.name)?;
        }
        Ok(contents)
    }
}

impl Store {
    /// Publishes the dataset in a folder under its fingerprint, which is returned.
    ///
    /// The folder is opened first, so that its files are what its manifest says. The manifest is created last: whoever finds it
    /// finds every file. Of two that publish at once, one manifest stays, and the files of both are there.
    ///
    /// Fails with [`StoreError::Dataset`] for a folder that is no sound dataset, with [`StoreError::Differs`] when the store has
    /// other bytes under a digest, or because of the store.
    pub async fn publish_dataset(
        &self,
        folder: &Path,
    ) -> Result<(Digest, Publication), StoreError> {
        let opened = folder.to_owned();
        let manifest = blocking(move || {
            let dataset = Dataset::open(&opened).map_err(StoreError::Dataset)?;
            Ok(dataset.manifest)
        })
        .await?;
        let fingerprint = manifest.fingerprint;
        for file in &manifest.files {
            let bytes = read_local(&folder.join(&file.name)).await?;
            self.put_dataset_file(fingerprint, file.sha256, bytes)
                .await?;
        }
        let bytes = read_local(&folder.join(MANIFEST)).await?;
        let published = self.create_manifest(fingerprint, bytes).await?;
        Ok((fingerprint, published))
    }

    async fn create_manifest(
        &self,
        fingerprint: Digest,
        bytes: Bytes,
    ) -> Result<Publication, StoreError> {
        let path = ObjectPath::dataset_manifest(fingerprint);
        Ok(match self.create(&path, bytes).await? {
            Creation::Created => Publication::Published,
            Creation::Same => Publication::AlreadyThere,
            Creation::Different { .. } => {
                self.contents(fingerprint).await?;
                Publication::AlreadyThere
            }
        })
    }

    /// Whether there is a dataset of that fingerprint, whole: its manifest, which is created last, is there.
    pub async fn has_dataset(&self, fingerprint: Digest) -> Result<bool, StoreError> {
        self.has(&ObjectPath::dataset_manifest(fingerprint)).await
    }

    /// Stores one file of a dataset that comes in piece by piece, before its manifest. The same file may come any number of times.
    ///
    /// Fails with [`StoreError::OtherBytes`] when the bytes have another digest, with [`StoreError::Differs`] when the store has
    /// other bytes under that digest, or because of the store.
    pub async fn put_dataset_file(
        &self,
        fingerprint: Digest,
        sha256: Digest,
        bytes: Bytes,
    ) -> Result<Creation, StoreError> {
        let path = ObjectPath::dataset_file(fingerprint, sha256);
        let found = digest(&bytes).await?;
        if found != sha256 {
            return Err(StoreError::OtherBytes {
                path,
                expected: sha256,
                found,
            });
        }
        match self.create_digested(&path, bytes, sha256).await? {
            Creation::Different { expected, found } => Err(StoreError::Differs {
                path,
                expected,
                found,
            }),
            creation @ (Creation::Created | Creation::Same) => Ok(creation),
        }
    }

    /// Returns the digests of the files that a manifest lists and the store has not, in the manifest's order.
    ///
    /// Fails with [`StoreError::Manifest`] or [`StoreError::Name`] when the bytes are no manifest, or because of the store.
    pub async fn missing_dataset_files(&self, manifest: &[u8]) -> Result<Vec<Digest>, StoreError> {
        let contents = Contents::read(manifest)?;
        self.missing(contents).await
    }

    /// Makes a dataset visible whose files were put before, and returns the fingerprint that its manifest states.
    ///
    /// Only the digests of the files are known to be right. That the files are a dataset, and that it has this fingerprint, is
    /// verified by whoever downloads it, see [`crate::LocalCache::dataset`].
    ///
    /// Fails with [`StoreError::Incomplete`] when a listed file is missing, with [`StoreError::Manifest`] or
    /// [`StoreError::Name`] when the bytes are no manifest, or because of the store.
    pub async fn put_dataset_manifest(
        &self,
        manifest: Bytes,
    ) -> Result<(Digest, Publication), StoreError> {
        let contents = Contents::read(&manifest)?;
        let fingerprint = contents.fingerprint;
        let missing = self.missing(contents).await?;
        if !missing.is_empty() {
            return Err(StoreError::Incomplete { missing });
        }
        let published = self.create_manifest(fingerprint, manifest).await?;
        Ok((fingerprint, published))
    }

    async fn missing(&self, contents: Contents) -> Result<Vec<Digest>, StoreError> {
        let fingerprint = contents.fingerprint;
        stream::iter(contents.files)
            .map(|file| async move {
                let path = ObjectPath::dataset_file(fingerprint, file.sha256);
                let there = self.has(&path).await?;
                Ok((!there).then_some(file.sha256))
            })
            .buffered(self.limits().transfers.get())
            .try_filter_map(|missing| async move { Ok(missing) })
            .try_collect()
            .await
    }

    /// Returns every look at a dataset that was added, in the order of their digests.
    ///
    /// Fails with [`StoreError::Damaged`] when one has not the digest after which it is named, or because of the store.
    pub async fn looks(&self, fingerprint: Digest) -> Result<Vec<Bytes>, StoreError> {
        let listed = self.list(&ObjectPath::looks(fingerprint)).await?;
        stream::iter(listed)
            .map(|object| object.path)
            .filter_map(|path| async move { Some((path.look_sha256()?, path)) })
            .map(|(expected, path)| async move {
                let bytes = self.require(&path).await?;
                let found = digest(&bytes).await?;
                if found == expected {
                    Ok(bytes)
                } else {
                    Err(StoreError::Damaged {
                        path,
                        expected,
                        found,
                    })
                }
            })
            .buffered(self.limits().transfers.get())
            .try_collect()
            .await
    }

    /// Adds a look at a dataset. The same look is added once, whoever adds it and how often.
    pub async fn add_look(&self, fingerprint: Digest, look: Bytes) -> Result<Creation, StoreError> {
        let sha256 = digest(&look).await?;
        let path = ObjectPath::look(fingerprint, sha256);
        self.create_digested(&path, look, sha256).await
    }

    /// Downloads the files of a dataset, every one with the bytes that the manifest says.
    pub(crate) async fn download_dataset(
        &self,
        fingerprint: Digest,
        room: &Room,
    ) -> Result<(), StoreError> {
        let (manifest, contents) = self.contents(fingerprint).await?;
        let sizes = contents.files.iter().map(|file| file.bytes);
        let size = sizes.fold(manifest.len() as u64, u64::saturating_add);
        room.reserve(size).await?;
        let folder = room.folder();
        let files = contents.files.iter().map(|file| async move {
            let name = plain("dataset file", &file.name);
            let name = name.map_err(|error| damaged(fingerprint, error))?;
            let path = ObjectPath::dataset_file(fingerprint, file.sha256);
            let bytes = match self.require(&path).await {
                Err(error @ (StoreError::Missing { .. } | StoreError::Damaged { .. })) => {
                    return Err(damaged(fingerprint, error));
                }
                read => read?,
            };
            let found = digest(&bytes).await?;
            if found != file.sha256 {
                let expected = file.sha256;
                let changed = StoreError::Damaged {
                    path,
                    expected,
                    found,
                };
                return Err(damaged(fingerprint, changed));
            }
            write_local(&folder.join(name), bytes).await
        });
        let files: Vec<_> = files.collect();
        stream::iter(files)
            .buffer_unordered(self.limits().transfers.get())
            .try_collect::<()>()
            .await?;
        write_local(&folder.join(MANIFEST), manifest).await
    }

    async fn contents(&self, fingerprint: Digest) -> Result<(Bytes, Contents), StoreError> {
        let path = ObjectPath::dataset_manifest(fingerprint);
        let manifest = match self.read(&path).await {
            Ok(Some(manifest)) => manifest,
            Ok(None) => return Err(StoreError::NoDataset { fingerprint }),
            Err(error @ StoreError::Damaged { .. }) => return Err(damaged(fingerprint, error)),
            Err(error) => return Err(error),
        };
        let contents: Contents = serde_json::from_slice(&manifest)
            .map_err(|source| damaged(fingerprint, StoreError::Json { path, source }))?;
        if contents.fingerprint != fingerprint {
            return Err(StoreError::OtherDataset {
                expected: fingerprint,
                found: contents.fingerprint,
            });
        }
        Ok((manifest, contents))
    }
}

pub(crate) fn damaged(
    fingerprint: Digest,
    source: impl std::error::Error + Send + Sync + 'static,
) -> StoreError {
    StoreError::DamagedDataset {
        fingerprint,
        source: Box::new(source),
    }
}

async fn read_local(path: &Path) -> Result<Bytes, StoreError> {
    let path = path.to_owned();
    blocking(move || {
        let bytes = fs::read(&path).map_err(StoreError::io("read", &path))?;
        Ok(Bytes::from(bytes))
    })
    .await
}

async fn write_local(path: &Path, bytes: Bytes) -> Result<(), StoreError> {
    let path = path.to_owned();
    blocking(move || fs::write(&path, &bytes).map_err(StoreError::io("write", &path))).await
}
