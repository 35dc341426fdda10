//! What is in a dataset, in numbers.

use std::collections::{BTreeMap, HashSet};

use evalfarm_domain::{Corpus, FieldName, Grade, Judgments, Query};
use serde::Serialize;

use crate::content::judged_not_in_corpus;
use crate::{NearCollision, near_collisions};

/// What is in a dataset.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Inspection {
    /// Documents.
    pub documents: u64,
    /// Fields of the corpus, in scoring order.
    pub fields: Vec<FieldInspection>,
    /// Queries.
    pub queries: u64,
    /// Judgments by grade, lowest first.
    pub grades: Vec<GradeCount>,
    /// Relevant documents of a query, over all queries.
    pub relevant: Spread,
    /// Judged documents of a query, over all queries.
    pub judged: Spread,
    /// Queries without a relevant document: no candidate can score on them.
    pub queries_without_relevant: u64,
    /// Queries without any judgment.
    pub queries_without_judgment: u64,
    /// Queries with an empty text, which retrieve nothing.
    pub queries_without_text: u64,
    /// Queries that carry a cluster.
    pub queries_with_cluster: u64,
    /// Judgments of documents that are not in the corpus.
    pub judged_not_in_corpus: u64,
    /// Pairs of document ids that look like one.
    pub near_documents: Vec<NearCollision>,
    /// Pairs of query ids that look like one.
    pub near_queries: Vec<NearCollision>,
}

/// What is in a field.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldInspection {
    /// The field.
    pub name: FieldName,
    /// Share of documents with a text that is not empty, 0 to 1.
    pub filled: f64,
    /// Distinct texts, the empty one included.
    pub distinct: u64,
    /// Whether every document has the same text, so that the field cannot tell documents apart.
    pub dead: bool,
}

/// How many judgments have a grade.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GradeCount {
    /// The grade.
    pub grade: Grade,
    /// Judgments.
    pub judgments: u64,
}

/// How a count spreads over the queries; all 0 when there are none.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    /// Least.
    pub min: u64,
    /// The lower of the two middle ones when there are two.
    pub median: u64,
    /// Mean.
    pub mean: f64,
    /// Most.
    pub max: u64,
}

impl Spread {
    fn of(mut counts: Vec<u64>) -> Self {
        counts.sort_unstable();
        let (Some(&min), Some(&max)) = (counts.first(), counts.last()) else {
            return Self::default();
        };
        Self {
            min,
            median: counts[(counts.len() - 1) / 2],
            mean: counts.iter().sum::<u64>() as f64 / counts.len() as f64,
            max,
        }
    }
}

/// Counts what is in a dataset. Documents are in order of their ids, as in every stored dataset.
pub fn inspect(
    corpus: &Corpus,
    queries: &[Query],
    judgments: &Judgments,
    relevant_from: Grade,
) -> Inspection {
    let mut grades: BTreeMap<Grade, u64> = BTreeMap::new();
    for (_, of_query) in judgments.iter() {
        for (_, grade) in of_query.iter() {
            *grades.entry(grade).or_default() += 1;
        }
    }
    let count = |query: &Query, least: Option<Grade>| {
        let of_query = judgments.query(query.id.as_str());
        of_query.map_or(0, |of_query| {
            let grades = of_query.iter().map(|(_, grade)| grade);
            grades
                .filter(|&grade| least.is_none_or(|least| grade >= least))
                .count() as u64
        })
    };
    let relevant: Vec<u64> = queries
        .iter()
        .map(|q| count(q, Some(relevant_from)))
        .collect();
    let judged: Vec<u64> = queries.iter().map(|q| count(q, None)).collect();
    let zeros = |counts: &[u64]| counts.iter().filter(|&&count| count == 0).count() as u64;
    let having = |has: &dyn Fn(&Query) -> bool| queries.iter().filter(|q| has(q)).count() as u64;
    let documents = corpus.documents.iter().map(|document| document.id.as_str());
    Inspection {
        documents: corpus.documents.len() as u64,
        fields: fields(corpus),
        queries: queries.len() as u64,
        grades: grades
            .into_iter()
            .map(|(grade, judgments)| GradeCount { grade, judgments })
            .collect(),
        queries_without_relevant: zeros(&relevant),
        queries_without_judgment: zeros(&judged),
        relevant: Spread::of(relevant),
        judged: Spread::of(judged),
        queries_without_text: having(&|query| query.text.trim().is_empty()),
        queries_with_cluster: having(&|query| query.cluster.is_some()),
        judged_not_in_corpus: judged_not_in_corpus(corpus, judgments)
            .map_or(0, |(count, ..)| count),
        near_documents: near_collisions(documents),
        near_queries: near_collisions(queries.iter().map(|query| query.id.as_str())),
    }
}

fn fields(corpus: &Corpus) -> Vec<FieldInspection> {
    let documents = corpus.documents.len();
    let inspected = corpus.fields.iter().enumerate().map(|(at, name)| {
        let texts = || {
            corpus
                .documents
                .iter()
                .map(|document| document.fields[at].as_str())
        };
        let distinct = texts().collect::<HashSet<&str>>().len() as u64;
        let filled = texts().filter(|text| !text.is_empty()).count();
        FieldInspection {
            name: name.clone(),
            filled: filled as f64 / documents.max(1) as f64,
            distinct,
            dead: distinct <= 1,
        }
    });
    inspected.collect()
}

#[cfg(test)]
mod tests {
    use evalfarm_domain::{DocId, Document, QueryId};

    use super::*;

    #[test]
    fn p17_counts_are_those_of_a_small_dataset() {
        let document = |id: &str, texts: [&str; 3]| Document {
            id: DocId::try_from(id).unwrap(),
            fields: texts.map(str::to_owned).to_vec(),
        };
        let corpus = Corpus {
            fields: ["title", "brand", "category"]
                .map(|f| FieldName::try_from(f).unwrap())
                .to_vec(),
            documents: vec![
                document("1", ["a", "", "all"]),
                document("cafe\u{301}", ["b", "x", "all"]),
                document("caf\u{e9}", ["b", "", "all"]),
            ],
        };
        let query = |id: &str| Query::new(QueryId::try_from(id).unwrap(), "text");
        let mut judgments = Judgments::default();
        for (q, d, grade) in [("q1", "1", 2.0), ("q1", "9", 1.0), ("q2", "1", 0.0)] {
            let (query, document) = (QueryId::try_from(q).unwrap(), DocId::try_from(d).unwrap());
            judgments.insert(query, document, Grade::try_from(grade).unwrap());
        }
        let queries = [query("q1"), query("q2"), query("q3")];
        let found = inspect(&corpus, &queries, &judgments, Grade::RELEVANT);
        let fields: Vec<(&str, u64, bool)> = found
            .fields
            .iter()
            .map(|field| (field.name.as_str(), field.distinct, field.dead))
            .collect();
        assert_eq!(
            fields,
            [
                ("title", 2, false),
                ("brand", 2, false),
                ("category", 1, true)
            ]
        );
        assert!((found.fields[1].filled - 1.0 / 3.0).abs() < 1e-12);
        let grades: Vec<u64> = found.grades.iter().map(|grade| grade.judgments).collect();
        assert_eq!(grades, [1, 1, 1]);
        let spread = Spread {
            min: 0,
            median: 0,
            mean: 2.0 / 3.0,
            max: 2,
        };
        assert_eq!(found.relevant, spread);
        assert_eq!(
            (
                found.queries_without_relevant,
                found.queries_without_judgment,
                found.judged_not_in_corpus
            ),
            (2, 1, 1)
        );
        assert_eq!(found.near_documents.len(), 1);
    }
}
