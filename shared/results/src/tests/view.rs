//! Rows by candidate and query.

use evalfarm_domain::{CandidateId, FailureKind, Fold, QueryId};

use super::{answered, block, candidate, chain, failed, job, metrics, query, written};
use crate::{ResultsError, RowBlock, RowsView, Wanted};

struct Parts {
    _folders: Vec<tempfile::TempDir>,
    files: Vec<std::path::PathBuf>,
}

fn parts(blocks: &[RowBlock]) -> Parts {
    let (folders, files) = blocks
        .iter()
        .map(|block| written(&block.to_bytes().unwrap()))
        .unzip();
    Parts {
        _folders: folders,
        files,
    }
}

fn view(
    parts: &Parts,
    candidates: &[CandidateId],
    queries: &[QueryId],
) -> Result<RowsView, ResultsError> {
    let wanted = Wanted {
        job: &job(),
        fold: Fold::Holdout,
        metrics: &metrics(),
        candidates,
        queries,
    };
    RowsView::read(&parts.files, wanted)
}

#[test]
fn values_are_in_the_order_that_was_asked_for() {
    let train = RowBlock {
        fold: Fold::Train,
        ..block(vec![answered("c1", "q9", 0.9)])
    };
    let parts = parts(&[
        block(vec![answered("c2", "q2", 0.22), answered("c1", "q2", 0.12)]),
        block(vec![answered("c1", "q1", 0.11), failed("c2", "q1")]),
        train,
        block(vec![]),
    ]);
    let queries = [query("q1"), query("q2")];
    let both = view(&parts, &[candidate("c2"), candidate("c1")], &queries).unwrap();
    assert_eq!(both.scored(0, 0), [0.0, 0.22]);
    assert_eq!(both.scored(0, 1), [1.0, 0.0]);
    assert_eq!(both.scored(1, 0), [0.11, 0.12]);
    assert_eq!(both.cells(0)[0].failure, Some(FailureKind::Timeout));
    assert!(!both.cells(0)[0].is_degraded());
    assert!(both.cells(0)[1].is_degraded());
    assert_eq!(both.cells(1)[1].top_digest, u64::MAX - 1);

    let one = view(&parts, &[candidate("c1")], &queries).unwrap();
    assert_eq!((one.candidates(), one.queries()), (1, 2));
    assert_eq!(one.scored(0, 0), [0.11, 0.12]);
}

#[test]
fn a_query_without_row_is_never_dropped() {
    let parts = parts(&[block(vec![answered("c1", "q1", 0.5)])]);
    let queries = [query("q1"), query("q2"), query("q3")];
    let error = view(&parts, &[candidate("c1")], &queries).unwrap_err();
    assert_eq!(
        error.to_string(),
        "query `q2` of candidate `c1` has no row, as have 1 others: finish the job with `--resume`"
    );
}

#[test]
fn two_rows_or_an_unknown_query_are_refused() {
    let twice = parts(&[
        block(vec![answered("c1", "q1", 0.5)]),
        block(vec![answered("c1", "q1", 0.5)]),
    ]);
    let error = view(&twice, &[candidate("c1")], &[query("q1")]).unwrap_err();
    let expected = "query `q1` of candidate `c1` has two rows";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
    let error = view(&twice, &[candidate("c1")], &[query("q2")]).unwrap_err();
    let expected = "query `q1` has rows, but is not in the job's query set";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
}

#[test]
fn a_whole_sweep_is_read_column_by_column() {
    // 60 candidates on 100 queries in 6 files; every value is its candidate's and query's.
    let value = |c: u32, q: u32| f64::from(c * 100 + q) / 6000.0;
    let blocks: Vec<RowBlock> = (0..6_u32)
        .map(|file| {
            let pairs = (file * 10..file * 10 + 10).flat_map(|c| (0..100).map(move |q| (c, q)));
            let rows =
                pairs.map(|(c, q)| answered(&format!("c{c}"), &format!("q{q:03}"), value(c, q)));
            block(rows.collect())
        })
        .collect();
    let parts = parts(&blocks);
    let candidates: Vec<CandidateId> = (0..60).map(|c| candidate(&format!("c{c}"))).collect();
    let queries: Vec<QueryId> = (0..100).map(|q| query(&format!("q{q:03}"))).collect();
    let view = view(&parts, &candidates, &queries).unwrap();
    for c in 0..60_u32 {
        let expected: Vec<f64> = (0..100).map(|q| value(c, q)).collect();
        assert_eq!(view.scored(c as usize, 0), expected);
    }
}

#[test]
fn a_row_needs_the_memory_that_is_documented() {
    assert_eq!(size_of::<crate::RowCell>(), 32);
}
