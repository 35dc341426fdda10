//! A sweep over a real product catalogue, or over a generated one where there is none.

use std::path::PathBuf;

use evalfarm_testkit::reference_data;
use evalfarm_tests::{Bench, Data, Sweep};
use serde_json::Value;

use crate::scene::code_of;

/// 3 × 3 × 5 × 5 points around the weights of the golden runs, in a region where some ratios no longer matter.
const GRID: &str = "strategy = \"grid\"
ratios = { name = [0, 0.25, 0.5], short_description = [0, 0.25, 0.5], supplier = [0, 0.25, 0.5, 0.75, 1], attrs = [0, 0.1, 0.25, 0.5, 1] }";

/// Imports the catalogue of five fields and 135 queries, or generates one of five fields, and returns a sweep that judges
/// a grid of candidates on every query.
fn sweep(bench: &Bench, real: Option<&PathBuf>) -> Sweep {
    let catalogue = Data::Stored("catalogue".to_owned());
    let sweep = if let Some(data) = real {
        let products = data.join("products.jsonl.gz").display().to_string();
        let ratings = data.join("ratings.csv").display().to_string();
        let args = "dataset import catalogue --id id --field title --field name --field short_description \
                    --field supplier --field attrs=attr_t* --out catalogue --products";
        let args = args.split_whitespace();
        bench
            .run(args.chain([&*products, "--ratings", &*ratings]))
            .expect_code(0);
        Sweep {
            baseline: "{ title = 4, name = 1, short_description = 1, supplier = 2, attrs = 1 }"
                .to_owned(),
            ..Sweep::new(catalogue, 0, 0, GRID)
        }
    } else {
        bench.generate("catalogue", 3000, 135);
        let grid = GRID
            .replace("name =", "category =")
            .replace("short_description =", "bullet_point =")
            .replace("supplier =", "brand =")
            .replace("attrs =", "description =");
        Sweep::new(catalogue, 0, 0, &grid)
    };
    Sweep {
        split: None,
        policy: "judge = \"all_on_all\"".to_owned(),
        ..sweep
    }
}

#[test]
fn a_real_catalogue_ends_in_a_verdict_that_names_what_changed_nothing() {
    let bench = Bench::new();
    let real = reference_data("chorus");
    bench.write("sweep.toml", sweep(&bench, real.as_ref()).toml());
    let json = bench.run(["run", "sweep.toml", "--format", "json", "--out", "json"]);
    let document = json.json();
    let verdict = document["verdict"].as_str().expect("a verdict is text");
    json.expect_code(code_of(verdict));
    let candidates = document["candidates"].as_u64().expect("a count");
    assert!(candidates >= 218, "{candidates} candidates");
    assert_eq!(document["metrics"][0]["n"], 135);

    let list = |value: &Value| value.as_array().cloned().expect("a list");
    let unchanged = list(&document["report"]["unchanged"]);
    assert!(!unchanged.is_empty(), "some candidates change nothing");
    let fields = list(&document["report"]["fields"]);
    let idle = fields.iter().filter(|field| field["effect"] == "nothing");
    let idle: Vec<&str> = idle.filter_map(|field| field["field"].as_str()).collect();
    // In the real catalogue the name repeats words of the title; in the generated one all products have one category.
    assert!(
        idle.contains(&if real.is_some() { "name" } else { "category" }),
        "{idle:?}"
    );

    let text = bench.run(["run", "sweep.toml", "--out", "text"]);
    assert_eq!(text.stdout.lines().next(), Some(verdict));
    let named = format!(
        "{} candidates changed nothing against the baseline",
        unchanged.len()
    );
    assert!(text.stdout.contains(&named), "{}", text.stdout);
    let first = unchanged[0]["candidate"].as_str().expect("an id is text");
    assert!(text.stdout.contains(first), "{}", text.stdout);
    for field in idle {
        let row =
            |line: &&str| line.trim_start().starts_with(field) && line.contains("changes nothing");
        assert!(
            text.stdout.lines().any(|line| row(&line)),
            "{field} is not named"
        );
    }
}
