//! A client of object storage as a store. Each method is one attempt: it neither waits without bound nor tries again.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use evalfarm_domain::Digest;
use futures_util::StreamExt as _;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::gcp::{GoogleCloudStorageBuilder, GoogleConfigKey};
use object_store::memory::InMemory;
use object_store::path::Path;
use object_store::{
    Attribute, Attributes, ClientConfigKey, ClientOptions, Error, GetOptions, ObjectStore,
    ObjectStoreExt as _, PutMode, PutOptions, RetryConfig,
};

use super::{Listed, within};
use crate::location::Bucket;
use crate::{Limits, ObjectPath, Reason, StoreError, Variables};

/// Key of the metadata in which an object's digest is stored.
const SHA256: Attribute = Attribute::Metadata(std::borrow::Cow::Borrowed("sha256"));

const CONNECT: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(crate) struct Remote {
    client: Arc<dyn ObjectStore>,
    prefix: String,
    limits: Limits,
    variables: Variables,
}

/// An object and the digest with which it was created, unless it was created by another program.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) bytes: Bytes,
    pub(crate) sha256: Option<Digest>,
}

impl Remote {
    pub(crate) fn in_memory(limits: Limits) -> Self {
        Self {
            client: Arc::new(InMemory::new()),
            prefix: String::new(),
            limits,
            variables: Variables::default(),
        }
    }

    /// Makes a client of S3 from `AWS_…`. An endpoint with `http://` is taken at its word.
    pub(crate) fn s3(
        bucket: &Bucket,
        variables: &Variables,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let plain = is_plain::<AmazonS3ConfigKey>(variables, "AWS_", "endpoint")?;
        let mut builder = AmazonS3Builder::new().with_client_options(client_options());
        for (key, value) in known(variables, "AWS_") {
            builder = builder.with_config(key, value);
        }
        use_ring();
        let client = builder
            .with_bucket_name(&bucket.name)
            .with_retry(no_retries())
            .with_config(
                AmazonS3ConfigKey::Client(ClientConfigKey::AllowHttp),
                plain.to_string(),
            )
            .build()
            .map_err(|error| unusable(&format!("s3://{}", bucket.name), variables, &error))?;
        Ok(Self::with(Arc::new(client), bucket, variables, limits))
    }

    /// Makes a client of Google Cloud Storage from `GOOGLE_…`.
    pub(crate) fn gcs(
        bucket: &Bucket,
        variables: &Variables,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let plain = is_plain::<GoogleConfigKey>(variables, "GOOGLE_", "base_url")?;
        let mut builder = GoogleCloudStorageBuilder::new().with_client_options(client_options());
        for (key, value) in known(variables, "GOOGLE_") {
            builder = builder.with_config(key, value);
        }
        use_ring();
        let client = builder
            .with_bucket_name(&bucket.name)
            .with_retry(no_retries())
            .with_config(
                GoogleConfigKey::Client(ClientConfigKey::AllowHttp),
                plain.to_string(),
            )
            .build()
            .map_err(|error| unusable(&format!("gs://{}", bucket.name), variables, &error))?;
        Ok(Self::with(Arc::new(client), bucket, variables, limits))
    }

    fn with(
        client: Arc<dyn ObjectStore>,
        bucket: &Bucket,
        variables: &Variables,
        limits: Limits,
    ) -> Self {
        Self {
            client,
            prefix: bucket.prefix.clone(),
            limits,
            variables: variables.clone(),
        }
    }

    /// Creates an object, or returns `false` when there is one already.
    pub(crate) async fn create(
        &self,
        path: &ObjectPath,
        bytes: Bytes,
        sha256: Digest,
    ) -> Result<bool, StoreError> {
        let allowed = self.limits.transfer(bytes.len() as u64);
        let options = PutOptions {
            mode: PutMode::Create,
            attributes: Attributes::from_iter([(SHA256, sha256.to_string())]),
            ..PutOptions::default()
        };
        let location = self.location(path.as_str());
        let put = self.client.put_opts(&location, bytes.into(), options);
        match within(allowed, "create", path, put).await? {
            Ok(_) => Ok(true),
            Err(Error::AlreadyExists { .. } | Error::Precondition { .. }) => Ok(false),
            Err(error) => Err(self.failure("create", path, &error)),
        }
    }

    /// Returns an object, or nothing when there is none.
    pub(crate) async fn read(
        &self,
        path: &ObjectPath,
        limit: u64,
    ) -> Result<Option<Received>, StoreError> {
        let step = self.limits.step;
        let location = self.location(path.as_str());
        let get = self.client.get_opts(&location, GetOptions::default());
        let got = match within(step, "read", path, get).await? {
            Ok(got) => got,
            Err(Error::NotFound { .. }) => return Ok(None),
            Err(error) => return Err(self.failure("read", path, &error)),
        };
        let size = got.meta.size;
        let too_large = |size| StoreError::TooLarge {
            path: path.clone(),
            size,
            limit,
        };
        if size > limit {
            return Err(too_large(size));
        }
        let sha256 = got.attributes.get(&SHA256);
        let sha256 = sha256.and_then(|text| Digest::try_from(text.to_string()).ok());
        let mut bytes = BytesMut::new();
        let mut body = got.into_stream();
        while let Some(part) = within(step, "read", path, body.next()).await? {
            bytes.extend_from_slice(&part.map_err(|error| self.failure("read", path, &error))?);
            // Whatever a server announces, memory stays bounded.
            if bytes.len() as u64 > limit {
                return Err(too_large(bytes.len() as u64));
            }
        }
        if bytes.len() as u64 != size {
            return Err(StoreError::Truncated {
                path: path.clone(),
                expected: size,
                found: bytes.len() as u64,
            });
        }
        let bytes = bytes.freeze();
        Ok(Some(Received { bytes, sha256 }))
    }

    /// Whether there is an object.
    pub(crate) async fn exists(&self, path: &ObjectPath) -> Result<bool, StoreError> {
        let location = self.location(path.as_str());
        let head = self.client.head(&location);
        match within(self.limits.step, "look for", path, head).await? {
            Ok(_) => Ok(true),
            Err(Error::NotFound { .. }) => Ok(false),
            Err(error) => Err(self.failure("look for", path, &error)),
        }
    }

    /// Removes an object if there is one.
    pub(crate) async fn remove(&self, path: &ObjectPath) -> Result<(), StoreError> {
        let location = self.location(path.as_str());
        let delete = self.client.delete(&location);
        match within(self.limits.step, "remove", path, delete).await? {
            Ok(()) | Err(Error::NotFound { .. }) => Ok(()),
            Err(error) => Err(self.failure("remove", path, &error)),
        }
    }

    /// Returns every object below a folder, by path. Objects whose names cannot be ours are left out.
    pub(crate) async fn list(&self, below: &ObjectPath) -> Result<Vec<Listed>, StoreError> {
        let location = self.location(below.as_str());
        let mut objects = self.client.list(Some(&location));
        let mut listed = Vec::new();
        while let Some(object) = within(self.limits.step, "list", below, objects.next()).await? {
            let object = object.map_err(|error| self.failure("list", below, &error))?;
            if let Some(path) = self.ours(&object.location) {
                let size = object.size;
                listed.push(Listed { path, size });
            }
        }
        listed.sort();
        Ok(listed)
    }

    /// Returns the names of the folders in a folder, by name.
    pub(crate) async fn folders(&self, of: &ObjectPath) -> Result<Vec<String>, StoreError> {
        let location = self.location(of.as_str());
        let list = self.client.list_with_delimiter(Some(&location));
        let found = within(self.limits.step, "list", of, list).await?;
        let found = found.map_err(|error| self.failure("list", of, &error))?;
        let mut names: Vec<String> = found
            .common_prefixes
            .iter()
            .filter_map(|prefix| prefix.filename().map(str::to_owned))
            .collect();
        names.sort();
        Ok(names)
    }

    fn location(&self, path: &str) -> Path {
        if self.prefix.is_empty() {
            Path::from(path)
        } else {
            Path::from(format!("{}/{path}", self.prefix))
        }
    }

    fn ours(&self, location: &Path) -> Option<ObjectPath> {
        let text = location.as_ref();
        let text = if self.prefix.is_empty() {
            text
        } else {
            text.strip_prefix(&self.prefix)?.strip_prefix('/')?
        };
        ObjectPath::listed(text)
    }

    fn failure(&self, action: &'static str, path: &ObjectPath, error: &Error) -> StoreError {
        let path = path.clone();
        let reason = self.variables.blotted(error);
        match error {
            Error::Generic { .. } | Error::JoinError { .. } if !is_unknown(&reason) => {
                StoreError::Failed {
                    action,
                    path,
                    reason,
                }
            }
            _ => StoreError::Refused {
                action,
                path,
                reason,
            },
        }
    }
}

/// Whether the server, or its client as it is set up, says that it cannot do this at all.
pub(crate) fn is_unknown(reason: &Reason) -> bool {
    ["NotImplemented", "Not Implemented", "not yet implemented"]
        .iter()
        .any(|words| reason.0.contains(words))
}

/// Trying again is up to the caller, who knows that a creation may have happened although its answer was lost.
fn no_retries() -> RetryConfig {
    RetryConfig {
        max_retries: 0,
        ..RetryConfig::default()
    }
}

/// Time for a whole request would limit the size of an object; every step has its own.
fn client_options() -> ClientOptions {
    ClientOptions::new()
        .with_timeout_disabled()
        .with_connect_timeout(CONNECT)
}

/// Returns the settings that a client knows, of the variables with a prefix.
fn known<'v, K: FromStr>(
    variables: &'v Variables,
    prefix: &str,
) -> impl Iterator<Item = (K, &'v str)> {
    let variables = variables.of(prefix);
    variables.filter_map(|(name, value)| Some((K::from_str(&name).ok()?, value)))
}

/// Whether a setting that names an endpoint says `http://`.
fn is_plain<K: FromStr>(
    variables: &Variables,
    prefix: &str,
    endpoint: &str,
) -> Result<bool, StoreError> {
    let mut plain = false;
    for (name, value) in variables.of(prefix) {
        if name.contains(endpoint) && K::from_str(&name).is_ok() {
            plain |= value.starts_with("http://");
            without_credentials(value)?;
        }
    }
    Ok(plain)
}

/// Lets TLS use ring, unless the process chose something else already.
fn use_ring() {
    // An error means that there is a choice.
    drop(rustls::crypto::ring::default_provider().install_default());
}

fn unusable(store: &str, variables: &Variables, error: &Error) -> StoreError {
    StoreError::Settings {
        store: store.to_owned(),
        reason: variables.blotted(error),
    }
}

/// Refuses an endpoint in which a user and a password stand: it occurs in errors of the client.
fn without_credentials(endpoint: &str) -> Result<(), StoreError> {
    let authority = endpoint
        .split_once("://")
        .map_or(endpoint, |(_, rest)| rest);
    let authority = authority.split('/').next().unwrap_or_default();
    if authority.contains('@') {
        return Err(StoreError::Settings {
            store: "the endpoint".to_owned(),
            reason: Reason(
                "it holds a user or password: give them as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"
                    .to_owned(),
            ),
        });
    }
    Ok(())
}
