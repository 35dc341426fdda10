//! Sweeps with more rows than are stored: means of all candidates, rows of those who are judged.

use std::collections::BTreeSet;
use std::fs;

use evalfarm_columnar::{Table, read_foreign};
use evalfarm_tests::{Bench, Sweep, wait_until};
use serde_json::Value;

use crate::scene::{LONG, differences, marks, results, shop_sweep, staged};

/// Lets the sweep of a bench store no more than `max_rows` rows.
fn limit(bench: &Bench, max_rows: u32) {
    let text = fs::read_to_string(bench.at("sweep.toml")).expect("it was written");
    let text = text
        .lines()
        .filter(|line| !line.starts_with("max_rows"))
        .fold(format!("max_rows = {max_rows}\n"), |text, line| {
            text + line + "\n"
        });
    bench.write("sweep.toml", text);
}

fn run(bench: &Bench, out: &str, more: &[&str]) -> Value {
    // A look at the holdout that another run has had would be a difference.
    drop(fs::remove_file(bench.at("shop.looks.jsonl")));
    let args = ["run", "sweep.toml", "--format", "json", "--out", out];
    let outcome = bench.run(args.iter().chain(more));
    outcome.expect_verdict();
    outcome.json()
}

/// Returns what a verdict says beside which rows are stored, and that part.
fn told(mut document: Value) -> (Value, Value) {
    let sweep = &mut document["provenance"]["sweep"];
    sweep.as_object_mut().expect("a table").remove("max_rows");
    let object = document.as_object_mut().expect("a verdict is an object");
    for key in ["job", "out"] {
        object.remove(key).expect("every verdict has it");
    }
    let left_out = object.remove("rows_left_out").unwrap_or_default();
    (document, left_out)
}

fn tables(bench: &Bench, folder: &str) -> Vec<Table> {
    let names = marks(&bench.at(folder)).into_keys();
    let read = |name| read_foreign(&bench.at(folder).join(name), None).expect("it can be read");
    names.map(read).collect()
}

fn column(table: &Table, name: &str) -> Vec<String> {
    let cells = table.text(name).expect("it is a text column").iter();
    cells.flatten().map(ToString::to_string).collect()
}

/// Returns the distinct pairs of candidate and split in the files of a folder.
fn stored(bench: &Bench, folder: &str) -> BTreeSet<(String, String)> {
    let pairs = tables(bench, folder).into_iter().flat_map(|table| {
        let candidates = column(&table, "candidate");
        candidates.into_iter().zip(column(&table, "split"))
    });
    pairs.collect()
}

#[test]
fn a_sweep_whose_rows_are_not_stored_ends_in_the_same_verdict() {
    let bench = staged(120, 80);
    let (whole, left_out) = told(run(&bench, "whole", &[]));
    assert_eq!(left_out, Value::Null, "every row is stored");
    assert_eq!(marks(&bench.at("whole/means")).len(), 0);
    let candidates = whole["candidates"].as_u64().expect("a count");

    // The baseline is a round of its own: 120 rows. The next round has more candidates than one.
    for (max_rows, out) in [(0, "none"), (120, "first")] {
        limit(&bench, max_rows);
        let (verdict, left_out) = told(run(&bench, out, &[]));
        assert_eq!(verdict, whole, "max_rows = {max_rows}");
        assert_eq!(left_out["max_rows"], max_rows);
        assert_eq!(left_out["candidates"], candidates - 2);
        let ids = |side: &str| whole[side]["id"].as_str().expect("an id").to_owned();
        let judged = ["baseline", "best"].map(ids);
        let judged = |split: &str| judged.clone().map(|id| (id, split.to_owned()));
        let expected = judged("train").into_iter().chain(judged("holdout"));
        let expected: BTreeSet<_> = expected.collect();
        assert_eq!(stored(&bench, &format!("{out}/rows")), expected);
        // Means are of all whose round did not fit, the best among them.
        let means = stored(&bench, &format!("{out}/means"));
        let with_means = candidates - u64::from(max_rows > 0);
        assert_eq!(means.len() as u64, with_means);
    }

    let means = |out: &str| {
        let table = read_foreign(&bench.at(out).join("candidates.parquet"), None);
        let table = table.expect("it can be read");
        let mean = |name: &str| table.f64(name).expect("it is a column of numbers").to_vec();
        let same = table.text("same_results_as").expect("it is a text column");
        (mean("train_ndcg_10"), mean("holdout_p_10"), same.to_vec())
    };
    assert_eq!(means("none"), means("whole"));
    let text = bench.run(["run", "sweep.toml", "--out", "first", "--resume"]);
    let said = "only the means of";
    assert!(text.stdout.contains(said), "{}", text.stdout);
}

#[test]
fn a_sweep_is_stored_while_its_rounds_fit() {
    let bench = staged(120, 80);
    let whole = run(&bench, "whole", &[]);
    let candidates = whole["candidates"].as_u64().expect("a count");
    let half = u32::try_from(candidates / 2).expect("a small number");
    limit(&bench, half * 120);
    let (verdict, left_out) = told(run(&bench, "half", &[]));
    assert_eq!(verdict, told(whole).0);
    let missing = left_out["candidates"].as_u64().expect("a count");
    assert!((candidates - u64::from(half) - 1..candidates - 2).contains(&missing));
    let train = |folder: &str| -> BTreeSet<String> {
        let pairs = stored(&bench, folder).into_iter();
        pairs
            .filter(|(_, split)| split == "train")
            .map(|(id, _)| id)
            .collect()
    };
    let (rows, means) = (train("half/rows"), train("half/means"));
    assert_eq!(rows.union(&means).count() as u64, candidates);
    assert_eq!(rows.len() as u64, candidates - missing);
}

#[test]
fn means_are_the_same_on_any_number_of_threads_and_after_a_kill() {
    let bench = staged(LONG.0, LONG.1);
    limit(&bench, 0);
    run(&bench, "whole", &["--threads", "1"]);
    run(&bench, "three", &["--threads", "3"]);
    assert_eq!(
        differences(&results(&bench, "whole"), &results(&bench, "three")),
        [""; 0]
    );

    let tasks = marks(&bench.at("whole/means")).len();
    drop(fs::remove_file(bench.at("shop.looks.jsonl")));
    let args = ["run", "sweep.toml", "--threads", "1", "--out", "job"];
    let mut running = bench.start(args);
    let means = bench.at("job/means");
    wait_until("enough means", || {
        assert!(!running.has_ended(), "it ended before it could be stopped");
        (marks(&means).len() >= tasks / 2).then_some(())
    });
    running.kill();
    let before = marks(&means);
    assert!(before.len() < tasks, "it was done before it was killed");
    let resumed = bench.run(["run", "sweep.toml", "--out", "job", "--resume"]);
    resumed.expect_verdict();
    let taken_over = format!("{} finished tasks are taken over", before.len());
    assert!(resumed.stderr.contains(&taken_over), "{}", resumed.stderr);
    let after = marks(&means);
    for (name, mark) in &before {
        assert_eq!(after.get(name), Some(mark), "`{name}` was computed again");
    }
    assert_eq!(
        differences(&results(&bench, "whole"), &results(&bench, "job")),
        [""; 0]
    );
}

#[test]
fn a_family_with_too_many_rows_is_refused_with_a_way_out() {
    let bench = Bench::new();
    bench.generate("shop", 500, 40);
    let sweep = Sweep {
        split: None,
        policy: "judge = \"all_on_all\"\nresamples = 200".to_owned(),
        ..shop_sweep(
            0,
            0,
            "strategy = \"grid\"\nratios = { brand = [0.1, 0.2, 0.3] }",
        )
    };
    bench.write("sweep.toml", sweep.toml());
    limit(&bench, 159);
    let outcome = bench.run(["run", "sweep.toml", "--out", "job"]);
    outcome.expect_code(2);
    for said in [
        "4 candidates on 40 queries",
        "the 159 rows of `max_rows`",
        "hint: ",
    ] {
        assert!(outcome.stderr.contains(said), "{}", outcome.stderr);
    }
    limit(&bench, 160);
    bench
        .run(["run", "sweep.toml", "--out", "fits"])
        .expect_verdict();
}
