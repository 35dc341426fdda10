use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use evalfarm_domain::{Digest, DocId, Fold, Grade, Judgments, Query, QueryId};
use evalfarm_testkit::reference_data;
use proptest::prelude::*;

use super::likeness::groups;
use super::*;

fn id(text: impl Into<String>) -> QueryId {
    QueryId::try_from(text.into()).unwrap()
}

fn numbered(count: usize) -> Vec<QueryId> {
    (0..count).map(|number| id(number.to_string())).collect()
}

fn compute(count: usize, total: usize, train: usize) -> SplitManifest {
    SplitManifest::compute(numbered(count), 7, total, train, &SplitOptions::default()).unwrap()
}

fn texts(texts: &[&str]) -> Vec<Query> {
    let queries = texts.iter().enumerate();
    queries
        .map(|(at, &text)| Query::new(id(format!("q{at}")), text))
        .collect()
}

#[test]
fn the_published_split_is_reproduced() {
    let (manifest, ids) = match reference_data("searchops") {
        Some(folder) => {
            let manifest = SplitManifest::read(&folder.join("split-manifest.json")).unwrap();
            let sizes = (
                manifest.total,
                manifest.train.ids.len(),
                manifest.holdout.ids.len(),
            );
            assert_eq!((manifest.seed, sizes), (20_260_816, (2000, 1400, 600)));
            let ids = manifest.queries(Fold::All);
            (manifest, ids)
        }
        None => (compute(2000, 2000, 1400), numbered(2000)),
    };
    manifest.verify().unwrap();
    assert!(manifest.is_reproduced_from(ids.iter().cloned()));
    let again =
        SplitManifest::compute(ids, manifest.seed, 2000, 1400, &SplitOptions::default()).unwrap();
    for fold in [Fold::Train, Fold::Holdout] {
        assert_eq!(again.queries(fold), manifest.queries(fold));
        assert_eq!(again.digest(fold), manifest.digest(fold));
    }
}

#[test]
fn the_order_is_that_of_the_documented_digest() {
    // python3: sorted("abcd", key=lambda q: hashlib.sha256(f"7|{q}".encode()).hexdigest())
    let order = hash_order(["a", "b", "c", "d"].map(id), 7);
    assert_eq!(order, ORDER_OF_ABCD.map(id));
}

const ORDER_OF_ABCD: [&str; 4] = ["a", "c", "d", "b"];

#[test]
fn a_larger_sample_contains_a_smaller_one() {
    let mut before = BTreeSet::new();
    for total in [1, 10, 50, 100] {
        let sample: BTreeSet<QueryId> = compute(100, total, total)
            .queries(Fold::All)
            .into_iter()
            .collect();
        assert!(sample.is_superset(&before));
        assert_eq!(sample.len(), total);
        before = sample;
    }
}

#[test]
fn a_split_survives_its_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.json");
    let split = compute(20, 10, 7);
    split.write(&path).unwrap();
    assert_eq!(SplitManifest::read(&path).unwrap(), split);
    assert_eq!(fs::read_to_string(&path).unwrap(), split.to_json());
    // Digests are over ids in bytewise order joined by commas, as design section 5 says.
    let mut sorted: Vec<String> = split.train.ids.iter().map(ToString::to_string).collect();
    sorted.sort();
    assert_eq!(split.train.sha256, Digest::of(sorted.join(",").as_bytes()));
}

#[test]
fn a_split_that_was_changed_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.json");
    let split = compute(20, 10, 7);
    let text = split.to_json();
    let first = format!("\"{}\"", split.train.ids[0]);
    let cases = [
        (
            text.replacen(&first, "\"changed\"", 1),
            "the ids of the train side have sha256",
        ),
        (
            text.replace("\"count\": 3", "\"count\": 4"),
            "the holdout side lists 3 queries, the split says 4",
        ),
        (
            text.replace("\"total\": 10", "\"total\": 11"),
            "the all side lists 10 queries, the split says 11",
        ),
        (
            text.replace("\"version\": 1", "\"version\": 2"),
            "the split has version 2, this program reads version 1",
        ),
        (
            text.replace("\"seed\"", "\"sead\""),
            "is not a split manifest",
        ),
    ];
    for (changed, expected) in cases {
        assert_ne!(changed, text);
        fs::write(&path, changed).unwrap();
        let error = SplitManifest::read(&path).unwrap_err();
        assert!(error.to_string().contains(expected), "{error}");
    }
    let mut both = split;
    both.holdout = both.train.clone();
    assert!(matches!(both.verify(), Err(SplitError::Twice { .. })));
}

#[test]
fn the_foreign_form_has_ids_as_numbers_and_digests_as_listed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("split.json");
    // 9 before 10: numerically sorted, which is not the bytewise order. P20: too large for a float.
    let train = Digest::of(b"9,10,9007199254740993");
    let holdout = Digest::of(b"x");
    let text = |ids: &str| {
        format!(
            r#"{{"split_seed": 1, "total": 4, "train_ratio": 0.75, "train_count": 3, "holdout_count": 1, "filter": "some",
            "train_query_ids_sha256": "{train}", "holdout_query_ids_sha256": "{holdout}",
            "train_query_ids": {ids}, "holdout_query_ids": ["x"]}}"#
        )
    };
    fs::write(&path, text("[9, 10, 9007199254740993]")).unwrap();
    let split = SplitManifest::read(&path).unwrap();
    assert_eq!(
        split.queries(Fold::Train),
        ["10", "9", "9007199254740993"].map(id)
    );
    assert_eq!(split.filter.as_deref(), Some("some"));
    fs::write(&path, text("[9, 10, 1.5]")).unwrap();
    let error = SplitManifest::read(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        "query id `1.5` of the train side is neither a text nor a whole number"
    );
}

#[test]
fn sizes_that_do_not_fit_are_refused() {
    let options = SplitOptions::default();
    let ask =
        |total, train| SplitManifest::compute(numbered(5), 1, total, train, &options).unwrap_err();
    assert_eq!(
        ask(6, 1).to_string(),
        "6 queries were asked for, 5 are available"
    );
    assert!(matches!(ask(0, 0), SplitError::Empty));
    assert!(matches!(
        ask(3, 4),
        SplitError::TrainTooLarge { train: 4, total: 3 }
    ));
    let twice = SplitManifest::compute(["a", "a"].map(id), 1, 1, 1, &options);
    assert!(matches!(twice, Err(SplitError::Twice { .. })));
}

#[test]
fn a_split_of_other_queries_is_refused() {
    let split = compute(5, 5, 3);
    let queries: Vec<Query> = numbered(4)
        .into_iter()
        .map(|id| Query::new(id, ""))
        .collect();
    let error = split.check_queries(&queries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "1 queries of the split are not in the dataset, e.g. `4`"
    );
}

#[test]
fn likenesses_across_the_sides_are_reported() {
    let queries = texts(&[
        "running shoes for men",
        "Running shoe, for men!",
        "waterproof trail running shoes men red",
        "waterproof trail running shoes men",
        "toaster",
        "the",
        "of",
        "The",
    ]);
    // English tokens: run shoe men; waterproof trail run shoe men (red): 5 of 6 = 0.83.
    let side =
        |ids: &[usize]| -> Vec<QueryId> { ids.iter().map(|&at| queries[at].id.clone()).collect() };
    let mut split = SplitManifest::compute(
        queries.iter().map(|query| query.id.clone()),
        1,
        8,
        4,
        &SplitOptions::default(),
    )
    .unwrap();
    split.train.ids = side(&[0, 2, 5, 6]);
    split.holdout.ids = side(&[1, 3, 4, 7]);
    let found = overlap(&queries, &split);
    let pairs = |list: &[Likeness]| -> Vec<(String, String)> {
        let list = list.iter();
        list.map(|like| (like.holdout.to_string(), like.train.to_string()))
            .collect()
    };
    assert_eq!(
        pairs(&found.equal),
        [
            ("q1".to_owned(), "q0".to_owned()),
            ("q7".to_owned(), "q5".to_owned())
        ]
    );
    assert_eq!(
        pairs(&found.nearly_equal),
        [("q3".to_owned(), "q2".to_owned())]
    );
    assert!((found.nearly_equal[0].similarity - 5.0 / 6.0).abs() < 1e-12);
}

#[test]
fn groups_stay_together_and_the_excess_is_less_than_a_group() {
    let queries: Vec<Query> = (0..300)
        .map(|number| {
            let mut query = Query::new(id(format!("q{number}")), format!("text{number}"));
            query.cluster = Some(format!("c{}", number / 7));
            query
        })
        .collect();
    let request = SplitRequest {
        seed: 3,
        total: Some(200),
        train: TrainSize::Share(0.7),
        filter: Filter::All,
        group_by: GroupBy::Cluster,
    };
    let made = split(&queries, &Judgments::default(), Grade::RELEVANT, &request).unwrap();
    let cluster_of: BTreeMap<&QueryId, &Option<String>> = queries
        .iter()
        .map(|query| (&query.id, &query.cluster))
        .collect();
    let clusters = |fold| -> BTreeSet<&Option<String>> {
        let ids = made.manifest.queries(fold);
        ids.iter().map(|id| cluster_of[id]).collect()
    };
    assert!(clusters(Fold::Train).is_disjoint(&clusters(Fold::Holdout)));
    assert_eq!(made.manifest.queries(Fold::All).len(), 200);
    assert_eq!(made.manifest.group_by.as_deref(), Some("cluster"));
    assert!(made.report.train_excess < made.report.largest_group && made.report.largest_group <= 7);
    assert_eq!(
        made.manifest.train.ids.len(),
        140 + made.report.train_excess
    );
    assert_eq!(made.report.not_sampled, 100);

    let none = GroupBy::Column("season".to_owned());
    let error = split(
        &queries,
        &Judgments::default(),
        Grade::RELEVANT,
        &SplitRequest {
            group_by: none,
            ..request
        },
    );
    assert_eq!(
        error.unwrap_err().to_string(),
        "no query has the column `season`"
    );
}

#[test]
fn near_duplicates_are_grouped_through_others() {
    let queries = texts(&[
        "a1 b1 c1 d1 e1",
        "a1 b1 c1 d1",
        "a1 b1 c1 d1 e1 f1",
        "z1",
        "A1 b1 c1 D1",
    ]);
    let found = groups(&queries.iter().collect::<Vec<_>>());
    let expected = [("q0", "q0"), ("q1", "q0"), ("q2", "q0"), ("q4", "q0")];
    assert_eq!(
        found,
        expected
            .map(|(query, group)| (id(query), group.to_owned()))
            .into()
    );
    let request = SplitRequest {
        seed: 3,
        total: None,
        train: TrainSize::Count(2),
        filter: Filter::All,
        group_by: GroupBy::NearDuplicates,
    };
    let made = split(&queries, &Judgments::default(), Grade::RELEVANT, &request).unwrap();
    assert_eq!(made.report.overlap, Overlap::default());
    let all_alike = texts(&["same", "same"]);
    let request = SplitRequest {
        train: TrainSize::Count(1),
        ..request
    };
    let error = split(&all_alike, &Judgments::default(), Grade::RELEVANT, &request).unwrap_err();
    assert!(matches!(
        error,
        SplitError::GroupsTooLarge {
            fold: Fold::Holdout
        }
    ));
}

#[test]
fn queries_without_a_relevant_judgment_can_be_kept_out() {
    let queries = texts(&["a", "b", "c"]);
    let mut judgments = Judgments::default();
    let document = DocId::try_from("d").unwrap();
    for (query, grade) in [("q0", 2.0), ("q1", 0.0)] {
        judgments.insert(id(query), document.clone(), Grade::try_from(grade).unwrap());
    }
    let request = SplitRequest {
        seed: 1,
        total: None,
        train: TrainSize::Count(1),
        filter: Filter::HasRelevant,
        group_by: GroupBy::Nothing,
    };
    let made = split(&queries, &judgments, Grade::RELEVANT, &request).unwrap();
    assert_eq!(made.manifest.queries(Fold::All), [id("q0")]);
    assert_eq!(made.report.filtered_out, 2);
    assert_eq!(
        made.manifest.filter.as_deref(),
        Some("at least one judgment of grade 1 or more")
    );
}

/// All pairs compared: what the index must agree with.
fn likeness_by_comparing_all(texts: &[String]) -> BTreeSet<(usize, usize)> {
    let sets: Vec<BTreeSet<String>> = texts
        .iter()
        .map(|text| {
            evalfarm_analysis::Analyzer::English
                .tokens(text)
                .into_iter()
                .collect()
        })
        .collect();
    let mut found = BTreeSet::new();
    for (a, first) in sets.iter().enumerate() {
        for (b, second) in sets.iter().enumerate().skip(a + 1) {
            let (both, any) = (
                first.intersection(second).count(),
                first.union(second).count(),
            );
            if 5 * both >= 4 * any {
                found.insert((a, b));
            }
        }
    }
    found
}

proptest! {
    #[test]
    fn the_index_finds_what_comparing_all_pairs_finds(
        texts in proptest::collection::vec("(b[1-4] ?){1,7}", 1..25)
    ) {
        let expected = likeness_by_comparing_all(&texts);
        let queries: Vec<Query> = texts.iter().enumerate()
            .map(|(at, text)| Query::new(id(format!("q{at:02}")), text.clone())).collect();
        for (a, query) in queries.iter().enumerate() {
            let mut split = SplitManifest::compute(
                queries.iter().map(|query| query.id.clone()), 1, queries.len(), 0, &SplitOptions::default(),
            ).unwrap();
            split.train.ids = queries.iter().map(|query| query.id.clone()).filter(|id| *id != query.id).collect();
            split.holdout.ids = vec![query.id.clone()];
            let found = overlap(&queries, &split);
            let has_like = expected.iter().any(|&(x, y)| x == a || y == a);
            prop_assert_eq!(found.equal.len() + found.nearly_equal.len(), usize::from(has_like));
        }
    }

    #[test]
    fn reading_a_split_never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..100)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("split.json");
        fs::write(&path, bytes).unwrap();
        prop_assert!(SplitManifest::read(&path).is_err());
    }
}
