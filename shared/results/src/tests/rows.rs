//! Rows to Parquet and back.

use evalfarm_columnar::{ColumnType, read_foreign};
use evalfarm_domain::{FailureKind, Fold, JobId, Metric, RerankStatus, RewriteStatus};
use proptest::prelude::*;

use super::{answered, block, candidate, chain, failed, job, metrics, query, sample, written};
use crate::{QueryRow, RowBlock, rows_schema};

#[test]
fn rows_come_back() {
    let (_folder, path) = written(&sample().to_bytes().unwrap());
    assert_eq!(RowBlock::read(&path, &job(), &metrics()).unwrap(), sample());
}

#[test]
fn the_columns_are_those_of_the_design() {
    let schema = rows_schema(&metrics());
    let names: Vec<&str> = schema.fields.iter().map(|f| f.name.as_str()).collect();
    let expected = [
        "job",
        "candidate",
        "split",
        "query",
        "value_ndcg_10",
        "scored_ndcg_10",
        "value_zero_result",
        "scored_zero_result",
        "judged_share",
        "zero_result",
        "hits_returned",
        "top_digest",
        "rewrite_status",
        "rerank_status",
        "failure",
    ];
    assert_eq!(names, expected);
    assert!(
        schema
            .fields
            .iter()
            .all(|field| !field.description.is_empty())
    );
}

#[test]
fn q1_a_file_of_failures_has_the_columns_of_any_other() {
    let only_failed = block(vec![failed("c1", "q1")]);
    let (_a, with_failures) = written(&only_failed.to_bytes().unwrap());
    let (_b, with_values) = written(&block(vec![answered("c1", "q1", 0.5)]).to_bytes().unwrap());
    let failures = read_foreign(&with_failures, None).unwrap();
    assert_eq!(
        failures.schema(),
        read_foreign(&with_values, None).unwrap().schema()
    );
    assert_eq!(failures.f64("value_ndcg_10").unwrap(), [None]);
    assert_eq!(failures.f64("scored_ndcg_10").unwrap(), [Some(0.0)]);
    assert_eq!(failures.f64("scored_zero_result").unwrap(), [Some(1.0)]);
    assert_eq!(failures.text("failure").unwrap(), [Some("timeout".into())]);
}

#[test]
fn q3_nan_is_never_written() {
    let mut row = answered("c1", "q1", f64::NAN);
    let error = block(vec![row.clone()]).to_bytes().unwrap_err();
    assert_eq!(
        error.to_string(),
        "column `value_ndcg_10` holds `NaN` in row 0, which is not a finite number"
    );
    row.values[0] = None;
    row.scored[0] = f64::INFINITY;
    let error = block(vec![row]).to_bytes().unwrap_err();
    assert!(
        error.to_string().contains("`scored_ndcg_10` holds `inf`"),
        "{error}"
    );
}

#[test]
fn q5_rows_of_other_metrics_are_refused() {
    let (_folder, path) = written(&sample().to_bytes().unwrap());
    let more: Vec<Metric> = ["nDCG@10", "zero_result", "RR@10"]
        .map(|name| name.parse().unwrap())
        .to_vec();
    let error = RowBlock::read(&path, &job(), &more).unwrap_err();
    assert!(
        chain(&error).ends_with("column `value_rr_10` is missing"),
        "{}",
        chain(&error)
    );
    let error = RowBlock::read(&path, &job(), &more[..1]).unwrap_err();
    let expected = "column `value_zero_result` does not belong to the schema";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
}

#[test]
fn q6_q9_q10_q11_ids_are_text_names_are_plain_values_are_f64() {
    for field in rows_schema(&metrics()).fields {
        let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_';
        assert!(field.name.bytes().all(plain), "{}", field.name);
        match field.name.as_str() {
            "job" | "candidate" | "query" => assert_eq!(field.kind, ColumnType::Text),
            "zero_result" => assert!(field.description.contains("avg(zero_result::int)")),
            name if name.starts_with("value_") || name.starts_with("scored_") => {
                assert_eq!(field.kind, ColumnType::F64);
            }
            _ => {}
        }
    }
    let (_folder, path) = written(&sample().to_bytes().unwrap());
    let table = read_foreign(&path, None).unwrap();
    assert_eq!(table.text("query").unwrap()[0].as_deref(), Some("007"));
    assert_eq!(table.f64("value_ndcg_10").unwrap()[0], Some(0.1));
    assert_eq!(table.u64("top_digest").unwrap()[0], Some(u64::MAX - 1));
}

#[test]
fn q7_no_rows_are_a_file_that_knows_its_job_and_side() {
    let (_folder, path) = written(&block(vec![]).to_bytes().unwrap());
    let back = RowBlock::read(&path, &job(), &metrics()).unwrap();
    assert_eq!((back.fold, back.rows.len()), (Fold::Holdout, 0));
}

#[test]
fn rows_of_another_job_are_refused() {
    let (_folder, path) = written(&sample().to_bytes().unwrap());
    let other = JobId::try_from("j2").unwrap();
    let error = RowBlock::read(&path, &other, &metrics()).unwrap_err();
    let expected = "the content belongs to job `j1`, not to `j2`";
    assert!(chain(&error).ends_with(expected), "{}", chain(&error));
}

#[test]
fn rows_that_contradict_themselves_are_refused() {
    let mut short = answered("c1", "q1", 0.5);
    short.scored.pop();
    assert_eq!(
        block(vec![short]).to_bytes().unwrap_err().to_string(),
        "query `q1` of candidate `c1` has 1 values for 2 metrics"
    );
    let mut both = answered("c1", "q1", 0.5);
    both.failure = Some(FailureKind::Timeout);
    assert_eq!(
        block(vec![both]).to_bytes().unwrap_err().to_string(),
        "query `q1` of candidate `c1` failed, but has a measured value"
    );
}

prop_compose! {
    fn any_row()(
        ids in ("[a-z0-9 \u{e9}]{1,8}", "[a-z0-9]{1,8}"),
        ndcg in prop::option::of(0.0..=1.0_f64),
        share in prop::option::of(0.0..=1.0_f64),
        numbers in (any::<u32>(), any::<u64>(), any::<bool>()),
        statuses in (0..10_usize, 0..10_usize, prop::option::of(0..5_usize)),
    ) -> QueryRow {
        let failure = statuses.2.map(|at| FailureKind::ALL[at]);
        let measured = failure.is_none();
        QueryRow {
            candidate: candidate(&ids.1),
            query: query(&ids.0),
            values: vec![ndcg.filter(|_| measured), Some(0.0).filter(|_| measured)],
            scored: vec![ndcg.unwrap_or(0.0), 1.0],
            judged_share: share,
            zero_result: numbers.2,
            hits_returned: numbers.0,
            top_digest: numbers.1,
            rewrite: RewriteStatus::ALL[statuses.0],
            rerank: RerankStatus::ALL[statuses.1],
            failure,
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_rows_come_back(rows in prop::collection::vec(any_row(), 0..30)) {
        let block = block(rows);
        let bytes = block.to_bytes().unwrap();
        let (_folder, path) = written(&bytes);
        let back = RowBlock::read(&path, &job(), &metrics()).unwrap();
        prop_assert_eq!(&back, &block);
        prop_assert_eq!(back.to_bytes().unwrap(), bytes);
    }
}
