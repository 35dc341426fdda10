//! Hits, ranks of relevant documents, timings and candidates.

use evalfarm_domain::{DocId, FieldName, Grade, JobId, TaskId};

use super::{candidate, chain, job, metrics, query, written};
use crate::{
    CandidateRow, FoldMeans, HitRow, RelevantRank, TimingRow, candidates_to_bytes, hits_to_bytes,
    read_candidates, read_hits, read_relevant, read_timings, relevant_to_bytes, timings_to_bytes,
};

fn document(text: &str) -> DocId {
    DocId::try_from(text).unwrap()
}

pub(super) fn hits() -> Vec<HitRow> {
    let hit = |rank, id, score, grade: Option<f64>, fields: &[&str]| HitRow {
        candidate: candidate("c1"),
        query: query("007"),
        rank,
        document: document(id),
        score,
        grade: grade.map(|grade| Grade::try_from(grade).unwrap()),
        matched_fields: fields
            .iter()
            .map(|&field| FieldName::try_from(field).unwrap())
            .collect(),
    };
    vec![
        hit(1, "00012", 3.1, Some(3.0), &["title", "brand"]),
        hit(2, "d2", 0.1, None, &[]),
    ]
}

pub(super) fn relevant() -> Vec<RelevantRank> {
    [("00012", Some(1)), ("d9", None)]
        .map(|(id, rank)| RelevantRank {
            candidate: candidate("c1"),
            query: query("007"),
            document: document(id),
            grade: Grade::try_from(3.0).unwrap(),
            rank,
        })
        .to_vec()
}

pub(super) fn timings() -> Vec<TimingRow> {
    vec![TimingRow {
        task: TaskId::try_from("t1").unwrap(),
        attempt: 1,
        worker: "worker-1".to_owned(),
        queries: 100,
        candidates: 218,
        seconds: 1.25,
    }]
}

pub(super) fn candidates() -> Vec<CandidateRow> {
    let means = |train, holdout| FoldMeans {
        train,
        holdout,
        all: None,
    };
    vec![
        CandidateRow {
            candidate: candidate("c1"),
            index: 0,
            stage: "baseline".to_owned(),
            labels: vec!["baseline".to_owned(), "a \"b\", c".to_owned()],
            config: r#"{"weights":{"title":1.0}}"#.to_owned(),
            same_results_as: None,
            means: vec![means(Some(0.1), Some(0.2)), means(Some(0.0), Some(0.0))],
        },
        CandidateRow {
            candidate: candidate("c2"),
            index: 1,
            stage: "scan".to_owned(),
            labels: vec![],
            config: "{}".to_owned(),
            same_results_as: Some(candidate("c1")),
            means: vec![means(Some(0.1), None), means(Some(0.0), None)],
        },
    ]
}

#[test]
fn every_kind_comes_back_and_names_its_job() {
    let other = JobId::try_from("j2").unwrap();
    let (_a, path) = written(&hits_to_bytes(&job(), &hits()).unwrap());
    assert_eq!(read_hits(&path, &job()).unwrap(), hits());
    assert!(read_hits(&path, &other).is_err());
    let (_b, path) = written(&relevant_to_bytes(&job(), &relevant()).unwrap());
    assert_eq!(read_relevant(&path, &job()).unwrap(), relevant());
    assert!(read_relevant(&path, &other).is_err());
    let (_c, path) = written(&timings_to_bytes(&job(), &timings()).unwrap());
    assert_eq!(read_timings(&path, &job()).unwrap(), timings());
    assert!(read_timings(&path, &other).is_err());
    let bytes = candidates_to_bytes(&job(), &metrics(), &candidates()).unwrap();
    let (_d, path) = written(&bytes);
    assert_eq!(
        read_candidates(&path, &job(), &metrics()).unwrap(),
        candidates()
    );
    assert!(read_candidates(&path, &other, &metrics()).is_err());
}

#[test]
fn one_kind_is_not_read_as_another() {
    let (_folder, path) = written(&relevant_to_bytes(&job(), &relevant()).unwrap());
    let error = read_hits(&path, &job()).unwrap_err();
    assert!(
        chain(&error).ends_with("the file holds `relevant`, not `hits`"),
        "{}",
        chain(&error)
    );
}

#[test]
fn what_cannot_be_stored_is_refused() {
    let mut comma = hits();
    comma[0].matched_fields = vec![FieldName::try_from("a,b").unwrap()];
    assert!(hits_to_bytes(&job(), &comma).is_err());

    let mut nan = hits();
    nan[1].score = f32::NAN;
    let error = hits_to_bytes(&job(), &nan).unwrap_err();
    assert!(
        error.to_string().contains("`score` holds `NaN` in row 1"),
        "{error}"
    );

    let mut zero = hits();
    zero[0].rank = 0;
    let (_folder, path) = written(&hits_to_bytes(&job(), &zero).unwrap());
    let error = read_hits(&path, &job()).unwrap_err();
    let expected = "column `rank` holds `0` in row 0, which is not a rank, which begins at 1";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));

    let mut short = candidates();
    short[1].means.pop();
    let error = candidates_to_bytes(&job(), &metrics(), &short).unwrap_err();
    assert_eq!(
        error.to_string(),
        "candidate `c2` has 1 means for 2 metrics"
    );
}
