//! Real Lucene's lists, or, where these are absent, those of the slow implementation in [`crate::reference`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use evalfarm_domain::{Corpus, DocId, Document, EngineSettings};
use evalfarm_retrieval::Bm25Index;
use flate2::read::GzDecoder;
use serde_json::{Map, Value};

use crate::generated::{best_fields, candidate, field, lists, numbered_corpus};
use crate::reference::Reference;

const FIELDS: [&str; 5] = ["title", "name", "short_description", "supplier", "attrs"];

/// The lists' depth.
const DEPTH: usize = 50;

/// Largest relative difference of two scores that count as the same; the lists have seven digits.
const TOLERANCE: f64 = 1e-5;

/// What the lists' scores have to be divided by: the constant k1 + 1, which Elasticsearch keeps.
const K1_PLUS_1: f64 = 2.2;

/// Documents and scores of one query, best first.
type List = Vec<(String, f64)>;

fn lines(path: &Path) -> impl Iterator<Item = String> {
    let file = File::open(path).unwrap();
    BufReader::new(GzDecoder::new(file))
        .lines()
        .map(Result::unwrap)
}

fn chorus(folder: &Path) -> Corpus {
    let product = |line: String| {
        let product: Map<String, Value> = serde_json::from_str(&line).unwrap();
        let text = |key: &str| product.get(key).and_then(Value::as_str).unwrap_or_default();
        let attributes = product.iter().filter(|(key, _)| key.starts_with("attr_t"));
        let attributes: Vec<&str> = attributes.filter_map(|(_, value)| value.as_str()).collect();
        let texts = FIELDS.map(|name| match name {
            "attrs" => attributes.join(" "),
            _ => text(name).to_owned(),
        });
        Document {
            id: DocId::try_from(text("id")).unwrap(),
            fields: texts.into(),
        }
    };
    let mut documents: Vec<Document> = lines(&folder.join("products.jsonl.gz"))
        .map(product)
        .collect();
    documents.sort_by(|a, b| a.id.cmp(&b.id));
    let fields = FIELDS.map(field).into();
    Corpus { fields, documents }
}

fn run(path: &Path) -> BTreeMap<String, List> {
    let mut lists = BTreeMap::<String, List>::new();
    for line in lines(path) {
        let columns: Vec<&str> = line.split(' ').collect();
        let hit = (columns[2].to_owned(), columns[4].parse().unwrap());
        lists.entry(columns[0].to_owned()).or_default().push(hit);
    }
    lists
}

/// Panics unless both lists have the same scores and, at each score, the same documents. `ours` is complete, `theirs` may
/// be cut at [`DEPTH`], inside its last group of equal scores.
fn assert_same_list(query: &str, theirs: &List, ours: &List) {
    let expected = ours.len().min(DEPTH);
    assert_eq!(theirs.len(), expected, "{query}: number of hits");
    for ((_, theirs), (_, ours)) in theirs.iter().zip(ours) {
        let error = (theirs - ours).abs() / theirs;
        assert!(error <= TOLERANCE, "{query}: {theirs} is not {ours}");
    }
    let mut start = 0;
    while start < theirs.len() {
        let score = theirs[start].1;
        let equal = |&&(_, other): &&(String, f64)| (other - score).abs() <= 0.0;
        let end = start + theirs[start..].iter().take_while(equal).count();
        let ids = |list: &[(String, f64)]| -> BTreeSet<String> {
            list.iter().map(|(id, _)| id.clone()).collect()
        };
        let group = ids(&theirs[start..end]);
        if end == DEPTH {
            let close = |(_, ours): &&(String, f64)| (ours - score).abs() / score <= TOLERANCE;
            let candidates: List = ours[start..].iter().take_while(close).cloned().collect();
            assert!(
                group.is_subset(&ids(&candidates)),
                "{query}: documents at {score}"
            );
        } else {
            assert_eq!(
                group,
                ids(&ours[start..end]),
                "{query}: documents at {score}"
            );
        }
        start = end;
    }
}

/// The weightings of the lists; the last number is what the canonical weights have to be multiplied by.
const WEIGHTINGS: [(&str, [f64; 5], f64); 3] = [
    ("w0", [4.0, 1.0, 1.0, 2.0, 1.0], 4.0),
    ("flat", [1.0; 5], 1.0),
    ("title", [1.0, 0.0, 0.0, 0.0, 0.0], 1.0),
];

#[test]
fn lists_equal_lucenes() {
    let (Some(data), Some(golden)) = (
        evalfarm_testkit::reference_data("chorus"),
        evalfarm_testkit::reference_data("golden"),
    ) else {
        return lists_equal_the_slow_implementation();
    };
    let corpus = chorus(&data);
    let index = Bm25Index::build(&corpus, &EngineSettings::default()).unwrap();
    let queries = File::open(golden.join("chorus.queries.json")).unwrap();
    let queries: BTreeMap<String, String> = serde_json::from_reader(queries).unwrap();
    assert_eq!(queries.len(), 135);
    for (name, weights, scale) in WEIGHTINGS {
        let theirs = run(&golden.join(format!("chorus-standard.{name}.run.gz")));
        let weights: Vec<_> = FIELDS.into_iter().zip(weights).collect();
        let candidate = candidate(best_fields(0.0), &weights);
        for (query, text) in &queries {
            let list = lists(&index, text, std::slice::from_ref(&candidate), usize::MAX);
            let ours: List = list[0]
                .iter()
                .map(|hit| {
                    let id = &corpus.documents[hit.row as usize].id;
                    (id.to_string(), f64::from(hit.score) * scale * K1_PLUS_1)
                })
                .collect();
            let none = List::new();
            assert_same_list(query, theirs.get(query).unwrap_or(&none), &ours);
        }
    }
}

/// The same comparison on data that is always there.
fn lists_equal_the_slow_implementation() {
    let corpus = numbered_corpus(&FIELDS, 600);
    let settings = EngineSettings::default();
    let index = Bm25Index::build(&corpus, &settings).unwrap();
    let reference = Reference::new(&corpus, settings);
    for (_, weights, _) in WEIGHTINGS {
        let weights: Vec<_> = FIELDS.into_iter().zip(weights).collect();
        let candidate = candidate(best_fields(0.0), &weights);
        let named = |(row, score): (u32, f32)| {
            (
                corpus.documents[row as usize].id.to_string(),
                f64::from(score),
            )
        };
        for text in ["w1 w30", "w700", "w0", "w5 w5 w90 w1500"] {
            let theirs: List = reference
                .search(text, &candidate, DEPTH)
                .into_iter()
                .map(named)
                .collect();
            let list = lists(&index, text, std::slice::from_ref(&candidate), usize::MAX);
            let ours: List = list[0]
                .iter()
                .map(|hit| named((hit.row, hit.score)))
                .collect();
            assert_same_list(text, &theirs, &ours);
        }
    }
}

#[test]
fn the_comparison_without_reference_data_works_too() {
    lists_equal_the_slow_implementation();
}
