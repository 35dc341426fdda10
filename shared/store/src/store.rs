//! The store itself: create once, read, list.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use evalfarm_domain::Digest;

use crate::backend::{Files, Listed, Remote, is_unknown, within};
use crate::location::Location;
use crate::{Limits, ObjectPath, StoreError, Variables};

/// What became of an object that was to be created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Creation {
    /// It was not there and is now.
    Created,
    /// It was there with the same content. Also when an earlier attempt of the same call created it and its answer was lost.
    Same,
    /// It was there with other content, which is kept.
    Different {
        /// Digest of what was to be created.
        expected: Digest,
        /// Digest of what is there.
        found: Digest,
    },
}

/// A place for objects that are created once and never changed. Cheap to clone; clones share connections.
///
/// Must be used inside a tokio runtime with its timer on. Every call ends: its steps have [`Limits::step`], and a failure that may
/// pass is tried again [`Limits::attempts`] times in all.
#[derive(Clone)]
pub struct Store {
    backend: Arc<Backend>,
    limits: Limits,
    name: Arc<str>,
}

#[derive(Debug)]
enum Backend {
    Files(Arc<Files>),
    Remote(Remote),
}

impl fmt::Debug for Store {
    /// Writes the address alone: clients hold credentials.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Store").field(&self.name).finish()
    }
}

/// Bytes from which a digest is computed off the runtime's own threads: half a millisecond's work.
const LARGE: usize = 256 * 1024;

impl Store {
    /// Opens the store at `file:///path`, `s3://bucket/prefix` or `gs://bucket/prefix` with default limits and what the process's
    /// environment says, as [`Self::open_with`] does.
    pub async fn open(address: &str) -> Result<Self, StoreError> {
        Self::open_with(address, &Variables::of_process(), Limits::default()).await
    }

    /// Opens a store and finds out whether it honours conditional creation, for which it creates one small object.
    ///
    /// Credentials and endpoints come from `variables`: `AWS_ACCESS_KEY_ID`, `AWS_SECRET_ACCESS_KEY`, `AWS_SESSION_TOKEN`,
    /// `AWS_REGION`, `AWS_ENDPOINT_URL` and the like for S3, else what the machine's own role gives;
    /// `GOOGLE_APPLICATION_CREDENTIALS` and the like for Google Cloud Storage. Profiles of the AWS command are not read.
    ///
    /// Fails with [`StoreError::Scheme`], [`StoreError::Address`], [`StoreError::Settings`] or
    /// [`StoreError::NoConditionalCreate`], or because the store cannot be reached.
    pub async fn open_with(
        address: &str,
        variables: &Variables,
        limits: Limits,
    ) -> Result<Self, StoreError> {
        let location = Location::parse(address)?;
        let name = location.to_string();
        let backend = match location {
            Location::Folder(root) => {
                Backend::Files(Arc::new(blocking(move || Files::open(&root)).await?))
            }
            Location::S3(bucket) => Backend::Remote(Remote::s3(&bucket, variables, limits)?),
            Location::Gcs(bucket) => Backend::Remote(Remote::gcs(&bucket, variables, limits)?),
        };
        let store = Self::with(backend, limits, &name);
        store.check_conditional_creation().await?;
        Ok(store)
    }

    /// Returns a store that lasts as long as its clones.
    pub fn in_memory(limits: Limits) -> Self {
        Self::with(Backend::Remote(Remote::in_memory(limits)), limits, "memory")
    }

    fn with(backend: Backend, limits: Limits, name: &str) -> Self {
        Self {
            backend: Arc::new(backend),
            limits,
            name: Arc::from(name),
        }
    }

    /// Returns the store's limits.
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Creates the same object twice, or finds it there: a store that creates it the second time overwrites.
    async fn check_conditional_creation(&self) -> Result<(), StoreError> {
        let path = ObjectPath::check();
        let bytes = Bytes::from_static(b"created once\n");
        let sha256 = Digest::of(&bytes);
        for _ in 0..2 {
            match self.create_new(&path, &bytes, sha256).await {
                Ok(true) => {}
                Ok(false) => return Ok(()),
                Err(StoreError::Refused { reason, .. }) if is_unknown(&reason) => break,
                Err(error) => return Err(error),
            }
        }
        Err(StoreError::NoConditionalCreate {
            store: self.name.to_string(),
        })
    }

    /// Creates an object unless there is one, and compares what is there.
    ///
    /// The content is durable when this returns [`Creation::Created`] or [`Creation::Same`]. Fails with [`StoreError::TooLarge`]
    /// or because of the store; the object may have been created all the same, and calling again tells.
    pub async fn create(&self, path: &ObjectPath, bytes: Bytes) -> Result<Creation, StoreError> {
        let sha256 = digest(&bytes).await?;
        self.create_digested(path, bytes, sha256).await
    }

    /// Does what [`Self::create`] does, for a caller who knows the digest of the bytes.
    pub(crate) async fn create_digested(
        &self,
        path: &ObjectPath,
        bytes: Bytes,
        expected: Digest,
    ) -> Result<Creation, StoreError> {
        let size = bytes.len() as u64;
        if size > self.limits.max_object {
            return Err(StoreError::TooLarge {
                path: path.clone(),
                size,
                limit: self.limits.max_object,
            });
        }
        if self.create_new(path, &bytes, expected).await? {
            return Ok(Creation::Created);
        }
        // S3 says "conflict" while another creation is under way, which may fail yet.
        let present = self.again(|| self.present(path, "create")).await?;
        let found = digest(&present).await?;
        Ok(if found == expected {
            Creation::Same
        } else {
            Creation::Different { expected, found }
        })
    }

    async fn create_new(
        &self,
        path: &ObjectPath,
        bytes: &Bytes,
        sha256: Digest,
    ) -> Result<bool, StoreError> {
        self.again(|| async {
            match &*self.backend {
                Backend::Files(files) => {
                    let allowed = self.limits.transfer(bytes.len() as u64);
                    let (files, target, bytes) = (Arc::clone(files), path.clone(), bytes.clone());
                    let work = blocking(move || files.create(&target, &bytes));
                    within(allowed, "create", path, work).await?
                }
                Backend::Remote(remote) => remote.create(path, bytes.clone(), sha256).await,
            }
        })
        .await
    }

    /// Returns an object that somebody said is there. That it is not is a failure that may pass.
    async fn present(&self, path: &ObjectPath, action: &'static str) -> Result<Bytes, StoreError> {
        let found = match &*self.backend {
            Backend::Files(files) => self.read_file(files, path).await?,
            // What was promised at creation does not matter: it is compared with what is at hand.
            Backend::Remote(remote) => remote
                .read(path, self.limits.max_object)
                .await?
                .map(|received| received.bytes),
        };
        found.ok_or_else(|| StoreError::Failed {
            action,
            path: path.clone(),
            reason: crate::Reason("it is said to exist and cannot be found".to_owned()),
        })
    }

    /// Returns an object, or nothing when there is none. Where the store keeps the digest of creation, the bytes have it.
    ///
    /// Fails with [`StoreError::TooLarge`], [`StoreError::Truncated`] or [`StoreError::Damaged`], or because of the store.
    pub async fn read(&self, path: &ObjectPath) -> Result<Option<Bytes>, StoreError> {
        self.again(|| async {
            let remote = match &*self.backend {
                Backend::Files(files) => return self.read_file(files, path).await,
                Backend::Remote(remote) => remote,
            };
            let Some(received) = remote.read(path, self.limits.max_object).await? else {
                return Ok(None);
            };
            if let Some(expected) = received.sha256 {
                let found = digest(&received.bytes).await?;
                if found != expected {
                    return Err(StoreError::Damaged {
                        path: path.clone(),
                        expected,
                        found,
                    });
                }
            }
            Ok(Some(received.bytes))
        })
        .await
    }

    /// Returns an object that has to be there, as [`Self::read`] does. Fails with [`StoreError::Missing`] as well.
    pub async fn require(&self, path: &ObjectPath) -> Result<Bytes, StoreError> {
        let found = self.read(path).await?;
        found.ok_or_else(|| StoreError::Missing { path: path.clone() })
    }

    /// Whether there is an object. Asks for no content.
    pub async fn has(&self, path: &ObjectPath) -> Result<bool, StoreError> {
        self.again(|| async {
            match &*self.backend {
                Backend::Files(files) => {
                    let (files, wanted) = (Arc::clone(files), path.clone());
                    let look = blocking(move || files.exists(&wanted));
                    within(self.limits.step, "look for", path, look).await?
                }
                Backend::Remote(remote) => remote.exists(path).await,
            }
        })
        .await
    }

    /// Removes an object; that there is none is no failure. Only for what may be taken back, such as
    /// [`crate::JobObject::Ended`]: whoever removes results or files of datasets breaks what was promised to others.
    pub async fn remove(&self, path: &ObjectPath) -> Result<(), StoreError> {
        self.again(|| async {
            match &*self.backend {
                Backend::Files(files) => {
                    let (files, unwanted) = (Arc::clone(files), path.clone());
                    let remove = blocking(move || files.remove(&unwanted));
                    within(self.limits.step, "remove", path, remove).await?
                }
                Backend::Remote(remote) => remote.remove(path).await,
            }
        })
        .await
    }

    async fn read_file(
        &self,
        files: &Arc<Files>,
        path: &ObjectPath,
    ) -> Result<Option<Bytes>, StoreError> {
        let (files, wanted) = (Arc::clone(files), path.clone());
        let limit = self.limits.max_object;
        let find = blocking(move || files.find(&wanted, limit));
        let Some(found) = within(self.limits.step, "read", path, find).await?? else {
            return Ok(None);
        };
        let (wanted, allowed) = (path.clone(), self.limits.transfer(found.size));
        let read = blocking(move || found.read(&wanted));
        within(allowed, "read", path, read).await?.map(Some)
    }

    /// Returns every object below a folder, by path.
    pub(crate) async fn list(&self, below: &ObjectPath) -> Result<Vec<Listed>, StoreError> {
        self.again(|| async {
            match &*self.backend {
                Backend::Files(files) => {
                    let (files, folder) = (Arc::clone(files), below.clone());
                    let list = blocking(move || files.list(&folder));
                    within(self.limits.step, "list", below, list).await?
                }
                Backend::Remote(remote) => remote.list(below).await,
            }
        })
        .await
    }

    /// Returns the names of the folders in a folder, by name.
    pub(crate) async fn folders(&self, of: &ObjectPath) -> Result<Vec<String>, StoreError> {
        self.again(|| async {
            match &*self.backend {
                Backend::Files(files) => {
                    let (files, folder) = (Arc::clone(files), of.clone());
                    let list = blocking(move || files.folders(&folder));
                    within(self.limits.step, "list", of, list).await?
                }
                Backend::Remote(remote) => remote.folders(of).await,
            }
        })
        .await
    }

    /// Makes attempts until one succeeds, fails for good, or was the last.
    async fn again<T, F: Future<Output = Result<T, StoreError>>>(
        &self,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, StoreError> {
        let attempts = self.limits.attempts.get();
        let mut pause = self.limits.first_pause;
        let mut made = 1;
        loop {
            match attempt().await {
                Err(error) if error.is_temporary() && made < attempts => {}
                Err(error) if error.is_temporary() => {
                    return Err(StoreError::GaveUp {
                        attempts,
                        source: Box::new(error),
                    });
                }
                outcome => return outcome,
            }
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(4);
            made += 1;
        }
    }
}

pub(crate) async fn digest(bytes: &Bytes) -> Result<Digest, StoreError> {
    if bytes.len() < LARGE {
        return Ok(Digest::of(bytes));
    }
    let bytes = bytes.clone();
    blocking(move || Ok(Digest::of(&bytes))).await
}

/// Does work that blocks where it holds up nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(outcome) => outcome,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            Err(_) => Err(StoreError::ShuttingDown),
        },
    }
}
