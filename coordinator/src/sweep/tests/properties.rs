//! What holds for every sweep.

use std::collections::BTreeSet;

use evalfarm_domain::Direction;
use proptest::prelude::*;

use super::surface::{observed, space, visited};
use crate::sweep::strategy::{
    AxisScan, AxisScanSettings, Configuration, CoordinateDescent, DescentSettings, RandomBox,
    RandomSettings, Refine, RefineSettings, Staged, StagedSettings, Strategy,
};
use crate::sweep::{
    Ask, Observation, ObservationError, Point, ResultClass, SelectionFold, Space, Sweep,
};

fn strategy(kind: u8, space: &Space, baseline: &Point, seed: u64) -> Box<dyn Strategy> {
    let (space, baseline) = (space.clone(), baseline.clone());
    match kind {
        0 => Box::new(AxisScan::new(
            space.clone(),
            baseline,
            AxisScanSettings::all(&space),
        )),
        1 => Box::new(CoordinateDescent::new(
            space.clone(),
            DescentSettings::all(&space),
        )),
        2 => Box::new(RandomBox::new(space, RandomSettings::default(), seed)),
        3 => Box::new(Refine::new(space.clone(), RefineSettings::all(&space))),
        _ => Box::new(Staged::new(
            space,
            baseline,
            StagedSettings::default(),
            seed,
        )),
    }
}

/// A surface with hills, plateaus and ties, different for each seed.
fn hills(ratios: &[f64], seed: u64) -> f64 {
    let phase = (seed % 1000) as f64;
    let sum: f64 = ratios
        .iter()
        .enumerate()
        .map(|(axis, ratio)| (ratio * (1.0 + axis as f64) + phase).sin())
        .sum();
    (sum * 8.0).round() / 8.0
}

fn finish(space: &Space, baseline: &Point, kind: u8, seed: u64) -> Sweep {
    let start = Configuration::at(space, baseline.clone());
    let mut sweep = Sweep::new(
        start,
        strategy(kind, space, baseline, seed),
        Direction::Higher,
    );
    for _ in 0..1_000 {
        let observations: Vec<Observation> = match sweep.ask() {
            Ask::Finished => return sweep,
            Ask::Evaluate(visits) => visits
                .iter()
                .map(|visit| {
                    observed(hills(
                        visit.configuration.point.as_ref().unwrap().ratios(),
                        seed,
                    ))
                })
                .collect(),
        };
        assert!(!observations.is_empty(), "an empty batch was asked for");
        sweep.tell(&observations).unwrap();
    }
    panic!("the sweep does not end");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_sweep_ends_and_evaluates_no_candidate_twice(
        kind in 0_u8..5,
        seed in any::<u64>(),
        ratios in prop::collection::vec(prop_oneof![Just(0.0), 0.01_f64..5.0], 3),
    ) {
        let space = space(&["a", "b", "c"]);
        let baseline = space.point(&ratios).unwrap();
        let sweep = finish(&space, &baseline, kind, seed);
        let ids: BTreeSet<_> = sweep.visits().iter().map(|visit| &visit.id).collect();
        prop_assert_eq!(ids.len(), sweep.visits().len());
        for visit in sweep.visits() {
            let ratios = visit.configuration.point.as_ref().unwrap().ratios();
            prop_assert!(ratios.iter().all(|ratio| (0.0..=5.0).contains(ratio)));
            prop_assert_eq!(&visit.id, &visit.configuration.candidate.id());
        }
        let best = sweep.observations().best().unwrap().observation.value();
        let all = sweep.observations().iter().map(|entry| entry.observation.value());
        prop_assert!(all.fold(f64::NEG_INFINITY, f64::max).total_cmp(&best).is_eq());
        prop_assert_eq!(visited(&sweep), visited(&finish(&space, &baseline, kind, seed)));
    }

    #[test]
    fn a_point_is_a_candidate_whatever_its_ratios(
        ratios in prop::collection::vec(any::<f64>(), 2),
        max in 1e-8_f64..1e3,
    ) {
        let bounds = space(&["a", "b"]);
        let space = Space::new(bounds.anchor().clone(), bounds.fields().to_vec(), max, bounds.combine()).unwrap();
        match space.point(&ratios) {
            Ok(point) => {
                let candidate = space.candidate(&point);
                let present = 1 + point.ratios().iter().filter(|ratio| **ratio > 0.0).count();
                prop_assert_eq!(candidate.weights.iter().len(), present);
            }
            Err(_) => prop_assert!(ratios.iter().any(|ratio| !ratio.is_finite())),
        }
    }
}

#[test]
fn values_that_are_not_numbers_and_wrong_counts_are_refused() {
    let class = ResultClass(0);
    assert!(matches!(
        Observation::new(SelectionFold::Train, f64::NAN, class),
        Err(ObservationError::NotFinite { .. })
    ));
    let space = space(&["a"]);
    let baseline = space.point(&[1.0]).unwrap();
    let start = Configuration::at(&space, baseline.clone());
    let mut sweep = Sweep::new(start, strategy(0, &space, &baseline, 1), Direction::Higher);
    assert_eq!(
        sweep.tell(&[]),
        Err(ObservationError::Count { asked: 1, told: 0 })
    );
    sweep.tell(&[observed(0.5)]).unwrap();
    let Ask::Evaluate(batch) = sweep.ask() else {
        panic!("the scan was not proposed")
    };
    let all = Observation::new(SelectionFold::All, 0.5, class).unwrap();
    let mixed = vec![all; batch.len()];
    assert_eq!(sweep.tell(&mixed), Err(ObservationError::MixedFolds));
    assert_eq!(sweep.observations().iter().len(), 1);
}
