//! What the tests have in common: spaces, surfaces, and a driver that evaluates by formula.

use evalfarm_domain::{Combine, Direction, FieldName};

use crate::sweep::strategy::{Configuration, Strategy};
use crate::sweep::{Ask, Observation, Point, ResultClass, SelectionFold, Space, Sweep, Visit};

pub(super) fn field(name: &str) -> FieldName {
    FieldName::try_from(name).unwrap()
}

pub(super) fn fields(names: &[&str]) -> Vec<FieldName> {
    names.iter().map(|name| field(name)).collect()
}

/// A space with the anchor `title`, ratios up to 5, and `best_fields`.
pub(super) fn space(names: &[&str]) -> Space {
    let combine = Combine::best_fields(0.0).unwrap();
    Space::new(field("title"), fields(names), 5.0, combine).unwrap()
}

/// A class that is the same for equal texts (FNV-1a).
pub(super) fn class(text: &str) -> ResultClass {
    ResultClass(text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    }))
}

/// An observation whose class is its value.
pub(super) fn observed(value: f64) -> Observation {
    Observation::new(SelectionFold::Train, value, ResultClass(value.to_bits())).unwrap()
}

/// Runs a sweep to its end, evaluating each candidate by `evaluate`.
pub(super) fn run(sweep: &mut Sweep, evaluate: impl Fn(&Visit) -> Observation) {
    loop {
        let observations: Vec<Observation> = match sweep.ask() {
            Ask::Evaluate(visits) => visits.iter().map(&evaluate).collect(),
            Ask::Finished => return,
        };
        sweep.tell(&observations).unwrap();
    }
}

/// Runs a strategy from a baseline over a surface of its ratios.
pub(super) fn explore(
    space: &Space,
    baseline: &Point,
    strategy: impl Strategy + 'static,
    surface: impl Fn(&[f64]) -> f64,
) -> Sweep {
    let start = Configuration::at(space, baseline.clone());
    let mut sweep = Sweep::new(start, Box::new(strategy), Direction::Higher);
    run(&mut sweep, |visit| {
        observed(surface(
            visit.configuration.point.as_ref().unwrap().ratios(),
        ))
    });
    sweep
}

/// Stage and ratios of every visit, as text: `A-axis:a 0 1`.
pub(super) fn visited(sweep: &Sweep) -> Vec<String> {
    let line = |visit: &Visit| {
        let point = visit.configuration.point.as_ref().unwrap();
        let ratios: Vec<String> = point.ratios().iter().map(f64::to_string).collect();
        format!("{} {}", visit.stage, ratios.join(" "))
    };
    sweep.visits().iter().map(line).collect()
}
