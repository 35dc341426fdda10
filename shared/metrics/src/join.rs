//! Rankings of documents joined with their judgments.

use std::collections::{BTreeMap, BTreeSet};

use evalfarm_domain::{DocId, Grade, Judgments, QueryId};

/// What to do with a hit whose document id is the query id, as in collections whose queries are documents.
///
/// Dropping such hits moves the values a lot (`ArguAna`: nDCG@10 from 31.5 to 41.4), so it is never done unasked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum SelfHits {
    /// Rank it like any other hit.
    #[default]
    Keep,
    /// Remove it, move what follows up by one rank, and count it.
    Drop,
}

/// Rankings that could not be joined.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JoinError {
    /// A document occurs twice in one ranking and would be counted twice: recall above 1.
    #[error("document `{document}` is ranked twice for query `{query}`")]
    DuplicateDocument {
        /// The query.
        query: QueryId,
        /// The document.
        document: DocId,
    },
}

/// The answers of a run as grades: what [`crate::evaluate`] reads.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct JoinedRun {
    grades: BTreeMap<QueryId, Vec<Option<Grade>>>,
    self_hits_dropped: usize,
}

impl JoinedRun {
    /// Returns a run without answers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the answer to one query: its documents in rank order, each once. Replaces an earlier answer to it.
    pub fn insert<'a>(
        &mut self,
        judgments: &Judgments,
        query: &QueryId,
        documents: impl IntoIterator<Item = &'a DocId>,
        self_hits: SelfHits,
    ) -> Result<(), JoinError> {
        let judged = judgments.query(query.as_str());
        let mut seen = BTreeSet::new();
        let mut grades = Vec::new();
        let mut dropped = 0;
        for document in documents {
            if !seen.insert(document) {
                return Err(JoinError::DuplicateDocument {
                    query: query.clone(),
                    document: document.clone(),
                });
            }
            if self_hits == SelfHits::Drop && document.as_str() == query.as_str() {
                dropped += 1;
                continue;
            }
            grades.push(judged.and_then(|judged| judged.grade(document.as_str())));
        }
        self.grades.insert(query.clone(), grades);
        self.self_hits_dropped += dropped;
        Ok(())
    }

    /// Returns the grades of a query's hits in rank order, or nothing when the run does not answer the query. An answer
    /// without hits is an answer.
    pub fn answer(&self, query: &QueryId) -> Option<&[Option<Grade>]> {
        self.grades.get(query).map(Vec::as_slice)
    }

    /// Returns the answered queries, by id.
    pub fn queries(&self) -> impl ExactSizeIterator<Item = &QueryId> {
        self.grades.keys()
    }

    /// Returns the number of hits that were removed because their document is the query itself.
    pub fn self_hits_dropped(&self) -> usize {
        self.self_hits_dropped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(id: &str) -> DocId {
        DocId::try_from(id).unwrap()
    }

    fn query(id: &str) -> QueryId {
        QueryId::try_from(id).unwrap()
    }

    #[test]
    fn m5_a_document_ranked_twice_is_refused() {
        let mut run = JoinedRun::new();
        let hits = [document("g"), document("g")];
        let error = run
            .insert(&Judgments::default(), &query("q"), &hits, SelfHits::Keep)
            .unwrap_err();
        assert_eq!(
            error.to_string(),
            "document `g` is ranked twice for query `q`"
        );
        assert_eq!(run, JoinedRun::new());
    }

    #[test]
    fn m28_self_hits_are_kept_unless_asked_and_counted_when_dropped() {
        let mut judgments = Judgments::default();
        let one = Grade::RELEVANT;
        judgments.insert(query("q"), document("a"), one);
        let hits = [document("q"), document("a")];
        let mut kept = JoinedRun::new();
        kept.insert(&judgments, &query("q"), &hits, SelfHits::default())
            .unwrap();
        assert_eq!(kept.answer(&query("q")), Some([None, Some(one)].as_slice()));
        assert_eq!(kept.self_hits_dropped(), 0);
        let mut dropped = JoinedRun::new();
        dropped
            .insert(&judgments, &query("q"), &hits, SelfHits::Drop)
            .unwrap();
        assert_eq!(dropped.answer(&query("q")), Some([Some(one)].as_slice()));
        assert_eq!(dropped.self_hits_dropped(), 1);
    }
}
