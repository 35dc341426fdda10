//! Every kind of garbage in every place where a file is taken: a documented exit code and a message, never a panic, never
//! a verdict that promotes, never half of an output.

use evalfarm_tests::Bench;

use super::compare::tables::{baseline, csv, improved};
use crate::support::{Ending as _, gzipped, run_line};

/// Contents that are no file of any kind that we read, or a broken one.
const GARBAGE: &[(&str, &[u8])] = &[
    ("nothing", b""),
    ("one line feed", b"\n"),
    ("blanks", b"  \t \n \t\n"),
    ("a zero byte", b"\0"),
    ("zero bytes", &[0; 4096]),
    ("half a character", b"1 0 caf\xc3"),
    ("UTF-16", b"\xff\xfe1\0 \x000\0"),
    ("a byte order mark alone", "\u{feff}".as_bytes()),
    ("two of them", "\u{feff}\u{feff}1 0 a 1\n".as_bytes()),
    ("one word", b"word"),
    ("carriage returns alone", b"1 0 a 1\r2 0 b 1\r"),
    ("an open brace", b"{"),
    ("an empty object", b"{}"),
    ("an empty list", b"[]"),
    ("null", b"null"),
    ("a list of numbers", b"[1, 2, 3]"),
    ("a list in a list", b"[[1, 2], [3, 4]]"),
    ("queries that are no list", b"{\"queries\": 7}"),
    ("NaN", b"NaN"),
    ("NaN in JSON", b"[{\"query_id\": \"a\", \"ndcg10\": NaN}]"),
    (
        "a number beyond doubles",
        b"[{\"query_id\": \"a\", \"ndcg10\": 1e999}]",
    ),
    (
        "an object for a value",
        b"[{\"query_id\": \"a\", \"ndcg10\": {\"x\": 1}}]",
    ),
    (
        "a truth value for an id",
        b"[{\"query_id\": true, \"ndcg10\": 0.5}]",
    ),
    ("an open quote", b"query_id,ndcg10\n\"a,0.5\n"),
    ("a quote in the middle", b"query_id,ndcg10\na\"b,0.5\"x\n"),
    ("an empty id", b"query_id,ndcg10\n,0.5\n"),
    ("an empty column name", b"query_id,\na,0.5\n"),
    ("one column twice", b"query_id,ndcg10,ndcg10\na,0.5,0.6\n"),
    ("ragged rows", b"query_id,ndcg10\na,0.5\nb\nc,0.5,0.5\n"),
    ("a formula", b"query_id,ndcg10\na,=1+1\n"),
    (
        "an HTML page",
        b"<!DOCTYPE html><html><body>404</body></html>",
    ),
    ("a gzip head", b"\x1f\x8b"),
    ("a Parquet head", b"PAR1"),
    ("a Parquet file of nothing", b"PAR1\0\0\0\0PAR1"),
    (
        "a Parquet file whose length lies",
        b"PAR1\xff\xff\xff\x7fPAR1",
    ),
    ("a zip head", b"PK\x03\x04\x14\0\0\0"),
    ("a comment", b"# judgments of Monday\n"),
    ("control characters", b"\x1b[31mred\x1b[0m 0 a 1\n"),
];

/// The same and what has to be made: long, deep, wide and packed files.
fn garbage() -> Vec<(&'static str, Vec<u8>)> {
    let table = csv(&baseline(30));
    let columns: Vec<String> = (0..5_000).map(|at| format!(",m{at}")).collect();
    let fixed = GARBAGE
        .iter()
        .map(|&(what, content)| (what, content.to_vec()));
    let made = [
        ("all bytes", (0..=255).collect()),
        ("a very long line", vec![b'x'; 2_000_000]),
        (
            "a very long id",
            format!("{} 0 a 1\n", "q".repeat(100_000)).into_bytes(),
        ),
        ("a deep list", "[".repeat(10_000).into_bytes()),
        (
            "many columns, no row",
            format!("query_id{}", columns.concat()).into_bytes(),
        ),
        ("a cut gzip file", gzipped(table.as_bytes())[..40].to_vec()),
        ("gzip in gzip", gzipped(&gzipped(table.as_bytes()))),
        ("a gzipped nothing", gzipped(b"")),
    ];
    fixed.chain(made).collect()
}

#[test]
fn garbage_anywhere_is_refused_in_words() {
    let bench = Bench::new();
    bench.write("qrels", "1 0 a 1\n2 0 b 1\n");
    bench.write("run", "1 Q0 a 1 2.0 t\n2 Q0 b 1 1.0 t\n");
    let rows = baseline(30);
    bench.write("base.csv", csv(&rows));
    bench.write("better.csv", csv(&improved(&rows)));
    bench.write("products.csv", "id,title\nd1,lamp\n");
    bench.write("ratings.csv", "query,docid,rating\nlamp,d1,1\n");
    let import = "dataset import catalogue --id id --field title --out new";
    let places = [
        "evaluate BAD run RR",
        "evaluate qrels BAD RR --format json",
        "compare base.csv BAD",
        "compare BAD better.csv --format json",
        "compare BAD BAD",
        "compare run BAD --qrels qrels",
        "compare run run --qrels BAD",
        "dataset verify BAD",
        "dataset inspect BAD",
        &format!("{import} --products BAD --ratings ratings.csv"),
        &format!("{import} --products products.csv --ratings BAD"),
        "dataset import trec --documents BAD --topics BAD --qrels qrels --out new",
        "dataset import esci --examples BAD --products BAD --locale us --gains E=1,S=0.1,C=0.01,I=0 --out new",
        "run BAD --out new --quiet",
    ];
    let names = [
        "bad",
        "bad.csv",
        "bad.json",
        "bad.jsonl",
        "bad.parquet",
        "bad.gz",
    ];
    let mut tried = 0;
    for (at, (what, content)) in garbage().into_iter().enumerate() {
        for (shift, place) in places.iter().enumerate() {
            // Every content meets every name and place over the whole table, not every combination of the three.
            let name = names[(at + shift) % names.len()];
            bench.write(name, &content);
            let outcome = run_line(&bench, &place.replace("BAD", name));
            assert_eq!(
                outcome.code,
                Some(2),
                "{what} as {name} in `{place}`\n{}{}",
                outcome.stdout,
                outcome.stderr
            );
            // A message is for a terminal: not pages of it, and no control character of the file in it.
            assert!(
                outcome.stderr.len() < 4_000,
                "{what} in `{place}`: {}",
                outcome.stderr.len()
            );
            let control = |c: char| c.is_control() && c != '\n' && c != '\t';
            assert!(
                !outcome.stderr.contains(control),
                "{what} in `{place}`: {:?}",
                outcome.stderr
            );
            tried += 1;
        }
    }
    assert!(tried > 500, "{tried} inputs tried");
}

/// A policy may be empty and a file of ids may be any text, so these two places accept some of it, in words too.
#[test]
fn garbage_as_policy_or_ids_is_refused_or_harmless() {
    let bench = Bench::new();
    let rows = baseline(30);
    bench.write("base.csv", csv(&rows));
    for (what, content) in garbage() {
        bench.write("bad", &content);
        let policy = run_line(&bench, "compare base.csv base.csv --policy bad");
        assert!(
            matches!(policy.code, Some(2 | 4)),
            "{what}\n{}",
            policy.stderr
        );
        let ids = run_line(&bench, "dataset split --ids bad --seed 1 --train 1");
        assert!(matches!(ids.code, Some(0 | 2)), "{what}\n{}", ids.stderr);
    }
}

#[test]
fn half_of_a_good_file_never_promotes() {
    let bench = Bench::new();
    let rows = baseline(60);
    let good = csv(&improved(&rows));
    bench.write("base.csv", csv(&rows));
    bench.write("good.csv", &good);
    run_line(&bench, "compare base.csv good.csv").ending(0);
    for part in 1..20 {
        bench.write("cut.csv", &good.as_bytes()[..good.len() * part / 20]);
        for line in ["compare base.csv cut.csv", "compare cut.csv good.csv"] {
            let outcome = run_line(&bench, line);
            assert_ne!(
                outcome.code,
                Some(0),
                "{part}/20, {line}\n{}",
                outcome.stdout
            );
        }
    }
}

#[test]
fn a_closed_pipe_is_no_panic() {
    let bench = Bench::new();
    bench.write("qrels", "1 0 a 1\n");
    bench.write("run", "1 Q0 a 1 2.0 t\n");
    let mut command = bench.command(["evaluate", "qrels", "run", "RR", "-q"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the command starts");
    // The reader is gone before anything is written.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("the command ends");
    assert_eq!(output.status.code(), Some(0));
    assert!(!String::from_utf8_lossy(&output.stderr).contains("panicked"));
}
