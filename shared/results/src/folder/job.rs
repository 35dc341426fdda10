//! One job on disk.

use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use evalfarm_columnar::Schema;
use evalfarm_domain::{Fold, JobId, Metric, TaskId};
use serde::{Deserialize, Serialize};

use super::publish::{Commit, publish_once, publish_over, publish_unsynced, sync_folder};
use crate::cells::Cells;
use crate::{
    CandidateRow, HitRow, RelevantRank, ResultsError, RowBlock, TimingRow, candidates_to_bytes,
    hits_schema, hits_to_bytes, read_candidates, read_hits, read_relevant, read_timings,
    relevant_schema, relevant_to_bytes, rows_schema, timings_to_bytes,
};

pub(super) const MEANS: &str = "means";
pub(super) const ROWS: &str = "rows";
pub(super) const HITS: &str = "hits";
pub(super) const RELEVANT: &str = "relevant";
pub(super) const CONDENSED: &str = "condensed";
pub(super) const UNJUDGED: &str = "unjudged";
pub(super) const TIMINGS: &str = "timings";
const STAGING: &str = "staging";
const SET_ASIDE: &str = "set-aside";
const JOB: &str = "job.json";
pub(super) const CANDIDATES: &str = "candidates.parquet";
pub(super) const QUERIES: &str = "queries.parquet";
pub(super) const JUDGE_NEXT: &str = "judge-next.csv";
pub(super) const VERDICT: &str = "verdict.json";
const LOCK: &str = "lock";
const FOLDERS: [&str; 9] = [
    ROWS, MEANS, HITS, RELEVANT, CONDENSED, UNJUDGED, TIMINGS, STAGING, SET_ASIDE,
];

/// Name of the file in `rows/` of a job without any rows, so that tools find a schema there.
const EMPTY: &str = "empty";

/// Version of `job.json`.
const JOB_VERSION: u32 = 1;

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobFile {
    schema_version: u32,
    job: JobId,
    record: serde_json::Value,
}

/// The folder of one job.
///
/// `rows/`, `means/`, `hits/`, `relevant/`, `condensed/`, `unjudged/` and `timings/` hold Parquet files of one schema each and nothing
/// else. `queries.parquet`, `candidates.parquet`, `judge-next.csv`, `verdict.json` and `job.json` lie beside them. What is being written lies in `staging/`; what
/// turned out to be damaged in `set-aside/`. A process that is killed at any point leaves only whole files outside
/// `staging/`.
#[derive(Debug)]
pub struct JobFolder {
    root: PathBuf,
    job: JobId,
    record: serde_json::Value,
    is_new: bool,
    /// Held for as long as the folder is: the operating system lets go of it however the process ends.
    _lock: Option<File>,
}

/// What a job has finished.
#[derive(Debug)]
pub struct Finished {
    /// The finished tasks and their files, whole and of this job.
    pub tasks: BTreeMap<TaskId, PathBuf>,
    /// Files that were damaged or do not belong there.
    pub set_aside: Vec<SetAside>,
}

/// A file that was moved out of its folder, so that its task is computed again.
#[derive(Debug)]
pub struct SetAside {
    /// Where it is now.
    pub path: PathBuf,
    /// Why.
    pub reason: ResultsError,
}

impl JobFolder {
    /// Creates the folder of a job, or takes up the one that is there, for as long as the value lives: no other process
    /// can create or take it up meanwhile.
    ///
    /// `record` is whatever the caller wants to know again about the job; a folder that is taken up keeps its own. A
    /// folder with other content, or of another job, is refused. What a killed process left half written is removed.
    pub fn create(
        root: &Path,
        job: &JobId,
        record: &serde_json::Value,
    ) -> Result<Self, ResultsError> {
        let present = job_file(root)?;
        match &present {
            Some(file) if file.job != *job => {
                return Err(ResultsError::OtherJobFolder {
                    path: root.to_owned(),
                    found: file.job.clone(),
                    expected: job.clone(),
                });
            }
            None if !is_vacant(root)? => {
                return Err(ResultsError::NotAJobFolder {
                    path: root.to_owned(),
                });
            }
            Some(_) | None => {}
        }
        for folder in FOLDERS {
            let folder = root.join(folder);
            fs::create_dir_all(&folder).map_err(ResultsError::io("create", &folder))?;
        }
        let lock = locked(root)?;
        clear_staging(&root.join(STAGING))?;
        let is_new = present.is_none();
        let file = present.unwrap_or_else(|| JobFile {
            schema_version: JOB_VERSION,
            job: job.clone(),
            record: record.clone(),
        });
        if is_new {
            publish_over(&root.join(STAGING), &root.join(JOB), &json_bytes(&file))?;
            // Rows in a folder that does not say whose they are could not be taken up again.
            sync_folder(root)?;
        }
        Ok(Self::with(root, file, is_new, Some(lock)))
    }

    /// Opens the folder of a job, to read it or to commit into it beside the process that created it.
    pub fn open(root: &Path) -> Result<Self, ResultsError> {
        match job_file(root)? {
            Some(file) => Ok(Self::with(root, file, false, None)),
            None => Err(ResultsError::NoJob {
                path: root.to_owned(),
            }),
        }
    }

    fn with(root: &Path, file: JobFile, is_new: bool, lock: Option<File>) -> Self {
        Self {
            root: root.to_owned(),
            job: file.job,
            record: file.record,
            is_new,
            _lock: lock,
        }
    }

    /// Returns the job.
    pub fn job(&self) -> &JobId {
        &self.job
    }

    /// Returns what the creator wanted to know again.
    pub fn record(&self) -> &serde_json::Value {
        &self.record
    }

    /// Whether the folder was created by this value, and not taken up or opened.
    pub fn is_new(&self) -> bool {
        self.is_new
    }

    /// Returns the folder itself.
    pub fn path(&self) -> &Path {
        &self.root
    }

    /// Publishes the rows of a task: the same bytes may come any number of times, others are refused.
    pub fn commit_rows(&self, task: &TaskId, block: &RowBlock) -> Result<Commit, ResultsError> {
        if block.job != self.job {
            return Err(ResultsError::OtherJob {
                found: block.job.as_str().to_owned(),
                expected: self.job.clone(),
            });
        }
        self.commit(ROWS, task, &block.to_bytes()?)
    }

    /// Publishes the hits of a task, as [`Self::commit_rows`] does rows.
    pub fn commit_hits(&self, task: &TaskId, rows: &[HitRow]) -> Result<Commit, ResultsError> {
        self.commit(HITS, task, &hits_to_bytes(&self.job, rows)?)
    }

    /// Publishes the ranks of relevant documents of a task, as [`Self::commit_rows`] does rows.
    pub fn commit_relevant(
        &self,
        task: &TaskId,
        rows: &[RelevantRank],
    ) -> Result<Commit, ResultsError> {
        self.commit(RELEVANT, task, &relevant_to_bytes(&self.job, rows)?)
    }

    /// Publishes the timings of a task in place of those that may be there: the last attempt counts. Nothing depends on them,
    /// so they are not worth waiting for the disk.
    pub fn write_timings(&self, task: &TaskId, rows: &[TimingRow]) -> Result<(), ResultsError> {
        let bytes = timings_to_bytes(&self.job, rows)?;
        publish_unsynced(
            &self.root.join(STAGING),
            &self.place(TIMINGS, task)?,
            &bytes,
        )
    }

    /// Publishes a file beside the folders, in place of what may be there.
    pub(super) fn publish_beside(&self, name: &str, bytes: &[u8]) -> Result<(), ResultsError> {
        publish_over(&self.root.join(STAGING), &self.root.join(name), bytes)
    }

    /// Publishes the table of candidates in place of what may be there.
    pub fn write_candidates(
        &self,
        metrics: &[Metric],
        rows: &[CandidateRow],
    ) -> Result<(), ResultsError> {
        let bytes = candidates_to_bytes(&self.job, metrics, rows)?;
        self.publish_beside(CANDIDATES, &bytes)
    }

    /// Publishes the verdict in place of what may be there, indented, keys in the order given. Where there is a verdict,
    /// everything that it rests on is there too, after a power failure as well.
    pub fn write_verdict(&self, verdict: &serde_json::Value) -> Result<(), ResultsError> {
        for folder in [ROWS, MEANS, HITS, RELEVANT, CONDENSED, UNJUDGED] {
            sync_folder(&self.root.join(folder))?;
        }
        sync_folder(&self.root)?;
        self.publish_beside(VERDICT, &json_bytes(verdict))?;
        sync_folder(&self.root)
    }

    /// Writes a file without rows when `rows/` has none, because a folder without any file is an error in `DuckDB` and
    /// polars.
    pub fn ensure_rows(&self, fold: Fold, metrics: &[Metric]) -> Result<(), ResultsError> {
        if !self.files(ROWS)?.is_empty() {
            return Ok(());
        }
        let block = RowBlock {
            job: self.job.clone(),
            fold,
            metrics: metrics.to_vec(),
            rows: Vec::new(),
        };
        let target = self.root.join(ROWS).join(format!("{EMPTY}.parquet"));
        publish_once(&self.root.join(STAGING), &target, &block.to_bytes()?).map(|_| ())
    }

    pub(super) fn commit(
        &self,
        kind: &str,
        task: &TaskId,
        bytes: &[u8],
    ) -> Result<Commit, ResultsError> {
        publish_once(&self.root.join(STAGING), &self.place(kind, task)?, bytes)
    }

    /// Returns where a task's file of a kind is once it is committed.
    pub(super) fn place(&self, kind: &str, task: &TaskId) -> Result<PathBuf, ResultsError> {
        Ok(self.root.join(kind).join(file_name(task)?))
    }

    /// Returns the finished tasks, having read each file's checksum, schema and job. A file that fails is moved to
    /// `set-aside/` and reported, and so is whatever else lies in `rows/`.
    pub fn finished(&self, metrics: &[Metric]) -> Result<Finished, ResultsError> {
        self.sound(ROWS, &rows_schema(metrics))
    }

    /// Returns the tasks whose hits are there, as [`Self::finished`] does for rows.
    pub fn finished_hits(&self) -> Result<Finished, ResultsError> {
        self.sound(HITS, &hits_schema())
    }

    /// Returns the tasks whose ranks of relevant documents are there, as [`Self::finished`] does for rows.
    pub fn finished_relevant(&self) -> Result<Finished, ResultsError> {
        self.sound(RELEVANT, &relevant_schema())
    }

    pub(super) fn sound(&self, kind: &str, schema: &Schema) -> Result<Finished, ResultsError> {
        let mut tasks = BTreeMap::new();
        let mut set_aside = Vec::new();
        for path in self.entries(kind)? {
            match self.verified(&path, schema) {
                Ok(task) if task.as_str() == EMPTY => {}
                Ok(task) => {
                    tasks.insert(task, path);
                }
                Err(reason) => set_aside.push(self.set_aside(&path, reason)?),
            }
        }
        Ok(Finished { tasks, set_aside })
    }

    /// Returns the task of a sound file.
    fn verified(&self, path: &Path, schema: &Schema) -> Result<TaskId, ResultsError> {
        let stray = || ResultsError::Stray {
            path: path.to_owned(),
        };
        let stem = path.file_stem().and_then(|stem| stem.to_str());
        let task = stem.and_then(|stem| TaskId::try_from(stem).ok());
        let task = task.ok_or_else(stray)?;
        let name = path.file_name().and_then(|name| name.to_str());
        if !path.is_file() || file_name(&task).ok().as_deref() != name {
            return Err(stray());
        }
        // Every schema has this column, and one is enough: the checksum covers all of the file.
        Cells::read(path, schema, &["candidate"], &self.job)?;
        Ok(task)
    }

    fn set_aside(&self, path: &Path, reason: ResultsError) -> Result<SetAside, ResultsError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = self.root.join(SET_ASIDE);
        let mut number = 1_u32;
        let mut target = folder.join(format!("{name}.{number}"));
        while target
            .try_exists()
            .map_err(ResultsError::io("look for", &target))?
        {
            number += 1;
            target = folder.join(format!("{name}.{number}"));
        }
        fs::rename(path, &target).map_err(ResultsError::io("set aside", path))?;
        Ok(SetAside {
            path: target,
            reason,
        })
    }

    /// Returns where the rows of a task are once they are committed.
    pub fn rows_path(&self, task: &TaskId) -> Result<PathBuf, ResultsError> {
        self.place(ROWS, task)
    }

    /// Returns the files in `rows/`, by name. Use [`Self::finished`] first to know that they are sound.
    pub fn row_files(&self) -> Result<Vec<PathBuf>, ResultsError> {
        self.files(ROWS)
    }

    /// Returns every hit, file by file in the order of their names.
    pub fn hits(&self) -> Result<Vec<HitRow>, ResultsError> {
        self.gathered(HITS, read_hits)
    }

    /// Returns the rank of every relevant document, file by file in the order of their names.
    pub fn relevant(&self) -> Result<Vec<RelevantRank>, ResultsError> {
        self.gathered(RELEVANT, read_relevant)
    }

    /// Returns every timing, file by file in the order of their names.
    pub fn timings(&self) -> Result<Vec<TimingRow>, ResultsError> {
        self.gathered(TIMINGS, read_timings)
    }

    /// Returns the table of candidates.
    pub fn candidates(&self, metrics: &[Metric]) -> Result<Vec<CandidateRow>, ResultsError> {
        read_candidates(&self.root.join(CANDIDATES), &self.job, metrics)
    }

    /// Returns the verdict, or nothing when none was written yet.
    pub fn verdict(&self) -> Result<Option<serde_json::Value>, ResultsError> {
        read_json(&self.root.join(VERDICT))
    }

    pub(super) fn gathered<T>(
        &self,
        kind: &str,
        read: impl Fn(&Path, &JobId) -> Result<Vec<T>, ResultsError>,
    ) -> Result<Vec<T>, ResultsError> {
        let mut rows = Vec::new();
        for path in self.files(kind)? {
            rows.append(&mut read(&path, &self.job)?);
        }
        Ok(rows)
    }

    fn files(&self, kind: &str) -> Result<Vec<PathBuf>, ResultsError> {
        let mut files = self.entries(kind)?;
        files.retain(|path| {
            path.extension()
                .is_some_and(|extension| extension == "parquet")
        });
        Ok(files)
    }

    fn entries(&self, kind: &str) -> Result<Vec<PathBuf>, ResultsError> {
        entries(&self.root.join(kind))
    }
}

/// Returns what is in a folder, by name.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, ResultsError> {
    let error = || ResultsError::io("list", folder);
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(error())? {
        paths.push(entry.map_err(error())?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Returns the name of a task's file. `=` is not allowed in it because tools read `key=value` as a partition.
pub(super) fn file_name(task: &TaskId) -> Result<String, ResultsError> {
    let text = task.as_str();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    // Files that begin with `_` are ignored by pandas and read by DuckDB.
    if text.len() <= 128 && text.bytes().all(plain) && !text.starts_with('_') {
        Ok(format!("{text}.parquet"))
    } else {
        Err(ResultsError::TaskName { task: task.clone() })
    }
}

fn job_file(root: &Path) -> Result<Option<JobFile>, ResultsError> {
    let path = root.join(JOB);
    let file: Option<JobFile> = read_json(&path)?;
    match file {
        Some(file) if file.schema_version != JOB_VERSION => Err(ResultsError::JobVersion {
            path,
            found: file.schema_version,
            expected: JOB_VERSION,
        }),
        file => Ok(file),
    }
}

fn read_json<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<Option<T>, ResultsError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(ResultsError::io("read", path)(error)),
    };
    serde_json::from_slice(&bytes)
        .map(Some)
        .map_err(|source| ResultsError::Json {
            path: path.to_owned(),
            source,
        })
}

fn json_bytes(value: &impl Serialize) -> Vec<u8> {
    let mut bytes =
        serde_json::to_vec_pretty(value).expect("a value with text keys has a JSON form");
    bytes.push(b'\n');
    bytes
}

/// Whether nothing would be lost by making a job folder here: there is no folder, or an empty one, or what a process
/// left that was killed while it created one.
fn is_vacant(root: &Path) -> Result<bool, ResultsError> {
    match root.try_exists() {
        Ok(false) => return Ok(true),
        Ok(true) => {}
        Err(error) => return Err(ResultsError::io("look for", root)(error)),
    }
    for path in entries(root)? {
        let ours = FOLDERS.iter().any(|folder| path == root.join(folder)) && path.is_dir();
        let is_staging = path == root.join(STAGING);
        if !ours || (!is_staging && !entries(&path)?.is_empty()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn locked(root: &Path) -> Result<File, ResultsError> {
    let path = root.join(STAGING).join(LOCK);
    let file = File::create(&path).map_err(ResultsError::io("create", &path))?;
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => Err(ResultsError::InUse {
            path: root.to_owned(),
        }),
        Err(TryLockError::Error(error)) => Err(ResultsError::io("lock", &path)(error)),
    }
}

fn clear_staging(staging: &Path) -> Result<(), ResultsError> {
    for path in entries(staging)? {
        if path != staging.join(LOCK) {
            fs::remove_file(&path).map_err(ResultsError::io("remove", &path))?;
        }
    }
    Ok(())
}
