//! The folder of a job, undisturbed and disturbed.

use std::fs;
use std::path::Path;

use evalfarm_domain::{Fold, JobId, TaskId};
use serde_json::json;

use super::kinds::{candidates, hits, relevant, timings};
use super::{answered, block, job, metrics, sample};
use crate::{Commit, JobFolder, ResultsError, RowBlock};

fn task(text: &str) -> TaskId {
    TaskId::try_from(text).unwrap()
}

fn create(root: &Path) -> Result<JobFolder, ResultsError> {
    JobFolder::create(root, &job(), &json!({"sweep": "s", "alpha": 0.05}))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_job_is_written_and_read_again() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().join("results/j1");
    let folder = create(&root).unwrap();
    assert!(folder.is_new());
    assert_eq!(
        folder.commit_rows(&task("t1"), &sample()).unwrap(),
        Commit::Written
    );
    folder.commit_hits(&task("x1"), &hits()).unwrap();
    folder.commit_relevant(&task("x1"), &relevant()).unwrap();
    folder.write_timings(&task("t1"), &timings()).unwrap();
    folder.write_candidates(&metrics(), &candidates()).unwrap();
    assert!(folder.verdict().unwrap().is_none());
    folder
        .write_verdict(&json!({"verdict": "BLOCK", "delta": 0.1}))
        .unwrap();
    drop(folder);

    let folder = JobFolder::open(&root).unwrap();
    assert_eq!(folder.record()["alpha"], json!(0.05));
    let files = folder.row_files().unwrap();
    assert_eq!(
        RowBlock::read(&files[0], &job(), &metrics()).unwrap(),
        sample()
    );
    assert_eq!(folder.hits().unwrap(), hits());
    assert_eq!(folder.relevant().unwrap(), relevant());
    assert_eq!(folder.timings().unwrap(), timings());
    assert_eq!(folder.candidates(&metrics()).unwrap(), candidates());
    assert_eq!(
        folder.verdict().unwrap().unwrap()["verdict"],
        json!("BLOCK")
    );
    for kind in ["rows", "timings"] {
        assert_eq!(names(&root.join(kind)), ["t1.parquet"]);
    }
    assert!(folder.finished_hits().unwrap().tasks.contains_key("x1"));
    assert!(folder.finished_relevant().unwrap().tasks.contains_key("x1"));
    assert_eq!(names(&root.join("staging")), ["lock"]);
}

#[test]
fn the_same_rows_may_come_twice_and_others_may_not() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    folder.commit_rows(&task("t1"), &sample()).unwrap();
    assert_eq!(
        folder.commit_rows(&task("t1"), &sample()).unwrap(),
        Commit::Identical
    );
    let other = block(vec![answered("c1", "q1", 0.9)]);
    let error = folder.commit_rows(&task("t1"), &other).unwrap_err();
    assert!(matches!(error, ResultsError::Differs { .. }), "{error}");
    let files = folder.row_files().unwrap();
    assert_eq!(
        RowBlock::read(&files[0], &job(), &metrics()).unwrap(),
        sample()
    );

    let foreign = RowBlock {
        job: JobId::try_from("j2").unwrap(),
        ..sample()
    };
    let error = folder.commit_rows(&task("t2"), &foreign).unwrap_err();
    assert!(matches!(error, ResultsError::OtherJob { .. }), "{error}");
}

#[test]
fn committers_at_the_same_time_leave_one_file() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    let commits: Vec<Commit> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8)
            .map(|_| scope.spawn(|| folder.commit_rows(&task("t1"), &sample()).unwrap()))
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    let written = commits.iter().filter(|&&commit| commit == Commit::Written);
    assert_eq!(written.count(), 1);
    assert_eq!(names(&home.path().join("rows")), ["t1.parquet"]);
}

#[test]
fn q8_damaged_and_stray_files_are_set_aside() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    for name in ["t1", "t2", "t3", "t4"] {
        folder.commit_rows(&task(name), &sample()).unwrap();
    }
    let rows = home.path().join("rows");
    let whole = fs::read(rows.join("t1.parquet")).unwrap();
    fs::write(rows.join("t2.parquet"), &whole[..whole.len() / 2]).unwrap();
    fs::write(rows.join("t3.parquet"), b"").unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 3] ^= 1;
    fs::write(rows.join("t4.parquet"), flipped).unwrap();
    fs::write(rows.join("b.parquet.tmp"), &whole).unwrap();
    fs::write(rows.join("_c.parquet"), &whole).unwrap();
    fs::create_dir(rows.join("split=train")).unwrap();

    let finished = folder.finished(&metrics()).unwrap();
    let tasks: Vec<&str> = finished.tasks.keys().map(TaskId::as_str).collect();
    assert_eq!(tasks, ["t1"]);
    assert_eq!(finished.set_aside.len(), 6);
    assert!(
        finished
            .set_aside
            .iter()
            .all(|aside| aside.path.try_exists().unwrap())
    );
    assert_eq!(names(&rows), ["t1.parquet"]);
    // The tasks can be computed again, and fail again, without the second damage hiding the first.
    assert_eq!(
        folder.commit_rows(&task("t2"), &sample()).unwrap(),
        Commit::Written
    );
    fs::write(rows.join("t2.parquet"), b"PAR1").unwrap();
    let again = folder.finished(&metrics()).unwrap();
    assert!(again.set_aside[0].path.ends_with("t2.parquet.2"));
}

#[test]
fn q7_a_job_without_rows_has_a_file() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    folder.ensure_rows(Fold::All, &metrics()).unwrap();
    folder.ensure_rows(Fold::All, &metrics()).unwrap();
    assert_eq!(names(&home.path().join("rows")), ["empty.parquet"]);
    let finished = folder.finished(&metrics()).unwrap();
    assert!(finished.tasks.is_empty() && finished.set_aside.is_empty());
}

#[test]
fn other_content_and_other_jobs_are_refused() {
    let home = tempfile::tempdir().unwrap();
    fs::write(home.path().join("thesis.txt"), "do not touch").unwrap();
    let error = create(home.path()).unwrap_err();
    assert!(
        matches!(error, ResultsError::NotAJobFolder { .. }),
        "{error}"
    );
    assert_eq!(names(home.path()), ["thesis.txt"]);
    let error = JobFolder::open(home.path()).unwrap_err();
    assert!(matches!(error, ResultsError::NoJob { .. }), "{error}");

    let root = home.path().join("j1");
    drop(create(&root).unwrap());
    let other = JobId::try_from("j2").unwrap();
    let error = JobFolder::create(&root, &other, &json!(null)).unwrap_err();
    assert!(
        matches!(error, ResultsError::OtherJobFolder { .. }),
        "{error}"
    );
    fs::write(
        root.join("job.json"),
        r#"{"schema_version":2,"job":"j1","record":null}"#,
    )
    .unwrap();
    let error = JobFolder::open(&root).unwrap_err();
    assert!(
        matches!(error, ResultsError::JobVersion { found: 2, .. }),
        "{error}"
    );
    fs::write(root.join("job.json"), r#"{"schema_version":1"#).unwrap();
    let error = JobFolder::open(&root).unwrap_err();
    assert!(matches!(error, ResultsError::Json { .. }), "{error}");
}

#[test]
fn what_a_killed_process_left_is_taken_up() {
    let home = tempfile::tempdir().unwrap();
    // Killed while creating: folders and a staged file, but no `job.json`.
    fs::create_dir_all(home.path().join("rows")).unwrap();
    fs::create_dir_all(home.path().join("staging")).unwrap();
    fs::write(home.path().join("staging/staged-1"), "half").unwrap();
    let folder = create(home.path()).unwrap();
    assert!(folder.is_new());
    folder.commit_rows(&task("t1"), &sample()).unwrap();
    drop(folder);
    // Killed while writing rows: half a file in staging.
    fs::write(home.path().join("staging/staged-2"), "half").unwrap();
    let folder = JobFolder::create(home.path(), &job(), &json!("another record")).unwrap();
    assert!(!folder.is_new());
    assert_eq!(folder.record()["sweep"], json!("s"));
    assert_eq!(names(&home.path().join("staging")), ["lock"]);
    assert_eq!(folder.finished(&metrics()).unwrap().tasks.len(), 1);
}

#[test]
fn two_processes_do_not_take_up_one_folder() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    let error = create(home.path()).unwrap_err();
    assert!(matches!(error, ResultsError::InUse { .. }), "{error}");
    assert!(JobFolder::open(home.path()).is_ok());
    drop(folder);
    assert!(create(home.path()).is_ok());
}

#[test]
fn a_task_id_that_is_no_plain_name_is_refused() {
    let home = tempfile::tempdir().unwrap();
    let folder = create(home.path()).unwrap();
    for name in ["../escape", "a=b", "_c", "a b", "a.b", &"t".repeat(129)] {
        let error = folder.commit_rows(&task(name), &sample()).unwrap_err();
        assert!(matches!(error, ResultsError::TaskName { .. }), "{error}");
    }
    assert!(names(&home.path().join("rows")).is_empty());
}
