//! What a dataset consists of, put together from what an importer read.

use std::collections::{BTreeMap, BTreeSet};

use evalfarm_domain::{Corpus, DocId, Document, FieldName, Judgments, Query, QueryId};

use crate::{Fault, SourceFile, Warning};

/// The content of a dataset: what its fingerprint is over.
#[derive(Debug, Clone, PartialEq)]
pub struct DatasetContent {
    /// The documents, by id.
    pub corpus: Corpus,
    /// The queries, by id; each id once.
    pub queries: Vec<Query>,
    /// The judgments; every judged query is among the queries.
    pub judgments: Judgments,
}

/// What an importer made of its files.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The content, ready to be stored.
    pub content: DatasetContent,
    /// The files it came from.
    pub sources: Vec<SourceFile>,
    /// What was accepted and should be known.
    pub warnings: Vec<Warning>,
}

/// What to do where queries, documents and judgments do not cover each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct JoinOptions {
    /// Whether a judgment of a document that is not in the corpus is an error. Otherwise it is kept and counted: the
    /// document can never be found, and recall says so.
    pub require_judged_documents: bool,
    /// Whether queries without any judgment are kept. They cannot move a relevance metric, so importers leave them out
    /// and count them.
    pub keep_unjudged_queries: bool,
}

impl DatasetContent {
    /// Joins what was read: puts queries and documents in order, refuses judged queries that have no text, and counts
    /// what does not fit together.
    pub fn join(
        mut corpus: Corpus,
        mut queries: Vec<Query>,
        judgments: Judgments,
        options: JoinOptions,
    ) -> Result<(Self, Vec<Warning>), Fault> {
        corpus.documents.sort_by(|a, b| a.id.cmp(&b.id));
        queries.sort_by(|a, b| a.id.cmp(&b.id));
        refuse_judged_without_text(&queries, &judgments)?;
        let mut warnings = Vec::new();
        if !options.keep_unjudged_queries {
            let unjudged = |query: &Query| judgments.query(query.id.as_str()).is_none();
            let left_out: Vec<&Query> = queries.iter().filter(|query| unjudged(query)).collect();
            if let Some(first) = left_out.first() {
                warnings.push(Warning::UnjudgedQueries {
                    count: left_out.len() as u64,
                    first: first.id.to_string(),
                });
            }
            queries.retain(|query| !unjudged(query));
        }
        let content = Self {
            corpus,
            queries,
            judgments,
        };
        if let Some((count, query, document)) = content.judged_not_in_corpus() {
            if options.require_judged_documents {
                return Err(Fault::NotInCorpus {
                    count,
                    document,
                    query,
                });
            }
            warnings.push(Warning::JudgedNotInCorpus {
                count,
                first: document.to_string(),
            });
        }
        Ok((content, warnings))
    }

    /// Returns how many judgments are of documents that the corpus lacks, with the first by query and document id;
    /// nothing when there is none.
    pub fn judged_not_in_corpus(&self) -> Option<(u64, QueryId, DocId)> {
        judged_not_in_corpus(&self.corpus, &self.judgments)
    }
}

pub(crate) fn judged_not_in_corpus(
    corpus: &Corpus,
    judgments: &Judgments,
) -> Option<(u64, QueryId, DocId)> {
    let mut missing = judgments
        .iter()
        .flat_map(|(query, of_query)| of_query.iter().map(move |(document, _)| (query, document)))
        .filter(|(_, document)| {
            corpus
                .documents
                .binary_search_by(|candidate| candidate.id.cmp(document))
                .is_err()
        });
    let (query, document) = missing.next()?;
    Some((1 + missing.count() as u64, query.clone(), document.clone()))
}

fn refuse_judged_without_text(queries: &[Query], judgments: &Judgments) -> Result<(), Fault> {
    let known: BTreeSet<&str> = queries.iter().map(|query| query.id.as_str()).collect();
    let mut without = judgments
        .iter()
        .map(|(query, _)| query)
        .filter(|query| !known.contains(query.as_str()));
    match without.next() {
        None => Ok(()),
        Some(example) => Err(Fault::NoText {
            example: example.clone(),
            count: 1 + without.count(),
        }),
    }
}

/// Collects documents whose fields become known only while they are read.
#[derive(Debug, Default)]
pub(crate) struct CorpusBuilder {
    fields: Vec<FieldName>,
    index: BTreeMap<FieldName, usize>,
    documents: Vec<(Document, u64)>,
}

impl CorpusBuilder {
    /// Returns a builder for documents of known fields, each given once.
    pub(crate) fn with_fields(fields: &[FieldName]) -> Self {
        Self {
            fields: fields.to_vec(),
            index: fields.iter().cloned().zip(0..).collect(),
            documents: Vec::new(),
        }
    }

    /// Returns the place of a field, adding it when it is new.
    pub(crate) fn field(&mut self, name: &str) -> Result<usize, Fault> {
        if let Some(&index) = self.index.get(name) {
            return Ok(index);
        }
        let name = FieldName::try_from(name)?;
        self.index.insert(name.clone(), self.fields.len());
        self.fields.push(name);
        Ok(self.fields.len() - 1)
    }

    /// Adds the document of line or row `position`. Texts are by field order; missing ones at the end are empty.
    pub(crate) fn add(&mut self, id: DocId, fields: Vec<String>, position: u64) {
        self.documents.push((Document { id, fields }, position));
    }

    /// Returns the corpus, documents by id, or the line or row of the first document that repeats an id.
    pub(crate) fn finish(mut self) -> Result<Corpus, (u64, Fault)> {
        if self.documents.is_empty() {
            return Err((1, Fault::Empty { what: "document" }));
        }
        self.documents
            .sort_by(|(a, line_a), (b, line_b)| a.id.cmp(&b.id).then(line_a.cmp(line_b)));
        let repeated = self
            .documents
            .windows(2)
            .filter(|pair| pair[0].0.id == pair[1].0.id)
            .min_by_key(|pair| pair[1].1);
        if let Some([(document, first_line), (_, line)]) = repeated {
            return Err((
                *line,
                Fault::IdTwice {
                    kind: "document",
                    id: document.id.to_string(),
                    first_line: *first_line,
                },
            ));
        }
        let count = self.fields.len();
        let documents = self.documents.into_iter().map(|(mut document, _)| {
            document.fields.resize(count, String::new());
            document
        });
        Ok(Corpus {
            documents: documents.collect(),
            fields: self.fields,
        })
    }
}

/// Appends a text after a space; an empty one adds nothing.
pub(crate) fn append_text(so_far: &mut String, text: &str) {
    if !so_far.is_empty() && !text.is_empty() {
        so_far.push(' ');
    }
    so_far.push_str(text);
}
