//! The address of a store.

use std::fmt;
use std::path::PathBuf;

use crate::StoreError;
use crate::path::plain;

/// Where a store is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Location {
    /// A folder on this machine or on a file system that all machines share.
    Folder(PathBuf),
    /// A bucket of S3 or of a server that speaks its language.
    S3(Bucket),
    /// A bucket of Google Cloud Storage.
    Gcs(Bucket),
}

/// A bucket and what stands before the path of every object in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bucket {
    pub(crate) name: String,
    /// Empty, or parts separated by `/` without one at either end.
    pub(crate) prefix: String,
}

impl Location {
    /// Reads `file:///absolute/path`, `s3://bucket/prefix` or `gs://bucket/prefix`; the prefix may be absent.
    ///
    /// Fails with [`StoreError::Scheme`] for other schemes and with [`StoreError::Address`], which does not repeat the address,
    /// for anything that is not an address of its scheme.
    pub(crate) fn parse(address: &str) -> Result<Self, StoreError> {
        match address.split_once("://") {
            Some(("file", path)) => folder(path),
            Some(("s3", rest)) => bucket("s3", rest).map(Self::S3),
            Some(("gs", rest)) => bucket("gs", rest).map(Self::Gcs),
            other => Err(StoreError::Scheme {
                scheme: other.map_or("", |(scheme, _)| scheme).to_owned(),
            }),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (scheme, bucket) = match self {
            Self::Folder(path) => return write!(f, "file://{}", path.display()),
            Self::S3(bucket) => ("s3", bucket),
            Self::Gcs(bucket) => ("gs", bucket),
        };
        let slash = if bucket.prefix.is_empty() { "" } else { "/" };
        write!(f, "{scheme}://{}{slash}{}", bucket.name, bucket.prefix)
    }
}

fn folder(path: &str) -> Result<Location, StoreError> {
    let wrong = |reason| StoreError::Address {
        scheme: "file",
        reason,
    };
    if !path.starts_with('/') {
        return Err(wrong(
            "the path must be absolute, with three slashes: file:///path",
        ));
    }
    if path.contains('%') {
        return Err(wrong(
            "write the path as it is, without percent-encoding; it cannot contain `%`",
        ));
    }
    Ok(Location::Folder(PathBuf::from(path)))
}

fn bucket(scheme: &'static str, rest: &str) -> Result<Bucket, StoreError> {
    let wrong = |reason| StoreError::Address { scheme, reason };
    let (name, prefix) = rest.split_once('/').unwrap_or((rest, ""));
    // Amazon S3 User Guide, "General purpose bucket naming rules"; Google allows `_` as well.
    let allowed = |byte: u8| {
        byte.is_ascii_lowercase() || byte.is_ascii_digit() || matches!(byte, b'-' | b'_' | b'.')
    };
    if name.len() < 3 || name.len() > 222 || !name.bytes().all(allowed) {
        return Err(wrong(
            "the bucket's name must have at least 3 lower-case letters, digits, `-`, `_` or `.`; credentials belong into the environment",
        ));
    }
    let prefix = prefix.strip_suffix('/').unwrap_or(prefix);
    if !prefix.is_empty() && prefix.split('/').any(|part| plain("prefix", part).is_err()) {
        return Err(wrong(
            "every part of the prefix must begin with a letter or digit and have only letters, digits, `-`, `_` and `.`",
        ));
    }
    Ok(Bucket {
        name: name.to_owned(),
        prefix: prefix.to_owned(),
    })
}
