//! Configurations that are one candidate are evaluated once and reported together.

use std::path::Path;

use super::surface::{observed, run};
use crate::sweep::{Sweep, SweepFile};

fn sweep(table: &str) -> Sweep {
    let text = format!(
        "name = \"t\"\nseed = 1\ndataset = {{ path = \"d\" }}\nsplit = {{ seed = 1, train = 2, holdout = 1 }}\n\
         baseline = {{ weights = {{ title = 4, brand = 2.5, category = 0 }} }}\n{table}"
    );
    let mut sweep = SweepFile::parse(&text, Path::new("")).unwrap().start();
    run(&mut sweep, |_| observed(0.0));
    sweep
}

fn aliases(sweep: &Sweep) -> Vec<(&str, &str)> {
    let pairs = sweep.aliases().iter();
    pairs
        .map(|alias| (alias.label.as_str(), alias.same_as.as_str()))
        .collect()
}

#[test]
fn w1_equal_grid_points_are_evaluated_once() {
    let sweep = sweep("[sweep]\nstrategy = \"grid\"\nratios = { brand = [0, 1, 2, 1, 2.0] }");
    assert_eq!(sweep.visits().len(), 1 + 3); // baseline and three values
    assert_eq!(
        aliases(&sweep),
        [
            ("brand 1 category 0", "brand 1 category 0"),
            ("brand 2 category 0", "brand 2 category 0")
        ]
    );
}

#[test]
fn w3_spellings_of_one_number_are_one_configuration() {
    // 0.30000000000000004 is what 0.1 + 0.2 gives in f64; +0.3 and 3e-1 are 0.3; -0.0 is 0.
    let sweep = sweep(
        "[sweep]\nstrategy = \"grid\"\nratios = { brand = [0.3, 0.30000000000000004, 3e-1, -0.0, 0, 1, 1.0] }",
    );
    assert_eq!(sweep.visits().len(), 1 + 3);
    assert_eq!(sweep.aliases().len(), 4);
}

#[test]
fn w5_scaled_weights_are_one_candidate_and_zero_is_not_tiny() {
    let sweep = sweep(
        r#"
        [sweep]
        strategy = "list"
        [[sweep.candidates]]
        name = "scaled"
        weights = { title = 10, brand = 6.25 }
        [[sweep.candidates]]
        name = "tiny"
        weights = { title = 4, brand = 2.5, category = 4e-6 }
        [[sweep.candidates]]
        name = "tiny, scaled"
        weights = { title = 10, brand = 6.25, category = 1e-5 }
        [[sweep.candidates]]
        name = "other"
        weights = { title = 1, brand = 1 }
        "#,
    );
    let labels: Vec<&str> = sweep
        .visits()
        .iter()
        .map(|visit| visit.configuration.label.as_str())
        .collect();
    assert_eq!(labels, ["baseline", "tiny", "other"]);
    assert_eq!(
        aliases(&sweep),
        [("scaled", "baseline"), ("tiny, scaled", "tiny")]
    );
}

#[test]
fn w6_a_sweep_told_its_stored_values_goes_on_where_it_was() {
    let table = "[sweep]\nstrategy = \"staged\"\nlevels = [0, 0.5, 1, 2]\npoints = 8";
    let text = format!(
        "name = \"t\"\nseed = 1\ndataset = {{ path = \"d\" }}\nsplit = {{ seed = 1, train = 2, holdout = 1 }}\n\
         baseline = {{ weights = {{ title = 4, brand = 2.5, category = 1 }} }}\n{table}"
    );
    let file = SweepFile::parse(&text, Path::new("")).unwrap();
    let value =
        |ratios: &[f64]| observed(1.0 - (ratios[0] - 0.9).abs() - (ratios[1] - 0.4).powi(2));
    let of =
        |visit: &crate::sweep::Visit| value(visit.configuration.point.as_ref().unwrap().ratios());
    let mut whole = file.start();
    run(&mut whole, of);
    let stored: std::collections::BTreeMap<_, _> = whole
        .observations()
        .iter()
        .take(20)
        .map(|entry| (entry.candidate.clone(), entry.observation))
        .collect();
    let computed = std::cell::Cell::new(0);
    let mut resumed = file.start();
    run(&mut resumed, |visit| {
        stored.get(&visit.id).copied().unwrap_or_else(|| {
            computed.set(computed.get() + 1);
            of(visit)
        })
    });
    assert_eq!(resumed.visits(), whole.visits());
    assert_eq!(computed.get(), whole.visits().len() - 20);
}
