//! Real Lucene's lists, or, where these are absent, those of the slow implementation in [`crate::reference`].

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use evalfarm_domain::{AnalyzerKind, Corpus, DocId, Document, EngineSettings};
use evalfarm_retrieval::{Bm25Index, ScoredDocument};
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

/// Says what is wrong unless both lists have the same scores and, at each score, the same documents. `ours` is complete,
/// `theirs` may be cut at [`DEPTH`], inside its last group of equal scores.
fn same_list(query: &str, theirs: &List, ours: &List) -> Result<(), String> {
    let expected = ours.len().min(DEPTH);
    if theirs.len() != expected {
        return Err(format!("{query}: {} hits, not {expected}", theirs.len()));
    }
    for ((_, theirs), (_, ours)) in theirs.iter().zip(ours) {
        if (theirs - ours).abs() > TOLERANCE * theirs {
            return Err(format!("{query}: {theirs} is not {ours}"));
        }
    }
    let ids = |list: &[(String, f64)]| -> BTreeSet<String> {
        list.iter().map(|(id, _)| id.clone()).collect()
    };
    let mut start = 0;
    while start < theirs.len() {
        let score = theirs[start].1;
        let equal = |&&(_, other): &&(String, f64)| (other - score).abs() <= 0.0;
        let end = start + theirs[start..].iter().take_while(equal).count();
        let group = ids(&theirs[start..end]);
        let same = if end == DEPTH {
            let close = |(_, ours): &&(String, f64)| (ours - score).abs() <= TOLERANCE * score;
            let candidates: List = ours[start..].iter().take_while(close).cloned().collect();
            group.is_subset(&ids(&candidates))
        } else {
            group == ids(&ours[start..end])
        };
        if !same {
            return Err(format!("{query}: other documents at {score}"));
        }
        start = end;
    }
    Ok(())
}

/// The weightings of the lists; the last number is what the canonical weights have to be multiplied by.
const WEIGHTINGS: [(&str, [f64; 5], f64); 3] = [
    ("w0", [4.0, 1.0, 1.0, 2.0, 1.0], 4.0),
    ("flat", [1.0; 5], 1.0),
    ("title", [1.0, 0.0, 0.0, 0.0, 0.0], 1.0),
];

/// Returns what differs between our lists and those of the files `{prefix}.{weighting}.run.gz`, for 135 queries under
/// three weightings; nothing when the reference data is absent.
fn differences(prefix: &str, analyzer: AnalyzerKind) -> Option<Vec<String>> {
    let data = evalfarm_testkit::reference_data("chorus")?;
    let golden = evalfarm_testkit::reference_data("golden")?;
    let corpus = chorus(&data);
    let settings = EngineSettings {
        analyzer,
        ..EngineSettings::default()
    };
    let index = Bm25Index::build(&corpus, &settings).unwrap();
    let queries = File::open(golden.join("chorus.queries.json")).unwrap();
    let queries: BTreeMap<String, String> = serde_json::from_reader(queries).unwrap();
    assert_eq!(queries.len(), 135);
    let mut differences = Vec::new();
    for (name, weights, scale) in WEIGHTINGS {
        let theirs = run(&golden.join(format!("{prefix}.{name}.run.gz")));
        let weights: Vec<_> = FIELDS.into_iter().zip(weights).collect();
        let candidate = candidate(best_fields(0.0), &weights);
        for (query, text) in &queries {
            let list = lists(&index, text, std::slice::from_ref(&candidate), usize::MAX);
            let named = |hit: &ScoredDocument| {
                let id = &corpus.documents[hit.row as usize].id;
                (id.to_string(), f64::from(hit.score) * scale * K1_PLUS_1)
            };
            let ours: List = list[0].iter().map(named).collect();
            let none = List::new();
            let theirs = theirs.get(query).unwrap_or(&none);
            differences.extend(same_list(&format!("{name} {query}"), theirs, &ours).err());
        }
    }
    Some(differences)
}

#[test]
fn lists_equal_lucenes() {
    match differences("chorus-standard", AnalyzerKind::Standard) {
        Some(differences) => assert_eq!(differences, Vec::<String>::new()),
        None => lists_equal_the_slow_implementation(AnalyzerKind::Standard),
    }
}

#[test]
fn english_lists_equal_lucenes() {
    // Those lists are of `EnglishAnalyzer`, which does not fold. Folding makes the stop word `a` of `à`, which shortens two
    // fields and moves the scores of `radio` (c027) by 1.1e-5, and `toner` of `tóner`, which moves those of c088 by 3.4e-5.
    match differences("chorus", AnalyzerKind::English) {
        Some(differences) => {
            let queries = differences.iter().filter_map(|text| {
                let (_, rest) = text.split_once(' ')?;
                rest.split_once(':').map(|(query, _)| query)
            });
            assert_eq!(
                queries.collect::<BTreeSet<_>>(),
                BTreeSet::from(["c027", "c088"])
            );
            assert_eq!(differences.len(), 5, "of 405 lists: {differences:?}");
        }
        None => lists_equal_the_slow_implementation(AnalyzerKind::English),
    }
}

/// The same comparison on data that is always there.
fn lists_equal_the_slow_implementation(analyzer: AnalyzerKind) {
    let corpus = numbered_corpus(&FIELDS, 600);
    let settings = EngineSettings {
        analyzer,
        ..EngineSettings::default()
    };
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
            assert_eq!(same_list(text, &theirs, &ours), Ok(()));
        }
    }
}

#[test]
fn the_comparison_without_reference_data_works_too() {
    lists_equal_the_slow_implementation(AnalyzerKind::Standard);
    lists_equal_the_slow_implementation(AnalyzerKind::English);
}
