//! Files of a finished job that contradict each other: `evalfarm gate` says which values, and judges nothing.

use std::fs;

use serde_json::{Value, json};

use crate::scene::{code_of, staged};

#[test]
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn files_that_are_not_of_one_job_are_refused_with_both_values() {
    let bench = staged(60, 40);
    bench
        .run(["run", "sweep.toml", "--out", "job"])
        .expect_verdict();
    let read = |file: &str| -> Value {
        let bytes = fs::read(bench.at(file)).expect("the file is there");
        serde_json::from_slice(&bytes).expect("it is JSON")
    };
    let (job, verdict) = (read("job/job.json"), read("job/verdict.json"));
    let code = code_of(verdict["verdict"].as_str().expect("it is a text"));
    let gate = || bench.run(["gate", "job"]);
    gate().expect_code(code);
    let text = |value: &Value| value.as_str().expect("it is a text").to_owned();
    let id = text(&job["job"]);
    let fingerprint = text(&job["record"]["dataset"]);
    let holdout = text(&job["record"]["folds"]["holdout"]);
    let other = "0".repeat(64);
    // File, place in it, what is put there, and what the message has to name.
    let cases: Vec<(&str, &str, Value, Vec<&str>)> = vec![
        ("verdict", "/job", json!("j0"), vec!["`j0`", &id]),
        ("job", "/record/job", json!("j0"), vec!["`j0`", &id]),
        (
            "job",
            "/record/evaluation",
            json!(1),
            vec!["evaluation `1`"],
        ),
        (
            "verdict",
            "/provenance/evaluation",
            json!(1),
            vec!["the evaluation is `1`"],
        ),
        (
            "verdict",
            "/provenance/fingerprint",
            json!(other),
            vec![&other, &fingerprint],
        ),
        (
            "job",
            "/record/dataset",
            json!(other),
            vec![&other, &fingerprint],
        ),
        (
            "verdict",
            "/provenance/folds/holdout",
            json!(other),
            vec![&other, &holdout],
        ),
        (
            "job",
            "/record/folds/holdout",
            json!(other),
            vec![&other, &holdout],
        ),
        ("job", "/record/folds", json!({}), vec!["fold `train`"]),
        (
            "verdict",
            "/judge",
            json!("all_on_all"),
            vec!["`all_on_all`", "`winner_on_holdout`"],
        ),
        (
            "verdict",
            "/judge",
            json!("whoever"),
            vec!["verdict.json", "whoever"],
        ),
        (
            "verdict",
            "/judged_on",
            json!("train"),
            vec!["`train`", "`holdout`"],
        ),
        (
            "verdict",
            "/provenance/metrics",
            json!(["nDCG@10"]),
            vec!["the metrics"],
        ),
        ("verdict", "/policy", json!({}), vec!["policy value"]),
        (
            "verdict",
            "/policy/alpha",
            json!(0.2),
            vec!["policy value `alpha`", "`0.2`", "`0.05`"],
        ),
        (
            "verdict",
            "/provenance/sweep/seed",
            json!(77),
            vec!["sweep value `seed`", "`77`"],
        ),
        (
            "verdict",
            "/sweep",
            json!("other"),
            vec!["the name is `other`"],
        ),
        ("verdict", "", json!([]), vec!["verdict.json"]),
        ("verdict", "", json!(null), vec!["verdict.json"]),
        (
            "verdict",
            "",
            json!({}),
            vec!["verdict.json", "schema_version"],
        ),
    ];
    for (file, place, value, pieces) in cases {
        let path = format!("job/{file}.json");
        let original = if file == "job" { &job } else { &verdict };
        let mut changed = original.clone();
        let shown = format!("{file} {place} = {value}");
        *changed.pointer_mut(place).expect("the place is there") = value;
        bench.write(&path, changed.to_string());
        let outcome = gate();
        let said = &outcome.stderr;
        assert_eq!(outcome.code, Some(2), "{shown}\n{said}");
        for piece in pieces {
            assert!(said.contains(piece), "{shown}: no {piece:?} in\n{said}");
        }
        bench.write(&path, original.to_string());
    }
    // A count at the end of its range is counted on to no end.
    let mut changed = verdict.clone();
    changed["earlier_looks"] = json!({"same_hypothesis": u32::MAX, "same_holdout": u32::MAX});
    bench.write("job/verdict.json", changed.to_string());
    gate().expect_verdict();
    bench.write("job/verdict.json", verdict.to_string());
    gate().expect_code(code);
}
