//! `evalfarm dataset split` and the verification of splits.

use std::collections::BTreeSet;
use std::fs;

use evalfarm_testkit::reference_data;
use evalfarm_tests::Bench;
use serde_json::Value;

use crate::support::{Ending as _, refused, run, run_line};

/// Returns the ids of a side of a split that the command wrote.
fn side(bench: &Bench, file: &str, side: &str) -> BTreeSet<String> {
    let text = fs::read_to_string(bench.at(file)).expect("the split is there");
    let split: Value = serde_json::from_str(&text).expect("it is JSON");
    texts(&split[side]["ids"])
}

fn texts(list: &Value) -> BTreeSet<String> {
    let ids = list.as_array().expect("ids are a list").iter();
    ids.map(|id| match id {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    })
    .collect()
}

#[test]
fn the_published_split_is_reproduced_and_verified() {
    let bench = Bench::new();
    let Some(folder) = reference_data("searchops") else {
        return documented_order(&bench);
    };
    let path = folder.join("split-manifest.json");
    let published: Value =
        serde_json::from_str(&fs::read_to_string(&path).expect("it is complete"))
            .expect("it is JSON");
    let path = path.to_string_lossy().into_owned();
    let args = [
        "--seed",
        "20260816",
        "--train",
        "1400",
        "--out",
        "split.json",
    ];
    let outcome = run(
        &bench,
        &[&["dataset", "split", "--ids", &path][..], &args].concat(),
    )
    .ending(0);
    // Without texts there is nothing to say of queries that are alike.
    assert_eq!(outcome.stderr, "");
    for (name, key, size) in [
        ("train", "train_query_ids", 1400),
        ("holdout", "holdout_query_ids", 600),
    ] {
        let ours = side(&bench, "split.json", name);
        assert_eq!(ours.len(), size);
        assert_eq!(ours, texts(&published[key]), "{name}");
    }
    run_line(&bench, "dataset verify split.json").ending(0);
    let verified = run(&bench, &["dataset", "verify", &path]).ending(0).stdout;
    for key in ["train_query_ids_sha256", "holdout_query_ids_sha256"] {
        let digest = published[key].as_str().expect("a digest is a text");
        assert!(verified.contains(digest), "no {digest} in\n{verified}");
    }
    // One id on the other side is found out.
    let mut moved = published;
    moved["train_query_ids"][0] = moved["holdout_query_ids"][0].clone();
    bench.write("moved.json", moved.to_string());
    let found_out = run_line(&bench, "dataset verify moved.json")
        .ending(2)
        .stderr;
    assert!(found_out.contains("`moved.json`: "), "{found_out}");
}

/// python3: `sorted("abcd", key=lambda q: hashlib.sha256(f"7|{q}".encode()).hexdigest())`
const ORDER_OF_ABCD: [&str; 4] = ["a", "c", "d", "b"];

fn documented_order(bench: &Bench) {
    bench.write("ids.txt", "a\nb\nc\nd\n");
    run_line(
        bench,
        "dataset split --ids ids.txt --seed 7 --train 2 --out split.json",
    )
    .ending(0);
    let first_two = ORDER_OF_ABCD[..2]
        .iter()
        .map(|id| (*id).to_owned())
        .collect();
    assert_eq!(side(bench, "split.json", "train"), first_two);
    run_line(bench, "dataset verify split.json").ending(0);
}

#[test]
fn the_order_is_that_of_the_documented_digest() {
    documented_order(&Bench::new());
}

#[test]
fn a_larger_sample_contains_the_smaller() {
    let bench = Bench::new();
    let ids: Vec<String> = (0..500).map(|at| format!("{at:05}")).collect();
    bench.write("ids.txt", ids.join("\r\n"));
    let mut smaller = BTreeSet::new();
    for sample in [100, 200, 400] {
        let out = format!("s{sample}.json");
        let line = format!(
            "dataset split --ids ids.txt --seed 3 --train 70 --sample {sample} --out {out}"
        );
        run_line(&bench, &line).ending(0);
        let mut all = side(&bench, &out, "train");
        assert_eq!(all.len(), 70);
        all.append(&mut side(&bench, &out, "holdout"));
        assert_eq!(all.len(), sample);
        assert!(
            smaller.is_subset(&all),
            "the sample of {sample} lacks ids of the smaller"
        );
        smaller = all;
    }
}

/// A catalogue with one product for each query, and queries of which some are alike.
fn alike(bench: &Bench) {
    let mut products = String::from("id,title\n");
    let mut ratings = String::from("query_id,query,docid,rating,cluster,kind\n");
    for at in 0..20 {
        products.extend([format!("d{at},lamp {at}\n")]);
        // Five pairs that are equal after analysis, the others all their own.
        let text = match at {
            0..5 => format!("Red lamp number {at}"),
            5..10 => format!("red LAMP, number {}!", at - 5),
            _ => format!("something else entirely {at} {}", at * 7919),
        };
        ratings.extend([format!(
            "q{at},\"{text}\",d{at},1,c{},k{}\n",
            at % 4,
            at % 2
        )]);
    }
    bench.write("products.csv", products);
    bench.write("ratings.csv", ratings);
    let line = "dataset import catalogue --products products.csv --id id --field title --ratings ratings.csv --out shop";
    run_line(bench, line).ending(0);
}

#[test]
fn queries_that_are_alike_on_both_sides_are_reported_or_kept_together() {
    let bench = Bench::new();
    alike(&bench);
    let outcome = run_line(
        &bench,
        "dataset split shop --seed 1 --train 10 --out plain.json",
    )
    .ending(0);
    for piece in [
        "equal to a train query after analysis, e.g. `q",
        "`--group-by near-duplicates` keeps them together",
    ] {
        assert!(
            outcome.stderr.contains(piece),
            "no {piece:?} in\n{}",
            outcome.stderr
        );
    }
    let line =
        "dataset split shop --seed 1 --train 10 --group-by near-duplicates --out together.json";
    let outcome = run_line(&bench, line).ending(0);
    assert!(
        !outcome.stderr.contains("equal to a train query"),
        "{}",
        outcome.stderr
    );
    let train = side(&bench, "together.json", "train");
    for at in 0..5 {
        let pair = [format!("q{at}"), format!("q{}", at + 5)];
        assert_eq!(
            train.contains(&pair[0]),
            train.contains(&pair[1]),
            "{pair:?}"
        );
    }
    for (group, of) in [("cluster", 4), ("kind", 2)] {
        let line =
            format!("dataset split shop --seed 1 --train 9 --group-by {group} --out {group}.json");
        run_line(&bench, &line).ending(0);
        let groups = |name| -> BTreeSet<usize> {
            let ids = side(&bench, &format!("{group}.json"), name);
            ids.iter()
                .map(|id| {
                    id.trim_start_matches('q')
                        .parse::<usize>()
                        .expect("a number")
                        % of
                })
                .collect()
        };
        assert!(groups("train").is_disjoint(&groups("holdout")), "{group}");
    }
}

/// Arguments that cannot be followed, and pieces of the message.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "--ids twice.txt --seed 1 --train 1",
        &["`twice.txt`, line 3: query `a` occurs again, first in line 1"],
    ),
    (
        "--ids latin1.txt --seed 1 --train 1",
        &["failed to read `latin1.txt`", "hint: "],
    ),
    (
        "--ids empty.txt --seed 1 --train 1",
        &["`empty.txt`: there is no query id in it"],
    ),
    (
        "--ids long.txt --seed 1 --train 1",
        &["`long.txt`, line 1: "],
    ),
    (
        "--ids nothing.txt --seed 1 --train 1",
        &["failed to read `nothing.txt`"],
    ),
    (
        "--ids there.json --seed 1 --train 1",
        &["`there.json` is not a split manifest"],
    ),
    (
        "--ids ids.txt --seed 1 --train 4",
        &["4 queries were asked for on the train side of a split of 3"],
    ),
    (
        "--ids ids.txt --seed 1 --train 1 --sample 9",
        &["9 queries were asked for, 3 are available"],
    ),
    (
        "--ids ids.txt --seed 1 --train-share 1.5",
        &["train share `1.5` is not between 0 and 1"],
    ),
    (
        "--ids ids.txt --seed 1 --train-share nan",
        &["train share `NaN`"],
    ),
    (
        "--ids ids.txt --seed 1 --train-share -0.5",
        &["train share `-0.5`"],
    ),
    (
        "--ids ids.txt --seed -1 --train 1",
        &["invalid value '-1' for '--seed <SEED>'"],
    ),
    (
        "--ids ids.txt --seed 1 --train 1 --train-share 0.5",
        &["cannot be used with"],
    ),
    ("--ids ids.txt --seed 1", &["--train"]),
    ("--seed 1 --train 1", &["<FOLDER>"]),
    (
        "shop --ids ids.txt --seed 1 --train 1",
        &["cannot be used with"],
    ),
    (
        "--ids ids.txt --seed 1 --train 1 --group-by cluster",
        &["cannot be used with"],
    ),
    (
        "shop --seed 1 --train 1 --group-by colour",
        &["no query has the column `colour`"],
    ),
    ("nothing --seed 1 --train 1", &["`nothing`"]),
    (
        "--ids ids.txt --seed 1 --train 1 --out there.json",
        &["`there.json` already exists and is not this split"],
    ),
];

#[test]
fn splits_that_cannot_be_made_are_refused() {
    let bench = Bench::new();
    alike(&bench);
    bench.write("ids.txt", "a\nb\nc\n");
    bench.write("twice.txt", "a\nb\na\n");
    bench.write("latin1.txt", b"a\ncaf\xe9\n");
    bench.write("empty.txt", "\n\n");
    bench.write("long.txt", "x".repeat(513));
    bench.write("there.json", "{}");
    for (line, pieces) in REFUSED {
        refused(&bench, &format!("dataset split {line}"), pieces);
    }
    let unwritable = "dataset split --ids ids.txt --seed 1 --train 1 --out nothing/split.json";
    let outcome = run_line(&bench, unwritable).ending(3);
    assert!(
        outcome
            .stderr
            .contains("failed to write the split `nothing/split.json`")
    );
    // Making the same split again is no mistake; an empty side is one that is said.
    let again = "dataset split --ids ids.txt --seed 1 --train 3 --out all.json";
    let first = run_line(&bench, again).ending(0);
    assert!(
        first.stderr.contains("warning: the holdout side is empty"),
        "{}",
        first.stderr
    );
    assert_eq!(run_line(&bench, again), first);
}
