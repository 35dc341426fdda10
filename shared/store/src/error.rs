//! What can go wrong with stored objects.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use evalfarm_dataset::DatasetError;
use evalfarm_domain::Digest;
use evalfarm_results::ResultsError;

use crate::ObjectPath;

/// What a store's client said, with every credential blotted out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason(pub(crate) String);

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Reason {}

/// Objects that cannot be stored, found or trusted.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The address of the store begins with something unknown.
    #[error("stores of scheme `{scheme}` are not known: file://, s3:// and gs:// are")]
    Scheme {
        /// What stands before `://`, empty when nothing does.
        scheme: String,
    },
    /// The address of the store is not one. What was given is left out, because people write credentials into addresses.
    #[error("the {scheme}:// address of the store cannot be used: {reason}")]
    Address {
        /// What stands before `://`.
        scheme: &'static str,
        /// What is wrong and what would be right.
        reason: &'static str,
    },
    /// The environment's settings for the store cannot be used.
    #[error("the settings in the environment cannot be used for `{store}`")]
    Settings {
        /// The store.
        store: String,
        /// What is wrong with them.
        #[source]
        reason: Reason,
    },
    /// The store creates an object a second time, or refuses to create one only if it is absent.
    #[error(
        "`{store}` does not honour conditional creation (`If-None-Match: *`), without which two workers could overwrite each other's results: use a store that does (S3, Google Cloud Storage, MinIO since 2024)"
    )]
    NoConditionalCreate {
        /// The store.
        store: String,
    },
    /// A part of a path is not a plain name.
    #[error(
        "{what} `{name}` cannot be part of an object's path: letters, digits, `-`, `_` and `.` can, up to 128, and the first is a letter or digit"
    )]
    Name {
        /// What the name is of, e.g. `task id`.
        what: &'static str,
        /// The rejected name.
        name: String,
    },
    /// There is no such object.
    #[error("the store has no `{path}`")]
    Missing {
        /// The object.
        path: ObjectPath,
    },
    /// The object is larger than what is read or created.
    #[error("`{path}` has {size} bytes, at most {limit} are allowed")]
    TooLarge {
        /// The object.
        path: ObjectPath,
        /// Its size in bytes.
        size: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// Fewer or more bytes arrived than the object has.
    #[error("`{path}` has {expected} bytes, {found} arrived")]
    Truncated {
        /// The object.
        path: ObjectPath,
        /// Its size in bytes.
        expected: u64,
        /// Bytes that arrived.
        found: u64,
    },
    /// The bytes are not those that were created.
    #[error("`{path}` has sha256 `{found}`, it was created with `{expected}`")]
    Damaged {
        /// The object.
        path: ObjectPath,
        /// Digest when it was created.
        expected: Digest,
        /// Digest of what was read.
        found: Digest,
    },
    /// The object is there with other content.
    #[error(
        "`{path}` exists with sha256 `{found}`, not `{expected}`: the same task must give the same bytes, so the dataset, the program or the machine changed"
    )]
    Differs {
        /// The object that was there first and is kept.
        path: ObjectPath,
        /// Digest of what was to be created.
        expected: Digest,
        /// Digest of what is there.
        found: Digest,
    },
    /// The store answered and refused.
    #[error("the store refused to {action} `{path}`")]
    Refused {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// On which object or below which folder.
        path: ObjectPath,
        /// What it said.
        #[source]
        reason: Reason,
    },
    /// The store could not be reached or failed to answer properly.
    #[error("failed to {action} `{path}` in the store")]
    Failed {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// On which object or below which folder.
        path: ObjectPath,
        /// What happened.
        #[source]
        reason: Reason,
    },
    /// The store did not answer in time.
    #[error("the store took more than {seconds} s to {action} `{path}`")]
    Timeout {
        /// What was tried, e.g. `read`.
        action: &'static str,
        /// On which object or below which folder.
        path: ObjectPath,
        /// The time allowed, in seconds.
        seconds: f64,
    },
    /// A failure that could pass did not pass.
    #[error("gave up on the store after {attempts} attempts")]
    GaveUp {
        /// Attempts made, at least 1.
        attempts: u32,
        /// The last failure.
        #[source]
        source: Box<Self>,
    },
    /// The operating system refused.
    #[error("failed to {action} `{path}`")]
    Io {
        /// What was tried, e.g. `create`.
        action: &'static str,
        /// On which file or folder.
        path: PathBuf,
        /// Its reason.
        #[source]
        source: io::Error,
    },
    /// An object is not the JSON that belongs there.
    #[error("`{path}` is not the JSON that evalfarm stores there")]
    Json {
        /// The object.
        path: ObjectPath,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// The store has no such dataset, or not all of it yet.
    #[error("the store has no dataset `{fingerprint}`")]
    NoDataset {
        /// Fingerprint that was asked for.
        fingerprint: Digest,
    },
    /// A dataset in the store is not what it should be.
    #[error("dataset `{fingerprint}` is damaged in the store")]
    DamagedDataset {
        /// Fingerprint that was asked for.
        fingerprint: Digest,
        /// What is wrong with it.
        #[source]
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// Bytes that were handed in are not those that their digest says.
    #[error("the bytes for `{path}` have sha256 `{found}`, not `{expected}`")]
    OtherBytes {
        /// The object that was to be created.
        path: ObjectPath,
        /// Digest that was stated.
        expected: Digest,
        /// Digest of the bytes.
        found: Digest,
    },
    /// A manifest that was handed in cannot be read.
    #[error("the bytes are not the manifest of a dataset")]
    Manifest(#[source] serde_json::Error),
    /// A manifest was handed in before all of its files.
    #[error("{} of the dataset's files are not in the store yet, `{}` among them", missing.len(), missing.first().map(ToString::to_string).unwrap_or_default())]
    Incomplete {
        /// Digests of the files that are missing, in the manifest's order; at least one.
        missing: Vec<Digest>,
    },
    /// What lies under a fingerprint is another dataset.
    #[error("dataset `{found}` was found under the fingerprint `{expected}`")]
    OtherDataset {
        /// Fingerprint that was asked for.
        expected: Digest,
        /// Fingerprint of what lies there.
        found: Digest,
    },
    /// A local dataset cannot be published.
    #[error("the dataset cannot be published")]
    Dataset(#[source] DatasetError),
    /// The cache cannot hold what is asked for, however much is evicted.
    #[error("{needed} bytes do not fit into the cache `{folder}` of {limit} bytes: allow it more")]
    CacheTooSmall {
        /// The cache.
        folder: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// Everything that could be evicted is in use.
    #[error(
        "{needed} bytes do not fit into the cache `{folder}` of {limit} bytes while {used} of them are in use: allow it more"
    )]
    CacheInUse {
        /// The cache.
        folder: PathBuf,
        /// Bytes needed.
        needed: u64,
        /// Bytes in use.
        used: u64,
        /// Bytes allowed.
        limit: u64,
    },
    /// A damaged entry of the cache cannot be replaced because another process uses it.
    #[error("`{path}` is damaged and in use by another process")]
    CacheBusy {
        /// The entry.
        path: PathBuf,
    },
    /// A local job folder refused.
    #[error(transparent)]
    Results(#[from] ResultsError),
    /// The runtime ended before the work did.
    #[error("the runtime is shutting down")]
    ShuttingDown,
}

impl StoreError {
    /// Whether the same call may succeed later without anybody changing anything.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Failed { .. }
            | Self::Timeout { .. }
            | Self::GaveUp { .. }
            | Self::Truncated { .. }
            | Self::CacheInUse { .. }
            | Self::CacheBusy { .. }
            | Self::ShuttingDown => true,
            Self::Scheme { .. }
            | Self::Address { .. }
            | Self::Settings { .. }
            | Self::NoConditionalCreate { .. }
            | Self::Name { .. }
            | Self::Missing { .. }
            | Self::TooLarge { .. }
            | Self::Damaged { .. }
            | Self::Differs { .. }
            | Self::Refused { .. }
            | Self::Io { .. }
            | Self::Json { .. }
            | Self::NoDataset { .. }
            | Self::DamagedDataset { .. }
            | Self::OtherBytes { .. }
            | Self::Manifest(_)
            | Self::Incomplete { .. }
            | Self::OtherDataset { .. }
            | Self::Dataset(_)
            | Self::CacheTooSmall { .. }
            | Self::Results(_) => false,
        }
    }

    /// Returns a function that names what was tried on which path when the operating system refused.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io {
            action,
            path,
            source,
        }
    }
}
