//! The manifest of a dataset.

use std::collections::{BTreeMap, BTreeSet};

use evalfarm_domain::{Digest, FieldName, Gains, Grade};
use serde::{Deserialize, Serialize};

use super::canonical::{Scale, corpus_digest, fingerprint, judgments_digest, queries_digest};
use super::{ContentError, DatasetError};
use crate::{DatasetContent, SourceFile, Warning};

/// Version of the manifest and of the tables beside it. Rises with every change that an older program would misread.
pub(crate) const SCHEMA_VERSION: u32 = 1;

/// What is known about a dataset that its content does not say.
#[derive(Debug, Clone, PartialEq)]
pub struct About {
    /// What people call it.
    pub name: String,
    /// Where it came from, in words.
    pub source: String,
    /// Under which licence it may be used, in words.
    pub licence: String,
    /// Whether its texts were made up by a program; said in everything that is made from it.
    pub synthetic: bool,
    /// Gain of each grade.
    pub gains: Gains,
    /// Lowest grade that counts as relevant.
    pub relevant_from: Grade,
    /// Highest grade that could be given; the highest that occurs when absent.
    pub top_grade: Option<Grade>,
    /// Grade of each label, when the judgments had labels.
    pub labels: BTreeMap<String, Grade>,
    /// The files it was made from.
    pub sources: Vec<SourceFile>,
    /// What the import accepted and should be known.
    pub warnings: Vec<Warning>,
}

impl About {
    /// Returns a description with linear gains, relevant from grade 1, and nothing known of its origin.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            source: "unknown".to_owned(),
            licence: "unknown".to_owned(),
            synthetic: false,
            gains: Gains::Linear,
            relevant_from: Grade::RELEVANT,
            top_grade: None,
            labels: BTreeMap::new(),
            sources: Vec::new(),
            warnings: Vec::new(),
        }
    }
}

/// How much there is of what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Documents.
    pub documents: u64,
    /// Queries.
    pub queries: u64,
    /// Queries with at least one judgment.
    pub judged_queries: u64,
    /// Judgments.
    pub judgments: u64,
    /// Judgments of at least the lowest relevant grade.
    pub relevant: u64,
}

/// A file of the dataset.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StoredFile {
    /// Name inside the dataset's folder.
    pub name: String,
    /// Size in bytes.
    pub bytes: u64,
    /// Digest of the bytes.
    pub sha256: Digest,
}

/// What a dataset is, and the digests that hold its files to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// Version of this form.
    pub schema_version: u32,
    /// What people call it.
    pub name: String,
    /// Identity of the content: documents, queries, judgments, what grades mean, and whether the texts are made up. Name,
    /// source, licence and the encoding of the files are not part of it.
    pub fingerprint: Digest,
    /// Whether its texts were made up by a program.
    pub synthetic: bool,
    /// Where it came from, in words.
    pub source: String,
    /// Under which licence it may be used, in words.
    pub licence: String,
    /// Gain of each grade.
    pub gains: Gains,
    /// Lowest grade that counts as relevant.
    pub relevant_from: Grade,
    /// Highest grade that can be given.
    pub top_grade: Grade,
    /// Grade of each label, when the judgments had labels.
    pub labels: BTreeMap<String, Grade>,
    /// Fields of the corpus, in scoring order.
    pub fields: Vec<FieldName>,
    /// Named columns of the queries beyond text, weight and cluster.
    pub query_columns: Vec<String>,
    /// How much there is of what.
    pub counts: Counts,
    /// Digest of the documents alone: an index depends on nothing else of the dataset.
    pub corpus_digest: Digest,
    /// Digest of the queries alone.
    pub queries_digest: Digest,
    /// Digest of the judgments alone.
    pub judgments_digest: Digest,
    /// The files of the dataset.
    pub files: Vec<StoredFile>,
    /// The files it was made from.
    pub sources: Vec<SourceFile>,
    /// What the import accepted and should be known.
    pub warnings: Vec<Warning>,
}

impl Manifest {
    /// Describes a content that is in order. The files are added when they are written.
    pub(crate) fn describe(content: &DatasetContent, about: About) -> Result<Self, ContentError> {
        let top_grade = top_grade(content, &about)?;
        let parts = [
            corpus_digest(&content.corpus),
            queries_digest(&content.queries),
            judgments_digest(&content.judgments),
        ];
        let scale = Scale {
            gains: &about.gains,
            relevant_from: about.relevant_from,
            top_grade,
            synthetic: about.synthetic,
        };
        let columns: BTreeSet<&String> = content
            .queries
            .iter()
            .flat_map(|query| query.columns.keys())
            .collect();
        let [corpus_digest, queries_digest, judgments_digest] = parts;
        Ok(Self {
            schema_version: SCHEMA_VERSION,
            fingerprint: fingerprint(parts, scale),
            fields: content.corpus.fields.clone(),
            query_columns: columns.into_iter().cloned().collect(),
            counts: Counts::of(content, about.relevant_from),
            corpus_digest,
            queries_digest,
            judgments_digest,
            top_grade,
            name: about.name,
            synthetic: about.synthetic,
            source: about.source,
            licence: about.licence,
            gains: about.gains,
            relevant_from: about.relevant_from,
            labels: about.labels,
            files: Vec::new(),
            sources: about.sources,
            warnings: about.warnings,
        })
    }

    /// Returns what is known about the dataset that its content does not say.
    pub fn about(&self) -> About {
        About {
            name: self.name.clone(),
            source: self.source.clone(),
            licence: self.licence.clone(),
            synthetic: self.synthetic,
            gains: self.gains.clone(),
            relevant_from: self.relevant_from,
            top_grade: Some(self.top_grade),
            labels: self.labels.clone(),
            sources: self.sources.clone(),
            warnings: self.warnings.clone(),
        }
    }

    /// Reads a manifest, whose version is looked at before anything else.
    pub(crate) fn parse(text: &str, path: &std::path::Path) -> Result<Self, DatasetError> {
        let json = |source| DatasetError::Json {
            path: path.to_owned(),
            source,
        };
        let value: serde_json::Value = serde_json::from_str(text).map_err(json)?;
        let version = value.get("schema_version");
        if version.is_some_and(|version| version.as_u64() != Some(SCHEMA_VERSION.into())) {
            return Err(DatasetError::Version {
                path: path.to_owned(),
                found: version.map(ToString::to_string).unwrap_or_default(),
                expected: SCHEMA_VERSION,
            });
        }
        serde_json::from_str(text).map_err(json)
    }

    /// Returns the manifest as JSON, the same bytes for the same manifest.
    ///
    /// # Panics
    ///
    /// Never: every part of a manifest has a JSON form.
    pub fn to_json(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).expect("a manifest has a JSON form");
        text.push('\n');
        text
    }
}

impl Counts {
    fn of(content: &DatasetContent, relevant_from: Grade) -> Self {
        let grades = || {
            content
                .judgments
                .iter()
                .flat_map(|(_, of_query)| of_query.iter())
        };
        Self {
            documents: content.corpus.documents.len() as u64,
            queries: content.queries.len() as u64,
            judged_queries: content.judgments.len() as u64,
            judgments: grades().count() as u64,
            relevant: grades()
                .filter(|&(_, grade)| grade >= relevant_from)
                .count() as u64,
        }
    }
}

/// Checks every grade that occurs, and returns the highest that can be given.
fn top_grade(content: &DatasetContent, about: &About) -> Result<Grade, ContentError> {
    let occurring: BTreeSet<Grade> = content
        .judgments
        .iter()
        .flat_map(|(_, of_query)| of_query.iter().map(|(_, grade)| grade))
        .collect();
    if let Some(&grade) = occurring
        .iter()
        .find(|&&grade| about.gains.gain(grade).is_none())
    {
        return Err(ContentError::GradeWithoutGain(grade));
    }
    let listed = match &about.gains {
        Gains::Map(map) => map.entries().last().map(|&(grade, _)| grade),
        Gains::Linear | Gains::Exponential => None,
    };
    let highest = occurring
        .last()
        .copied()
        .max(listed)
        .unwrap_or(about.relevant_from);
    match about.top_grade {
        Some(top) if top < highest => Err(ContentError::AboveTop {
            grade: highest,
            top,
        }),
        Some(top) => Ok(top),
        None => Ok(highest),
    }
}
