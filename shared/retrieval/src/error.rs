//! What can go wrong between a corpus and a ranking.

use std::io;
use std::path::PathBuf;

use evalfarm_domain::{DocId, FieldName};

use crate::RefusedCandidate;

/// A corpus that could not be indexed, or an index that could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// k1 or b is outside its range.
    #[error("setting `{name}` is {value}, it must be finite and lie in {range}")]
    Setting {
        /// `k1` or `b`.
        name: &'static str,
        /// The rejected value.
        value: f32,
        /// Where it may lie.
        range: &'static str,
    },
    /// Two fields of the corpus have the same name.
    #[error("the corpus has field `{field}` twice")]
    DuplicateField {
        /// The name.
        field: FieldName,
    },
    /// A document has more or fewer texts than the corpus has fields.
    #[error("document `{document}` has {found} texts, the corpus has {expected} fields")]
    FieldCount {
        /// The document.
        document: DocId,
        /// Fields of the corpus.
        expected: usize,
        /// Texts of the document.
        found: usize,
    },
    /// Documents are not by ascending id, or one is there twice.
    #[error(
        "document `{document}` follows `{previous}`, documents must be by ascending id, each once"
    )]
    Order {
        /// The document in the wrong place.
        document: DocId,
        /// The one before it.
        previous: DocId,
    },
    /// More documents than one index can hold.
    #[error(
        "the corpus has {documents} documents, an index holds at most {}",
        crate::build::MAX_DOCUMENTS
    )]
    TooManyDocuments {
        /// Documents of the corpus.
        documents: usize,
    },
    /// The index library failed.
    #[error("the inverted index could not be built or opened")]
    Engine(#[from] tantivy::TantivyError),
    /// A row of the inverted index is not the row of the corpus that it should be.
    #[error(
        "row {row} of field `{field}` is not the corpus's document of that row; this is a defect of evalfarm"
    )]
    Misnumbered {
        /// The field in which this was noticed.
        field: FieldName,
        /// The row.
        row: usize,
    },
    /// Postings could not be read.
    #[error("failed to read the postings of field `{field}`")]
    Postings {
        /// The field.
        field: FieldName,
        /// Why.
        source: io::Error,
    },
    /// A file or folder of the cache could not be used.
    #[error("failed to {action} `{path}`")]
    Cache {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// A query that could not be answered.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// Postings could not be read.
    #[error("failed to read the postings of field `{field}`")]
    Postings {
        /// The field.
        field: FieldName,
        /// Why.
        source: io::Error,
    },
    /// The candidates were prepared by an index over other fields.
    #[error("the candidates were prepared for fields {prepared}, this index has {known}")]
    OtherFields {
        /// Fields for which they were prepared.
        prepared: String,
        /// Fields of this index.
        known: String,
    },
    /// The candidate cannot be evaluated.
    #[error("the candidate cannot be evaluated")]
    Refused(#[from] RefusedCandidate),
    /// The corpus has no such row.
    #[error("there is no document in row {row}, the corpus has {documents}")]
    UnknownRow {
        /// The row that was asked for.
        row: u32,
        /// Documents of the corpus.
        documents: u32,
    },
}
