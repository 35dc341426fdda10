//! The judge on data where the truth is known.

use std::num::NonZeroU32;

use crate::scene::{Scene, moved};
use evalfarm_gate::{SelfCheck, selfcheck};

fn checks(scene: &Scene, copies: u32) -> Vec<SelfCheck> {
    let copies = NonZeroU32::new(copies).unwrap();
    selfcheck(&scene.policy(), &scene.evidence(), copies).unwrap()
}

/// Differences of many sizes, so that the detectable effect's normal approximation is a good one.
fn spread() -> Scene {
    let mut scene = Scene::promoted(200);
    scene.policy.resamples = Some(1_000);
    scene.policy.max_resamples = Some(1_000);
    for (metric, values) in scene.candidate().values.iter_mut().enumerate() {
        for (row, value) in values.iter_mut().enumerate() {
            let angle = (row * 37 + metric * 11) as f64;
            *value = 0.5 + 0.3 * angle.sin();
        }
    }
    scene
}

#[test]
fn an_honest_judge_passes() {
    for check in checks(&spread(), 200) {
        assert_eq!(check.passed, Some(true), "{check:?}");
    }
}

#[test]
fn what_cannot_be_told_is_not_a_failure() {
    let mut scene = spread();
    scene.candidate().values = vec![moved(200, 0, 0); 3];
    let checks = checks(&scene, 20);
    assert!(checks.iter().all(|check| check.passed != Some(false)));
    assert_eq!(checks.last().unwrap().passed, None);
}

#[test]
fn clusters_change_places_whole() {
    let mut scene = spread();
    scene.parts.clusters = Some((0..200).map(|row| format!("c{}", row / 4)).collect());
    scene.parts.weights = Some((0..200).map(|row| 1.0 + f64::from(row % 3)).collect());
    for check in checks(&scene, 200) {
        assert_eq!(check.passed, Some(true), "{check:?}");
    }
}
