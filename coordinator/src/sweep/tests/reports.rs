//! What is said of a finished sweep.

use evalfarm_domain::Direction;

use super::surface::{class, field, fields, run, space};
use crate::sweep::strategy::{AxisScan, AxisScanSettings, Configuration, Grid, GridSettings};
use crate::sweep::{FieldEffect, Observation, SelectionFold, Sweep, SweepReport};

#[test]
fn a_report_tells_dead_from_present_and_from_effective() {
    let names = ["works", "present", "dead", "alone"];
    let space = space(&names);
    let baseline = space.point(&[1.0, 1.0, 1.0, 1.0]).unwrap();
    let settings = AxisScanSettings {
        axes: vec![0, 1, 2],
        levels: vec![0.0, 1.0, 2.0],
    };
    let scan = AxisScan::new(space.clone(), baseline.clone(), settings);
    let start = Configuration::at(&space, baseline);
    let mut sweep = Sweep::new(start, Box::new(scan), Direction::Higher);
    run(&mut sweep, |visit| {
        let ratios = visit.configuration.point.as_ref().unwrap().ratios();
        let result = format!("{} {}", ratios[0], ratios[1] > 0.0);
        Observation::new(SelectionFold::Train, ratios[0], class(&result)).unwrap()
    });
    let fields = fields(&["title", "works", "present", "dead", "alone"]);
    let report = SweepReport::new(&sweep, &fields, Some(&space)).unwrap();
    let effects: Vec<(FieldEffect, usize)> = report
        .fields
        .iter()
        .map(|field| (field.effect, field.compared))
        .collect();
    let expected = [
        (FieldEffect::NotCompared, 0),
        (FieldEffect::Changes, 3),
        (FieldEffect::OnlyPresence, 3),
        (FieldEffect::Nothing, 3),
        (FieldEffect::NotCompared, 0),
    ];
    assert_eq!(effects, expected);
    // By hand: 7 configurations; results "1 true" (baseline, present 2, dead 0 and 2), "0 true", "2 true", "1 false".
    assert_eq!((report.configurations, report.distinct_results), (7, 4));
    assert_eq!(report.unchanged.len(), 3);
    let curve = &report.curves[0];
    assert_eq!(curve.field, field("works"));
    let ratios: Vec<f64> = curve.points.iter().map(|point| point.ratio).collect();
    assert_eq!(ratios, [0.0, 1.0, 2.0]);
    assert_eq!(curve.sensitivity.to_bits(), 2.0_f64.to_bits());
    assert_eq!(report.curves.len(), 3);
    assert_eq!(
        (report.best.position, report.best.value.to_bits()),
        (3, 2.0_f64.to_bits())
    );
    assert!(
        serde_json::to_string(&report)
            .unwrap()
            .contains("\"effect\":\"only_presence\"")
    );
}

#[test]
fn fields_above_the_anchor_are_compared_by_the_ratios_of_the_others() {
    // Ratios above 1 make the field the largest weight, and the canonical weights of all others change.
    let space = space(&["a", "b"]);
    let baseline = space.point(&[3.0, 0.7]).unwrap();
    let settings = GridSettings {
        ratios: vec![vec![1.6, 3.0, 5.0], vec![0.7]],
        combines: vec![space.combine()],
    };
    let start = Configuration::at(&space, baseline);
    let grid = Grid::new(space.clone(), settings);
    let mut sweep = Sweep::new(start, Box::new(grid), Direction::Higher);
    run(&mut sweep, |_| {
        Observation::new(SelectionFold::All, 0.5, class("same")).unwrap()
    });
    let report = SweepReport::new(&sweep, &fields(&["a", "b"]), Some(&space)).unwrap();
    assert_eq!(
        (report.fields[0].effect, report.fields[0].compared),
        (FieldEffect::Nothing, 3)
    );
    assert_eq!(report.fields[1].effect, FieldEffect::NotCompared);
    // Nothing is better than the baseline, so the baseline is the best.
    assert_eq!(report.best.position, 1);
}

#[test]
fn before_the_baseline_is_observed_there_is_nothing_to_report() {
    let space = space(&["a"]);
    let baseline = space.point(&[1.0]).unwrap();
    let scan = AxisScan::new(
        space.clone(),
        baseline.clone(),
        AxisScanSettings::all(&space),
    );
    let start = Configuration::at(&space, baseline);
    let sweep = Sweep::new(start, Box::new(scan), Direction::Higher);
    assert_eq!(
        SweepReport::new(&sweep, &fields(&["a"]), Some(&space)),
        None
    );
}
