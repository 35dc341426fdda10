use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use evalfarm_columnar::{Column, ColumnType, Field, Schema, Table, to_bytes};
use evalfarm_domain::{CandidateId, FailureKind, Fold};
use evalfarm_testkit::reference_data;
use proptest::prelude::*;
use tempfile::TempDir;

use super::*;
use crate::InputError;

fn file(folder: &TempDir, name: &str, bytes: impl AsRef<[u8]>) -> PathBuf {
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    path
}

fn read_with(name: &str, text: &str, options: &ValueTableOptions) -> Result<ValueTable, String> {
    let folder = tempfile::tempdir().unwrap();
    read_value_table(&file(&folder, name, text), options).map_err(|error| shown(&error))
}

fn read(name: &str, text: &str) -> Result<ValueTable, String> {
    read_with(name, text, &ValueTableOptions::default())
}

fn shown(error: &InputError) -> String {
    match (error.position(), error.fault()) {
        (Some(line), Some(fault)) => format!("{line}: {fault}"),
        (None, Some(fault)) => fault.to_string(),
        _ => error.to_string(),
    }
}

fn values(table: &ValueTable) -> BTreeMap<String, Vec<Option<f64>>> {
    let metrics = table.metrics.iter();
    metrics
        .map(|(name, values)| (name.to_string(), values.clone()))
        .collect()
}

fn ids(table: &ValueTable) -> Vec<&str> {
    table
        .queries
        .iter()
        .map(evalfarm_domain::QueryId::as_str)
        .collect()
}

#[test]
fn the_same_table_is_read_from_every_format() {
    let csv = "query_id,query,ndcg10,P@10,latency,zero_result,kind\n10,\"a, b\",0.5,0.1,7,false,x\n9,2012,0.25,0,8.5,true,y\n";
    let expected = read("t.csv", csv).unwrap();
    assert_eq!(ids(&expected), ["10", "9"]);
    assert_eq!(
        values(&expected),
        BTreeMap::from([
            ("nDCG@10".to_owned(), vec![Some(0.5), Some(0.25)]),
            ("P@10".to_owned(), vec![Some(0.1), Some(0.0)]),
            ("latency".to_owned(), vec![Some(7.0), Some(8.5)]),
        ])
    );
    assert_eq!(expected.zero_result, Some(vec![false, true]));
    assert_eq!(expected.ignored, ["kind"]);
    assert_eq!(expected.failure, [None, None]);
    let rows = r#"{"query_id": 10, "query": "a, b", "ndcg10": 0.5, "P@10": 0.1, "latency": 7, "zero_result": false, "kind": "x"}
{"query_id": "9", "query": "2012", "ndcg10": 0.25, "P@10": 0, "latency": 8.5, "zero_result": true, "kind": "y"}"#;
    let list = format!("[{}]", rows.replace('\n', ",\n"));
    let same = [
        ("t.tsv", csv.replace("\"a, b\"", "a b").replace(',', "\t")),
        ("t.jsonl", rows.to_owned()),
        ("t.json", rows.to_owned()),
        ("t.json", list.clone()),
        (
            "t.json",
            format!("{{\"ndcg10\": 0.4, \"queries\": {list}}}"),
        ),
        ("t", list),
        ("t", csv.to_owned()),
        ("t.csv", format!("\u{feff}{}", csv.replace('\n', "\r\n"))),
    ];
    for (name, text) in same {
        let found = read(name, &text).unwrap();
        let expected = ValueTable {
            path: found.path.clone(),
            ..expected.clone()
        };
        assert_eq!(found, expected, "{name} {text}");
    }
}

#[test]
fn p20_ids_are_texts() {
    let csv = "qid,ndcg@10,note\n9007199254740993,1,\n0545010225,1,\n545010225,0,\n1e-3,0,\n";
    assert_eq!(
        ids(&read("t.csv", csv).unwrap()),
        ["0545010225", "1e-3", "545010225", "9007199254740993"]
    );
    let json =
        r#"[{"qid": 9007199254740993, "rr": 1, "note": null}, {"qid": 7, "rr": 0, "note": null}]"#;
    assert_eq!(
        ids(&read("t.json", json).unwrap()),
        ["7", "9007199254740993"]
    );
    let error = read("t.json", r#"[{"qid": 1.5, "rr": 1}]"#).unwrap_err();
    assert_eq!(
        error,
        "1: column `qid` is `1.5`, expected a query id: a text or a whole number"
    );
}

#[test]
fn s16_numbers_that_are_none_are_errors_that_say_where() {
    let cases = [
        (
            "t.csv",
            "query,ndcg@10\na,1\nb,NaN\n",
            "3: column `ndcg@10` is `NaN`, expected a finite number",
        ),
        (
            "t.csv",
            "query,ndcg@10\na,1\nb,-inf\n",
            "3: column `ndcg@10` is `-inf`, expected a finite number",
        ),
        (
            "t.csv",
            "query,ndcg@10\na,high\n",
            "2: column `ndcg@10` is `high`, expected a finite number",
        ),
        (
            "t.csv",
            "query,cost\na,1\nb,2\nc,much\n",
            "4: column `cost` is `much`, expected a finite number",
        ),
        (
            "t.csv",
            "query,cost\na,1\nb,nan\n",
            "3: column `cost` is `nan`, expected a finite number",
        ),
        (
            "t.json",
            "{\"queries\": [{\"query_id\": 1,\n \"ndcg10\": NaN}]}",
            "2: `NaN` is not JSON and not a value, expected a finite number or `null`",
        ),
        (
            "t.jsonl",
            "{\"query_id\": 1, \"ndcg10\": 1}\n{\"query_id\": 2, \"ndcg10\": -Infinity}",
            "2: `-Infinity` is not JSON and not a value, expected a finite number or `null`",
        ),
        (
            "t.json",
            "[{\"query_id\": 1, \"ndcg10\": \"0.5\"}]",
            "1: column `ndcg10` is `0.5`, expected a finite number",
        ),
        (
            "t.json",
            "[{\"query_id\": 1, \"ndcg10\": 1e999}]",
            "1: not the expected JSON: number out of range at line 1 column 32",
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(read(name, text).unwrap_err(), expected, "{text}");
    }
}

#[test]
fn tables_that_are_none_are_refused() {
    let cases = [
        ("t.csv", "", "there is no header in it"),
        ("t.csv", "query,ndcg@10\n", "there is no row in it"),
        ("t.jsonl", "", "there is no row in it"),
        ("t.json", "{\"queries\": []}", "there is no row in it"),
        (
            "t.json",
            "{\"a\": 1}",
            "there is no list `queries`, found `a`",
        ),
        (
            "t.json",
            "7",
            "not the expected JSON: `7` is not a list of objects",
        ),
        (
            "t.json",
            "[7]",
            "1: not the expected JSON: `7` is not an object",
        ),
        (
            "t.csv",
            "name,ndcg@10\na,1\n",
            "there is no column `query_id`, found `name`, `ndcg@10`",
        ),
        (
            "t.csv",
            "query,name\na,b\n",
            "there is no column of metric values in it",
        ),
        (
            "t.csv",
            "query,ndcg10,nDCG@10\na,1,1\n",
            "not the expected table: two columns are `nDCG@10`",
        ),
        (
            "t.csv",
            "query,ndcg10\na,1\nb,0\na,1\n",
            "4: query `a` occurs again, first in line 2",
        ),
        (
            "t.json",
            "[{\"query\":\"a\",\"rr\":1},{\"query\":\"a\",\"rr\":1}]",
            "2: query `a` occurs again, first in line 1",
        ),
        (
            "t.csv",
            "query,ndcg10\n,1\n",
            "2: column `query` is ``, expected a query id: a text or a whole number",
        ),
        (
            "t.csv",
            "query,rr,zero_result\na,1,maybe\n",
            "2: column `zero_result` is `maybe`, expected true or false",
        ),
        (
            "t.csv",
            "query,rr,failure\na,,broken\n",
            "2: column `failure` is `broken`, expected empty, missing, timeout, transport_error, invalid_response or internal_error",
        ),
        (
            "t.csv",
            "query,rr,rerank_status\na,1,fine\n",
            "2: column `rerank_status` is `fine`, expected empty, or the status of a stage, e.g. `applied`",
        ),
    ];
    for (name, text, expected) in cases {
        assert_eq!(read(name, text).unwrap_err(), expected, "{text}");
    }
    let nowhere = read_value_table(Path::new("nowhere.csv"), &ValueTableOptions::default());
    assert!(matches!(nowhere, Err(InputError::Read { .. })));
}

#[test]
fn queries_without_values_have_failed_and_holes_are_refused() {
    let table = read("t.csv", "query,rr,p@5,failure\na,1,1,\nb,,,\nc,,,timeout\n").unwrap();
    assert_eq!(
        table.failure,
        [None, Some(FailureKind::Missing), Some(FailureKind::Timeout)]
    );
    let error = read("t.csv", "query,rr,p@5\na,1,1\nb,1,\n").unwrap_err();
    assert_eq!(
        error,
        "3: column `p@5` is ``, expected a finite number, because the query has other values"
    );
}

#[test]
fn judged_shares_and_stages_are_not_metrics() {
    let text = "query,rr,Judged@10,rerank_status\na,1,0.5,APPLIED\nb,0,,TIMEOUT\nc,0,1,NOT_APPLICABLE(no-call)\nd,0,1,\n";
    let table = read("t.csv", text).unwrap();
    assert_eq!(table.metrics.len(), 1);
    assert_eq!(
        table.judged,
        Some(vec![Some(0.5), None, Some(1.0), Some(1.0)])
    );
    assert_eq!(table.degraded, Some(vec![false, true, false, false]));
}

fn text(cells: &[&str]) -> Column {
    let cells = cells
        .iter()
        .map(|cell| Some(Box::from(*cell)).filter(|_| !cell.is_empty()));
    Column::Text(cells.collect())
}

fn parquet(columns: Vec<(&str, Column)>) -> Vec<u8> {
    let fields = columns
        .iter()
        .map(|(name, column)| Field::nullable(*name, column.kind(), ""));
    let schema = Schema {
        name: "rows".to_owned(),
        version: 1,
        fields: fields.collect(),
    };
    assert!(
        schema
            .fields
            .iter()
            .all(|field| field.kind != ColumnType::F32)
    );
    let columns = columns.into_iter().map(|(_, column)| column).collect();
    to_bytes(&Table::new(schema, columns, BTreeMap::new()).unwrap()).unwrap()
}

/// Rows in the form of this project's own, of one query each of two candidates.
fn own_rows(query: &str, split: &str) -> Vec<u8> {
    parquet(vec![
        ("job", text(&["j", "j"])),
        ("candidate", text(&["c1", "c2"])),
        ("split", text(&[split, split])),
        ("query", text(&[query, query])),
        ("value_ndcg_exp_10", Column::F64(vec![Some(0.5), None])),
        (
            "scored_ndcg_exp_10",
            Column::F64(vec![Some(0.5), Some(0.0)]),
        ),
        ("value_zero_result", Column::F64(vec![Some(0.0), None])),
        (
            "scored_zero_result",
            Column::F64(vec![Some(0.0), Some(1.0)]),
        ),
        ("judged_share", Column::F64(vec![Some(0.25), None])),
        ("zero_result", Column::Bool(vec![Some(false), Some(false)])),
        ("hits_returned", Column::U64(vec![Some(10), Some(0)])),
        ("rerank_status", text(&["applied", "timeout"])),
        ("failure", text(&["", "timeout"])),
    ])
}

#[test]
fn our_own_rows_are_read_for_one_candidate() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("rows")).unwrap();
    file(&folder, "rows/b.parquet", own_rows("q1", "holdout"));
    file(&folder, "rows/a.parquet", own_rows("q2", "train"));
    let error = read_value_table(folder.path(), &ValueTableOptions::default()).unwrap_err();
    assert_eq!(
        shown(&error),
        "rows of 2 candidates are in it, e.g. `c1`, `c2`"
    );
    let of = |candidate: &str, fold| ValueTableOptions {
        candidate: Some(CandidateId::try_from(candidate).unwrap()),
        fold,
        ..ValueTableOptions::default()
    };
    let table = read_value_table(folder.path(), &of("c2", None)).unwrap();
    assert_eq!(ids(&table), ["q1", "q2"]);
    assert_eq!(table.candidate.as_deref(), Some("c2"));
    assert_eq!(table.failure, [Some(FailureKind::Timeout); 2]);
    assert_eq!(values(&table)["nDCG(dcg='exp-log2')@10"], [None, None]);
    assert_eq!(table.scored[1].0.as_str(), "zero_result");
    assert_eq!(table.scored[1].1, [1.0, 1.0]);
    assert_eq!(table.degraded, Some(vec![true, true]));
    assert_eq!(table.job.as_deref(), Some("j"));
    assert!(table.ignored.is_empty());
    let table =
        read_value_table(&folder.path().join("rows"), &of("c1", Some(Fold::Holdout))).unwrap();
    assert_eq!(
        (ids(&table), table.judged.clone()),
        (vec!["q1"], Some(vec![Some(0.25)]))
    );
    let error = read_value_table(folder.path(), &of("c3", None)).unwrap_err();
    assert_eq!(shown(&error), "candidate `c3` has no rows in it");
    let twice = file(&folder, "rows/c.parquet", own_rows("q1", "holdout"));
    let error = read_value_table(folder.path(), &of("c1", None)).unwrap_err();
    assert!(
        error.to_string().contains(&*twice.to_string_lossy()),
        "{error}"
    );
}

#[test]
fn parquet_of_other_tools_is_a_wide_table() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = parquet(vec![
        ("qid", Column::I64(vec![Some(10), Some(9)])),
        ("ndcg_10", Column::F64(vec![Some(1.0), Some(0.5)])),
        ("__index_level_0__", Column::I64(vec![Some(0), Some(1)])),
    ]);
    for name in ["t.parquet", "t.bin"] {
        let table =
            read_value_table(&file(&folder, name, &bytes), &ValueTableOptions::default()).unwrap();
        assert_eq!(ids(&table), ["10", "9"]);
        assert_eq!(
            values(&table),
            BTreeMap::from([("nDCG@10".to_owned(), vec![Some(1.0), Some(0.5)])])
        );
    }
    let empty = read_value_table(
        &file(&folder, "e.parquet", ""),
        &ValueTableOptions::default(),
    );
    assert!(matches!(empty, Err(InputError::Columns { .. })));
}

#[test]
fn the_published_values_are_read() {
    let Some(folder) = reference_data("searchops") else {
        let json = r#"{"queries": [{"query_id": 16139, "query": "x", "precision10": 0.2, "recall10": 0.5, "mrr10": 0.1, "ndcg10": 0.2, "zero_result": false}]}"#;
        let names: Vec<String> = values(&read("t.json", json).unwrap()).into_keys().collect();
        assert_eq!(names, ["P@10", "R@10", "RR@10", "nDCG@10"]);
        return;
    };
    let read =
        |name: &str| read_value_table(&folder.join(name), &ValueTableOptions::default()).unwrap();
    // The means that the files themselves state.
    for (name, count, ndcg, precision) in [
        (
            "baseline-v7-holdout.json",
            600,
            0.471_961_799_056_196_4,
            0.1085,
        ),
        (
            "baseline-v7-train.json",
            1400,
            0.482_160_610_115_870_4,
            0.106_857_142_857_142_86,
        ),
        (
            "rerank-holdout-n50.json",
            600,
            0.592_645_914_810_694_7,
            0.125_333_333_333_333_46,
        ),
    ] {
        let table = read(name);
        let values = values(&table);
        let mean = |metric: &str| values[metric].iter().flatten().sum::<f64>() / count as f64;
        assert!((mean("nDCG@10") - ndcg).abs() < 1e-12 && (mean("P@10") - precision).abs() < 1e-12);
        assert_eq!((table.queries.len(), values.len()), (count, 4));
        let zero = table
            .zero_result
            .unwrap()
            .iter()
            .filter(|&&zero| zero)
            .count();
        assert_eq!(zero, if count == 600 { 4 } else { 1 });
    }
    // Its summary counts 80 timeouts and 3 transport errors.
    let degraded = read("rerank-holdout-coverage-n20-run1-degraded.json")
        .degraded
        .unwrap();
    assert_eq!(degraded.iter().filter(|&&degraded| degraded).count(), 83);
}

proptest! {
    #[test]
    fn readers_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..120), name in "t(\\.(csv|tsv|json|jsonl|parquet|csv\\.gz))?") {
        let folder = tempfile::tempdir().unwrap();
        for start in ["", "query,ndcg@10,x\n", "{\"queries\": [{\"query_id\": ", "PAR1"] {
            let mut all = start.as_bytes().to_vec();
            all.extend(&bytes);
            drop(read_value_table(&file(&folder, &name, &all), &ValueTableOptions::default()));
        }
    }
}
