//! A corpus in, a tantivy index of one segment out.

use std::collections::BTreeSet;

use evalfarm_analysis::Analyzer;
use evalfarm_domain::{AnalyzerKind, Corpus, Document, EngineSettings};
use rayon::prelude::*;
use tantivy::directory::RamDirectory;
use tantivy::schema::{Field, IndexRecordOption, Schema, TextFieldIndexing, TextOptions};
use tantivy::tokenizer::{PreTokenizedString, Token};
use tantivy::{Index, IndexSettings, SingleSegmentIndexWriter, TantivyDocument};

use crate::{Bm25Index, IndexError, bm25};

/// Most documents of one index: a tantivy segment's limit.
pub(crate) const MAX_DOCUMENTS: usize = 1 << 31;

/// Documents that are analysed before they are handed to the writer, which takes one after the other.
const BATCH: usize = 4096;

/// The memory from which tantivy's writer derives the size of its first hash table, in bytes. The table grows as needed, so
/// this only keeps small indexes cheap.
const TABLE_MEMORY: usize = 2_000_000;

/// Returns the analyzer of that kind.
pub(crate) fn analyzer(kind: AnalyzerKind) -> Analyzer {
    match kind {
        AnalyzerKind::Standard => Analyzer::Standard,
        AnalyzerKind::English => Analyzer::English,
    }
}

/// Refuses what an index cannot be built from.
pub(crate) fn check(corpus: &Corpus, settings: &EngineSettings) -> Result<(), IndexError> {
    let EngineSettings { k1, b, .. } = *settings;
    if !(k1.is_finite() && k1 >= 0.0) {
        let (name, range) = ("k1", "[0, ∞)");
        return Err(IndexError::Setting {
            name,
            value: k1,
            range,
        });
    }
    if !(0.0..=1.0).contains(&b) {
        let (name, range) = ("b", "[0, 1]");
        return Err(IndexError::Setting {
            name,
            value: b,
            range,
        });
    }
    let mut names = BTreeSet::new();
    if let Some(field) = corpus.fields.iter().find(|field| !names.insert(*field)) {
        let field = field.clone();
        return Err(IndexError::DuplicateField { field });
    }
    let documents = corpus.documents.len();
    if documents >= MAX_DOCUMENTS {
        return Err(IndexError::TooManyDocuments { documents });
    }
    let expected = corpus.fields.len();
    if let Some(document) = corpus.documents.iter().find(|d| d.fields.len() != expected) {
        return Err(IndexError::FieldCount {
            document: document.id.clone(),
            expected,
            found: document.fields.len(),
        });
    }
    let pairs = corpus.documents.iter().zip(corpus.documents.iter().skip(1));
    for (previous, document) in pairs {
        if previous.id >= document.id {
            return Err(IndexError::Order {
                document: document.id.clone(),
                previous: previous.id.clone(),
            });
        }
    }
    Ok(())
}

/// Returns an index in memory whose document ids are the corpus's row numbers, with the folder that holds it.
///
/// The corpus has passed [`check`].
pub(crate) fn build(
    corpus: &Corpus,
    settings: &EngineSettings,
) -> Result<(RamDirectory, Bm25Index), IndexError> {
    let analyzer = analyzer(settings.analyzer);
    let (schema, fields) = schema(corpus.fields.len());
    let directory = RamDirectory::create();
    // The writer for one segment numbers documents in the order in which it gets them, whatever memory they take.
    let mut writer: SingleSegmentIndexWriter = Index::builder()
        .schema(schema)
        .settings(IndexSettings {
            docstore_compress_dedicated_thread: false,
            ..IndexSettings::default()
        })
        .single_segment_index_writer(directory.clone(), TABLE_MEMORY)?;
    let mut lengths = Vec::with_capacity(corpus.documents.len() * fields.len());
    for batch in corpus.documents.chunks(BATCH) {
        let analysed: Vec<(TantivyDocument, Vec<u8>)> = batch
            .par_iter()
            .map(|document| analyse(document, analyzer, &fields))
            .collect();
        for (document, bytes) in analysed {
            writer.add_document(document)?;
            lengths.extend(bytes);
        }
    }
    let index = Bm25Index::open(&writer.finalize()?, corpus, settings)?;
    for (row, bytes) in lengths.chunks_exact(fields.len().max(1)).enumerate() {
        if let Some(column) = index.first_other_length(row, bytes) {
            let field = corpus.fields[column].clone();
            return Err(IndexError::Misnumbered { field, row });
        }
    }
    Ok((directory, index))
}

/// Returns a schema of `count` fields with frequencies and lengths. Their names are numbers, because tantivy does not
/// accept every name that a corpus may use.
fn schema(count: usize) -> (Schema, Vec<Field>) {
    let indexing = TextFieldIndexing::default()
        .set_tokenizer("raw") // never used: texts come as tokens
        .set_index_option(IndexRecordOption::WithFreqs)
        .set_fieldnorms(true);
    let options = TextOptions::default().set_indexing_options(indexing);
    let mut builder = Schema::builder();
    let fields = (0..count)
        .map(|column| builder.add_text_field(&format!("f{column}"), options.clone()))
        .collect();
    (builder.build(), fields)
}

/// Returns the document as tokens, and the length byte of each of its fields.
fn analyse(
    document: &Document,
    analyzer: Analyzer,
    fields: &[Field],
) -> (TantivyDocument, Vec<u8>) {
    let mut tokens_of = TantivyDocument::default();
    let bytes = document.fields.iter().zip(fields).map(|(text, &field)| {
        let mut tokens = Vec::new();
        analyzer.for_each_token(text, |token| {
            tokens.push(Token {
                text: token.to_owned(),
                position: 0, // not indexed, but added to; the default is the largest number
                ..Token::default()
            });
        });
        let byte = bm25::length_byte(u32::try_from(tokens.len()).unwrap_or(u32::MAX));
        if !tokens.is_empty() {
            let text = String::new();
            tokens_of.add_pre_tokenized_text(field, PreTokenizedString { text, tokens });
        }
        byte
    });
    let bytes = bytes.collect();
    (tokens_of, bytes)
}
