//! Lines through a point along one axis: what scans, descent and dead fields are made of.

use std::collections::BTreeSet;

use super::{Configuration, Proposal, Stage};
use crate::sweep::{Observations, Point, Space};

/// Returns the points at all levels of one axis through `centre`, in the order of the levels.
pub(super) fn line(space: &Space, centre: &Point, axis: usize, levels: &[f64]) -> Vec<Point> {
    levels
        .iter()
        .map(|&level| space.with(centre, axis, level))
        .collect()
}

/// Proposes points for a stage, in order.
pub(super) fn proposals(
    space: &Space,
    stage: &Stage,
    points: impl IntoIterator<Item = Point>,
) -> Vec<Proposal> {
    points
        .into_iter()
        .map(|point| Proposal {
            stage: stage.clone(),
            configuration: Configuration::at(space, point),
        })
        .collect()
}

/// Returns the observed values of points; a point that was not observed has none.
pub(super) fn values(space: &Space, points: &[Point], seen: &Observations) -> Vec<Option<f64>> {
    points
        .iter()
        .map(|point| {
            let observation = seen.get(&space.candidate(point).id())?;
            Some(observation.value())
        })
        .collect()
}

/// Returns the range of the observed values on a finished scan, the centre included: largest minus smallest.
pub(super) fn sensitivity(
    space: &Space,
    line: &[Point],
    centre: &Point,
    seen: &Observations,
) -> f64 {
    let centre = std::slice::from_ref(centre);
    let observed = [values(space, line, seen), values(space, centre, seen)].concat();
    let mut ends = (f64::INFINITY, f64::NEG_INFINITY);
    for value in observed.into_iter().flatten() {
        ends = (ends.0.min(value), ends.1.max(value));
    }
    (ends.1 - ends.0).max(0.0)
}

/// Whether a finished scan through `centre` shows the field of `axis` to be dead: at least two different positive ratios,
/// the centre's among them, and the same result at all of them.
///
/// The ratio 0 does not count: it removes the field's matches, which may change results although the weight does not.
pub(super) fn is_dead(
    space: &Space,
    axis: usize,
    line: &[Point],
    centre: &Point,
    seen: &Observations,
) -> bool {
    let points = line.iter().chain([centre]);
    let positive: Vec<&Point> = points.filter(|point| point.ratios()[axis] > 0.0).collect();
    let distinct: BTreeSet<u64> = positive
        .iter()
        .map(|point| point.ratios()[axis].to_bits())
        .collect();
    let class = |point: &&Point| Some(seen.get(&space.candidate(point).id())?.class());
    let classes: Option<BTreeSet<_>> = positive.iter().map(class).collect();
    distinct.len() >= 2 && classes.is_some_and(|classes| classes.len() == 1)
}
