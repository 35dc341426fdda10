//! Copying files into a job's folder.

use std::fs;

use evalfarm_domain::{Fold, TaskId};
use serde_json::json;

use super::{answered, job, metrics};
use crate::{BesideFile, Commit, JobFolder, ResultsError, RowBlock, TaskFile};

#[test]
fn a_copied_file_is_the_one_that_a_commit_would_have_written() {
    let parent = tempfile::tempdir().unwrap();
    let folder = JobFolder::create(&parent.path().join("job"), &job(), &json!({})).unwrap();
    let task = TaskId::try_from("t1").unwrap();
    let block = RowBlock {
        job: job(),
        fold: Fold::Train,
        metrics: metrics(),
        rows: vec![answered("c1", "q1", 0.5)],
    };
    let bytes = block.to_bytes().unwrap();
    assert_eq!(folder.size_of(TaskFile::Rows, &task).unwrap(), None);
    let copied = folder.copy_in(TaskFile::Rows, &task, &bytes).unwrap();
    assert_eq!(copied, Commit::Written);
    assert_eq!(
        folder.size_of(TaskFile::Rows, &task).unwrap(),
        Some(bytes.len() as u64)
    );
    assert_eq!(
        folder.commit_rows(&task, &block).unwrap(),
        Commit::Identical
    );
    let finished = folder.finished(&metrics()).unwrap();
    assert!(finished.tasks.contains_key(&task));
    assert!(matches!(
        folder.copy_in(TaskFile::Rows, &task, b"other"),
        Err(ResultsError::Differs { .. })
    ));
    let escaping = TaskId::try_from("../t1").unwrap();
    assert!(matches!(
        folder.copy_in(TaskFile::Rows, &escaping, &bytes),
        Err(ResultsError::TaskName { .. })
    ));
}

#[test]
fn every_kind_has_the_folder_that_a_new_job_has() {
    let parent = tempfile::tempdir().unwrap();
    let folder = JobFolder::create(&parent.path().join("job"), &job(), &json!({})).unwrap();
    for kind in TaskFile::ALL {
        assert!(folder.path().join(kind.folder()).is_dir(), "{kind:?}");
    }
    folder
        .copy_in_beside(BesideFile::Verdict, b"{\"a\": 1}\n")
        .unwrap();
    folder
        .copy_in_beside(BesideFile::Verdict, b"{\"a\": 2}\n")
        .unwrap();
    assert_eq!(folder.verdict().unwrap(), Some(json!({"a": 2})));
    let beside = fs::read(folder.path().join(BesideFile::Verdict.name())).unwrap();
    assert_eq!(beside, b"{\"a\": 2}\n");
}
