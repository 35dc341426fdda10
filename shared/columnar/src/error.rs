//! What can be wrong with a table or a Parquet file.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};

use crate::ColumnType;

/// A table that cannot be built, or a file that cannot be written or trusted.
#[derive(Debug, thiserror::Error)]
pub enum ColumnarError {
    /// A file could not be read; the source says why.
    #[error("failed to read `{path}`")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        #[source]
        source: Box<Self>,
    },
    /// The operating system refused.
    #[error("the file could not be opened or read")]
    Io {
        /// Its reason.
        #[source]
        source: io::Error,
    },
    /// The closing mark of every Parquet file is missing, as after a truncation.
    #[error("{len} bytes that do not end as a Parquet file does: truncated, or another format")]
    NotParquet {
        /// Size of the file in bytes.
        len: usize,
    },
    /// The Parquet structure contradicts itself.
    #[error("the Parquet content is damaged")]
    Damaged {
        /// What the Parquet reader met.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
    /// The file is not what was written.
    #[error("the content has sha256 `{found}`, but was written with `{expected}`")]
    Checksum {
        /// Digest of the file as it is.
        found: String,
        /// Digest stored when the file was written.
        expected: String,
    },
    /// The file was not written by this project, or by another tool after it.
    #[error("the file's metadata has no usable `{key}`, which every file written by evalfarm has")]
    MissingKey {
        /// The missing or unreadable key.
        key: &'static str,
    },
    /// The file is of another kind.
    #[error("the file holds `{found}`, not `{expected}`")]
    SchemaName {
        /// The kind that the file names.
        found: String,
        /// The kind that was asked for.
        expected: String,
    },
    /// The file is of another version.
    #[error("the file holds `{name}` of version {found}, this program reads version {expected}")]
    SchemaVersion {
        /// The kind of file.
        name: String,
        /// The version that the file names.
        found: u32,
        /// The version that was asked for.
        expected: u32,
    },
    /// A column is missing.
    #[error("column `{column}` is missing")]
    MissingColumn {
        /// The missing column.
        column: String,
    },
    /// A column is not in the schema.
    #[error("column `{column}` does not belong to the schema")]
    ExtraColumn {
        /// The surplus column.
        column: String,
    },
    /// Two columns have the same name.
    #[error("column `{column}` occurs twice")]
    DuplicateColumn {
        /// The repeated name.
        column: String,
    },
    /// A column has another type than its schema declares.
    #[error("column `{column}` holds {found}, not {expected}")]
    ColumnType {
        /// The column.
        column: String,
        /// The type found.
        found: String,
        /// The type declared or asked for.
        expected: ColumnType,
    },
    /// A column may hold empty cells where the schema forbids them, or the other way round.
    #[error("column `{column}` is declared {}, the schema says {}", optional(*.found), optional(!*.found))]
    Nullability {
        /// The column.
        column: String,
        /// Whether the file allows empty cells in it.
        found: bool,
    },
    /// A table has fewer or more columns than its schema.
    #[error("{columns} columns for a schema of {fields}")]
    ColumnCount {
        /// Columns given.
        columns: usize,
        /// Fields of the schema.
        fields: usize,
    },
    /// Columns of different lengths.
    #[error("column `{column}` has {found} rows, the first column has {expected}")]
    Length {
        /// The column.
        column: String,
        /// Its rows.
        found: usize,
        /// Rows of the first column.
        expected: usize,
    },
    /// An empty cell where there must be none.
    #[error("column `{column}` is empty in row {row}, but must not be")]
    Null {
        /// The column.
        column: String,
        /// The row, counted from 0.
        row: usize,
    },
    /// NaN or an infinity.
    #[error("column `{column}` holds `{value}` in row {row}, which is not a finite number")]
    NotFinite {
        /// The column.
        column: String,
        /// The row, counted from 0.
        row: usize,
        /// The rejected value.
        value: f64,
    },
    /// A code that stands for no label.
    #[error("row {row} has the code {code}, but there are {labels} labels")]
    Code {
        /// The row, counted from 0.
        row: usize,
        /// The rejected code.
        code: u32,
        /// Number of labels.
        labels: usize,
    },
    /// A type that tables do not have, in a file of another tool.
    #[error("column `{column}` holds {found}, which is neither text, number nor truth value")]
    UnsupportedType {
        /// The column.
        column: String,
        /// Its type.
        found: String,
    },
    /// A compression that this build cannot undo, in a file of another tool.
    #[error(
        "column `{column}` is compressed with {codec}: write the file again with snappy or without compression"
    )]
    UnsupportedCompression {
        /// The first such column.
        column: String,
        /// Its compression.
        codec: String,
    },
    /// A metadata key that this crate writes itself.
    #[error("metadata key `{key}` is reserved")]
    ReservedKey {
        /// The rejected key.
        key: String,
    },
    /// A table could not be encoded.
    #[error("failed to encode the table as Parquet")]
    Encode {
        /// What the Parquet writer met.
        #[source]
        source: Box<dyn Error + Send + Sync>,
    },
}

impl ColumnarError {
    /// Names the file in which the error was met.
    pub(crate) fn in_file(self, path: &Path) -> Self {
        Self::File {
            path: path.to_owned(),
            source: Box::new(self),
        }
    }

    /// Wraps what the Parquet reader met.
    pub(crate) fn damaged(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Damaged {
            source: source.into(),
        }
    }

    /// Wraps what the Parquet writer met.
    pub(crate) fn encode(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::Encode {
            source: source.into(),
        }
    }
}

fn optional(nullable: bool) -> &'static str {
    if nullable { "optional" } else { "required" }
}
