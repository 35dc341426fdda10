//! Datasets that were generated: inspected, verified, damaged.

use std::fs;

use evalfarm_tests::{Bench, tree};

use crate::support::{Ending as _, refused, run_line};

const GENERATE: &str = "dataset generate --products 200 --queries 40 --seed 3 --out";

#[test]
fn a_generated_dataset_is_what_its_manifest_says() {
    let bench = Bench::new();
    let line = format!("{GENERATE} shop --truth truth.qrels --format json");
    let manifest = run_line(&bench, &line).ending(0).json();
    assert_eq!(manifest["synthetic"], true);
    assert_eq!(
        (
            &manifest["counts"]["documents"],
            &manifest["counts"]["queries"]
        ),
        (&200.into(), &40.into())
    );
    let verified = run_line(&bench, "dataset verify shop --format json")
        .ending(0)
        .json();
    assert_eq!(verified["verified"], true);
    assert_eq!(verified["manifest"], manifest);
    let inspected = run_line(&bench, "dataset inspect shop").ending(0).stdout;
    for piece in [
        "200 documents, 40 queries",
        "synthetic",
        "category",
        "the same in every document: cannot change a ranking",
        "judged documents a query",
    ] {
        assert!(inspected.contains(piece), "no {piece:?} in\n{inspected}");
    }
    // The truth is complete: it has at least every relevant judgment.
    let truth = fs::read_to_string(bench.at("truth.qrels")).expect("the truth is there");
    let relevant = manifest["counts"]["relevant"].as_u64().expect("a count");
    assert!(
        truth.lines().count() as u64 >= relevant,
        "{relevant} relevant judgments"
    );
    // The same seed gives the same bytes.
    run_line(&bench, &format!("{GENERATE} again")).ending(0);
    assert_eq!(
        tree(&bench.at("shop"), &[""]),
        tree(&bench.at("again"), &[""])
    );
}

#[test]
fn a_flipped_byte_is_found_and_named() {
    let bench = Bench::new();
    run_line(&bench, &format!("{GENERATE} shop")).ending(0);
    let files = tree(&bench.at("shop"), &[""]);
    let damaged = ["documents.parquet", "queries.parquet", "judgments.parquet"];
    for name in damaged {
        let good = &files[name];
        for place in [4, good.len() / 2, good.len() - 9] {
            let mut bytes = good.clone();
            bytes[place] ^= 1;
            bench.write(&format!("shop/{name}"), &bytes);
            // The three digests of a SHA-256 in hexadecimal: in the file, in the manifest.
            for command in [
                "dataset verify shop",
                "dataset inspect shop",
                "dataset split shop --seed 1 --train 9",
            ] {
                let said = run_line(&bench, command).ending(2).stderr;
                let digests = said.split('`').filter(|word| {
                    word.len() == 64 && word.bytes().all(|byte| byte.is_ascii_hexdigit())
                });
                assert_eq!(digests.count(), 2, "{said}");
                assert!(said.contains(name) && said.contains("hint: "), "{said}");
            }
        }
        bench.write(&format!("shop/{name}"), good);
    }
    run_line(&bench, "dataset verify shop").ending(0);
    // A file that is cut short, and one that is gone.
    bench.write("shop/queries.parquet", &files["queries.parquet"][..100]);
    refused(&bench, "dataset verify shop", &["queries.parquet"]);
    fs::remove_file(bench.at("shop/queries.parquet")).expect("a file can be removed");
    refused(&bench, "dataset verify shop", &["queries.parquet"]);
}

#[test]
fn a_changed_manifest_is_found_out() {
    let bench = Bench::new();
    run_line(&bench, &format!("{GENERATE} shop")).ending(0);
    let path = bench.at("shop/manifest.json");
    let good = fs::read_to_string(&path).expect("a dataset has a manifest");
    for (from, to) in [
        ("\"synthetic\": true", "\"synthetic\": false"),
        ("\"gains\": \"linear\"", "\"gains\": \"exponential\""),
        ("\"relevant_from\": 1.0", "\"relevant_from\": 2.0"),
        ("\"documents\": 200", "\"documents\": 201"),
        ("\"schema_version\": 1", "\"schema_version\": 99"),
        ("\"name\"", "\"nmae\""),
        ("{", ""),
    ] {
        let changed = good.replacen(from, to, 1);
        assert_ne!(changed, good, "{from}");
        bench.write("shop/manifest.json", changed);
        let said = run_line(&bench, "dataset verify shop").ending(2).stderr;
        assert!(
            said.contains("shop") || said.contains("manifest"),
            "{from}: {said}"
        );
    }
}

#[test]
fn what_is_there_is_not_overwritten_and_nothing_is_left_half_done() {
    let bench = Bench::new();
    bench.write("full/precious.txt", "keep me");
    bench.write("file", "keep me");
    fs::create_dir(bench.at("vacant")).expect("a folder can be made");
    for (line, pieces) in [
        (
            "full",
            &["`full` already exists", "hint: choose another folder"][..],
        ),
        ("file", &["`file` already exists"]),
        (".", &["`.` already exists"]),
        (
            "new --truth file",
            &[
                "`file` already exists",
                "hint: choose another file for the truth",
            ],
        ),
    ] {
        refused(&bench, &format!("{GENERATE} {line}"), pieces);
    }
    let outcome = run_line(
        &bench,
        &format!("{GENERATE} new --truth nothing/truth.qrels"),
    )
    .ending(3);
    assert!(
        outcome
            .stderr
            .contains("failed to write `nothing/truth.qrels`"),
        "{}",
        outcome.stderr
    );
    assert!(
        !bench.at("new").is_dir(),
        "a dataset without its truth was left"
    );
    assert_eq!(
        fs::read_to_string(bench.at("file")).expect("it is there"),
        "keep me"
    );
    run_line(&bench, &format!("{GENERATE} vacant")).ending(0);
    for line in [
        "dataset generate --out new --products 0 --queries 40",
        "dataset generate --out new --products 200 --queries 0",
        "dataset generate --out new --products 99999999 --queries 40",
        "dataset generate --out new --products 200 --queries 40 --seed -1",
        "dataset generate --out new --products many --queries 40",
        "dataset generate --products 200 --queries 40",
    ] {
        refused(&bench, line, &["error: "]);
        assert!(!bench.at("new").is_dir(), "{line}");
    }
}

#[test]
fn what_is_no_dataset_says_so() {
    let bench = Bench::new();
    bench.write("file", "no dataset");
    bench.write("folder/file", "");
    for (line, pieces) in [
        (
            "dataset verify nothing",
            &[
                "failed to read the split `nothing`",
                "hint: give the folder of a dataset",
            ][..],
        ),
        ("dataset verify file", &["`file` is not a split manifest"]),
        (
            "dataset verify folder",
            &["dataset `folder` has no `manifest.json`", "hint: "],
        ),
        (
            "dataset inspect folder",
            &["dataset `folder` has no `manifest.json`", "hint: "],
        ),
        (
            "dataset inspect file",
            &["`file` is a file", "hint: a dataset is a folder"],
        ),
        ("dataset inspect nothing", &["nothing"]),
        ("dataset inspect", &["<FOLDER>"]),
    ] {
        refused(&bench, line, pieces);
    }
}
