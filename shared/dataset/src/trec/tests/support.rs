//! What the tests of this module share.

use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;

use crate::InputError;
use crate::trec::{Qrels, QrelsOptions, Run, RunOptions, read_qrels, read_run};

pub(crate) struct Folder(pub(crate) TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn file(&self, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        fs::write(&path, bytes).unwrap();
        path
    }
}

pub(crate) fn qrels(bytes: impl AsRef<[u8]>) -> Result<Qrels, InputError> {
    let folder = Folder::new();
    read_qrels(&folder.file("qrels", bytes), &QrelsOptions::default())
}

pub(crate) fn run_with(bytes: impl AsRef<[u8]>, options: RunOptions) -> Result<Run, InputError> {
    let folder = Folder::new();
    read_run(&folder.file("run", bytes), options)
}

pub(crate) fn run(bytes: impl AsRef<[u8]>) -> Result<Run, InputError> {
    run_with(bytes, RunOptions::default())
}

/// Returns the message without the path, which is a temporary one.
pub(crate) fn message(error: &InputError) -> String {
    match (error.position(), error.fault()) {
        (Some(line), Some(fault)) => {
            assert!(
                error
                    .to_string()
                    .ends_with(&format!("`, line {line}: {fault}"))
            );
            format!("line {line}: {fault}")
        }
        _ => error.to_string(),
    }
}

pub(crate) fn judged(qrels: &Qrels) -> Vec<(String, String, f64)> {
    let of_queries = qrels.judgments.iter();
    of_queries
        .flat_map(|(query, documents)| {
            documents.iter().map(move |(document, grade)| {
                (query.to_string(), document.to_string(), grade.value())
            })
        })
        .collect()
}

pub(crate) fn documents(run: &Run, query: &str) -> Vec<String> {
    let hits = run.queries[query].iter();
    hits.map(|hit| hit.document.to_string()).collect()
}

pub(crate) fn owned(rows: &[(&str, &str, f64)]) -> Vec<(String, String, f64)> {
    let rows = rows.iter();
    rows.map(|&(q, d, g)| (q.to_owned(), d.to_owned(), g))
        .collect()
}
