use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use evalfarm_domain::Corpus;
use evalfarm_testkit::reference_data;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::{About, Dataset, Warning, store};

fn fields(texts: &[&str]) -> Vec<FieldMap> {
    texts.iter().map(|text| text.parse().unwrap()).collect()
}

fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn catalogue(name: &str, text: &str, maps: &[&str]) -> Result<Corpus, String> {
    let folder = tempfile::tempdir().unwrap();
    read_catalogue(&file(&folder, name, text), "id", &fields(maps)).map_err(|error| shown(&error))
}

fn ratings(name: &str, text: &str) -> Result<Ratings, String> {
    let folder = tempfile::tempdir().unwrap();
    read_ratings(&file(&folder, name, text), &QrelsOptions::default())
        .map_err(|error| shown(&error))
}

fn shown(error: &InputError) -> String {
    match (error.position(), error.fault()) {
        (Some(line), Some(fault)) => format!("{line}: {fault}"),
        (None, Some(fault)) => fault.to_string(),
        _ => error.to_string(),
    }
}

fn texts(corpus: &Corpus) -> BTreeMap<&str, Vec<&str>> {
    let documents = corpus.documents.iter();
    documents
        .map(|document| {
            let texts = document.fields.iter().map(String::as_str).collect();
            (document.id.as_str(), texts)
        })
        .collect()
}

#[test]
fn fields_are_joined_in_file_order_and_missing_ones_are_empty() {
    let text = r#"{"id": "b", "attr_t_z": "one", "title": "T", "attr_t_a": ["two", 3], "attr_n": "no", "flag": true}
{"id": 7, "attr_t_a": "", "attr_t_b": null, "flag": false}
"#;
    let corpus = catalogue(
        "c.jsonl",
        text,
        &["title", "attrs=attr_t*", "both=title,attr_n,flag"],
    )
    .unwrap();
    let expected = BTreeMap::from([
        ("b", vec!["T", "one two 3", "T no true"]),
        ("7", vec!["", "", "false"]),
    ]);
    assert_eq!(texts(&corpus), expected);
}

#[test]
fn a_catalogue_may_be_csv_or_tsv_and_gzipped() {
    let csv = "id,title,attr_a,attr_b\nx,\"a, b\",1,2\ny,,,3\n";
    let expected = catalogue("c.csv", csv, &["title", "attrs=attr_*"]).unwrap();
    assert_eq!(
        texts(&expected),
        BTreeMap::from([("x", vec!["a, b", "1 2"]), ("y", vec!["", "3"])])
    );
    let tsv = "id\ttitle\tattr_a\tattr_b\nx\ta, b\t1\t2\ny\t\t\t3\n";
    assert_eq!(
        catalogue("c.tsv", tsv, &["title", "attrs=attr_*"]).unwrap(),
        expected
    );
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(csv.as_bytes()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = file(&folder, "c.csv.gz", encoder.finish().unwrap());
    let read = read_catalogue(&path, "id", &fields(&["title", "attrs=attr_*"])).unwrap();
    assert_eq!(read, expected);
}

#[test]
fn p9_p19_p20_values_stay_what_the_file_says() {
    let jsonl = r#"{"id": 9007199254740993, "title": null}
{"id": "0545010225", "title": "010"}
{"id": "545010225", "title": "NO"}
{"id": "1e-3", "title": "2026-11-30"}
"#;
    let csv = "id,title\n9007199254740993,\n0545010225,010\n545010225,NO\n1e-3,2026-11-30\n";
    let expected = BTreeMap::from([
        ("9007199254740993", vec![""]),
        ("0545010225", vec!["010"]),
        ("545010225", vec!["NO"]),
        ("1e-3", vec!["2026-11-30"]),
    ]);
    assert_eq!(
        texts(&catalogue("c.jsonl", jsonl, &["title"]).unwrap()),
        expected
    );
    assert_eq!(
        texts(&catalogue("c.csv", csv, &["title"]).unwrap()),
        expected
    );
    for id in ["1.5", "1e-3", "123456789012345678901234567890"] {
        let error = catalogue(
            "c.jsonl",
            &format!("{{\"id\": {id}, \"title\": \"\"}}"),
            &["title"],
        );
        assert!(
            error
                .unwrap_err()
                .ends_with("expected a text or a whole number below 2^64")
        );
    }
}

#[test]
fn catalogues_that_do_not_fit_are_refused() {
    let cases = [
        (
            "{\"id\": \"a\"}\n{\"id\": \"a\"}",
            "2: document `a` occurs again, first in line 1",
        ),
        (
            "{\"id\": \"a\"}\n\n{\"name\": \"b\"}",
            "3: there is no key `id`, found `name`",
        ),
        ("{\"id\": \"\"}", "1: document id is empty"),
        (
            "{\"id\": \"a\", \"title\": {\"en\": \"x\"}}",
            "1: title is `{\"en\":\"x\"}`, expected a text, a number or a list of these",
        ),
        (
            "{\"id\": \"a\", \"title\": NaN}",
            "1: `NaN` is not JSON and not a value, expected a finite number or `null`",
        ),
        ("[1]", "1: not the expected JSON: `[1]` is not an object"),
        (
            "{\"id\": \"a\", \"titel\": \"x\"}",
            "there is no key for the field `title=title`, found `id`, `titel`",
        ),
        ("", "1: there is no document in it"),
    ];
    for (text, expected) in cases {
        assert_eq!(
            catalogue("c.jsonl", text, &["title"]).unwrap_err(),
            expected
        );
    }
}

#[test]
fn queries_get_ids_in_the_order_of_first_appearance() {
    let read = ratings(
        "r.csv",
        "query,docid,rating\n\"phone, red\",a,1\ntv,a,0\n\"phone, red\",b,2\n15\" tv,c,3\n",
    )
    .unwrap();
    let queries: Vec<(&str, &str)> = read
        .queries
        .iter()
        .map(|query| (query.id.as_str(), query.text.as_str()))
        .collect();
    assert_eq!(
        queries,
        [
            ("q0001", "phone, red"),
            ("q0002", "tv"),
            ("q0003", "15\" tv")
        ]
    );
    assert_eq!(read.judgments.query("q0001").unwrap().len(), 2);
    assert!(read.warnings.is_empty());
}

#[test]
fn columns_that_describe_the_query_are_kept() {
    let text = "query_id,query,docid,rating,weight,cluster,season,judge\n\
007,phone,a,1,0.5,c1,winter,ann\n007,phone,b,0,0.5,c1,winter,bob\n8,phone,a,1,2,,,ann\n";
    let read = ratings("r.csv", text).unwrap();
    let first = &read.queries[0];
    assert_eq!(
        (first.id.as_str(), first.cluster.as_deref()),
        ("007", Some("c1"))
    );
    assert!((first.weight - 0.5).abs() < f64::EPSILON);
    assert_eq!(
        first.columns,
        BTreeMap::from([("season".to_owned(), "winter".to_owned())])
    );
    assert_eq!(read.queries[1].cluster, None);
    assert!(read.queries[1].columns.is_empty());
    let dropped = Warning::ColumnNotKept {
        column: "judge".to_owned(),
        first: 3,
    };
    assert_eq!(read.warnings, [dropped]);
}

#[test]
fn ratings_that_do_not_fit_are_refused() {
    let cases = [
        (
            "query,docid\na,b\n",
            "1: there is no column `rating`, found `query`, `docid`",
        ),
        (
            "a,b,1\n",
            "1: there is no column `query`, found `a`, `b`, `1`",
        ),
        ("query,docid,rating\n", "there is no rating in it"),
        (
            "query,docid,rating\na,b,E\n",
            "2: grade `E` is not a number",
        ),
        (
            "query,docid,rating\na,b,1\na,b,2\n",
            "3: document `b` of query `q0001` is judged 2 here and 1 in line 2",
        ),
        ("query,docid,rating\na,,1\n", "2: document id is empty"),
        (
            "query,docid,rating,weight\na,b,1,0\n",
            "2: weight is `0`, expected a number from 1e-9 to 1e9",
        ),
        (
            "query,docid,rating,weight\na,b,1,1e9\nc,b,1,1e-9\nd,b,1,1e308\n",
            "4: weight is `1e308`, expected a number from 1e-9 to 1e9",
        ),
        (
            "query,docid,rating,weight\na,b,1,1e-320\n",
            "2: weight is `1e-320`, expected a number from 1e-9 to 1e9",
        ),
        (
            "query,docid,rating,weight\na,b,1,-1\n",
            "2: weight is `-1`, expected a number from 1e-9 to 1e9",
        ),
        (
            "query,docid,rating,weight\na,b,1,NaN\n",
            "2: weight is `NaN`, expected a number from 1e-9 to 1e9",
        ),
        (
            "query,docid,rating,weight\na,b,1,1\na,c,1,2\n",
            "3: weight of query `a` is `2` here and `1` in line 2",
        ),
        (
            "qid,query,docid,rating\n1,a,b,1\n1,c,d,2\n",
            "3: text of query `1` is `c` here and `a` in line 2",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(ratings("r.csv", text).unwrap_err(), expected, "{text}");
    }
}

/// A catalogue in the form of the chorus reference data, made here.
fn tiny_chorus(folder: &Path) {
    let products = r#"{"id": "1", "name": "n1", "title": "red laptop", "attr_t_a": "x", "attr_t_b": "y"}
{"id": "2", "name": "n2", "title": "blue phone", "short_description": "small", "supplier": "S"}
"#;
    fs::write(folder.join("products.jsonl.gz"), products).unwrap();
    fs::write(
        folder.join("ratings.csv"),
        "query,docid,rating\nlaptop,1,3\nlaptop,9,0\nphone,2,1\n",
    )
    .unwrap();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(products.as_bytes()).unwrap();
    fs::write(folder.join("products.jsonl.gz"), encoder.finish().unwrap()).unwrap();
}

fn chorus_files(folder: &Path) -> CatalogueFiles {
    CatalogueFiles {
        catalogue: folder.join("products.jsonl.gz"),
        id_key: "id".to_owned(),
        fields: fields(&[
            "title",
            "name",
            "short_description",
            "supplier",
            "attrs=attr_t*",
        ]),
        ratings: folder.join("ratings.csv"),
        grades: QrelsOptions::default(),
        join: JoinOptions::default(),
    }
}

#[test]
fn chorus_is_imported_stored_and_opened() {
    let tiny = tempfile::tempdir().unwrap();
    tiny_chorus(tiny.path());
    let reference = reference_data("chorus");
    // README.md of the reference data: 19,406 products, 135 queries, 3,668 ratings.
    let (folder, documents, queries, judgments) = match &reference {
        Some(folder) => (folder.as_path(), 19_406, 135, 3_668),
        None => (tiny.path(), 2, 2, 3),
    };
    let imported = import(&chorus_files(folder)).unwrap();
    let target = tiny.path().join("set");
    let manifest = store(&target, imported.content.clone(), About::new("chorus")).unwrap();
    let counts = manifest.counts;
    assert_eq!(
        (counts.documents, counts.queries, counts.judgments),
        (documents, queries, judgments)
    );
    assert_eq!(
        Dataset::open(&target).unwrap().into_content(),
        imported.content
    );
    crate::verify(&target).unwrap();
    if let Some(golden) = reference_data("golden").filter(|_| reference.is_some()) {
        let text = fs::read_to_string(golden.join("chorus.queries.json")).unwrap();
        let expected: BTreeMap<String, String> = serde_json::from_str(&text).unwrap();
        // There the ids are c001 to c135.
        let found: BTreeMap<String, String> = imported
            .content
            .queries
            .iter()
            .map(|query| (query.id.as_str().replace("q0", "c"), query.text.clone()))
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn judged_documents_that_are_missing_are_counted_or_refused() {
    let tiny = tempfile::tempdir().unwrap();
    tiny_chorus(tiny.path());
    let mut files = chorus_files(tiny.path());
    let imported = import(&files).unwrap();
    let missing = Warning::JudgedNotInCorpus {
        count: 1,
        first: "9".to_owned(),
    };
    assert_eq!(imported.warnings, [missing]);
    assert!(
        imported
            .content
            .judgments
            .query("q0001")
            .unwrap()
            .grade("9")
            .is_some()
    );
    files.join.require_judged_documents = true;
    assert_eq!(
        shown(&import(&files).unwrap_err()),
        "1 judged documents are not in the corpus, e.g. `9` of query `q0001`"
    );
}

proptest! {
    #[test]
    fn readers_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120), name in "c\\.(jsonl|csv|tsv|csv\\.gz)") {
        let folder = tempfile::tempdir().unwrap();
        let path = file(&folder, &name, &bytes);
        drop(read_catalogue(&path, "id", &fields(&["title"])));
        drop(read_ratings(&path, &QrelsOptions::default()));
        let mut headed = b"id,title,query,docid,rating,weight\n".to_vec();
        headed.extend(bytes);
        let path = file(&folder, &name, &headed);
        drop(read_catalogue(&path, "id", &fields(&["title"])));
        drop(read_ratings(&path, &QrelsOptions::default()));
    }
}
