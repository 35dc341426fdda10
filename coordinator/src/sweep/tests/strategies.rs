//! Each strategy on a surface small enough to follow by hand.

use evalfarm_domain::{Combine, Direction};

use super::surface::{explore, observed, run, space, visited};
use crate::sweep::strategy::{
    AxisScan, AxisScanSettings, Configuration, CoordinateDescent, DescentSettings, Grid,
    GridSettings, List, RandomBox, RandomPoints, RandomSettings, Refine, RefineSettings, Staged,
    StagedSettings,
};
use crate::sweep::{Ask, BASELINE, Sweep};

/// Highest, 0, at (2, 0.5).
fn peak(ratios: &[f64]) -> f64 {
    -(ratios[0] - 2.0).powi(2) - (ratios[1] - 0.5).powi(2)
}

#[test]
fn a_list_is_one_batch_in_its_own_order() {
    let space = space(&["a", "b"]);
    let entry = |name: &str, ratios: &[f64]| {
        let weights = space.weights(&space.point(ratios).unwrap());
        Configuration::new(name.to_owned(), weights, Combine::MostFields).unwrap()
    };
    let list = vec![entry("second", &[2.0, 0.0]), entry("first", &[0.0, 1.0])];
    let start = Configuration::at(&space, space.point(&[1.0, 1.0]).unwrap());
    let mut sweep = Sweep::new(start, Box::new(List::new(list)), Direction::Higher);
    assert!(
        matches!(sweep.ask(), Ask::Evaluate([baseline]) if baseline.configuration.label == BASELINE)
    );
    sweep.tell(&[observed(0.0)]).unwrap();
    let Ask::Evaluate(batch) = sweep.ask() else {
        panic!("the list was not proposed")
    };
    let labels: Vec<&str> = batch
        .iter()
        .map(|v| v.configuration.label.as_str())
        .collect();
    assert_eq!(labels, ["second", "first"]);
    sweep.tell(&[observed(0.1), observed(0.2)]).unwrap();
    assert_eq!(sweep.ask(), Ask::Finished);
}

#[test]
fn w2_a_grid_of_2_by_3_by_11_has_66_candidates() {
    let space = space(&["a", "b"]);
    let settings = GridSettings {
        ratios: vec![
            vec![0.0, 1.0, 2.0],
            crate::sweep::range("0..1 step 0.1").unwrap(),
        ],
        combines: vec![Combine::best_fields(0.0).unwrap(), Combine::MostFields],
    };
    assert_eq!(settings.combinations(), 66);
    let start = Configuration::at(&space, space.point(&[1.0, 1.0]).unwrap());
    let mut sweep = Sweep::new(
        start,
        Box::new(Grid::new(space, settings)),
        Direction::Higher,
    );
    run(&mut sweep, |_| observed(0.0));
    // With a = b = 0 both ways to combine search the anchor alone, but they stay two configurations; the baseline is
    // one of the 66.
    assert_eq!(sweep.visits().len(), 66);
}

#[test]
fn a_grid_changes_its_last_field_fastest() {
    let space = space(&["a", "b"]);
    let baseline = space.point(&[9.0, 0.25]).unwrap();
    let settings = GridSettings {
        ratios: vec![vec![0.0, 1.0], vec![0.5, 2.0]],
        combines: vec![space.combine()],
    };
    let sweep = explore(&space, &baseline, Grid::new(space.clone(), settings), peak);
    let expected = [
        "baseline 5 0.25", // clamped to the space
        "grid 0 0.5",
        "grid 0 2",
        "grid 1 0.5",
        "grid 1 2",
    ];
    assert_eq!(visited(&sweep), expected);
}

#[test]
fn an_axis_scan_leaves_the_other_fields_at_the_baseline() {
    let space = space(&["a", "b"]);
    let baseline = space.point(&[1.0, 0.5]).unwrap();
    let settings = AxisScanSettings {
        axes: vec![1, 0],
        levels: vec![0.0, 0.5, 2.0],
    };
    let scan = AxisScan::new(space.clone(), baseline.clone(), settings);
    let sweep = explore(&space, &baseline, scan, peak);
    let expected = [
        "baseline 1 0.5",
        "axis:b 1 0",
        "axis:b 1 2",
        "axis:a 0 0.5",
        "axis:a 0.5 0.5",
        "axis:a 2 0.5",
    ];
    assert_eq!(visited(&sweep), expected);
}

#[test]
fn a_descent_moves_only_when_it_pays_and_stops_after_a_pass_without_a_move() {
    let space = space(&["a", "b"]);
    let baseline = space.point(&[1.0, 1.0]).unwrap();
    let settings = DescentSettings {
        levels: vec![0.0, 0.5, 1.0, 2.0],
        ..DescentSettings::all(&space)
    };
    let descent = CoordinateDescent::new(space.clone(), settings.clone());
    let sweep = explore(&space, &baseline, descent, peak);
    // a → 2, then b → 0.5; the second pass scans a at b = 0.5 and finds nothing better, b is known.
    let expected = [
        "baseline 1 1",
        "coordp1:a 0 1",
        "coordp1:a 0.5 1",
        "coordp1:a 2 1",
        "coordp1:b 2 0",
        "coordp1:b 2 0.5",
        "coordp1:b 2 2",
        "coordp2:a 0 0.5",
        "coordp2:a 0.5 0.5",
        "coordp2:a 1 0.5",
    ];
    assert_eq!(visited(&sweep), expected);
    assert_eq!(
        sweep.observations().best().unwrap().point,
        space.point(&[2.0, 0.5]).ok()
    );

    // Nothing improves by 100, so it never leaves the baseline.
    let reluctant = DescentSettings {
        min_improvement: 100.0,
        ..settings
    };
    let descent = CoordinateDescent::new(space.clone(), reluctant);
    let sweep = explore(&space, &baseline, descent, peak);
    assert_eq!(visited(&sweep).last().unwrap(), "coordp1:b 1 2");
}

#[test]
fn a_cost_descends_to_the_first_minimum() {
    let space = space(&["a"]);
    let start = Configuration::at(&space, space.point(&[1.0]).unwrap());
    let settings = DescentSettings {
        levels: vec![0.0, 2.0, 3.0],
        ..DescentSettings::all(&space)
    };
    let descent = CoordinateDescent::new(space.clone(), settings);
    let mut sweep = Sweep::new(start, Box::new(descent), Direction::Lower);
    // 2 and 3 cost the same, less than the baseline; the first of them wins.
    run(&mut sweep, |visit| {
        let ratio = visit.configuration.point.as_ref().unwrap().ratios()[0];
        observed(if ratio >= 2.0 { 0.25 } else { 0.5 })
    });
    assert_eq!(
        sweep.observations().best().unwrap().point,
        space.point(&[2.0]).ok()
    );
}

#[test]
fn a_refinement_steps_around_the_best_and_leaves_absent_fields_absent() {
    let space = space(&["a", "b"]);
    let baseline = space.point(&[4.0, 0.0]).unwrap();
    let refine = Refine::new(
        space.clone(),
        RefineSettings {
            axes: vec![0, 1],
            factors: vec![0.5, 2.0],
        },
    );
    let sweep = explore(&space, &baseline, refine, peak);
    // 8 is clamped to 5
    assert_eq!(
        visited(&sweep),
        ["baseline 4 0", "refine 2 0", "refine 5 0"]
    );
}

#[test]
fn random_points_stay_in_their_box_and_follow_the_seed() {
    let space = space(&["a", "b", "c"]);
    let baseline = space.point(&[1.0, 0.0, 4.0]).unwrap();
    let sweep_of = |seed: u64| {
        let settings = RandomSettings {
            points: 400,
            ..RandomSettings::default()
        };
        explore(
            &space,
            &baseline,
            RandomBox::new(space.clone(), settings, seed),
            |_| 0.0,
        )
    };
    let sweep = sweep_of(7);
    let mut zeros = [0_u32; 3];
    for visit in sweep.visits().iter().skip(1) {
        let point = visit.configuration.point.as_ref().unwrap();
        // centre ÷ 3 to centre × 3, within [.02, 5]; the centre 0 counts as .02
        let boxes = [(1.0 / 3.0, 3.0), (0.02, 0.06), (4.0 / 3.0, 5.0)];
        for ((ratio, (low, high)), zeros) in point.ratios().iter().zip(boxes).zip(&mut zeros) {
            if *ratio == 0.0 {
                *zeros += 1;
            } else {
                assert!(
                    (low..=high).contains(ratio),
                    "{ratio} is not in {low} to {high}"
                );
            }
        }
    }
    // A tenth of 400 is 40; a low-discrepancy sequence is far nearer than the ±6 of independent draws.
    assert!(
        zeros.iter().all(|count| (36..=44).contains(count)),
        "{zeros:?}"
    );
    assert_eq!(visited(&sweep), visited(&sweep_of(7)));
    assert_ne!(visited(&sweep), visited(&sweep_of(8)));
}

/// The staged plan in a space of two fields and three levels, in an order worked out by hand.
///
/// The surface is −(a − 1)² − 4(b − 2)², from (0, 0), levels 0 1 2. The scan: at b = 0, a gives −17 −16 −17; at a = 0, b
/// gives −17 −5 −1: b is more sensitive. The first descent starts from the best so far, (0, 2) at −1: b stays (its scan at
/// a = 0 is known), a → 1 (value 0). The second pass scans b at a = 1, where (1, 0) is known, and a at b = 2, known. It did
/// not move, so the descent is over, and so is the second one at once. The refinement multiplies each by 0.5.
#[test]
fn the_staged_plan_follows_the_order_worked_out_by_hand() {
    let space = space(&["a", "b"]);
    let baseline = space.point(&[0.0, 0.0]).unwrap();
    let settings = StagedSettings {
        levels: vec![0.0, 1.0, 2.0],
        random: RandomPoints::Given(vec![
            space.point(&[2.0, 2.0]).unwrap(),
            space.point(&[0.5, 0.25]).unwrap(),
        ]),
        factors: vec![0.5],
        ..StagedSettings::default()
    };
    let staged = Staged::new(space.clone(), baseline.clone(), settings, 1);
    let surface = |ratios: &[f64]| -(ratios[0] - 1.0).powi(2) - 4.0 * (ratios[1] - 2.0).powi(2);
    let sweep = explore(&space, &baseline, staged, surface);
    let expected = [
        "baseline 0 0",
        "A-axis:a 1 0",
        "A-axis:a 2 0",
        "A-axis:b 0 1",
        "A-axis:b 0 2",
        "B-coordp1:a 1 2",
        "B-coordp1:a 2 2",
        "B-coordp2:b 1 1",
        "C-random 0.5 0.25",
        "D-refine 0.5 2",
        "D-refine 1 1",
    ];
    // (1, 1) was seen in the second pass, so the refinement does not evaluate it again.
    assert_eq!(visited(&sweep), &expected[..10]);
}
