//! Condensed values, unjudged documents, queries, and what to judge next.

use std::collections::BTreeMap;
use std::fs;

use evalfarm_domain::{DocId, Fold, Query, TaskId};

use super::{candidate, job, metrics, query};
use crate::{CondensedRow, JobFolder, JobQuery, JudgeNext, UnjudgedRow};

pub(super) fn condensed() -> Vec<CondensedRow> {
    let row = |name, bounds: Option<f64>| CondensedRow {
        candidate: candidate(name),
        query: query("007"),
        values: vec![0.25; metrics().len()],
        lowest: vec![bounds.map(|bound| -bound); metrics().len()],
        highest: vec![bounds; metrics().len()],
    };
    vec![row("c0", None), row("c1", Some(0.5))]
}

pub(super) fn unjudged() -> Vec<UnjudgedRow> {
    let row = |id: &str, ranks: [Option<u32>; 2], swing| UnjudgedRow {
        candidate: candidate("c1"),
        query: query("007"),
        document: DocId::try_from(id).unwrap(),
        baseline_rank: ranks[0],
        candidate_rank: ranks[1],
        swing,
    };
    vec![
        row("00012", [None, Some(1)], 0.5),
        row("d,2", [Some(3), None], -0.25),
    ]
}

pub(super) fn queries() -> Vec<JobQuery> {
    vec![JobQuery {
        fold: Fold::Holdout,
        query: Query {
            weight: 2.5,
            cluster: Some("c".to_owned()),
            columns: BTreeMap::from([("kind".to_owned(), "a \"b\"".to_owned())]),
            ..Query::new(query("007"), "red shoes")
        },
        relevant: 3,
    }]
}

#[test]
fn what_is_kept_of_holes_is_read_back() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("job");
    let folder = JobFolder::create(&path, &job(), &serde_json::Value::Null).unwrap();
    let task = TaskId::try_from("x1").unwrap();
    folder
        .commit_condensed(&task, &metrics(), &condensed())
        .unwrap();
    folder.commit_unjudged(&task, &unjudged()).unwrap();
    folder.write_queries(&queries()).unwrap();
    assert_eq!(folder.condensed(&metrics()).unwrap(), condensed());
    assert_eq!(folder.unjudged().unwrap(), unjudged());
    assert_eq!(folder.queries().unwrap(), queries());
    let finished = folder.finished_condensed(&metrics()).unwrap();
    assert!(finished.tasks.contains_key(&task));
    assert!(
        folder
            .finished_unjudged()
            .unwrap()
            .tasks
            .contains_key(&task)
    );
}

#[test]
fn what_to_judge_next_is_a_table_of_ratings() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("job");
    let folder = JobFolder::create(&path, &job(), &serde_json::Value::Null).unwrap();
    let rows: Vec<JudgeNext> = unjudged()
        .into_iter()
        .map(|row| JudgeNext {
            query: row.query,
            text: "red, blue".to_owned(),
            document: row.document,
        })
        .collect();
    folder.write_judge_next(&rows).unwrap();
    let text = fs::read_to_string(path.join("judge-next.csv")).unwrap();
    assert_eq!(
        text,
        "query_id,query,docid,rating\n007,\"red, blue\",00012,\n007,\"red, blue\",\"d,2\",\n"
    );
}
