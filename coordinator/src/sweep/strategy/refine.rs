//! Small steps around the best point, one field at a time.

use std::collections::BTreeSet;

use serde::Serialize;

use super::{Batch, Stage, Strategy, axes};
use crate::sweep::{Observations, Space};

/// What a refinement tries.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RefineSettings {
    /// Axes to refine, as positions among the fields of the space, each once.
    pub axes: Vec<usize>,
    /// Factors for each ratio that is not 0, each positive.
    pub factors: Vec<f64>,
}

/// Factors of a refinement. Source: the published sweep.
pub(super) const DEFAULT_FACTORS: [f64; 4] = [0.7, 0.85, 1.18, 1.4];

impl RefineSettings {
    /// Returns a refinement of all fields of the space by the published factors.
    pub fn all(space: &Space) -> Self {
        Self {
            axes: (0..space.fields().len()).collect(),
            factors: DEFAULT_FACTORS.to_vec(),
        }
    }
}

/// Multiplies one ratio at a time of the best point seen when it is first asked; everything is one batch.
#[derive(Debug)]
pub struct Refine {
    space: Space,
    settings: RefineSettings,
    prefix: &'static str,
    fixed: BTreeSet<usize>,
    asked: bool,
}

impl Refine {
    /// Returns the refinement; its stage is called `refine`.
    pub fn new(space: Space, settings: RefineSettings) -> Self {
        Self::named("", space, settings, BTreeSet::new())
    }

    /// Returns the refinement with a prefix before the name of its stage, and with axes that stay as they are.
    pub(super) fn named(
        prefix: &'static str,
        space: Space,
        settings: RefineSettings,
        fixed: BTreeSet<usize>,
    ) -> Self {
        Self {
            space,
            settings,
            prefix,
            fixed,
            asked: false,
        }
    }
}

impl Strategy for Refine {
    fn next_batch(&mut self, seen: &Observations) -> Batch {
        let Some(best) = seen.best_point().filter(|_| !self.asked) else {
            return Batch::Finished;
        };
        self.asked = true;
        let axes = self.settings.axes.iter().copied();
        let live = axes.filter(|axis| best.ratios()[*axis] > 0.0 && !self.fixed.contains(axis));
        let (space, factors) = (&self.space, &self.settings.factors);
        let points = live.flat_map(|axis| {
            let ratio = best.ratios()[axis];
            factors
                .iter()
                .map(move |factor| space.with(best, axis, ratio * factor))
        });
        let stage = Stage::new(format!("{}refine", self.prefix));
        Batch::Evaluate(axes::proposals(&self.space, &stage, points))
    }
}
