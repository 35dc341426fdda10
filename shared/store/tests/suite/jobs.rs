//! Committing tasks, and fetching jobs.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use evalfarm_domain::{
    CandidateId, EngineSettings, Fold, Gains, Grade, JobSettings, Measurement, Metric,
    RerankStatus, RewriteStatus,
};
use evalfarm_results::{BesideFile, JobFolder, QueryRow, RowBlock, TaskFile, TimingRow};
use evalfarm_store::{
    Creation, Fetched, JobObject, ObjectPath, Store, StoreError, TaskCommit, TaskObjects,
};
use serde_json::json;

use super::{job, task, text};

fn evaluated(rows: &str, timings: &str) -> TaskObjects {
    TaskObjects::Evaluated {
        rows: text(rows),
        timings: text(timings),
    }
}

fn examined(word: &str) -> TaskObjects {
    TaskObjects::Examined {
        hits: text(&format!("hits {word}")),
        relevant: text("relevant"),
        condensed: text("condensed"),
        unjudged: text("unjudged"),
    }
}

pub(crate) async fn are_committed_by_their_last_object(store: &Store) {
    let job = job("committing");
    // What an attempt leaves that dies before its last object.
    let died = [
        ("t1", TaskFile::Timings, "timings"),
        ("x1", TaskFile::Hits, "hits a"),
        ("x1", TaskFile::Relevant, "relevant"),
        ("x1", TaskFile::Condensed, "condensed"),
    ];
    for (name, kind, bytes) in died {
        let path = ObjectPath::task(&job, kind, &task(name)).unwrap();
        let created = store.create(&path, text(bytes)).await.unwrap();
        assert_eq!(created, Creation::Created);
    }
    let committed = async |kind| store.committed(&job, kind).await.unwrap();
    for kind in TaskFile::ALL {
        assert_eq!(committed(kind).await, BTreeSet::new());
    }
    let commit = async |name, objects| store.commit_task(&job, &task(name), objects).await;
    for outcome in [TaskCommit::Committed, TaskCommit::Identical] {
        let evaluate = commit("t1", evaluated("rows", "timings")).await;
        assert_eq!(evaluate.unwrap(), outcome);
        let examine = commit("x1", examined("a")).await;
        assert_eq!(examine.unwrap(), outcome);
    }
    for kind in TaskFile::ALL {
        let expected = match kind {
            TaskFile::Rows | TaskFile::Timings => BTreeSet::from([task("t1")]),
            TaskFile::Means => BTreeSet::new(),
            TaskFile::Hits | TaskFile::Relevant | TaskFile::Condensed | TaskFile::Unjudged => {
                BTreeSet::from([task("x1")])
            }
        };
        assert_eq!(committed(kind).await, expected, "{kind:?}");
        for name in ["t1", "x1"] {
            let asked = store.is_committed(&job, kind, &task(name)).await.unwrap();
            assert_eq!(asked, expected.contains(&task(name)), "{kind:?} {name}");
        }
    }
}

pub(crate) async fn refuse_other_bytes_for_a_committed_task(store: &Store) {
    let job = job("differing");
    let commit = async |name, objects| store.commit_task(&job, &task(name), objects).await;
    commit("t1", evaluated("rows", "1 s")).await.unwrap();
    let slower = commit("t1", evaluated("rows", "2 s")).await;
    assert_eq!(slower.unwrap(), TaskCommit::Identical);
    let error = commit("t1", evaluated("other rows", "1 s")).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Differs { .. }), "{error}");
    assert!(
        error
            .to_string()
            .contains("`jobs/differing/rows/t1.parquet`")
    );
    assert!(!error.is_temporary());
    commit("x1", examined("a")).await.unwrap();
    let error = commit("x1", examined("b")).await.unwrap_err();
    assert!(matches!(error, StoreError::Differs { .. }), "{error}");
}

pub(crate) async fn are_evaluated_and_averaged_under_one_id(store: &Store) {
    let job = job("averaged");
    let averaged = |means: &str| TaskObjects::Averaged {
        means: text(means),
        timings: text("timings"),
    };
    let commit = async |objects| store.commit_task(&job, &task("t1"), objects).await;
    assert_eq!(
        commit(averaged("means")).await.unwrap(),
        TaskCommit::Committed
    );
    let is_committed = async |kind| store.is_committed(&job, kind, &task("t1")).await.unwrap();
    assert!(is_committed(TaskFile::Means).await);
    assert!(is_committed(TaskFile::Timings).await);
    assert!(!is_committed(TaskFile::Rows).await);
    let evaluate = commit(evaluated("rows", "slower")).await.unwrap();
    assert_eq!(evaluate, TaskCommit::Committed);
    assert!(is_committed(TaskFile::Rows).await);
    assert!(!is_committed(TaskFile::Unjudged).await);
    let error = commit(averaged("other means")).await.unwrap_err();
    let shown = error.to_string();
    assert!(
        shown.contains("`jobs/averaged/means/t1.parquet`"),
        "{shown}"
    );
}

pub(crate) async fn do_not_see_each_other(store: &Store) {
    // One name is the beginning of the other.
    for name in ["near", "nearby"] {
        let objects = evaluated("rows", "timings");
        let commit = store.commit_task(&job(name), &task(name), objects).await;
        commit.unwrap();
    }
    let committed = store.committed(&job("near"), TaskFile::Rows).await.unwrap();
    assert_eq!(committed, BTreeSet::from([task("near")]));
    let jobs = store.jobs().await.unwrap();
    assert!(jobs.is_superset(&BTreeSet::from([job("near"), job("nearby")])));
    let escaping = job("../near");
    let error = store
        .committed(&escaping, TaskFile::Rows)
        .await
        .unwrap_err();
    assert!(matches!(error, StoreError::Name { .. }), "{error}");
}

pub(crate) async fn keep_their_settings(store: &Store) {
    let job = job("settings");
    let ten = NonZeroU32::new(10).unwrap();
    let settings = JobSettings {
        job: job.clone(),
        dataset: evalfarm_domain::Digest::of(b"dataset"),
        engine: EngineSettings::default(),
        served_by: None,
        measurement: Measurement {
            metrics: metrics(),
            depth: ten,
            gains: Gains::Linear,
            relevant_from: Grade::RELEVANT,
            top_grade: Grade::RELEVANT,
        },
        folds: BTreeMap::new(),
    };
    let missing = store.settings(&job).await.unwrap_err();
    assert!(matches!(missing, StoreError::Missing { .. }), "{missing}");
    for outcome in [Creation::Created, Creation::Same] {
        let created = store.create_settings(&job, &settings).await.unwrap();
        assert_eq!(created, outcome);
    }
    assert_eq!(store.settings(&job).await.unwrap(), settings);
}

fn metrics() -> Vec<Metric> {
    vec!["nDCG@10".parse().unwrap()]
}

/// Writes a job's folder as `evalfarm run` does: two evaluated tasks, one examined, and what lies beside them.
fn local_job(root: &Path) -> JobFolder {
    let job = job("fetched");
    let record = json!({"sweep": "a", "depth": 0.1, "actor": {"kind": "human"}});
    let folder = JobFolder::create(root, &job, &record).unwrap();
    for (name, value) in [("t1", 0.25), ("t2", 0.75)] {
        let row = QueryRow {
            candidate: CandidateId::try_from("c1").unwrap(),
            query: evalfarm_domain::QueryId::try_from(name).unwrap(),
            values: vec![Some(value)],
            scored: vec![value],
            judged_share: Some(1.0),
            zero_result: false,
            hits_returned: 1,
            top_digest: 7,
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotApplicable,
            failure: None,
        };
        let block = RowBlock {
            job: job.clone(),
            fold: Fold::All,
            metrics: metrics(),
            rows: vec![row],
        };
        folder.commit_rows(&task(name), &block).unwrap();
        let timing = TimingRow {
            task: task(name),
            attempt: 1,
            worker: "w".to_owned(),
            queries: 1,
            candidates: 1,
            seconds: 0.5,
        };
        folder.write_timings(&task(name), &[timing]).unwrap();
    }
    let means = folder.commit_means(&task("t1"), Fold::All, &metrics(), &[]);
    means.unwrap();
    folder.commit_hits(&task("x1"), &[]).unwrap();
    folder.commit_relevant(&task("x1"), &[]).unwrap();
    folder
        .commit_condensed(&task("x1"), &metrics(), &[])
        .unwrap();
    folder.commit_unjudged(&task("x1"), &[]).unwrap();
    folder.write_queries(&[]).unwrap();
    folder.write_judge_next(&[]).unwrap();
    folder.write_candidates(&metrics(), &[]).unwrap();
    folder
        .write_verdict(&json!({"verdict": "PROMOTE", "p": 0.1}))
        .unwrap();
    folder
}

/// Returns every file below a folder with its bytes, without the lock.
fn files(root: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(root).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            let below = files(&path).into_iter();
            found.extend(below.map(|(file, bytes)| (format!("{name}/{file}"), bytes)));
        } else if name != "lock" {
            found.insert(name, fs::read(&path).unwrap());
        }
    }
    found
}

async fn publish(store: &Store, folder: &JobFolder) {
    let job = folder.job();
    let bytes = |kind: TaskFile, name: &str| {
        let path = folder.path().join(kind.folder()).join(name);
        Bytes::from(fs::read(path.with_extension("parquet")).unwrap())
    };
    let record = serde_json::to_vec(folder.record()).unwrap();
    store
        .create_for_job(job, JobObject::Record, Bytes::from(record))
        .await
        .unwrap();
    for name in ["t1", "t2"] {
        let objects = TaskObjects::Evaluated {
            rows: bytes(TaskFile::Rows, name),
            timings: bytes(TaskFile::Timings, name),
        };
        store.commit_task(job, &task(name), objects).await.unwrap();
    }
    let objects = TaskObjects::Averaged {
        means: bytes(TaskFile::Means, "t1"),
        timings: text("of a later attempt"),
    };
    store.commit_task(job, &task("t1"), objects).await.unwrap();
    let objects = TaskObjects::Examined {
        hits: bytes(TaskFile::Hits, "x1"),
        relevant: bytes(TaskFile::Relevant, "x1"),
        condensed: bytes(TaskFile::Condensed, "x1"),
        unjudged: bytes(TaskFile::Unjudged, "x1"),
    };
    store.commit_task(job, &task("x1"), objects).await.unwrap();
    // An attempt that died before it committed: not to be fetched.
    let path = ObjectPath::task(job, TaskFile::Hits, &task("x2")).unwrap();
    store.create(&path, text("half a task")).await.unwrap();
}

pub(crate) async fn are_fetched_byte_for_byte(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let (nobody, none) = (job("nobody"), parent.path().join("none"));
    let error = store.fetch_job(&nobody, &none).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");

    let original = local_job(&parent.path().join("original"));
    publish(store, &original).await;
    let copy = parent.path().join("copy");
    let (folder, fetched) = store.fetch_job(original.job(), &copy).await.unwrap();
    assert_eq!((fetched.files, fetched.present), (9, 0));
    assert_eq!(folder.verdict().unwrap(), None);
    drop(folder);

    for file in BesideFile::ALL {
        let bytes = fs::read(original.path().join(file.name())).unwrap();
        let object = JobObject::Beside(file);
        let created = store.create_for_job(original.job(), object, Bytes::from(bytes));
        assert_eq!(created.await.unwrap(), Creation::Created);
    }
    // A file that turned out to be damaged and was set aside comes again.
    fs::remove_file(copy.join("rows/t2.parquet")).unwrap();
    let (folder, fetched) = store.fetch_job(original.job(), &copy).await.unwrap();
    assert_eq!((fetched.files, fetched.present), (5, 8));
    assert_eq!(files(&copy), files(original.path()));
    let finished = folder.finished(&metrics()).unwrap();
    assert_eq!(finished.tasks.len(), 2);
    drop(folder);

    fs::write(copy.join("rows/t1.parquet"), "short").unwrap();
    let error = store.fetch_job(original.job(), &copy).await.unwrap_err();
    assert!(error.to_string().contains("rows/t1.parquet"), "{error}");
    assert_ne!(Fetched::default(), fetched);
}

/// Uses what [`are_fetched_byte_for_byte`] published.
pub(crate) async fn are_fetched_task_by_task(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let original = local_job(&parent.path().join("original"));
    let (job, copy) = (original.job(), parent.path().join("mirror"));
    let mirror = JobFolder::create(&copy, job, original.record()).unwrap();
    let mirror = Arc::new(mirror);
    let fetch = async |kind, name| store.fetch_task(&mirror, job, kind, &task(name)).await;
    // Half a task, no task, and a task that is committed as something else.
    for (kind, name) in [
        (TaskFile::Unjudged, "x2"),
        (TaskFile::Rows, "t3"),
        (TaskFile::Means, "t2"),
        (TaskFile::Rows, "x1"),
    ] {
        assert!(!fetch(kind, name).await.unwrap(), "{kind:?} {name}");
    }
    let there = || -> Vec<String> {
        let found = files(&copy).into_keys();
        found.filter(|file| file.contains('/')).collect()
    };
    assert!(there().is_empty());
    assert!(fetch(TaskFile::Means, "t1").await.unwrap());
    assert_eq!(there(), ["means/t1.parquet", "timings/t1.parquet"]);
    let rest = [
        (TaskFile::Rows, "t1"),
        (TaskFile::Rows, "t2"),
        (TaskFile::Unjudged, "x1"),
    ];
    for (kind, name) in rest {
        // Again changes nothing.
        assert!(fetch(kind, name).await.unwrap(), "{kind:?} {name}");
        assert!(fetch(kind, name).await.unwrap(), "{kind:?} {name}");
    }
    let tasks = |root: &Path| -> BTreeMap<String, Vec<u8>> {
        let found = files(root).into_iter();
        found.filter(|(file, _)| file.contains('/')).collect()
    };
    assert_eq!(tasks(&copy), tasks(original.path()));
    fs::write(copy.join("rows/t1.parquet"), "other").unwrap();
    let error = fetch(TaskFile::Rows, "t1").await.unwrap_err();
    assert!(error.to_string().contains("rows/t1.parquet"), "{error}");
}
