//! The plain form: a catalogue of products as JSONL or CSV, and ratings as `query,docid,rating`.

mod corpus;
mod mapping;
mod ratings;
mod records;

use std::path::PathBuf;

use crate::content::{DatasetContent, Imported, JoinOptions};
use crate::{InputError, QrelsOptions, SourceFile};

pub use corpus::read_catalogue;
pub use mapping::{FieldMap, FieldMapError};
pub use ratings::{Ratings, read_ratings};

/// The files of a catalogue with ratings, and how they are read.
#[derive(Debug, Clone, PartialEq)]
pub struct CatalogueFiles {
    /// The catalogue: JSONL, CSV or TSV, gzipped or not.
    pub catalogue: PathBuf,
    /// The key or column that identifies a document.
    pub id_key: String,
    /// Fields, in scoring order.
    pub fields: Vec<FieldMap>,
    /// The ratings.
    pub ratings: PathBuf,
    /// How grades are read.
    pub grades: QrelsOptions,
    /// What to do where the two do not cover each other.
    pub join: JoinOptions,
}

/// Reads and joins a catalogue and its ratings.
pub fn import(files: &CatalogueFiles) -> Result<Imported, InputError> {
    let corpus = read_catalogue(&files.catalogue, &files.id_key, &files.fields)?;
    let ratings = read_ratings(&files.ratings, &files.grades)?;
    let mut warnings = ratings.warnings;
    let (content, more) =
        DatasetContent::join(corpus, ratings.queries, ratings.judgments, files.join)
            .map_err(|fault| InputError::file(&files.ratings, fault))?;
    warnings.extend(more);
    let sources = [&files.catalogue, &files.ratings].map(|path| SourceFile::of(path));
    Ok(Imported {
        content,
        sources: sources.into_iter().collect::<Result<_, _>>()?,
        warnings,
    })
}

#[cfg(test)]
mod tests;
