//! Which candidates are evaluated, and how often.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use evalfarm_columnar::{Table, read_foreign};
use evalfarm_tests::{Bench, Sweep};
use serde_json::Value;

use crate::scene::{marks, shop_sweep};

/// Runs a sweep that judges every candidate on every query and returns its result.
fn run_all(bench: &Bench, queries: u32, strategy: &str) -> Value {
    bench.generate("shop", 500, queries);
    let sweep = Sweep {
        split: None,
        policy: "judge = \"all_on_all\"\nresamples = 200".to_owned(),
        ..shop_sweep(0, 0, strategy)
    };
    bench.write("sweep.toml", sweep.toml());
    let args = [
        "run",
        "sweep.toml",
        "--out",
        "job",
        "--threads",
        "3",
        "--format",
        "json",
    ];
    bench.run(args).json()
}

fn tables(rows: &Path) -> Vec<Table> {
    let names = marks(rows).into_keys();
    names
        .map(|name| read_foreign(&rows.join(name), None).expect("rows can be read"))
        .collect()
}

fn text(table: &Table, column: &str) -> Vec<String> {
    let cells = table.text(column).expect("it is a text column");
    let cell = |cell: &Option<Box<str>>| cell.as_deref().unwrap_or_default().to_owned();
    cells.iter().map(cell).collect()
}

/// Counts the rows of each candidate and query.
fn pairs(rows: &Path) -> BTreeMap<(String, String), usize> {
    let mut pairs = BTreeMap::new();
    for table in tables(rows) {
        let candidates = text(&table, "candidate");
        for pair in candidates.into_iter().zip(text(&table, "query")) {
            *pairs.entry(pair).or_default() += 1;
        }
    }
    pairs
}

/// Returns the digest of each query's ranking under one candidate.
fn digests(rows: &Path, candidate: &str) -> BTreeMap<String, u64> {
    let mut digests = BTreeMap::new();
    for table in tables(rows) {
        let cells = table.u64("top_digest").expect("it is a column of numbers");
        let ids = text(&table, "candidate")
            .into_iter()
            .zip(text(&table, "query"));
        for ((id, query), digest) in ids.zip(cells) {
            if id == candidate {
                digests.insert(query, digest.expect("every row has a digest"));
            }
        }
    }
    digests
}

/// Returns the id of the candidate that a name stands for.
fn id_of(bench: &Bench, name: &str) -> String {
    let table = read_foreign(&bench.at("job/candidates.parquet"), None).expect("it can be read");
    let labels = text(&table, "labels");
    let row = labels.iter().position(|labels| {
        let labels: Vec<String> = serde_json::from_str(labels).expect("labels are a JSON list");
        labels.iter().any(|label| label == name)
    });
    let row = row.unwrap_or_else(|| panic!("`{name}` is not among {labels:?}"));
    text(&table, "candidate").swap_remove(row)
}

#[test]
fn w1_three_values_on_three_threads_are_three_evaluations() {
    // 280 spellings of three points do not fit into one task of 256 candidates, so equal ones would meet in two tasks.
    let mut list = "strategy = \"list\"\n".to_owned();
    for index in 0..280_u32 {
        let scale = f64::from(index / 3 + 1);
        let brand = f64::from(index % 3 + 1) * 0.25 * scale;
        write!(
            list,
            "\n[[sweep.candidates]]\nname = \"n{index}\"\nweights = {{ title = {scale:?}, brand = {brand:?} }}\n"
        )
        .expect("text can be appended to");
    }
    let bench = Bench::new();
    let result = run_all(&bench, 60, &list);
    assert_eq!(result["candidates"], 4, "three and the baseline");
    let aliases = result["report"]["aliases"].as_array().expect("a list");
    assert_eq!(aliases.len(), 277, "every other spelling is reported");
    let pairs = pairs(&bench.at("job/rows"));
    assert_eq!(pairs.len(), 4 * 60);
    assert!(pairs.values().all(|&rows| rows == 1), "evaluated twice");
}

#[test]
fn w2_a_grid_of_2_by_3_by_11_is_66_candidates() {
    let bench = Bench::new();
    let grid = "strategy = \"grid\"
ratios = { brand = [0.5, 1], bullet_point = [0.1, 0.2, 0.3], description = \"0..1 step 0.1\" }";
    let result = run_all(&bench, 40, grid);
    // The baseline's ratios (0.625, 0.375, 0.25) are not on the grid.
    assert_eq!(result["candidates"], 66 + 1);
    assert_eq!(pairs(&bench.at("job/rows")).len(), 67 * 40);
}

#[test]
fn w3_spellings_of_one_number_are_one_candidate() {
    let bench = Bench::new();
    let grid = "strategy = \"grid\"
ratios = { brand = [0.3, 0.30000000000000004], bullet_point = [1, 1.0], description = [0, -0.0] }";
    let result = run_all(&bench, 40, grid);
    assert_eq!(result["candidates"], 1 + 1);
}

#[test]
fn w5_scaled_weights_are_one_class_and_zero_is_not_tiny() {
    let bench = Bench::new();
    let list = "strategy = \"list\"
candidates = [
  { name = \"plain\", weights = { title = 4, brand = 2, description = 1 } },
  { name = \"scaled\", weights = { title = 10, brand = 5, description = 2.5 } },
  { name = \"none\", weights = { title = 0, brand = 2 } },
  { name = \"tiny\", weights = { title = 1e-6, brand = 2 } },
]";
    let result = run_all(&bench, 120, list);
    assert_eq!(result["candidates"], 3 + 1);
    assert_eq!(id_of(&bench, "plain"), id_of(&bench, "scaled"));
    let rows = bench.at("job/rows");
    let none = digests(&rows, &id_of(&bench, "none"));
    let tiny = digests(&rows, &id_of(&bench, "tiny"));
    assert_eq!(none.len(), 120);
    assert!(none != tiny, "a tiny weight keeps the field's matches");
}
