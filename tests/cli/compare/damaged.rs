//! Job folders that lost something, or had it changed.

use std::fs;

use evalfarm_tests::{Bench, Data, Sweep};
use serde_json::Value;

use crate::support::{Ending as _, run_line};

/// Changes one byte in the middle of a file.
fn damage(bench: &Bench, file: &str) {
    let mut bytes = fs::read(bench.at(file)).expect("the job has the file");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    bench.write(file, bytes);
}

fn rows_of(bench: &Bench) -> String {
    let folder = fs::read_dir(bench.at("job/rows")).expect("a job has rows");
    let file = folder.flatten().next().expect("a job has rows");
    format!("job/rows/{}", file.file_name().to_string_lossy())
}

/// What is done to a job's folder, by name, and what is said of it.
type Case = (&'static str, fn(&Bench), &'static str);

const JOBS: &[Case] = &[
    (
        "no queries",
        |b| fs::remove_file(b.at("job/queries.parquet")).expect("it is there"),
        "queries.parquet",
    ),
    (
        "damaged queries",
        |b| damage(b, "job/queries.parquet"),
        "queries.parquet",
    ),
    (
        "no job.json",
        |b| fs::remove_file(b.at("job/job.json")).expect("it is there"),
        "job.json",
    ),
    (
        "a cut job.json",
        |b| drop(b.write("job/job.json", "{")),
        "job.json",
    ),
    (
        "a cut verdict",
        |b| drop(b.write("job/verdict.json", "{")),
        "verdict.json",
    ),
    (
        "another verdict",
        |b| drop(b.write("job/verdict.json", "{}")),
        "verdict.json",
    ),
    (
        "damaged rows",
        |b| damage(b, &rows_of(b)),
        "was written with",
    ),
];

#[test]
fn a_damaged_job_is_not_compared() {
    let candidates =
        "strategy = \"list\"\ncandidates = [\n  { name = \"title\", weights = { title = 1 } },\n]";
    for (name, harm, piece) in JOBS {
        let bench = Bench::new();
        let sweep = Sweep {
            split: None,
            ..Sweep::new(Data::Generated(100, 30), 0, 0, candidates)
        };
        bench.write("sweep.toml", sweep.toml());
        run_line(&bench, "run sweep.toml --out job --quiet");
        let text = fs::read_to_string(bench.at("job/verdict.json")).expect("a verdict");
        let verdict: Value = serde_json::from_str(&text).expect("it is JSON");
        let id = |side: &str| verdict[side]["id"].as_str().expect("an id").to_owned();
        let (before, after) = (id("baseline"), id("best"));
        let rows = rows_of(&bench);
        harm(&bench);
        for path in ["job", "job/rows", &rows] {
            let line =
                format!("compare {path} {path} --baseline-id {before} --candidate-id {after}");
            let outcome = run_line(&bench, &line);
            let code = outcome.code;
            assert!(
                matches!(code, Some(2 | 3)),
                "{name}, {path}: {code:?}\n{}",
                outcome.stdout
            );
            assert!(
                outcome.stderr.contains(piece),
                "{name}, {path}: {}",
                outcome.stderr
            );
        }
        // Rows that lie in no job folder are a table like any other.
        if *name == "a cut verdict" {
            bench.write("alone.parquet", fs::read(bench.at(&rows)).expect("rows"));
            let line = format!(
                "compare alone.parquet alone.parquet --baseline-id {before} --candidate-id {before}"
            );
            run_line(&bench, &line).ending(4);
        }
    }
}
