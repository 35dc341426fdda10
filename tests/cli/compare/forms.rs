//! One table in every form that is read: the same verdict to the last digit.

use std::collections::BTreeMap;

use evalfarm_columnar::{Column, ColumnType, Field, Schema, Table, to_bytes};
use evalfarm_tests::Bench;
use serde_json::{Value, json};

use super::tables::{COLUMNS, Row, baseline, csv, improved};
use crate::support::{Ending as _, gzipped, run};

fn objects(rows: &[Row]) -> Vec<Value> {
    rows.iter()
        .map(|(query, values)| {
            json!({ "query_id": query, "ndcg10": values[0], "mrr10": values[1], "recall10": values[2] })
        })
        .collect()
}

fn jsonl(rows: &[Row]) -> String {
    let lines = objects(rows).into_iter().map(|row| row.to_string() + "\n");
    lines.collect()
}

/// Returns the rows as another tool's Parquet file.
fn parquet(rows: &[Row]) -> Vec<u8> {
    let mut fields = vec![Field::required("query_id", ColumnType::Text, "")];
    fields.extend(COLUMNS.map(|name| Field::nullable(name, ColumnType::F64, "")));
    let ids = rows.iter().map(|(query, _)| Some(query.as_str().into()));
    let mut columns = vec![Column::Text(ids.collect())];
    columns.extend(
        (0..COLUMNS.len())
            .map(|at| Column::F64(rows.iter().map(|(_, values)| Some(values[at])).collect())),
    );
    let schema = Schema {
        name: "other".to_owned(),
        version: 1,
        fields,
    };
    let table = Table::new(schema, columns, BTreeMap::new()).expect("the table is valid");
    to_bytes(&table).expect("memory can be written to")
}

#[test]
fn every_form_of_a_table_gives_the_same_verdict() {
    let bench = Bench::new();
    let base = baseline(80);
    let better = improved(&base);
    bench.write("base.csv", csv(&base));
    let mut reversed = better.clone();
    reversed.reverse();
    let forms: Vec<(&str, Vec<u8>)> = vec![
        ("plain.csv", csv(&better).into_bytes()),
        // cases.md S18: pairs are found by id, whatever the order of the rows.
        ("reversed.csv", csv(&reversed).into_bytes()),
        ("bom.csv", format!("\u{feff}{}", csv(&better)).into_bytes()),
        ("crlf.csv", csv(&better).replace('\n', "\r\n").into_bytes()),
        ("tabs.tsv", csv(&better).replace(',', "\t").into_bytes()),
        (
            "names.csv",
            csv(&better)
                .replacen(
                    "ndcg10,mrr10,recall10",
                    "nDCG@10,recip_rank@10,recall_10",
                    1,
                )
                .into_bytes(),
        ),
        (
            "slugs.csv",
            csv(&better)
                .replacen("ndcg10,mrr10,recall10", "ndcg_10,rr_10,r_10", 1)
                .into_bytes(),
        ),
        ("packed.csv.gz", gzipped(csv(&better).as_bytes())),
        ("lines.jsonl", jsonl(&better).into_bytes()),
        (
            "list.json",
            Value::Array(objects(&better)).to_string().into_bytes(),
        ),
        (
            "object.json",
            json!({ "run": "x", "queries": objects(&better) })
                .to_string()
                .into_bytes(),
        ),
        ("table.parquet", parquet(&better)),
        ("noname", parquet(&better)),
    ];
    let mut first: Option<Value> = None;
    for (name, content) in forms {
        bench.write(name, content);
        let outcome = run(&bench, &["compare", "base.csv", name, "--format", "json"]);
        let mut document = outcome.ending(0).json();
        document["files"] = Value::Null;
        match &first {
            None => first = Some(document),
            Some(first) => assert_eq!(&document, first, "{name}"),
        }
    }
}

#[test]
fn q3_empty_cells_of_a_whole_row_are_a_failed_query() {
    let bench = Bench::new();
    let base = baseline(80);
    bench.write("base.csv", csv(&base));
    let better = csv(&improved(&base));
    let lines: Vec<&str> = better.lines().collect();
    let empty = format!("{}\nq0000,,,\n{}\n", lines[0], lines[2..].join("\n"));
    let nulls = jsonl(&improved(&base)[1..]) + "{\"query_id\":\"q0000\",\"ndcg10\":null}\n";
    for (name, content) in [("empty.csv", empty), ("nulls.jsonl", nulls)] {
        bench.write(name, content);
        let document = run(&bench, &["compare", "base.csv", name, "--format", "json"])
            .ending(1)
            .json();
        assert_eq!(document["candidate_counts"]["failed"], 1, "{name}");
        assert_eq!(document["reasons"][0]["code"], "failed", "{name}");
        assert_eq!(document["metrics"][0]["n"], 80);
    }
}

#[test]
fn p9_q6_q_p20_ids_of_digits_stay_texts() {
    let bench = Bench::new();
    // 1 and 01 are two queries, and so are two numbers beyond 2^53 that are one double.
    let ids = ["1", "01", "9007199254740993", "9007199254740992"];
    let mut rows = baseline(40);
    for (row, id) in rows.iter_mut().zip(ids) {
        row.0 = id.to_owned();
    }
    bench.write("base.csv", csv(&rows));
    bench.write("better.jsonl", jsonl(&improved(&rows)));
    let document = run(
        &bench,
        &["compare", "base.csv", "better.jsonl", "--format", "json"],
    )
    .ending(0)
    .json();
    assert_eq!(document["metrics"][0]["n"], 40);
    assert_eq!(document["candidate_counts"]["failed"], 0);
}
