//! One field at a time around a centre.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Batch, DEFAULT_LEVELS, Stage, Strategy, axes};
use crate::sweep::{Observations, Point, Space};

/// What an axis scan varies.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct AxisScanSettings {
    /// Axes to scan, as positions among the fields of the space, each once.
    pub axes: Vec<usize>,
    /// Ratios to scan, within the space.
    pub levels: Vec<f64>,
}

impl AxisScanSettings {
    /// Returns a scan of all fields of the space at the published levels.
    pub fn all(space: &Space) -> Self {
        Self {
            axes: (0..space.fields().len()).collect(),
            levels: DEFAULT_LEVELS.to_vec(),
        }
    }
}

/// Scans each axis through one centre; all axes are one batch, because none depends on another.
#[derive(Debug)]
pub struct AxisScan {
    space: Space,
    centre: Point,
    settings: AxisScanSettings,
    prefix: &'static str,
    asked: bool,
}

impl AxisScan {
    /// Returns the scan through `centre`; its stages are called `axis:<field>`.
    pub fn new(space: Space, centre: Point, settings: AxisScanSettings) -> Self {
        Self::named("", space, centre, settings)
    }

    /// Returns the scan through `centre` with a prefix before the names of its stages.
    pub(super) fn named(
        prefix: &'static str,
        space: Space,
        centre: Point,
        settings: AxisScanSettings,
    ) -> Self {
        Self {
            space,
            centre,
            settings,
            prefix,
            asked: false,
        }
    }

    fn line(&self, axis: usize) -> Vec<Point> {
        axes::line(&self.space, &self.centre, axis, &self.settings.levels)
    }

    /// Returns the axes in descending order of the primary metric's range on them; ties keep their order.
    pub(super) fn by_sensitivity(&self, seen: &Observations) -> Vec<usize> {
        let mut ranked: Vec<(usize, f64)> = self
            .settings
            .axes
            .iter()
            .map(|&axis| {
                let line = self.line(axis);
                let range = axes::sensitivity(&self.space, &line, &self.centre, seen);
                (axis, range)
            })
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1)); // stable
        ranked.into_iter().map(|(axis, _)| axis).collect()
    }

    /// Returns the axes that the finished scan shows to be dead.
    pub(super) fn dead(&self, seen: &Observations) -> BTreeSet<usize> {
        let scanned = self.settings.axes.iter().copied();
        let (space, centre) = (&self.space, &self.centre);
        scanned
            .filter(|&axis| axes::is_dead(space, axis, &self.line(axis), centre, seen))
            .collect()
    }
}

impl Strategy for AxisScan {
    fn next_batch(&mut self, _seen: &Observations) -> Batch {
        if self.asked {
            return Batch::Finished;
        }
        self.asked = true;
        let axes = self.settings.axes.iter();
        let proposals = axes.flat_map(|&axis| {
            let field = &self.space.fields()[axis];
            let stage = Stage::new(format!("{}axis:{field}", self.prefix));
            axes::proposals(&self.space, &stage, self.line(axis))
        });
        Batch::Evaluate(proposals.collect())
    }
}
