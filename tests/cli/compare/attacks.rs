//! Inputs that would change a verdict without a word, each with what has to be said of it.

use std::fs;

use evalfarm_columnar::{Column, ColumnType, Field, Schema, Table, to_bytes};
use evalfarm_tests::Bench;

use super::tables::{Row, baseline, csv, improved};
use crate::support::run_line;

/// Queries of the tables here.
const QUERIES: usize = 60;

/// A case: its name, files beside `base.csv` and the better `new.csv`, the command, its exit code, and a phrase.
struct Attack {
    name: &'static str,
    files: fn(&Bench),
    line: &'static str,
    code: i32,
    phrase: &'static str,
}

/// Writes `new.csv` and `base2.csv` with a further column, whose cell depends on the query.
fn column(bench: &Bench, file: &str, rows: &[Row], name: &str, cell: impl Fn(usize) -> String) {
    let text = csv(rows);
    let lines = text.lines().enumerate().map(|(at, line)| match at {
        0 => format!("{line},{name}\n"),
        _ => format!("{line},{}\n", cell(at - 1)),
    });
    bench.write(file, lines.collect::<String>());
}

/// Writes the better table with a further column.
fn better(bench: &Bench, name: &str, cell: impl Fn(usize) -> String) {
    column(bench, "new.csv", &improved(&baseline(QUERIES)), name, cell);
}

/// Writes the better table as JSON, with more in its first row.
fn json(bench: &Bench, more: &str) {
    let rows = improved(&baseline(QUERIES));
    let rows = rows.iter().enumerate().map(|(at, (query, [a, b, c]))| {
        let more = if at == 0 { more } else { "" };
        format!("{{\"query_id\":\"{query}\",\"ndcg10\":{a},\"mrr10\":{b},\"recall10\":{c}{more}}}")
    });
    let rows: Vec<String> = rows.collect();
    bench.write("new.json", format!("[{}]", rows.join(",")));
}

/// Writes the better table as another tool's Parquet file, with a further column.
fn parquet(bench: &Bench, name: &str, cells: Column) {
    let rows = improved(&baseline(QUERIES));
    let ids = rows.iter().map(|(query, _)| Some(query.as_str().into()));
    let values = |at: usize| Column::F64(rows.iter().map(|(_, v)| Some(v[at])).collect());
    let fields = vec![
        Field::required("query_id", ColumnType::Text, ""),
        Field::nullable("ndcg10", ColumnType::F64, ""),
        Field::nullable("mrr10", ColumnType::F64, ""),
        Field::nullable("recall10", ColumnType::F64, ""),
        Field::nullable(name, cells.kind(), ""),
    ];
    let schema = Schema {
        name: "other".to_owned(),
        version: 1,
        fields,
    };
    let columns = vec![
        Column::Text(ids.collect()),
        values(0),
        values(1),
        values(2),
        cells,
    ];
    let table = Table::new(schema, columns, std::collections::BTreeMap::new());
    let bytes = to_bytes(&table.expect("the table is valid")).expect("memory can be written to");
    bench.write("new.parquet", bytes);
}

/// Judgments of so many queries, and two runs of which the better answers all that `answered` says, and the other too.
fn runs(bench: &Bench, answered: fn(usize) -> bool) {
    let queries = 0..QUERIES;
    let judged = queries.clone().map(|at| format!("q{at:03} 0 good{at} 1\n"));
    bench.write("qrels", judged.collect::<String>());
    for (file, rank) in [("base.run", 5), ("new.run", 1)] {
        let lines = queries.clone().filter(|&at| answered(at)).flat_map(|at| {
            (1..=10).map(move |place| {
                let document = if place == rank {
                    format!("good{at}")
                } else {
                    format!("o{place}")
                };
                format!("q{at:03} Q0 {document} {place} {} t\n", 20 - place)
            })
        });
        bench.write(file, lines.collect::<String>());
    }
}

const TABLES: &str = "compare base.csv new.csv";
const JSON: &str = "compare base.csv new.json";
const RUNS: &str = "compare base.run new.run --qrels qrels";

fn nothing(_: &Bench) {}

const fn attack(
    name: &'static str,
    files: fn(&Bench),
    line: &'static str,
    code: i32,
    phrase: &'static str,
) -> Attack {
    Attack {
        name,
        files,
        line,
        code,
        phrase,
    }
}

/// Cells and columns.
const CELLS: &[Attack] = &[
    attack("nothing wrong", nothing, TABLES, 0, "PROMOTE"),
    attack(
        "a failure that is true",
        |b| json(b, ",\"failure\":true"),
        JSON,
        2,
        "row 1: column `failure` is `true`, expected empty, missing",
    ),
    attack(
        "a failure that is false",
        |b| json(b, ",\"failure\":false"),
        JSON,
        2,
        "column `failure` is `false`",
    ),
    attack(
        "a failure that is a number",
        |b| json(b, ",\"failure\":0.5"),
        JSON,
        2,
        "column `failure` is `0.5`",
    ),
    attack(
        "a failure that is null",
        |b| json(b, ",\"failure\":null"),
        JSON,
        0,
        "PROMOTE",
    ),
    attack(
        "a status that is true",
        |b| json(b, ",\"rerank_status\":true"),
        JSON,
        2,
        "column `rerank_status` is `true`, expected empty, or",
    ),
    attack(
        "a status that is a number",
        |b| json(b, ",\"rewrite_status\":1.5"),
        JSON,
        2,
        "column `rewrite_status` is `1.5`",
    ),
    attack(
        "truth values of a Parquet file",
        |b| parquet(b, "failure", Column::Bool(vec![Some(true); QUERIES])),
        "compare base.csv new.parquet",
        2,
        "column `failure` is `true`",
    ),
    attack(
        "doubles of a Parquet file",
        |b| parquet(b, "rerank_status", Column::F64(vec![Some(0.5); QUERIES])),
        "compare base.csv new.parquet",
        2,
        "column `rerank_status` is `0.5`",
    ),
    attack(
        "a key twice",
        |b| json(b, ",\"ndcg10\":0.9"),
        JSON,
        2,
        "key `ndcg10` occurs twice in one object",
    ),
    attack(
        "a column twice by case",
        |b| better(b, "failure,Failure", |_| "timeout,".to_owned()),
        TABLES,
        2,
        "two columns have one name: `failure` and `Failure`",
    ),
    attack(
        "a column twice",
        |b| better(b, "zero_result,zero_result", |_| "1,0".to_owned()),
        TABLES,
        2,
        "column `zero_result` occurs twice in the header",
    ),
    attack(
        "two ids that differ",
        |b| better(b, "qid", |at| format!("q{:04}", at + 1)),
        TABLES,
        2,
        "line 2: column `qid` is `q0001`, expected the same query id",
    ),
    attack(
        "two ids that agree",
        |b| better(b, "qid", |at| format!("q{at:04}")),
        TABLES,
        0,
        "PROMOTE",
    ),
    attack(
        "a flag under another name",
        |b| better(b, "failed", |_| "1".to_owned()),
        TABLES,
        2,
        "say in a column `failure` why",
    ),
    attack(
        "a figure with its unit",
        |b| better(b, "latency", |_| "200ms".to_owned()),
        TABLES,
        0,
        "`new.csv`: not numbers and not known, so ignored: `latency`",
    ),
    attack(
        "empty results of one side",
        |b| better(b, "zero_result", |_| "1".to_owned()),
        TABLES,
        2,
        "`base.csv` has no column `zero_result`, and `new.csv` has one",
    ),
    attack(
        "judged shares of one side",
        |b| better(b, "judged_share", |_| "1".to_owned()),
        TABLES,
        2,
        "`base.csv` has no column `judged_share`",
    ),
    attack(
        "one known judged share",
        |b| {
            let cell = |at: usize| if at == 0 { "0.9" } else { "" }.to_owned();
            column(b, "base.csv", &baseline(QUERIES), "judged_share", cell);
            better(b, "judged_share", cell);
        },
        TABLES,
        0,
        "unknown",
    ),
];

fn statuses(bench: &Bench, failing: fn(usize) -> bool) {
    let status = |at: usize| if failing(at) { "timeout" } else { "applied" };
    let lines = (0..QUERIES).map(|at| format!("q{at:04},{}\n", status(at)));
    bench.write(
        "statuses.csv",
        format!("query_id,rerank_status\n{}", lines.collect::<String>()),
    );
}

/// Options and other files.
const OPTIONS: &[Attack] = &[
    attack(
        "statuses that deny the table's own",
        |b| {
            better(b, "rerank_status", |_| "timeout".to_owned());
            statuses(b, |_| false);
        },
        "compare base.csv new.csv --statuses statuses.csv",
        1,
        "degraded queries of the candidate",
    ),
    attack(
        "a table of statuses alone",
        |b| statuses(b, |_| true),
        "compare base.csv new.csv --statuses statuses.csv",
        1,
        "degraded queries of the candidate",
    ),
    attack(
        "good statuses",
        |b| statuses(b, |_| false),
        "compare base.csv new.csv --statuses statuses.csv",
        0,
        "PROMOTE",
    ),
    attack(
        "`--better` of tables",
        nothing,
        "compare base.csv new.csv --better lower",
        2,
        "`--better` has no effect when tables of values are compared",
    ),
    attack(
        "`--better` of runs",
        |b| runs(b, |_| true),
        "compare base.run new.run --qrels qrels --better lower",
        2,
        "`--better` has no effect",
    ),
    attack(
        "`--scale` of tables",
        nothing,
        "compare base.csv new.csv --scale positive",
        2,
        "--outcomes",
    ),
    attack(
        "`--better` of counts",
        nothing,
        "compare 300/388 100/388 --better lower",
        0,
        "PROMOTE",
    ),
    attack(
        "judgments of counts",
        nothing,
        "compare 1/9 2/9 --qrels nowhere",
        2,
        "`--qrels` has no effect when success counts are compared",
    ),
    attack(
        "a primary of counts",
        nothing,
        "compare 1/9 2/9 --primary RR",
        2,
        "`--primary` has no effect",
    ),
    attack(
        "a guard of counts",
        nothing,
        "compare 1/9 2/9 --guard RR",
        2,
        "`--guard` has no effect",
    ),
    attack(
        "statuses of counts",
        nothing,
        "compare 1/9 2/9 --statuses nowhere",
        2,
        "`--statuses` has no effect",
    ),
    attack(
        "a rerun of counts",
        nothing,
        "compare 1/9 2/9 --repeat nowhere",
        2,
        "`--repeat` has no effect",
    ),
    attack(
        "a rerun of outcomes",
        nothing,
        "compare a b --outcomes x.csv --repeat nowhere",
        2,
        "`--repeat` has no effect",
    ),
    attack(
        "a third rerun",
        nothing,
        "compare base.csv new.csv --repeat base.csv new.csv --repeat new.csv",
        2,
        "`--repeat` takes one or two reruns, and `new.csv` is a third",
    ),
    attack(
        "pairs to judge over an input",
        |b| runs(b, |_| true),
        "compare base.run new.run --qrels qrels --judge-next qrels",
        2,
        "`--judge-next qrels` would overwrite a file",
    ),
    attack(
        "pairs to judge over ratings",
        |b| {
            runs(b, |_| true);
            b.write("next.csv", "query_id,query,docid,rating\nq1,q1,d,1\n");
        },
        "compare base.run new.run --qrels qrels --judge-next next.csv",
        2,
        "`--judge-next next.csv` would overwrite",
    ),
    attack(
        "pairs to judge over former ones",
        |b| {
            runs(b, |_| true);
            b.write("next.csv", "query_id,query,docid,rating\nq1,q1,d,\n");
        },
        "compare base.run new.run --qrels qrels --judge-next next.csv",
        0,
        "PROMOTE",
    ),
    attack(
        "queries that nobody answers",
        |b| runs(b, |at| at < 8),
        RUNS,
        1,
        "failed queries of the candidate",
    ),
    attack(
        "queries that everybody answers",
        |b| runs(b, |_| true),
        RUNS,
        0,
        "PROMOTE",
    ),
];

#[test]
fn what_would_change_a_verdict_is_said() {
    for attack in CELLS.iter().chain(OPTIONS) {
        let bench = Bench::new();
        bench.write("base.csv", csv(&baseline(QUERIES)));
        bench.write("new.csv", csv(&improved(&baseline(QUERIES))));
        (attack.files)(&bench);
        let before = fs::read(bench.at("qrels")).ok();
        let outcome = run_line(&bench, attack.line);
        let said = format!("{}\n{}", outcome.stdout, outcome.stderr);
        assert_eq!(outcome.code, Some(attack.code), "{}\n{said}", attack.name);
        assert!(
            said.contains(attack.phrase),
            "{}: no {:?} in\n{said}",
            attack.name,
            attack.phrase
        );
        assert_eq!(fs::read(bench.at("qrels")).ok(), before, "{}", attack.name);
    }
}
