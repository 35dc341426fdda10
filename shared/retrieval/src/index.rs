//! The index: what is known about each field, and its postings.

use std::fmt;
use std::io;
use std::sync::Arc;

use evalfarm_analysis::Analyzer;
use evalfarm_domain::{Corpus, EngineSettings, FieldName};
use tantivy::postings::BlockSegmentPostings;
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, InvertedIndexReader, SegmentReader};

use crate::bm25::FieldStatistics;
use crate::{IndexError, Searcher, build};

/// Postings and statistics of a corpus, in memory; shared by any number of threads, each with its own [`Searcher`].
///
/// A row is an index into the corpus's documents.
pub struct Bm25Index {
    pub(crate) fields: Arc<[FieldName]>,
    pub(crate) columns: Box<[IndexedField]>,
    pub(crate) analyzer: Analyzer,
    pub(crate) documents: u32,
}

impl fmt::Debug for Bm25Index {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bm25Index")
            .field("fields", &self.fields)
            .field("analyzer", &self.analyzer)
            .field("documents", &self.documents)
            .finish_non_exhaustive()
    }
}

/// How much a field can say about anything.
///
/// A field that few documents have, or in which every document says the same, cannot change a ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldEvidence {
    /// The field.
    pub field: FieldName,
    /// Documents with a token in the field.
    pub documents: u32,
    /// Distinct terms of the field.
    pub distinct_terms: u64,
    /// The term that most documents have in the field, the first in byte order of several; none in an empty field.
    pub top_term: Option<String>,
    /// Share of all documents of the corpus that have this term in the field, 0 to 1.
    pub top_term_share: f64,
}

/// One field of the index.
pub(crate) struct IndexedField {
    pub(crate) statistics: FieldStatistics,
    pub(crate) lengths: Box<[u8]>,
    postings: Arc<InvertedIndexReader>,
    evidence: FieldEvidence,
}

impl Bm25Index {
    /// Builds an index in memory.
    pub fn build(corpus: &Corpus, settings: &EngineSettings) -> Result<Self, IndexError> {
        build::check(corpus, settings)?;
        build::build(corpus, settings).map(|(_, index)| index)
    }

    /// Opens what [`build::build`] has written for this corpus.
    pub(crate) fn open(
        index: &Index,
        corpus: &Corpus,
        settings: &EngineSettings,
    ) -> Result<Self, IndexError> {
        let segments = index.searchable_segments()?;
        let reader = match segments.as_slice() {
            [segment] => Some(SegmentReader::open(segment)?),
            _ => None,
        };
        let rows = reader.as_ref().map_or(0, SegmentReader::max_doc);
        let reader = reader.filter(|_| rows as usize == corpus.documents.len());
        let reader = reader.ok_or_else(|| {
            let found = format!("{} segments, {rows} documents", segments.len());
            tantivy::TantivyError::SystemError(found)
        })?;
        let columns = corpus.fields.iter().enumerate();
        let columns: Result<_, _> = columns
            .map(|(column, name)| IndexedField::open(&reader, column, name, settings))
            .collect();
        Ok(Self {
            fields: corpus.fields.clone().into(),
            columns: columns?,
            analyzer: build::analyzer(settings.analyzer),
            documents: rows,
        })
    }

    /// Returns the fields of the corpus, in the order in which scores are combined.
    pub fn fields(&self) -> &[FieldName] {
        &self.fields
    }

    /// Returns the number of documents.
    pub fn documents(&self) -> u32 {
        self.documents
    }

    /// Returns how much each field can say, in the corpus's field order.
    pub fn field_evidence(&self) -> Vec<FieldEvidence> {
        let evidence = self.columns.iter().map(|column| column.evidence.clone());
        evidence.collect()
    }

    /// Returns what one thread needs to search.
    pub fn searcher(&self) -> Searcher<'_> {
        Searcher::new(self)
    }

    /// Returns the fields' names as a message shows them.
    pub(crate) fn known_fields(&self) -> String {
        quoted(&self.fields)
    }

    /// Returns the first field in which the length byte of `row` is not the expected one.
    pub(crate) fn first_other_length(&self, row: usize, expected: &[u8]) -> Option<usize> {
        let columns = self.columns.iter().zip(expected);
        columns
            .map(|(column, byte)| column.lengths.get(row) == Some(byte))
            .position(|equal| !equal)
    }
}

/// Returns names as a message shows them.
pub(crate) fn quoted(names: &[FieldName]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}

impl IndexedField {
    fn open(
        reader: &SegmentReader,
        column: usize,
        name: &FieldName,
        settings: &EngineSettings,
    ) -> Result<Self, IndexError> {
        let field = reader.schema().get_field(&format!("f{column}"))?;
        let norms = reader.get_fieldnorms_reader(field)?;
        let rows = reader.max_doc();
        let lengths: Box<[u8]> = (0..rows).map(|row| norms.fieldnorm_id(row)).collect();
        let postings = reader.inverted_index(field)?;
        // Byte 0 stands for length 0 alone.
        let documents = (0..rows)
            .zip(&lengths)
            .filter(|&(_, &byte)| byte > 0)
            .count();
        let documents = u32::try_from(documents).unwrap_or(rows);
        let evidence = evidence(&postings, name, documents, rows).map_err(|source| {
            let field = name.clone();
            IndexError::Postings { field, source }
        })?;
        Ok(Self {
            statistics: FieldStatistics::new(documents, postings.total_num_tokens(), settings),
            lengths,
            postings,
            evidence,
        })
    }

    /// Returns the name of the field.
    pub(crate) fn name(&self) -> &FieldName {
        &self.evidence.field
    }

    /// Positions `postings` on the first block of a term and returns it, if a document has the term in this field.
    ///
    /// What is positioned already is used again, in whatever field it was: a new one is more than a kilobyte to fill and move.
    pub(crate) fn postings<'p>(
        &self,
        term: &str,
        postings: &'p mut Option<BlockSegmentPostings>,
    ) -> io::Result<Option<&'p mut BlockSegmentPostings>> {
        // In a text field the term's own bytes are the dictionary's key.
        let Some(found) = self.postings.terms().get(term)? else {
            return Ok(None);
        };
        if let Some(postings) = postings {
            self.postings
                .reset_block_postings_from_terminfo(&found, postings)?;
        } else {
            let option = IndexRecordOption::WithFreqs;
            let opened = self
                .postings
                .read_block_postings_from_terminfo(&found, option)?;
            *postings = Some(opened);
        }
        Ok(postings.as_mut())
    }
}

fn evidence(
    postings: &InvertedIndexReader,
    name: &FieldName,
    documents: u32,
    rows: u32,
) -> io::Result<FieldEvidence> {
    let mut terms = postings.terms().stream()?;
    let mut top: Option<(Vec<u8>, u32)> = None;
    while let Some((term, info)) = terms.next() {
        if top.as_ref().is_none_or(|&(_, most)| info.doc_freq > most) {
            top = Some((term.to_vec(), info.doc_freq));
        }
    }
    let most = top.as_ref().map_or(0, |&(_, most)| most);
    Ok(FieldEvidence {
        field: name.clone(),
        documents,
        distinct_terms: postings.terms().num_terms() as u64,
        top_term: top.map(|(term, _)| String::from_utf8_lossy(&term).into_owned()),
        top_term_share: f64::from(most) / f64::from(rows.max(1)),
    })
}
