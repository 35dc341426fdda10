//! Queries and documents of a dataset.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use crate::{DocId, FieldName, QueryId};

/// Weights that a query can have. Shares of traffic and counts of searches lie well within; sums of such weights and of values
/// multiplied by them neither overflow nor fall among the subnormal numbers.
pub const QUERY_WEIGHTS: RangeInclusive<f64> = 1e-9..=1e9;

/// A judged query.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// Identifier, as the dataset's own files spell it.
    pub id: QueryId,
    /// What the user typed; may be empty, which retrieves nothing.
    pub text: String,
    /// Share of traffic, within [`QUERY_WEIGHTS`]; 1 for every query when the dataset gives none.
    pub weight: f64,
    /// Queries with the same cluster are not independent and are resampled together.
    pub cluster: Option<String>,
    /// Further named columns, for slices, templates and filters.
    pub columns: BTreeMap<String, String>,
}

impl Query {
    /// Returns a query of weight 1 without cluster or columns.
    pub fn new(id: QueryId, text: impl Into<String>) -> Self {
        Self {
            id,
            text: text.into(),
            weight: 1.0,
            cluster: None,
            columns: BTreeMap::new(),
        }
    }
}

/// One document of a corpus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Identifier, as the dataset's own files spell it.
    pub id: DocId,
    /// One text for each field of the corpus, in the corpus's field order; a missing field is the empty text.
    pub fields: Vec<String>,
}

/// The documents that are searched.
///
/// Field order is part of the corpus: scores are combined in this order, so that sums are the same bits everywhere.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Corpus {
    /// Searchable fields, in scoring order.
    pub fields: Vec<FieldName>,
    /// Documents by ascending id; each has `fields.len()` texts.
    pub documents: Vec<Document>,
}
