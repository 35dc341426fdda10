//! Coordinate descent: rescan one axis after another from the best point, and move when it pays.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Batch, DEFAULT_LEVELS, Stage, Strategy, axes};
use crate::sweep::{Observations, Point, Space};

/// How a coordinate descent moves.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DescentSettings {
    /// Axes in the order in which each pass visits them, as positions among the fields of the space, each once.
    pub axes: Vec<usize>,
    /// Ratios to scan on each axis, within the space.
    pub levels: Vec<f64>,
    /// Most passes over all axes, at least 1; a pass without a move is the last.
    pub passes: u32,
    /// A move has to improve the primary metric by more than this, at least 0.
    pub min_improvement: f64,
    /// Whether a field is scanned again after a finished scan has shown it to be dead.
    pub vary_dead_fields: bool,
}

/// Smallest improvement that moves a descent. Source: the published sweep.
pub(super) const DEFAULT_MIN_IMPROVEMENT: f64 = 1e-12;

/// Most passes of a descent. Source: the published sweep.
pub(super) const DEFAULT_PASSES: u32 = 3;

impl DescentSettings {
    /// Returns a descent over all fields of the space at the published levels, in the order of the fields.
    pub fn all(space: &Space) -> Self {
        Self {
            axes: (0..space.fields().len()).collect(),
            levels: DEFAULT_LEVELS.to_vec(),
            passes: DEFAULT_PASSES,
            min_improvement: DEFAULT_MIN_IMPROVEMENT,
            vary_dead_fields: false,
        }
    }
}

/// Descends from the best point seen when it is first asked. One axis is one batch.
#[derive(Debug)]
pub struct CoordinateDescent {
    space: Space,
    settings: DescentSettings,
    prefix: &'static str,
    dead: BTreeSet<usize>,
    current: Option<Point>,
    /// Axis whose scan was proposed last.
    scanning: Option<usize>,
    /// Position of the next axis in the order of the settings.
    next: usize,
    pass: u32,
    moved: bool,
}

impl CoordinateDescent {
    /// Returns the descent; its stages are called `coordp<pass>:<field>`.
    pub fn new(space: Space, settings: DescentSettings) -> Self {
        Self::named("", space, settings, BTreeSet::new())
    }

    /// Returns the descent with a prefix before the names of its stages, and with axes known to be dead.
    pub(super) fn named(
        prefix: &'static str,
        space: Space,
        settings: DescentSettings,
        dead: BTreeSet<usize>,
    ) -> Self {
        Self {
            space,
            settings,
            prefix,
            dead,
            current: None,
            scanning: None,
            next: 0,
            pass: 1,
            moved: false,
        }
    }

    /// Returns the axes that finished scans have shown to be dead.
    pub(super) fn dead(&self) -> &BTreeSet<usize> {
        &self.dead
    }

    fn line(&self, centre: &Point, axis: usize) -> Vec<Point> {
        axes::line(&self.space, centre, axis, &self.settings.levels)
    }

    /// Moves to the best level of the scan that was just observed, the first of equals, if it improves enough.
    fn settle(&mut self, current: Point, seen: &Observations) -> Point {
        let Some(axis) = self.scanning.take() else {
            return current;
        };
        let line = self.line(&current, axis);
        if axes::is_dead(&self.space, axis, &line, &current, seen) {
            self.dead.insert(axis);
        }
        let values = axes::values(&self.space, &line, seen);
        let observed = line
            .into_iter()
            .zip(values)
            .filter_map(|(point, value)| Some((point, value?)));
        let best = seen.first_best(observed, |(_, value)| *value);
        let here = seen.get(&self.space.candidate(&current).id());
        match (best, here) {
            (Some((point, value)), Some(here))
                if seen.improvement(value, here.value()) > self.settings.min_improvement =>
            {
                self.moved = true;
                point
            }
            _ => current,
        }
    }

    /// Returns the next axis to scan, or nothing when the descent is over.
    fn next_axis(&mut self) -> Option<usize> {
        loop {
            if let Some(&axis) = self.settings.axes.get(self.next) {
                self.next += 1;
                if self.settings.vary_dead_fields || !self.dead.contains(&axis) {
                    return Some(axis);
                }
            } else if self.moved && self.pass < self.settings.passes {
                self.pass += 1;
                self.next = 0;
                self.moved = false;
            } else {
                return None;
            }
        }
    }
}

impl Strategy for CoordinateDescent {
    fn next_batch(&mut self, seen: &Observations) -> Batch {
        let Some(start) = self.current.take().or_else(|| seen.best_point().cloned()) else {
            return Batch::Finished; // nothing to start from
        };
        let current = self.settle(start, seen);
        let batch = match self.next_axis() {
            None => Batch::Finished,
            Some(axis) => {
                self.scanning = Some(axis);
                let field = &self.space.fields()[axis];
                let name = format!("{}coordp{}:{field}", self.prefix, self.pass);
                let line = self.line(&current, axis);
                Batch::Evaluate(axes::proposals(&self.space, &Stage::new(name), line))
            }
        };
        self.current = Some(current);
        batch
    }
}
