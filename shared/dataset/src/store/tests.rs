use std::error::Error as _;
use std::fs;
use std::path::{Path, PathBuf};

use evalfarm_domain::{
    Corpus, DocId, Document, FieldName, GainMap, Gains, Grade, Judgments, Query, QueryId,
};
use tempfile::TempDir;

use super::*;
use crate::DatasetContent;

type Change = fn(&mut DatasetContent);

fn grade(value: f64) -> Grade {
    Grade::try_from(value).unwrap()
}

fn document(id: &str, texts: &[&str]) -> Document {
    Document {
        id: DocId::try_from(id).unwrap(),
        fields: texts.iter().map(|&text| text.to_owned()).collect(),
    }
}

fn content() -> DatasetContent {
    let query = |id: &str, text: &str| Query::new(QueryId::try_from(id).unwrap(), text);
    let mut first = query("q2", "phone");
    first.cluster = Some("c".to_owned());
    first.weight = 0.25;
    let mut second = query("q1", "");
    second
        .columns
        .insert("template".to_owned(), "t1".to_owned());
    let mut judgments = Judgments::default();
    for (query, document, value) in [("q1", "a", 2.0), ("q1", "zz", 0.0), ("q2", "b", 1.0)] {
        let query = QueryId::try_from(query).unwrap();
        judgments.insert(query, DocId::try_from(document).unwrap(), grade(value));
    }
    DatasetContent {
        corpus: Corpus {
            fields: ["title", "id"]
                .map(|name| FieldName::try_from(name).unwrap())
                .to_vec(),
            documents: vec![document("b", &["x", ""]), document("a", &["", "é\u{0}"])],
        },
        queries: vec![first, second],
        judgments,
    }
}

fn stored() -> (TempDir, PathBuf, Manifest) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("deep/set");
    let manifest = store(&folder, content(), About::new("tiny")).unwrap();
    (parent, folder, manifest)
}

fn fingerprint(content: DatasetContent, about: About) -> evalfarm_domain::Digest {
    let parent = tempfile::tempdir().unwrap();
    store(&parent.path().join("set"), content, about)
        .unwrap()
        .fingerprint
}

#[test]
fn what_is_stored_is_opened() {
    let (_parent, folder, manifest) = stored();
    let dataset = Dataset::open(&folder).unwrap();
    let mut expected = content();
    expected.corpus.documents.reverse();
    expected.queries.reverse();
    assert_eq!(dataset.manifest, manifest);
    assert_eq!(dataset.into_content(), expected);
    assert_eq!(verify(&folder).unwrap(), manifest);
    assert_eq!(manifest.top_grade, grade(2.0));
    let counts = Counts {
        documents: 2,
        queries: 2,
        judged_queries: 2,
        judgments: 3,
        relevant: 2,
    };
    assert_eq!(manifest.counts, counts);
}

#[test]
fn nothing_is_left_beside_a_stored_dataset() {
    let (_parent, folder, _) = stored();
    let names = |path: &Path| -> Vec<String> {
        let entries = fs::read_dir(path).unwrap();
        let mut names: Vec<String> = entries
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names(folder.parent().unwrap()), ["set"]);
    assert_eq!(
        names(&folder),
        [
            "documents.parquet",
            "judgments.parquet",
            "manifest.json",
            "queries.parquet"
        ]
    );
    let error = store(&folder, content(), About::new("tiny")).unwrap_err();
    assert!(matches!(error, DatasetError::Exists { .. }));
    let empty = folder.with_file_name("empty");
    fs::create_dir(&empty).unwrap();
    store(&empty, content(), About::new("tiny")).unwrap();
}

#[test]
fn the_fingerprint_is_pinned_and_over_content_alone() {
    // A changed digest means that stored datasets, and every job made from them, get new identities.
    let plain = fingerprint(content(), About::new("tiny"));
    assert_eq!(plain.to_string(), FINGERPRINT);
    let mut described = About::new("another name");
    described.licence = "CC0".to_owned();
    assert_eq!(fingerprint(content(), described), plain);
    let mut reordered = content();
    reordered.queries.reverse();
    assert_eq!(fingerprint(reordered, About::new("tiny")), plain);
}

// hashlib and struct of Python 3.11 over the byte stream that `canonical.rs` describes.
const FINGERPRINT: &str = "a680a4207db5c7c712860a1d2a9418c401f0c8d133f7025b34ca5c2c201abbb0";

#[test]
fn w11_every_change_of_content_changes_the_fingerprint() {
    let plain = fingerprint(content(), About::new("tiny"));
    let changes: [Change; 8] = [
        |c| {
            _ = c.judgments.insert(
                QueryId::try_from("q1").unwrap(),
                DocId::try_from("a").unwrap(),
                grade(1.0),
            );
        },
        |c| {
            _ = c.judgments.insert(
                QueryId::try_from("q2").unwrap(),
                DocId::try_from("a").unwrap(),
                grade(0.0),
            );
        },
        |c| c.corpus.documents[0].fields.swap(0, 1),
        |c| c.corpus.fields.swap(0, 1),
        |c| c.queries[0].weight = 0.5,
        |c| c.queries[0].cluster = None,
        |c| c.queries[0].text.push('s'),
        |c| c.queries[1].columns.clear(),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let mut changed = content();
        change(&mut changed);
        assert_ne!(
            fingerprint(changed, About::new("tiny")),
            plain,
            "change {at}"
        );
    }
    let abouts: [fn(&mut About); 4] = [
        |about| about.gains = Gains::Exponential,
        |about| about.relevant_from = grade(2.0),
        |about| about.top_grade = Some(grade(3.0)),
        |about| about.synthetic = true,
    ];
    for change in abouts {
        let mut about = About::new("tiny");
        change(&mut about);
        assert_ne!(fingerprint(content(), about), plain);
    }
}

#[test]
fn a_changed_or_missing_file_is_refused_by_name() {
    let (_parent, folder, manifest) = stored();
    for file in &manifest.files {
        let path = folder.join(&file.name);
        let bytes = fs::read(&path).unwrap();
        let mut changed = bytes.clone();
        let middle = changed.len() / 2;
        changed[middle] ^= 1;
        fs::write(&path, changed).unwrap();
        let error = Dataset::open(&folder).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains(&file.name) && text.contains(&file.sha256.to_string()),
            "{text}"
        );
        assert!(error.hint().is_some());
        fs::remove_file(&path).unwrap();
        let error = Dataset::open(&folder).unwrap_err();
        assert!(
            error
                .to_string()
                .ends_with(&format!("has no `{}`", file.name))
        );
        fs::write(&path, bytes).unwrap();
    }
    assert!(Dataset::open(&folder).is_ok());
    assert!(matches!(
        Dataset::open(Path::new("nowhere")),
        Err(DatasetError::Missing { .. })
    ));
}

#[test]
fn a_manifest_of_another_version_or_with_other_words_is_refused() {
    let (_parent, folder, manifest) = stored();
    let path = folder.join("manifest.json");
    let text = manifest.to_json();
    assert_eq!(fs::read_to_string(&path).unwrap(), text);
    let cases = [
        (
            text.replace("\"schema_version\": 1", "\"schema_version\": 2"),
            "has schema version 2, this program reads version 1",
        ),
        (
            text.replace("\"licence\"", "\"license\""),
            "is not a dataset manifest",
        ),
        (text.replace('{', ""), "is not a dataset manifest"),
    ];
    for (changed, expected) in cases {
        fs::write(&path, changed).unwrap();
        let error = Dataset::open(&folder).unwrap_err();
        assert!(error.to_string().ends_with(expected), "{error}");
    }
    // Numbers that no file is bound to are found by `verify`.
    for (from, to) in [
        ("\"judgments\": 3", "\"judgments\": 4"),
        ("\"relevant_from\": 1.0", "\"relevant_from\": 2.0"),
        ("\"synthetic\": false", "\"synthetic\": true"),
    ] {
        let changed = text.replace(from, to);
        assert_ne!(changed, text);
        fs::write(&path, changed).unwrap();
        let error = verify(&folder).unwrap_err();
        assert!(matches!(error, DatasetError::Mismatch { .. }), "{error}");
    }
}

#[test]
fn contents_that_are_no_dataset_are_refused() {
    let cases: [(Change, &str); 7] = [
        (|c| c.corpus.documents.clear(), "there is no document in it"),
        (|c| c.queries.clear(), "there is no query in it"),
        (
            |c| c.corpus.documents.push(document("a", &["", ""])),
            "document `a` occurs twice",
        ),
        (
            |c| c.corpus.documents[0].fields.truncate(1),
            "document `b` has 1 texts for 2 fields",
        ),
        (
            |c| c.corpus.fields[1] = c.corpus.fields[0].clone(),
            "field `title` occurs twice",
        ),
        (
            |c| c.queries[0].weight = f64::NAN,
            "weight `NaN` of query `q2` is not a number from 1e-9 to 1e9",
        ),
        (
            |c| c.queries.truncate(1),
            "query `q1` is judged and has no text",
        ),
    ];
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    for (change, expected) in cases {
        let mut changed = content();
        change(&mut changed);
        let error = store(&folder, changed, About::new("tiny")).unwrap_err();
        assert_eq!(error.source().unwrap().to_string(), expected);
        assert!(!folder.try_exists().unwrap());
    }
}

#[test]
fn m17_gains_must_cover_the_grades_that_occur() {
    let parent = tempfile::tempdir().unwrap();
    let map = |pairs: &[(f64, f64)]| {
        Gains::Map(GainMap::new(pairs.iter().map(|&(g, gain)| (grade(g), gain)).collect()).unwrap())
    };
    let mut about = About::new("tiny");
    about.gains = map(&[(0.0, 0.0), (2.0, 1.0)]);
    let error = store(&parent.path().join("a"), content(), about.clone()).unwrap_err();
    assert_eq!(
        error.source().unwrap().to_string(),
        "grade `1` occurs and the gain map does not list it"
    );
    about.gains = map(&[(0.0, 0.0), (1.0, 0.1), (2.0, 1.0), (3.0, 2.0)]);
    let manifest = store(&parent.path().join("b"), content(), about.clone()).unwrap();
    assert_eq!(manifest.top_grade, grade(3.0));
    let opened = Dataset::open(&parent.path().join("b")).unwrap();
    assert_eq!(opened.manifest.gains, about.gains);
    about.top_grade = Some(grade(1.0));
    let error = store(&parent.path().join("c"), content(), about).unwrap_err();
    assert_eq!(
        error.source().unwrap().to_string(),
        "grade `3` occurs and the top grade is said to be `1`"
    );
}
