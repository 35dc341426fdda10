//! The documentation of the sweep file: its examples are files, and it names every key.

use std::path::Path;

use evalfarm_domain::{FieldName, Metric};

use crate::sweep::{
    Catalogue, DatasetSource, GeneratedDataset, Judge, Moves, RandomPoints, SelectionFold,
    SplitSizes, SplitSource, StagedSettings, SweepFile, SweepPlan,
};

const DOCUMENT: &str = include_str!("../../../../docs/sweep-file.md");

/// The TOML blocks of the document, in order. The first is the frame that the others complete.
fn blocks() -> Vec<String> {
    let blocks = DOCUMENT.split("```toml\n").skip(1);
    blocks
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_example_of_the_documentation_is_a_sweep_file() {
    let blocks = blocks();
    let mut strategies = Vec::new();
    for block in &blocks[1..] {
        let text = format!("{}\n{block}", blocks[0]);
        let file = SweepFile::parse(&text, Path::new(""))
            .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let strategy = match &file.plan {
            SweepPlan::List(_) => "list",
            SweepPlan::InSpace { moves, .. } => match moves {
                Moves::Grid(_) => "grid",
                Moves::AxisScan(_) => "axis_scan",
                Moves::CoordinateDescent(_) => "coordinate_descent",
                Moves::Random(_) => "random",
                Moves::Refine(_) => "refine",
                Moves::Staged(_) => "staged",
            },
        };
        strategies.push(strategy);
    }
    let expected = [
        "staged",
        "list",
        "grid",
        "axis_scan",
        "coordinate_descent",
        "random",
        "refine",
    ];
    assert_eq!(strategies, expected);
}

#[test]
fn the_documentation_names_every_key() {
    // The readers' own lists, by way of their error messages.
    let frame = &blocks()[0];
    let parse = |text: &str| {
        SweepFile::parse(text, Path::new(""))
            .unwrap_err()
            .to_string()
    };
    let mut messages = vec![parse("zzzzzz = 1")];
    for table in ["dataset", "split", "engine", "metrics", "baseline"] {
        messages.push(parse(&format!(
            "name = \"a\"\nseed = 1\n{}{table}.zzzzzz = 1",
            needed_before(table)
        )));
    }
    for strategy in [
        "list",
        "grid",
        "axis_scan",
        "coordinate_descent",
        "random",
        "refine",
        "staged",
    ] {
        messages.push(parse(&format!(
            "{frame}\n[sweep]\nstrategy = \"{strategy}\"\nzzzzzz = 1"
        )));
    }
    messages.push(parse(&format!(
        "{frame}\n[sweep]\nstrategy = \"refine\"\n[policy]\nzzzzzz = 1"
    )));
    for message in messages {
        let (_, known) = message
            .split_once("known here: ")
            .unwrap_or_else(|| panic!("{message}"));
        for key in known.split(", ") {
            assert!(
                DOCUMENT.contains(key),
                "docs/sweep-file.md does not name {key}"
            );
        }
    }
}

fn needed_before(table: &str) -> &'static str {
    if table == "dataset" {
        ""
    } else {
        "dataset.path = \"d\"\n"
    }
}

#[test]
fn what_is_left_out_has_the_documented_defaults() {
    let text = format!("{}\n[sweep]\nstrategy = \"staged\"\n", blocks()[0]);
    let file = SweepFile::parse(&text, Path::new("/sweeps")).unwrap();
    assert_eq!(file.name.as_str(), "shop-weights");
    let generated = GeneratedDataset {
        catalogue: Catalogue::Shop,
        seed: 20_260_816,
        products: 20_000,
        queries: 2_000,
    };
    assert_eq!(file.dataset, DatasetSource::Generated(generated));
    let sizes = SplitSizes {
        seed: 20_260_816,
        total: 2_000,
        train: 1_400,
    };
    assert_eq!(file.split, Some(SplitSource::Computed(sizes)));
    let names: Vec<String> = file
        .metrics
        .metrics()
        .iter()
        .map(Metric::to_string)
        .collect();
    assert_eq!(names, ["nDCG@10", "RR@10", "R@10", "P@10"]);
    assert_eq!(file.metrics.depth.get(), 10);
    assert_eq!(file.judge, Judge::WinnerOnHoldout);
    assert_eq!(file.judge.selection_fold(), SelectionFold::Train);
    assert_eq!(file.policy.primary().as_str(), "nDCG@10");
    let (resamples, alpha) = (file.policy.resamples(), file.policy.alpha());
    assert_eq!(
        (resamples.count.get(), resamples.seed),
        (10_000, 20_260_816)
    );
    assert_eq!(alpha.to_bits(), 0.05_f64.to_bits());
    let SweepPlan::InSpace {
        space,
        baseline,
        moves,
    } = &file.plan
    else {
        panic!("not in a space")
    };
    assert_eq!(space.anchor().as_str(), "title");
    // The order of the file, which is the order of the published sweep and not that of the alphabet.
    let fields: Vec<&str> = space.fields().iter().map(FieldName::as_str).collect();
    assert_eq!(fields, ["brand", "bullet_point", "description", "category"]);
    assert_eq!(baseline.ratios(), [0.625, 0.375, 0.25, 0.3]);
    assert_eq!(*moves, Moves::Staged(StagedSettings::default()));
}

#[test]
fn paths_start_at_the_folder_of_the_file() {
    let text = "name = \"t\"\nseed = 1\ndataset.path = \"../d\"\nsplit.path = \"s.json\"\n\
                baseline.weights = { title = 1, brand = 1 }\nsweep.strategy = \"refine\"\n";
    let file = SweepFile::parse(text, Path::new("/sweeps")).unwrap();
    assert_eq!(file.dataset, DatasetSource::Stored("/sweeps/../d".into()));
    assert_eq!(
        file.split,
        Some(SplitSource::Manifest("/sweeps/s.json".into()))
    );
}

#[test]
fn metrics_without_a_cutoff_see_deep_lists() {
    let depth = |metrics: &str| {
        let text = format!(
            "{}\n[metrics]\n{metrics}\n[sweep]\nstrategy = \"refine\"\n",
            blocks()[0]
        );
        SweepFile::parse(&text, Path::new(""))
            .unwrap()
            .metrics
            .depth
            .get()
    };
    assert_eq!(depth("primary = \"nDCG@5\""), 10);
    assert_eq!(depth("report = [\"R@100\", \"zero_result\"]"), 100);
    assert_eq!(depth("report = [\"AP\"]"), 1_000);
    assert_eq!(depth("report = [\"AP\"]\ndepth = 50"), 50);
}

#[test]
fn a_byte_order_mark_and_carriage_returns_do_no_harm() {
    let plain = format!("{}\n[sweep]\nstrategy = \"refine\"\n", blocks()[0]);
    let marked = format!("\u{feff}{}", plain.replace('\n', "\r\n"));
    let parse = |text: &str| SweepFile::parse(text, Path::new("")).unwrap();
    assert_eq!(parse(&marked), parse(&plain));
}

#[test]
fn given_random_points_replace_the_generator() {
    let text = format!(
        "{}\n[sweep]\nstrategy = \"staged\"\n\
         random_points = [{{ brand = 1, bullet_point = 0, description = 0.5, category = 0.25 }}]\n",
        blocks()[0]
    );
    let file = SweepFile::parse(&text, Path::new("")).unwrap();
    let SweepPlan::InSpace {
        space,
        moves: Moves::Staged(settings),
        ..
    } = &file.plan
    else {
        panic!("not staged")
    };
    let point = space.point(&[1.0, 0.0, 0.5, 0.25]).unwrap();
    assert_eq!(settings.random, RandomPoints::Given(vec![point]));
}
