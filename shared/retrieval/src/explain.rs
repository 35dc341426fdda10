//! Why a document has its score.

use std::fmt;

use evalfarm_domain::{Candidate, Combine, FieldName};

use crate::index::IndexedField;
use crate::terms::query_terms;
use crate::{Bm25Index, PreparedCandidate, SearchError, bm25};

/// The score of one document for one query under one candidate, and what it is made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Explanation {
    /// The score, the same bits as in the ranking; nothing when the document is no hit.
    pub score: Option<f32>,
    /// How the weighted field scores are combined.
    pub combine: Combine,
    /// The fields that the candidate searches and in which the document has a term of the query, in the corpus's order.
    pub fields: Vec<FieldExplanation>,
}

/// What one field adds.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldExplanation {
    /// The field.
    pub field: FieldName,
    /// Its weight in the candidate's canonical form, where the largest weight is 1.
    pub weight: f32,
    /// Sum of the terms' contributions.
    pub score: f32,
    /// `weight · score`.
    pub weighted: f32,
    /// Length of the document's field in tokens (dl), as coarsely as the index keeps it.
    pub length: f32,
    /// Mean length of the field over the documents that have a token in it (avgdl).
    pub average_length: f32,
    /// Documents with a token in the field (N).
    pub documents: u32,
    /// The terms of the query that the document has in the field, in byte order.
    pub terms: Vec<TermExplanation>,
}

/// What one term adds to a field's score.
#[derive(Debug, Clone, PartialEq)]
pub struct TermExplanation {
    /// The term, as the analyzer leaves it.
    pub term: String,
    /// How often it occurs in the query.
    pub query_frequency: u32,
    /// How often it occurs in the document's field (tf).
    pub frequency: u32,
    /// Documents that have it in the field (df).
    pub document_frequency: u32,
    /// `ln(1 + (N − df + 0.5) / (df + 0.5))`.
    pub idf: f32,
    /// `query_frequency · idf · tf / (tf + k1 · (1 − b + b · dl / avgdl))`.
    pub contribution: f32,
}

impl fmt::Display for Explanation {
    /// Writes the tree, indented by level, without a final line break.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = match self.combine {
            Combine::BestFields { tie_breaker } if tie_breaker > 0.0 => {
                format!("{tie_breaker} × sum + {} × largest of", 1.0 - tie_breaker)
            }
            Combine::BestFields { .. } => "largest of".to_owned(),
            Combine::MostFields => "sum of".to_owned(),
        };
        match self.score {
            Some(score) => write!(f, "{score} = {how}")?,
            None => return f.write_str("no term of the query in a searched field"),
        }
        for field in &self.fields {
            let FieldExplanation {
                weighted,
                weight,
                score,
                ..
            } = field;
            write!(
                f,
                "\n  {weighted} {} = weight {weight} × {score}",
                field.field
            )?;
            write!(
                f,
                " (dl {}, avgdl {}, N {})",
                field.length, field.average_length, field.documents
            )?;
            for term in &field.terms {
                write!(f, "\n    {} {}", term.contribution, term.term)?;
                write!(
                    f,
                    " (tf {}, df {}, idf {}",
                    term.frequency, term.document_frequency, term.idf
                )?;
                write!(f, ", {} × in the query)", term.query_frequency)?;
            }
        }
        Ok(())
    }
}

impl Bm25Index {
    /// Returns why the document in `row` has its score for the query under the candidate.
    pub fn explain(
        &self,
        text: &str,
        row: u32,
        candidate: &Candidate,
    ) -> Result<Explanation, SearchError> {
        let documents = self.documents;
        if row >= documents {
            return Err(SearchError::UnknownRow { row, documents });
        }
        let PreparedCandidate { combine, weights } = self.prepare_one(candidate)?;
        let mut fields = Vec::new();
        for &(column, weight) in &weights {
            let field = &self.columns[column];
            let terms =
                self.explain_terms(field, text, row)
                    .map_err(|source| SearchError::Postings {
                        field: field.name().clone(),
                        source,
                    })?;
            if !terms.is_empty() {
                fields.push(explain_field(field, row, weight, terms));
            }
        }
        let weighted = || fields.iter().map(|field| field.weighted);
        let sum = weighted().fold(0.0, |sum, product| sum + product);
        let best = weighted().max_by(f32::total_cmp);
        let score = best.map(|best| PreparedCandidate::combined(combine, sum, best));
        Ok(Explanation {
            score,
            combine,
            fields,
        })
    }

    fn explain_terms(
        &self,
        field: &IndexedField,
        text: &str,
        row: u32,
    ) -> std::io::Result<Vec<TermExplanation>> {
        let mut terms = Vec::new();
        let mut decoder = None;
        for (term, query_frequency) in query_terms(self, text) {
            let Some(postings) = field.postings(&term, &mut decoder)? else {
                continue;
            };
            let at = postings.seek(row);
            if postings.docs().get(at) != Some(&row) {
                continue;
            }
            let (frequency, document_frequency) = (postings.freq(at), postings.doc_freq());
            let idf = field.statistics.idf(document_frequency);
            let weight = query_frequency as f32 * idf;
            let length = field.lengths[row as usize];
            terms.push(TermExplanation {
                contribution: field.statistics.contribution(weight, frequency, length),
                term,
                query_frequency,
                frequency,
                document_frequency,
                idf,
            });
        }
        Ok(terms)
    }
}

fn explain_field(
    field: &IndexedField,
    row: u32,
    weight: f32,
    terms: Vec<TermExplanation>,
) -> FieldExplanation {
    let sum: f64 = terms.iter().map(|term| f64::from(term.contribution)).sum();
    #[expect(
        clippy::cast_possible_truncation,
        reason = "Lucene rounds a sum to f32"
    )]
    let score = sum as f32;
    FieldExplanation {
        field: field.name().clone(),
        weight,
        score,
        weighted: weight * score,
        length: bm25::length(field.lengths[row as usize]),
        average_length: field.statistics.average_length(),
        documents: field.statistics.documents(),
        terms,
    }
}
