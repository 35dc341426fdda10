//! What can be wrong with stored results.

use std::io;
use std::path::{Path, PathBuf};

use evalfarm_columnar::ColumnarError;
use evalfarm_domain::{CandidateId, FieldName, JobId, QueryId, TaskId};

/// Results that cannot be written, found or trusted.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// A Parquet file or table is not what it should be.
    #[error(transparent)]
    Columnar(#[from] ColumnarError),
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
    /// A JSON file could not be read.
    #[error("`{path}` is not the JSON that evalfarm writes there")]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: serde_json::Error,
    },
    /// A well-formed file holds something that cannot be; the source names it.
    #[error("the content of `{path}` cannot be used")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<Self>,
    },
    /// A cell holds a text or number that means nothing there.
    #[error("column `{column}` holds `{value}` in row {row}, which is not {expected}")]
    Cell {
        /// The column.
        column: String,
        /// The row, counted from 0.
        row: usize,
        /// The rejected value.
        value: String,
        /// What would be right there, e.g. `a query id`.
        expected: &'static str,
    },
    /// The file belongs to another job.
    #[error("the content belongs to job `{found}`, not to `{expected}`")]
    OtherJob {
        /// The job that the file names, empty when it names none.
        found: String,
        /// The job that was asked for.
        expected: JobId,
    },
    /// A row has fewer or more values than the job has metrics.
    #[error("query `{query}` of candidate `{candidate}` has {found} values for {expected} metrics")]
    RowShape {
        /// The candidate.
        candidate: CandidateId,
        /// The query.
        query: QueryId,
        /// Values found, measured or scored.
        found: usize,
        /// Metrics of the job.
        expected: usize,
    },
    /// A query failed and has measured values all the same.
    #[error("query `{query}` of candidate `{candidate}` failed, but has a measured value")]
    FailedWithValue {
        /// The candidate.
        candidate: CandidateId,
        /// The query.
        query: QueryId,
    },
    /// A candidate has fewer or more means than the job has metrics.
    #[error("candidate `{candidate}` has {found} means for {expected} metrics")]
    MeansShape {
        /// The candidate.
        candidate: CandidateId,
        /// Means found.
        found: usize,
        /// Metrics of the job.
        expected: usize,
    },
    /// A field's name would be read as two in a list separated by commas.
    #[error("field `{field}` has a comma in its name and cannot be listed among matched fields")]
    FieldComma {
        /// The field.
        field: FieldName,
    },
    /// A query of a candidate has no row.
    #[error(
        "query `{query}` of candidate `{candidate}` has no row, as have {others} others: finish the job with `--resume`"
    )]
    MissingRow {
        /// The candidate.
        candidate: CandidateId,
        /// The first query without a row.
        query: QueryId,
        /// Further pairs of candidate and query without a row.
        others: usize,
    },
    /// A query of a candidate has two rows.
    #[error("query `{query}` of candidate `{candidate}` has two rows")]
    DuplicateRow {
        /// The candidate.
        candidate: CandidateId,
        /// The query.
        query: QueryId,
    },
    /// A row's query is not one of the fold's.
    #[error("query `{query}` has rows, but is not in the job's query set")]
    UnknownQuery {
        /// The query.
        query: String,
    },
    /// The folder holds something else.
    #[error(
        "`{path}` is not empty and not a job folder: choose a new or empty folder for the results"
    )]
    NotAJobFolder {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no `job.json`.
    #[error("`{path}` holds no job: it has no `job.json`")]
    NoJob {
        /// The folder.
        path: PathBuf,
    },
    /// The folder was written by another version of the program.
    #[error("`{path}` has version {found}, this program reads version {expected}")]
    JobVersion {
        /// The job's `job.json`.
        path: PathBuf,
        /// The version that it names.
        found: u32,
        /// The version of this program.
        expected: u32,
    },
    /// The folder holds another job.
    #[error(
        "`{path}` holds job `{found}`, not `{expected}`: choose another folder for the results"
    )]
    OtherJobFolder {
        /// The folder.
        path: PathBuf,
        /// The job that lies there.
        found: JobId,
        /// The job that was to be written.
        expected: JobId,
    },
    /// Another process writes into the folder.
    #[error("another process is working in `{path}`: wait for it or choose another folder")]
    InUse {
        /// The folder.
        path: PathBuf,
    },
    /// A task's id cannot be the name of a file.
    #[error("task id `{task}` cannot be a file name: letters, digits, `-` and `_` can, up to 128")]
    TaskName {
        /// The task.
        task: TaskId,
    },
    /// What is in the folder is not what a finished task leaves there.
    #[error("`{path}` is not the Parquet file of a task")]
    Stray {
        /// The file or folder.
        path: PathBuf,
    },
    /// The same task gave different content.
    #[error(
        "`{path}` exists with other content: the same task must give the same bytes, so the dataset, the program or the machine changed"
    )]
    Differs {
        /// The file that was there first and is kept.
        path: PathBuf,
    },
}

impl ResultsError {
    /// Names the file whose content was wrong, unless the error does so itself.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        match self {
            named @ (Self::Columnar(ColumnarError::File { .. })
            | Self::Io { .. }
            | Self::Json { .. }
            | Self::Content { .. }) => named,
            other => Self::Content {
                path: path.to_owned(),
                source: Box::new(other),
            },
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
