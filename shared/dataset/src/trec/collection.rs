//! A whole test collection: documents, topics and judgments.

use std::path::PathBuf;

use super::{QrelsOptions, TopicIds, read_documents, read_qrels, read_topics};
use crate::content::{DatasetContent, Imported, JoinOptions};
use crate::{InputError, SourceFile};

/// The files of a test collection and how they are read.
#[derive(Debug, Clone, PartialEq)]
pub struct CollectionFiles {
    /// Documents in TREC's markup.
    pub documents: PathBuf,
    /// Topics in TREC's markup.
    pub topics: PathBuf,
    /// Judgments.
    pub qrels: PathBuf,
    /// Where the ids of topics come from.
    pub topic_ids: TopicIds,
    /// How grades are read.
    pub grades: QrelsOptions,
    /// What to do where the three do not cover each other.
    pub join: JoinOptions,
}

/// Reads and joins the files of a test collection.
pub fn import(files: &CollectionFiles) -> Result<Imported, InputError> {
    let corpus = read_documents(&files.documents)?;
    let topics = read_topics(&files.topics, files.topic_ids)?;
    let qrels = read_qrels(&files.qrels, &files.grades)?;
    let mut warnings = qrels.warnings;
    let (content, more) = DatasetContent::join(corpus, topics, qrels.judgments, files.join)
        .map_err(|fault| InputError::file(&files.qrels, fault))?;
    warnings.extend(more);
    let paths = [&files.documents, &files.topics, &files.qrels];
    let sources = paths.map(|path| SourceFile::of(path));
    Ok(Imported {
        content,
        sources: sources.into_iter().collect::<Result<_, _>>()?,
        warnings,
    })
}
