//! Datasets that cannot be stored or trusted.

use std::io;
use std::path::PathBuf;

use evalfarm_columnar::ColumnarError;
use evalfarm_domain::{Digest, DocId, FieldName, Grade, QueryId};

/// A dataset that cannot be stored, opened or trusted.
#[derive(Debug, thiserror::Error)]
pub enum DatasetError {
    /// A file could not be read.
    #[error("failed to read `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// A file or folder could not be written.
    #[error("failed to write `{path}`")]
    Write {
        /// The file or folder.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The folder is already there.
    #[error("`{path}` already exists")]
    Exists {
        /// The folder.
        path: PathBuf,
    },
    /// The folder has no manifest, or not the file that the manifest names.
    #[error("dataset `{folder}` has no `{file}`")]
    Missing {
        /// The folder.
        folder: PathBuf,
        /// The missing file.
        file: String,
    },
    /// The manifest is not the JSON of a manifest.
    #[error("`{path}` is not a dataset manifest")]
    Json {
        /// The manifest.
        path: PathBuf,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
    /// The manifest is of another version.
    #[error("`{path}` has schema version {found}, this program reads version {expected}")]
    Version {
        /// The manifest.
        path: PathBuf,
        /// The version of the file.
        found: String,
        /// The version that is read.
        expected: u32,
    },
    /// The bytes of a file are not those that were stored.
    #[error("`{path}` has sha256 `{found}`, the manifest says `{recorded}`")]
    Changed {
        /// The file.
        path: PathBuf,
        /// Digest of the bytes as they are.
        found: Digest,
        /// Digest in the manifest.
        recorded: Digest,
    },
    /// The content is not what the manifest says.
    #[error("the {what} of `{folder}` are `{found}`, the manifest says `{recorded}`")]
    Mismatch {
        /// The folder.
        folder: PathBuf,
        /// What differs, e.g. `content fingerprint`.
        what: &'static str,
        /// What was found.
        found: String,
        /// What the manifest says.
        recorded: String,
    },
    /// A Parquet file could not be read.
    #[error("failed to read the table `{path}`")]
    Columns {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: ColumnarError,
    },
    /// A table could not be written.
    #[error("failed to encode `{file}`")]
    Encode {
        /// The file.
        file: &'static str,
        /// Why.
        #[source]
        source: ColumnarError,
    },
    /// The content breaks a rule of datasets.
    #[error("the content is not a dataset")]
    Content(#[source] ContentError),
}

impl DatasetError {
    /// Returns what to do next, where there is something to say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Missing { .. } => Some(
                "import or generate the dataset, or give the folder that has its manifest.json",
            ),
            Self::Changed { .. } | Self::Mismatch { .. } => Some(
                "the file was changed after the dataset was stored: import it again into a new folder",
            ),
            Self::Version { .. } => {
                Some("import the dataset again, or use the version of evalfarm that stored it")
            }
            Self::Exists { .. } => Some("choose another folder, or remove this one first"),
            _ => None,
        }
    }
}

/// A rule of datasets that a content breaks.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ContentError {
    /// There are no documents.
    #[error("there is no document in it")]
    NoDocuments,
    /// There are no queries.
    #[error("there is no query in it")]
    NoQueries,
    /// A field occurs twice.
    #[error("field `{0}` occurs twice")]
    FieldTwice(FieldName),
    /// A document has fewer or more texts than there are fields.
    #[error("document `{document}` has {found} texts for {fields} fields")]
    Texts {
        /// The document.
        document: DocId,
        /// Its texts.
        found: usize,
        /// Fields of the corpus.
        fields: usize,
    },
    /// Two documents have the same id.
    #[error("document `{0}` occurs twice")]
    DocumentTwice(DocId),
    /// Two queries have the same id.
    #[error("query `{0}` occurs twice")]
    QueryTwice(QueryId),
    /// A weight is outside [`QUERY_WEIGHTS`](evalfarm_domain::QUERY_WEIGHTS).
    #[error("weight `{weight}` of query `{query}` is not a number from 1e-9 to 1e9")]
    Weight {
        /// The query.
        query: QueryId,
        /// The rejected weight.
        weight: f64,
    },
    /// A query is judged and not among the queries.
    #[error("query `{0}` is judged and has no text")]
    JudgedQuery(QueryId),
    /// A grade has no gain.
    #[error("grade `{0}` occurs and the gain map does not list it")]
    GradeWithoutGain(Grade),
    /// A grade is above the highest that the dataset is said to give.
    #[error("grade `{grade}` occurs and the top grade is said to be `{top}`")]
    AboveTop {
        /// The grade.
        grade: Grade,
        /// The top grade.
        top: Grade,
    },
    /// A stored identifier is not one.
    #[error("a stored identifier was refused")]
    Id(#[source] evalfarm_domain::IdError),
    /// A stored grade is not one.
    #[error("a stored grade was refused")]
    Grade(#[source] evalfarm_domain::GradeError),
}
