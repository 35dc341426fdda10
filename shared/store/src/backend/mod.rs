//! What a store is made of: a folder, or a client of object storage.

mod files;
mod remote;

pub(crate) use files::Files;
pub(crate) use remote::{Remote, is_unknown};

use std::time::Duration;

use crate::{ObjectPath, StoreError};

/// An object in a listing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Listed {
    pub(crate) path: ObjectPath,
    /// In bytes.
    pub(crate) size: u64,
}

/// Gives up waiting for work after a time.
pub(crate) async fn within<T>(
    allowed: Duration,
    action: &'static str,
    path: &ObjectPath,
    work: impl Future<Output = T>,
) -> Result<T, StoreError> {
    let done = tokio::time::timeout(allowed, work).await;
    done.map_err(|_| StoreError::Timeout {
        action,
        path: path.clone(),
        seconds: allowed.as_secs_f64(),
    })
}
