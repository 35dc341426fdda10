//! `evalfarm dataset import`: every format on tiny files, and what is wrong with them.

use std::collections::BTreeMap;

use evalfarm_columnar::{Column, ColumnType, Field, Schema, Table, to_bytes};
use evalfarm_tests::Bench;

use crate::support::{Ending as _, gzipped, refused, run_line};

/// A Parquet file with these columns; a cell that is a whole number makes an integer column.
fn parquet(columns: &[(&str, &[&str])]) -> Vec<u8> {
    let numeric = |cells: &[&str]| cells.iter().all(|cell| cell.parse::<i64>().is_ok());
    let fields = columns.iter().map(|(name, cells)| {
        let kind = if numeric(cells) {
            ColumnType::I64
        } else {
            ColumnType::Text
        };
        Field::nullable(*name, kind, "")
    });
    let cells = columns.iter().map(|(_, cells)| {
        if numeric(cells) {
            Column::I64(cells.iter().map(|cell| cell.parse().ok()).collect())
        } else {
            Column::Text(cells.iter().map(|&cell| Some(cell.into())).collect())
        }
    });
    let schema = Schema {
        name: "other".to_owned(),
        version: 1,
        fields: fields.collect(),
    };
    let table = Table::new(schema, cells.collect(), BTreeMap::new()).expect("the table is valid");
    to_bytes(&table).expect("memory can be written to")
}

/// Three products and two queries in every format.
fn sources(bench: &Bench) {
    bench.write(
        "docs.xml",
        "<xml><doc><docno>d1</docno><title>red lamp</title><text>bright</text></doc>\n\
         <doc><docno>d2</docno><title>blue lamp</title><text>dim</text></doc>\n\
         <doc><docno>d3</docno><title>chair</title><text>wood</text></doc></xml>\n",
    );
    bench.write(
        "topics.xml",
        "<xml><top><num>1</num><title>red lamp</title></top>\n<top><num>2</num><title>chair</title></top></xml>\n",
    );
    bench.write("qrels", "1 0 d1 2\n1 0 d2 1\n2 0 d3 2\n");
    bench.write(
        "beir/corpus.jsonl",
        "{\"_id\":\"d1\",\"title\":\"red lamp\",\"text\":\"bright\"}\n\
         {\"_id\":\"d2\",\"title\":\"blue lamp\",\"text\":\"dim\"}\n\
         {\"_id\":\"d3\",\"title\":\"chair\",\"text\":\"wood\"}\n",
    );
    bench.write(
        "beir/queries.jsonl",
        "{\"_id\":\"1\",\"text\":\"red lamp\"}\n{\"_id\":\"2\",\"text\":\"chair\"}\n",
    );
    bench.write(
        "beir/qrels/test.tsv",
        "query-id\tcorpus-id\tscore\n1\td1\t2\n1\td2\t1\n2\td3\t2\n",
    );
    bench.write(
        "examples.parquet",
        parquet(&[
            ("query", &["red lamp", "red lamp", "chair", "silla"]),
            ("query_id", &["1", "1", "2", "3"]),
            ("product_id", &["d1", "d2", "d3", "d1"]),
            ("product_locale", &["us", "us", "us", "es"]),
            ("esci_label", &["E", "S", "E", "E"]),
            ("small_version", &["1", "1", "1", "0"]),
            ("split", &["test", "test", "test", "train"]),
        ]),
    );
    bench.write(
        "products.parquet",
        parquet(&[
            ("product_id", &["d1", "d2", "d3"]),
            ("product_locale", &["us", "us", "us"]),
            ("product_title", &["red lamp", "blue lamp", "chair"]),
            ("product_description", &["bright", "dim", "wood"]),
            ("product_bullet_point", &["a", "b", "c"]),
            ("product_brand", &["x", "y", "z"]),
            ("product_color", &["red", "blue", "brown"]),
        ]),
    );
    let products = "{\"id\":\"d1\",\"title\":\"red lamp\",\"attr_t_a\":\"bright\",\"attr_t_b\":\"steel\"}\n\
         {\"id\":\"d2\",\"title\":\"blue lamp\",\"attr_t_a\":\"dim\"}\n\
         {\"id\":\"d3\",\"title\":\"chair\"}\n";
    bench.write("products.jsonl", products);
    bench.write("products.jsonl.gz", gzipped(products.as_bytes()));
    bench.write(
        "products.csv",
        "id,title,body\nd1,red lamp,bright\nd2,blue lamp,dim\nd3,chair,wood\n",
    );
    bench.write(
        "ratings.csv",
        "query,docid,rating\nred lamp,d1,2\nred lamp,d2,1\nchair,d3,2\n",
    );
    bench.write(
        "labels.csv",
        "query,docid,rating\nred lamp,d1,E\nred lamp,d2,S\nchair,d3,E\n",
    );
}

const ESCI: &str = "esci --examples examples.parquet --products products.parquet --locale us";

#[test]
fn every_format_is_imported() {
    let bench = Bench::new();
    sources(&bench);
    let esci = format!("{ESCI} --gains E=1,S=0.1,C=0.01,I=0 --small-version --split test");
    for (name, line) in [
        (
            "trec",
            "trec --documents docs.xml --topics topics.xml --qrels qrels",
        ),
        ("scifact", "beir beir --split test"),
        ("esci", esci.as_str()),
        (
            "jsonl",
            "catalogue --products products.jsonl --id id --field title --field attrs=attr_t* --ratings ratings.csv",
        ),
        (
            "packed",
            "catalogue --products products.jsonl.gz --id id --field title --ratings ratings.csv",
        ),
        (
            "csv",
            "catalogue --products products.csv --id id --field text=title,body --ratings ratings.csv",
        ),
        (
            "labels",
            "catalogue --products products.csv --id id --field title --ratings labels.csv --labels E=2,S=1",
        ),
    ] {
        let line =
            format!("dataset import {line} --out {name} --licence CC0 --source made --format json");
        let manifest = run_line(&bench, &line).ending(0).json();
        let counts = &manifest["counts"];
        assert_eq!(
            (
                &counts["documents"],
                &counts["queries"],
                &counts["judgments"],
                &counts["relevant"]
            ),
            (&3.into(), &2.into(), &3.into(), &3.into()),
            "{name}"
        );
        assert_eq!(
            (&manifest["licence"], &manifest["source"]),
            (&"CC0".into(), &"made".into())
        );
        assert_eq!(manifest["synthetic"], false);
        run_line(&bench, &format!("dataset verify {name}")).ending(0);
        run_line(&bench, &format!("dataset inspect {name}")).ending(0);
        // A folder that holds something is left alone.
        let again = line.replace(" --format json", "");
        refused(
            &bench,
            &again,
            &[
                &format!("`{name}` already exists"),
                "hint: choose another folder",
            ],
        );
    }
}

/// The file that is damaged, its content, the import, and pieces of the message.
type Fault = (
    &'static str,
    &'static [u8],
    &'static str,
    &'static [&'static str],
);

const TREC: &str = "trec --documents docs.xml --topics topics.xml --qrels qrels";
const CATALOGUE: &str =
    "catalogue --products products.csv --id id --field title --ratings ratings.csv";

const FAULTS: &[Fault] = &[
    (
        "qrels",
        b"1 0 d1 x\n",
        TREC,
        &["`qrels`, line 1: grade `x`"],
    ),
    (
        "qrels",
        b"1 0 d1 1\n1 0 d1 2\n",
        TREC,
        &["`qrels`, line 2: ", "in line 1"],
    ),
    ("qrels", b"9 0 d1 1\n", TREC, &["9"]),
    (
        "topics.xml",
        b"<top><title>a</title></top>",
        TREC,
        &["`topics.xml`, line 1: the topic has no `<num>`"],
    ),
    ("docs.xml", b"", TREC, &["`docs.xml`"]),
    ("docs.xml", b"<doc><docno>d1</docno>", TREC, &["`docs.xml`"]),
    (
        "beir/corpus.jsonl",
        b"{\"_id\":\"d1\"\n",
        "beir beir",
        &["corpus.jsonl`, line 1: not the expected JSON"],
    ),
    (
        "beir/corpus.jsonl",
        b"{\"title\":\"x\"}\n",
        "beir beir",
        &["corpus.jsonl`, line 1: ", "_id"],
    ),
    (
        "beir/corpus.jsonl",
        b"{\"_id\":\"a\"}\n{\"_id\":\"a\"}\n",
        "beir beir",
        &["line 2: ", "line 1"],
    ),
    (
        "beir/queries.jsonl",
        b"[]\n",
        "beir beir",
        &["queries.jsonl`, line 1: "],
    ),
    (
        "beir/qrels/test.tsv",
        b"1\td1\t2\n",
        "beir beir",
        &["test.tsv`, line 1: ", "hint: a BEIR file"],
    ),
    ("beir/qrels/test.tsv", b"", "beir beir", &["test.tsv`"]),
    (
        "products.csv",
        b"id,title\nd1,a\nd1,b\n",
        CATALOGUE,
        &["`products.csv`, line 3: ", "line 2"],
    ),
    (
        "products.csv",
        b"sku,title\nd1,a\n",
        CATALOGUE,
        &["`products.csv`", "`id`", "`sku`"],
    ),
    (
        "products.csv",
        b"id,name\nd1,a\n",
        CATALOGUE,
        &["`products.csv`", "`title=title`", "`name`"],
    ),
    (
        "products.csv",
        b"id,title\nd1,a,b\n",
        CATALOGUE,
        &["`products.csv`, line 2: "],
    ),
    (
        "products.csv",
        b"id,title\nd1,\xff\n",
        CATALOGUE,
        &["`products.csv`", "UTF-8"],
    ),
    (
        "products.csv",
        b"id,title\n",
        CATALOGUE,
        &["`products.csv`"],
    ),
    (
        "ratings.csv",
        b"query,docid,rating\na,d1,E\n",
        CATALOGUE,
        &["`ratings.csv`, line 2: grade `E`", "--labels"],
    ),
    (
        "ratings.csv",
        b"query,docid,rating\na,d1,0.5\n",
        CATALOGUE,
        &["line 2: grade `0.5`", "--fractional"],
    ),
    (
        "ratings.csv",
        b"query,docid\na,d1\n",
        CATALOGUE,
        &["`ratings.csv`", "`rating`"],
    ),
    ("ratings.csv", b"", CATALOGUE, &["`ratings.csv`"]),
    (
        "examples.parquet",
        b"PAR1 nonsense",
        "esci --examples examples.parquet --products products.parquet --locale us --gains E=1,S=0.1,C=0.01,I=0",
        &["examples.parquet"],
    ),
    (
        "products.parquet",
        b"",
        "esci --examples examples.parquet --products products.parquet --locale us --gains E=1,S=0.1,C=0.01,I=0",
        &["products.parquet"],
    ),
];

#[test]
fn a_fault_in_any_source_is_named_and_nothing_is_left() {
    let bench = Bench::new();
    for (file, content, import, pieces) in FAULTS {
        sources(&bench);
        bench.write(file, content);
        let line = format!("dataset import {import} --out new");
        refused(&bench, &line, pieces);
        assert!(!bench.at("new").is_dir(), "{line}");
    }
}

#[test]
fn options_that_mean_nothing_are_refused() {
    let bench = Bench::new();
    sources(&bench);
    let esci = |gains: &str| format!("{ESCI} {gains} --out new");
    for (line, pieces) in [
        (esci(""), &["--gains"][..]),
        (esci("--gains E=1"), &["label `S` is missing"]),
        (
            esci("--gains E=1,S=0.1,C=0.01,I=0,X=1"),
            &["label `X` is not one of E, S, C and I"],
        ),
        (
            esci("--gains E=1,E=1,S=0.1,C=0.01,I=0"),
            &["label `E` is listed twice"],
        ),
        (esci("--gains E=0,S=1,C=0.01,I=0"), &["gain"]),
        (
            ESCI.replace(
                "--locale us",
                "--locale fr --gains E=1,S=0.1,C=0.01,I=0 --out new",
            ),
            &["examples.parquet"],
        ),
        (format!("{TREC} --gains 0=0 --out new"), &["grade"]),
        (format!("{CATALOGUE} --field title --out new"), &["title"]),
        (format!("{CATALOGUE} --field =x --out new"), &["--field"]),
        (TREC.to_owned(), &["--out"]),
        (
            "beir nothing --out new".to_owned(),
            &["nothing/corpus.jsonl", "hint: check the path"],
        ),
        (
            "beir beir --split dev --out new".to_owned(),
            &["qrels/dev.tsv", "hint: check the path"],
        ),
        ("parquet x --out new".to_owned(), &["parquet"]),
    ] {
        refused(&bench, &format!("dataset import {line}"), pieces);
        assert!(!bench.at("new").is_dir(), "{line}");
    }
    let line = format!("dataset import {TREC} --relevant-from 3 --out strict");
    let outcome = run_line(&bench, &line).ending(0);
    let said = "warning: no judgment is relevant: `--relevant-from 3` is above every grade";
    assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
}
