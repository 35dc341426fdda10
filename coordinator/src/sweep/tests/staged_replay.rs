//! The published sweep of 218 configurations, replayed from its log.

use std::collections::BTreeMap;
use std::fs;

use evalfarm_domain::Direction;
use evalfarm_testkit::reference_data;
use serde::Deserialize;

use super::surface::{class, explore, field, fields, run, space, visited};
use crate::sweep::strategy::{Configuration, RandomPoints, Staged, StagedSettings};
use crate::sweep::{
    FieldEffect, Observation, Point, ResultClass, SelectionFold, Space, Sweep, SweepReport, Visit,
};

const FIELDS: [&str; 4] = ["brand", "bullet_point", "description", "category"];

#[derive(Deserialize)]
struct Logged {
    stage: String,
    ratios: BTreeMap<String, f64>,
    ndcg10: f64,
}

impl Logged {
    fn ratios(&self) -> Vec<f64> {
        FIELDS.iter().map(|field| self.ratios[*field]).collect()
    }
}

fn log() -> Option<Vec<Logged>> {
    let path = reference_data("searchops")?.join("sweep-train-log.jsonl");
    let text = fs::read_to_string(path).unwrap();
    let lines = text.lines().map(|line| serde_json::from_str(line).unwrap());
    Some(lines.collect())
}

/// Ratios to 6 decimals, as the log rounds them.
fn key(ratios: &[f64]) -> String {
    let texts: Vec<String> = ratios.iter().map(|ratio| format!("{ratio:.6}")).collect();
    texts.join(" ")
}

/// The result classes of the published sweep: `category` holds the same text in every document.
fn class_of(ratios: &[f64]) -> ResultClass {
    class(&key(&ratios[..3]))
}

fn replay(log: &[Logged], vary_dead_fields: bool) -> (Space, Sweep) {
    let space = space(&FIELDS);
    let random = log.iter().filter(|entry| entry.stage == "C-random");
    let random: Vec<Point> = random
        .map(|entry| space.point(&entry.ratios()).unwrap())
        .collect();
    assert_eq!(random.len(), 48);
    let settings = StagedSettings {
        random: RandomPoints::Given(random),
        vary_dead_fields,
        ..StagedSettings::default()
    };
    let baseline = space.point(&[0.625, 0.375, 0.25, 0.30]).unwrap();
    let start = Configuration::at(&space, baseline.clone());
    let staged = Staged::new(space.clone(), baseline, settings, 20_260_816);
    let values: BTreeMap<String, f64> = log
        .iter()
        .map(|entry| (key(&entry.ratios()), entry.ndcg10))
        .collect();
    let mut sweep = Sweep::new(start, Box::new(staged), Direction::Higher);
    run(&mut sweep, |visit| {
        let ratios = visit.configuration.point.as_ref().unwrap().ratios();
        let value = values[&key(ratios)];
        Observation::new(SelectionFold::Train, value, class_of(ratios)).unwrap()
    });
    (space, sweep)
}

#[test]
fn the_published_sweep_is_replayed_configuration_by_configuration() {
    let Some(log) = log() else {
        return generated_stand_in();
    };
    let (space, sweep) = replay(&log, true);
    let line = |visit: &Visit| {
        let ratios = visit.configuration.point.as_ref().unwrap().ratios();
        format!("{} {}", visit.stage, key(ratios))
    };
    let ours: Vec<String> = sweep.visits().iter().map(line).collect();
    let theirs: Vec<String> = log
        .iter()
        .map(|entry| format!("{} {}", entry.stage, key(&entry.ratios())))
        .collect();
    assert_eq!(theirs.len(), 218);
    assert_eq!(ours, theirs);

    // Figures of the published sweep: 218 configurations, 180 results, the best at place 208.
    let report = SweepReport::new(&sweep, &fields(&FIELDS), Some(&space)).unwrap();
    assert_eq!((report.configurations, report.distinct_results), (218, 180));
    assert_eq!(report.best.position, 208);
    assert_eq!(
        report.best.value.to_bits(),
        0.488_127_575_115_563_7_f64.to_bits()
    );
    assert_eq!(report.best.stage.as_str(), "D-refine");
    let effects: Vec<FieldEffect> = report.fields.iter().map(|field| field.effect).collect();
    let changes = FieldEffect::Changes;
    assert_eq!(effects, [changes, changes, changes, FieldEffect::Nothing]);
    // The baseline's 17 category levels changed nothing.
    assert_eq!(report.unchanged.len(), 17);
    assert_eq!(report.curves[3].field, field("category"));
    assert_eq!(report.curves[3].points.len(), 18);
    assert_eq!(report.curves[3].sensitivity.to_bits(), 0);
    assert!(report.aliases.is_empty());
}

#[test]
fn a_dead_field_is_not_varied_again_unless_asked() {
    let Some(log) = log() else {
        return generated_stand_in();
    };
    let (_, sweep) = replay(&log, false);
    // Without the 17 category levels of the first descent and the 4 of the refinement.
    assert_eq!(sweep.visits().len(), 218 - 17 - 4);
    let stages = || sweep.visits().iter().map(|visit| visit.stage.as_str());
    assert!(stages().any(|stage| stage == "A-axis:category"));
    assert!(!stages().any(|stage| stage.contains("coordp") && stage.ends_with("category")));
}

/// The same checks of order and dead fields on a surface by formula, for machines without the log.
fn generated_stand_in() {
    let space = space(&["a", "dead"]);
    let baseline = space.point(&[1.0, 1.0]).unwrap();
    let stages = |vary_dead_fields: bool| {
        let settings = StagedSettings {
            levels: vec![0.0, 1.0, 2.0],
            random: RandomPoints::Given(vec![space.point(&[1.5, 1.0]).unwrap()]),
            factors: vec![0.5],
            vary_dead_fields,
            ..StagedSettings::default()
        };
        let staged = Staged::new(space.clone(), baseline.clone(), settings, 1);
        visited(&explore(&space, &baseline, staged, |ratios| ratios[0]))
    };
    let without = [
        "baseline 1 1",
        "A-axis:a 0 1",
        "A-axis:a 2 1",
        "A-axis:dead 1 0",
        "A-axis:dead 1 2",
        "C-random 1.5 1",
    ];
    assert_eq!(stages(false), without);
    let with = [
        "baseline 1 1",
        "A-axis:a 0 1",
        "A-axis:a 2 1",
        "A-axis:dead 1 0",
        "A-axis:dead 1 2",
        "B-coordp1:dead 2 0",
        "B-coordp1:dead 2 2",
        "C-random 1.5 1",
        "D-refine 2 0.5",
    ];
    assert_eq!(stages(true), with);
}

#[test]
fn the_stand_in_for_the_log_is_checked_too() {
    generated_stand_in();
}
