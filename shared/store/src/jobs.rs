//! Jobs in the store.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use evalfarm_domain::{JobId, JobSettings, TaskId};
use evalfarm_results::{BesideFile, Commit, JobFolder, ResultsError, TaskFile};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde::de::DeserializeOwned;

use crate::backend::Listed;
use crate::store::blocking;
use crate::{Creation, JobObject, ObjectPath, Store, StoreError};

/// What a task gave: the bytes of the files that a job's folder has of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TaskObjects {
    /// An evaluated task. Its rows commit it.
    Evaluated {
        /// `rows/`.
        rows: Bytes,
        /// `timings/`; outside every claim of identity, so those of the first attempt stay.
        timings: Bytes,
    },
    /// A task of whose candidates the means alone are kept. Its means commit it.
    Averaged {
        /// `means/`.
        means: Bytes,
        /// `timings/`, as of an evaluated task.
        timings: Bytes,
    },
    /// An examined task. Its unjudged documents commit it.
    Examined {
        /// `hits/`.
        hits: Bytes,
        /// `relevant/`.
        relevant: Bytes,
        /// `condensed/`.
        condensed: Bytes,
        /// `unjudged/`.
        unjudged: Bytes,
    },
}

/// Returns the kinds of object that commit a file of a kind: any one of them does. A task may be committed as an evaluated and
/// as an averaged one; the two have their timings in common.
fn committed_by(kind: TaskFile) -> &'static [TaskFile] {
    match kind {
        TaskFile::Rows => &[TaskFile::Rows],
        TaskFile::Means => &[TaskFile::Means],
        TaskFile::Hits | TaskFile::Relevant | TaskFile::Condensed | TaskFile::Unjudged => {
            &[TaskFile::Unjudged]
        }
        TaskFile::Timings => &[TaskFile::Rows, TaskFile::Means],
    }
}

/// Returns what else a task has that an object of this kind commits, in the order of creation.
fn committed_with(marker: TaskFile) -> &'static [TaskFile] {
    match marker {
        TaskFile::Rows | TaskFile::Means => &[TaskFile::Timings],
        TaskFile::Unjudged => &[TaskFile::Hits, TaskFile::Relevant, TaskFile::Condensed],
        TaskFile::Hits | TaskFile::Relevant | TaskFile::Condensed | TaskFile::Timings => &[],
    }
}

impl TaskObjects {
    /// Returns the objects in the order of their creation: the last commits the task.
    fn in_order(self) -> Vec<(TaskFile, Bytes)> {
        match self {
            Self::Evaluated { rows, timings } => {
                vec![(TaskFile::Timings, timings), (TaskFile::Rows, rows)]
            }
            Self::Averaged { means, timings } => {
                vec![(TaskFile::Timings, timings), (TaskFile::Means, means)]
            }
            Self::Examined {
                hits,
                relevant,
                condensed,
                unjudged,
            } => vec![
                (TaskFile::Hits, hits),
                (TaskFile::Relevant, relevant),
                (TaskFile::Condensed, condensed),
                (TaskFile::Unjudged, unjudged),
            ],
        }
    }
}

/// What became of a task's result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskCommit {
    /// This call committed it.
    Committed,
    /// It was committed with the same bytes.
    Identical,
}

/// What was copied into a local job folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Fetched {
    /// Files copied.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Task files that were there already and were left alone.
    pub present: u64,
}

impl Store {
    /// Creates an object of a job: nothing of a job ever changes. Fails with [`StoreError::Name`] or as [`Self::create`] does.
    pub async fn create_for_job(
        &self,
        job: &JobId,
        object: JobObject,
        bytes: Bytes,
    ) -> Result<Creation, StoreError> {
        self.create(&ObjectPath::job(job, object)?, bytes).await
    }

    /// Returns an object of a job, or nothing when there is none. Fails with [`StoreError::Name`] or as [`Self::read`] does.
    pub async fn read_of_job(
        &self,
        job: &JobId,
        object: JobObject,
    ) -> Result<Option<Bytes>, StoreError> {
        self.read(&ObjectPath::job(job, object)?).await
    }

    /// Stores what every task of a job has in common.
    ///
    /// # Panics
    ///
    /// Never: settings have a JSON form.
    pub async fn create_settings(
        &self,
        job: &JobId,
        settings: &JobSettings,
    ) -> Result<Creation, StoreError> {
        let bytes = serde_json::to_vec(settings).expect("settings have a JSON form");
        self.create_for_job(job, JobObject::Settings, Bytes::from(bytes))
            .await
    }

    /// Returns what every task of a job has in common. Fails with [`StoreError::Missing`], [`StoreError::Json`] or because of
    /// the store.
    pub async fn settings(&self, job: &JobId) -> Result<JobSettings, StoreError> {
        self.json(job, JobObject::Settings).await
    }

    async fn json<T: DeserializeOwned>(
        &self,
        job: &JobId,
        object: JobObject,
    ) -> Result<T, StoreError> {
        let path = ObjectPath::job(job, object)?;
        let bytes = self.require(&path).await?;
        serde_json::from_slice(&bytes).map_err(|source| StoreError::Json { path, source })
    }

    /// Returns every job that has any object, also when its record is not there yet.
    pub async fn jobs(&self) -> Result<BTreeSet<JobId>, StoreError> {
        let names = self.folders(&ObjectPath::jobs()).await?;
        Ok(names
            .into_iter()
            .filter(|name| ObjectPath::listed(name).is_some())
            .filter_map(|name| JobId::try_from(name).ok())
            .collect())
    }

    /// Stores what a task gave. The task is committed when this returns, and not before its last object exists: `rows/` of an
    /// evaluated task, `means/` of an averaged one, `unjudged/` of an examined one.
    ///
    /// Any number of attempts may commit the same bytes, at once or after one another, and one that died on the way is
    /// completed by the next. Fails with [`StoreError::Differs`] when an object other than the timings is there with other
    /// content, which stays; or as [`Self::create`] does.
    pub async fn commit_task(
        &self,
        job: &JobId,
        task: &TaskId,
        objects: TaskObjects,
    ) -> Result<TaskCommit, StoreError> {
        let mut last = TaskCommit::Identical;
        for (kind, bytes) in objects.in_order() {
            let path = ObjectPath::task(job, kind, task)?;
            last = match self.create(&path, bytes).await? {
                Creation::Created => TaskCommit::Committed,
                Creation::Same => TaskCommit::Identical,
                Creation::Different { .. } if kind == TaskFile::Timings => TaskCommit::Identical,
                Creation::Different { expected, found } => {
                    return Err(StoreError::Differs {
                        path,
                        expected,
                        found,
                    });
                }
            };
        }
        Ok(last)
    }

    /// Returns the tasks of which a file of this kind is committed: [`TaskFile::Rows`] asks for evaluated tasks, [`TaskFile::Means`]
    /// for averaged ones, [`TaskFile::Unjudged`] for examined ones.
    ///
    /// A task may be evaluated and averaged under one id, so there is no asking whether it is committed in general.
    pub async fn committed(
        &self,
        job: &JobId,
        kind: TaskFile,
    ) -> Result<BTreeSet<TaskId>, StoreError> {
        let mut tasks = BTreeSet::new();
        for &marker in committed_by(kind) {
            let listed = self.list(&ObjectPath::kind(job, marker)?).await?;
            tasks.extend(listed.iter().filter_map(|object| object.path.task_id()));
        }
        Ok(tasks)
    }

    /// Whether a file of this kind of a task is committed, as in [`Self::committed`]. Asks for no content.
    pub async fn is_committed(
        &self,
        job: &JobId,
        kind: TaskFile,
        task: &TaskId,
    ) -> Result<bool, StoreError> {
        for &marker in committed_by(kind) {
            if self.has(&ObjectPath::task(job, marker, task)?).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Copies the files of one committed task into a local folder, the one that commits it last: [`TaskFile::Rows`] and timings,
    /// [`TaskFile::Means`] and timings, or [`TaskFile::Unjudged`] and the rest of what was examined. Returns `false` and copies
    /// nothing when the task is not committed as that.
    ///
    /// What the files say is not looked at, see [`JobFolder::finished`] and its like. Timings that are there already stay. Fails
    /// with [`StoreError::Results`] when the folder has other content under the same name, or because of the store.
    pub async fn fetch_task(
        &self,
        folder: &Arc<JobFolder>,
        job: &JobId,
        marker: TaskFile,
        task: &TaskId,
    ) -> Result<bool, StoreError> {
        let mut found = false;
        for &marker in committed_by(marker) {
            let Some(last) = self.read(&ObjectPath::task(job, marker, task)?).await? else {
                continue;
            };
            for &kind in committed_with(marker) {
                if kind == TaskFile::Timings && size_of(folder, kind, task).await?.is_some() {
                    continue;
                }
                let bytes = self.require(&ObjectPath::task(job, kind, task)?).await?;
                copy_in(folder, kind, task, bytes).await?;
            }
            copy_in(folder, marker, task, last).await?;
            found = true;
        }
        Ok(found)
    }

    /// Copies what is stored of a job into a local folder, which is created or, when it is of this job, taken up; what it
    /// has already is not downloaded again.
    ///
    /// Files have the same names and bytes as those that `evalfarm run` writes. Only committed tasks are copied, and `verdict.json`
    /// comes last. What the files say is not looked at, see [`JobFolder::finished`] and its like: a file that they set aside is
    /// downloaded again by the next call.
    ///
    /// Fails with [`StoreError::Missing`] when the store has no record of the job, with [`StoreError::Results`] when the folder is
    /// used, of another job or holds a file of another size, or because of the store.
    pub async fn fetch_job(
        &self,
        job: &JobId,
        root: &Path,
    ) -> Result<(JobFolder, Fetched), StoreError> {
        let record: serde_json::Value = self.json(job, JobObject::Record).await?;
        let (root, id) = (root.to_owned(), job.clone());
        let folder = blocking(move || Ok(JobFolder::create(&root, &id, &record)?)).await?;
        let folder = Arc::new(folder);
        // Looked up before anything is listed: where the verdict is, nothing else is to come.
        let mut beside = Vec::new();
        for file in BesideFile::ALL.into_iter().rev() {
            let found = self.read_of_job(job, JobObject::Beside(file)).await?;
            beside.extend(found.map(|bytes| (file, bytes)));
        }
        let mut fetched = Fetched::default();
        for kind in TaskFile::ALL {
            let committed = self.committed(job, kind).await?;
            let mut listed = self.list(&ObjectPath::kind(job, kind)?).await?;
            listed.retain(|object| {
                let task = object.path.task_id();
                task.is_some_and(|task| committed.contains(&task))
            });
            fetched.add(self.fetch_kind(&folder, kind, listed).await?);
        }
        for (file, bytes) in beside.into_iter().rev() {
            fetched.add(Fetched::one(bytes.len()));
            let folder = Arc::clone(&folder);
            blocking(move || Ok(folder.copy_in_beside(file, &bytes)?)).await?;
        }
        let folder = Arc::into_inner(folder).ok_or(StoreError::ShuttingDown)?;
        Ok((folder, fetched))
    }

    async fn fetch_kind(
        &self,
        folder: &Arc<JobFolder>,
        kind: TaskFile,
        listed: Vec<Listed>,
    ) -> Result<Fetched, StoreError> {
        stream::iter(listed)
            .map(|object| self.fetch_file(Arc::clone(folder), kind, object))
            .buffer_unordered(self.limits().transfers.get())
            .try_fold(Fetched::default(), |mut all, one| async move {
                all.add(one);
                Ok(all)
            })
            .await
    }

    async fn fetch_file(
        &self,
        folder: Arc<JobFolder>,
        kind: TaskFile,
        object: Listed,
    ) -> Result<Fetched, StoreError> {
        let Some(task) = object.path.task_id() else {
            return Ok(Fetched::default());
        };
        match size_of(&folder, kind, &task).await? {
            Some(present) if present == object.size => return Ok(Fetched::PRESENT),
            Some(_) => {
                let name = format!("{task}.parquet");
                let path = folder.path().join(kind.folder()).join(name);
                return Err(ResultsError::Differs { path }.into());
            }
            None => {}
        }
        let bytes = self.require(&object.path).await?;
        let fetched = Fetched::one(bytes.len());
        Ok(match copy_in(&folder, kind, &task, bytes).await? {
            Commit::Written => fetched,
            Commit::Identical => Fetched::PRESENT,
        })
    }
}

async fn size_of(
    folder: &Arc<JobFolder>,
    kind: TaskFile,
    task: &TaskId,
) -> Result<Option<u64>, StoreError> {
    let (folder, task) = (Arc::clone(folder), task.clone());
    blocking(move || Ok(folder.size_of(kind, &task)?)).await
}

async fn copy_in(
    folder: &Arc<JobFolder>,
    kind: TaskFile,
    task: &TaskId,
    bytes: Bytes,
) -> Result<Commit, StoreError> {
    let (folder, task) = (Arc::clone(folder), task.clone());
    blocking(move || Ok(folder.copy_in(kind, &task, &bytes)?)).await
}

impl Fetched {
    const PRESENT: Self = Self {
        files: 0,
        bytes: 0,
        present: 1,
    };

    fn one(bytes: usize) -> Self {
        Self {
            files: 1,
            bytes: bytes as u64,
            present: 0,
        }
    }

    fn add(&mut self, other: Self) {
        self.files += other.files;
        self.bytes += other.bytes;
        self.present += other.present;
    }
}
