//! Looks at a holdout: judging a job again is none, another job's is said.

use std::fs;

use evalfarm_tests::{Bench, Sweep};

use crate::scene::{differences, results, shop_sweep};

/// A list has no randomness, and the first of these is better than the second and than the baseline whatever the seed.
const STRATEGY: &str = "strategy = \"list\"
candidates = [
  { name = \"good\", weights = { title = 4, brand = 2.5, bullet_point = 1.5, description = 1 } },
  { name = \"poor\", weights = { category = 1, brand = 2e-3 } },
]";

fn bench() -> Bench {
    let bench = Bench::new();
    bench.generate("shop", 2000, 200);
    let mut sweep = Sweep {
        baseline: "{ title = 0, brand = 1e-3, bullet_point = 0, description = 0, category = 1 }"
            .to_owned(),
        policy: "judge = \"winner_on_holdout\"".to_owned(),
        ..shop_sweep(120, 80, STRATEGY)
    };
    bench.write("first.toml", sweep.toml());
    sweep.seed += 1;
    bench.write("second.toml", sweep.toml());
    bench
}

fn ledger(bench: &Bench) -> String {
    fs::read_to_string(bench.at("shop.looks.jsonl")).expect("looks are counted beside the dataset")
}

#[test]
fn the_same_job_twice_is_one_look_and_one_verdict() {
    let bench = bench();
    bench.run(["run", "first.toml", "--out", "a"]);
    let once = ledger(&bench);
    assert_eq!(once.lines().count(), 1);
    bench.run(["run", "first.toml", "--out", "b"]);
    assert_eq!(ledger(&bench), once);
    assert_eq!(
        differences(&results(&bench, "a"), &results(&bench, "b")),
        [""; 0]
    );
}

#[test]
fn another_job_with_the_same_winner_says_that_the_holdout_was_looked_at() {
    let bench = bench();
    let run = |sweep: &str, out: &str| {
        bench
            .run(["run", sweep, "--out", out, "--format", "json"])
            .json()
    };
    let first = run("first.toml", "a");
    let second = run("second.toml", "b");
    assert_ne!(first["job"], second["job"]);
    assert_eq!(first["best"]["id"], second["best"]["id"]);
    assert_eq!(first["earlier_looks"]["same_hypothesis"], 0);
    assert_eq!(second["earlier_looks"]["same_hypothesis"], 1);
    assert_eq!(second["earlier_looks"]["same_holdout"], 1);
    let limits = second["limits"].as_array().expect("limits are a list");
    let said = limits.iter().filter_map(|limit| limit["text"].as_str());
    let said: Vec<&str> = said.filter(|text| text.contains("look")).collect();
    assert!(!said.is_empty(), "{limits:#?}");
    // The first job's verdict stays what it was, although the holdout has been looked at since.
    assert_eq!(
        run("first.toml", "c")["earlier_looks"],
        first["earlier_looks"]
    );
    assert_eq!(ledger(&bench).lines().count(), 2);
}

#[test]
fn another_policy_is_another_look_and_the_same_one_again_is_none() {
    let bench = bench();
    bench.run(["run", "first.toml", "--out", "a"]);
    let folder = results(&bench, "a");
    bench.write("strict.toml", "min_effect = 0.5");
    let gate = |options: &[&str]| {
        let line = ["gate", "a", "--format", "json"];
        let args: Vec<&str> = line.iter().chain(options).copied().collect();
        bench.run(args).json()
    };
    assert_eq!(gate(&[])["earlier_looks"]["same_holdout"], 0);
    assert_eq!(
        ledger(&bench).lines().count(),
        1,
        "its own policy is its own look"
    );
    for _ in 0..2 {
        let judged = gate(&["--policy", "strict.toml"]);
        assert_eq!(judged["earlier_looks"]["same_holdout"], 1);
        assert_eq!(judged["earlier_looks"]["same_hypothesis"], 0);
        let limits = judged["limits"].to_string();
        assert!(
            limits.contains("earlier looks at this holdout: 1,"),
            "{limits}"
        );
    }
    assert_eq!(ledger(&bench).lines().count(), 2);
    assert_eq!(differences(&folder, &results(&bench, "a")), [""; 0]);
    // Whoever looks next is told of both.
    let second = bench.run(["run", "second.toml", "--out", "b", "--format", "json"]);
    assert_eq!(second.json()["earlier_looks"]["same_holdout"], 2);
    // On another machine the ledger is not there: the look cannot be counted, and that is said.
    std::fs::remove_file(bench.at("shop.looks.jsonl")).expect("the ledger is there");
    let judged = gate(&["--policy", "strict.toml"]);
    let limits = judged["limits"].to_string();
    assert!(limits.contains("is not counted"), "{limits}");
}
