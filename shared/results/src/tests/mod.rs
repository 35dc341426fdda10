//! Tests of the whole crate.

mod copied;
mod folder;
mod golden;
mod holes;
mod kinds;
mod means;
mod rows;
mod view;

use evalfarm_domain::{
    CandidateId, FailureKind, Fold, JobId, Metric, QueryId, RerankStatus, RewriteStatus,
};

use crate::{QueryRow, ResultsError, RowBlock};

fn job() -> JobId {
    JobId::try_from("j1").unwrap()
}

fn candidate(text: &str) -> CandidateId {
    CandidateId::try_from(text).unwrap()
}

fn query(text: &str) -> QueryId {
    QueryId::try_from(text).unwrap()
}

fn metrics() -> Vec<Metric> {
    ["nDCG@10", "zero_result"]
        .map(|name| name.parse().unwrap())
        .to_vec()
}

fn answered(candidate_id: &str, query_id: &str, ndcg: f64) -> QueryRow {
    QueryRow {
        candidate: candidate(candidate_id),
        query: query(query_id),
        values: vec![Some(ndcg), Some(0.0)],
        scored: vec![ndcg, 0.0],
        judged_share: Some(0.5),
        zero_result: false,
        hits_returned: 10,
        top_digest: u64::MAX - 1,
        rewrite: RewriteStatus::NotRequested,
        rerank: RerankStatus::Timeout,
        failure: None,
    }
}

fn failed(candidate_id: &str, query_id: &str) -> QueryRow {
    QueryRow {
        values: vec![None, None],
        scored: vec![0.0, 1.0],
        judged_share: None,
        hits_returned: 0,
        top_digest: 0,
        rerank: RerankStatus::NotApplicable,
        failure: Some(FailureKind::Timeout),
        ..answered(candidate_id, query_id, 0.0)
    }
}

fn block(rows: Vec<QueryRow>) -> RowBlock {
    RowBlock {
        job: job(),
        fold: Fold::Holdout,
        metrics: metrics(),
        rows,
    }
}

/// Returns three rows with every kind of empty cell.
fn sample() -> RowBlock {
    block(vec![
        answered("c1", "007", 0.1),
        failed("c1", "q é"),
        answered("c2", "007", 1.0 / 3.0),
    ])
}

/// Returns the messages of an error and its sources.
fn chain(error: &ResultsError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text
}

/// Writes bytes to a file in a fresh folder, which lives as long as the first value.
fn written(bytes: &[u8]) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t1.parquet");
    std::fs::write(&path, bytes).unwrap();
    (folder, path)
}
