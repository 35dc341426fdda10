//! Corpora, queries and candidates for tests.

use std::collections::BTreeMap;

use evalfarm_domain::{Candidate, Combine, Corpus, DocId, Document, FieldName, FieldWeights};
use evalfarm_retrieval::{Bm25Index, ScoredDocument};

pub(crate) fn field(name: &str) -> FieldName {
    FieldName::try_from(name).unwrap()
}

/// Returns a corpus of these documents, each an id and a text a field; sorted by id.
pub(crate) fn corpus(fields: &[&str], documents: &[(&str, &[&str])]) -> Corpus {
    let mut documents: Vec<Document> = documents
        .iter()
        .map(|(id, texts)| Document {
            id: DocId::try_from(*id).unwrap(),
            fields: texts.iter().map(|&text| text.to_owned()).collect(),
        })
        .collect();
    documents.sort_by(|a, b| a.id.cmp(&b.id));
    Corpus {
        fields: fields.iter().map(|name| field(name)).collect(),
        documents,
    }
}

/// Returns a corpus of `documents` documents whose words follow from their number alone: few words are frequent, many are
/// rare, some fields are empty, and lengths vary from 0 to 60.
pub(crate) fn numbered_corpus(fields: &[&str], documents: u32) -> Corpus {
    let text = |row: u32, field: u32| -> String {
        let mut state = row.wrapping_mul(2_654_435_761).wrapping_add(field * 40_503);
        let mut next = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            state >> 16
        };
        let length = next() % 61;
        let words: Vec<String> = (0..length).map(|_| format!("w{}", word(next()))).collect();
        words.join(" ")
    };
    let count = u32::try_from(fields.len()).unwrap();
    let documents = (0..documents).map(|row| Document {
        id: DocId::try_from(format!("d{row:07}")).unwrap(),
        fields: (0..count).map(|field| text(row, field)).collect(),
    });
    Corpus {
        fields: fields.iter().map(|name| field(name)).collect(),
        documents: documents.collect(),
    }
}

/// Returns the number of a word, about 1/x distributed over 0 to 1,999.
fn word(random: u32) -> u32 {
    (2000.0_f64.powf(f64::from(random) / 65_536.0)) as u32 - 1
}

pub(crate) fn candidate(combine: Combine, weights: &[(&str, f64)]) -> Candidate {
    let weights: BTreeMap<FieldName, f64> = weights
        .iter()
        .map(|&(name, weight)| (field(name), weight))
        .collect();
    Candidate {
        combine,
        weights: FieldWeights::try_from(weights).unwrap(),
    }
}

pub(crate) fn best_fields(tie_breaker: f64) -> Combine {
    Combine::best_fields(tie_breaker).unwrap()
}

/// Returns the list of each candidate for one query.
pub(crate) fn lists(
    index: &Bm25Index,
    text: &str,
    candidates: &[Candidate],
    depth: usize,
) -> Vec<Vec<ScoredDocument>> {
    let prepared = index.prepare(candidates).unwrap();
    let mut lists = Vec::new();
    index
        .searcher()
        .search_many(text, &prepared, depth, &mut |position, hits| {
            assert_eq!(position, lists.len());
            lists.push(hits.to_vec());
        })
        .unwrap();
    lists
}

/// Returns the ids of a list.
pub(crate) fn ids<'a>(corpus: &'a Corpus, list: &[ScoredDocument]) -> Vec<&'a str> {
    let rows = list.iter().map(|hit| hit.row as usize);
    rows.map(|row| corpus.documents[row].id.as_str()).collect()
}
