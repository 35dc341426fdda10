//! A dataset on disk: three typed Parquet files and a manifest that binds them.

mod canonical;
mod error;
mod folder;
mod manifest;
mod tables;

pub use error::{ContentError, DatasetError};
pub use folder::{Dataset, store, verify};
pub use manifest::{About, Counts, Manifest, StoredFile};

#[cfg(test)]
mod tests;
