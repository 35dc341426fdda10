//! The staged plan of the published sweep: scan, descend, look around at random, descend again, refine.

use std::collections::BTreeSet;

use serde::Serialize;

use super::descent::{DEFAULT_MIN_IMPROVEMENT, DEFAULT_PASSES};
use super::refine::DEFAULT_FACTORS;
use super::{
    AxisScan, AxisScanSettings, Batch, CoordinateDescent, DEFAULT_LEVELS, DescentSettings,
    RandomBox, RandomSettings, Refine, RefineSettings, Stage, Strategy, axes,
};
use crate::sweep::{Observations, Point, Space};

/// Where the random stage takes its points from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RandomPoints {
    /// From our own generator, around the best point.
    Generated(RandomSettings),
    /// From elsewhere, to replay a sweep whose generator was another one.
    Given(Vec<Point>),
}

/// The settings of all stages.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StagedSettings {
    /// Ratios at which axes are scanned, within the space.
    pub levels: Vec<f64>,
    /// Most passes of the first descent, at least 1.
    pub passes: u32,
    /// Most passes of the second descent, at least 1.
    pub second_passes: u32,
    /// A move of a descent has to improve the primary metric by more than this.
    pub min_improvement: f64,
    /// The random stage.
    pub random: RandomPoints,
    /// Factors of the refinement, each positive.
    pub factors: Vec<f64>,
    /// Whether a field is varied again after a finished scan has shown it to be dead.
    pub vary_dead_fields: bool,
}

/// Most passes of the second descent. Source: the published sweep.
const DEFAULT_SECOND_PASSES: u32 = 2;

impl Default for StagedSettings {
    /// Returns the settings of the published sweep, except that dead fields are left alone.
    fn default() -> Self {
        Self {
            levels: DEFAULT_LEVELS.to_vec(),
            passes: DEFAULT_PASSES,
            second_passes: DEFAULT_SECOND_PASSES,
            min_improvement: DEFAULT_MIN_IMPROVEMENT,
            random: RandomPoints::Generated(RandomSettings::default()),
            factors: DEFAULT_FACTORS.to_vec(),
            vary_dead_fields: false,
        }
    }
}

#[derive(Debug)]
enum Phase {
    Scan(AxisScan),
    Descent(CoordinateDescent),
    Random(RandomBox),
    /// The given points, until they are asked for.
    Given(Option<Vec<Point>>),
    SecondDescent(CoordinateDescent),
    Refine(Refine),
}

/// Runs the stages `A-axis`, `B-coord`, `C-random`, `B2-coord` and `D-refine`, each around the best point so far.
#[derive(Debug)]
pub struct Staged {
    space: Space,
    settings: StagedSettings,
    seed: u64,
    /// Axes in descending order of sensitivity, known after the scan.
    order: Vec<usize>,
    /// Axes that finished scans have shown to be dead; empty when dead fields are varied.
    dead: BTreeSet<usize>,
    phase: Phase,
}

impl Staged {
    /// Returns the plan around `baseline`.
    pub fn new(space: Space, baseline: Point, settings: StagedSettings, seed: u64) -> Self {
        let scan = AxisScanSettings {
            axes: (0..space.fields().len()).collect(),
            levels: settings.levels.clone(),
        };
        let scan = AxisScan::named("A-", space.clone(), baseline, scan);
        Self {
            space,
            settings,
            seed,
            order: Vec::new(),
            dead: BTreeSet::new(),
            phase: Phase::Scan(scan),
        }
    }

    fn descent(&self, prefix: &'static str, passes: u32) -> CoordinateDescent {
        let settings = DescentSettings {
            axes: self.order.clone(),
            levels: self.settings.levels.clone(),
            passes,
            min_improvement: self.settings.min_improvement,
            vary_dead_fields: self.settings.vary_dead_fields,
        };
        CoordinateDescent::named(prefix, self.space.clone(), settings, self.dead.clone())
    }

    fn random(&self) -> Phase {
        match &self.settings.random {
            RandomPoints::Given(points) => Phase::Given(Some(points.clone())),
            RandomPoints::Generated(settings) => Phase::Random(RandomBox::named(
                "C-",
                self.space.clone(),
                settings.clone(),
                self.seed,
                self.dead.clone(),
            )),
        }
    }

    fn refine(&self) -> Refine {
        let settings = RefineSettings {
            axes: (0..self.space.fields().len()).collect(),
            factors: self.settings.factors.clone(),
        };
        Refine::named("D-", self.space.clone(), settings, self.dead.clone())
    }

    fn ask(&mut self, seen: &Observations) -> Batch {
        match &mut self.phase {
            Phase::Scan(scan) => scan.next_batch(seen),
            Phase::Descent(descent) | Phase::SecondDescent(descent) => descent.next_batch(seen),
            Phase::Random(random) => random.next_batch(seen),
            Phase::Given(points) => match points.take() {
                None => Batch::Finished,
                Some(points) => {
                    let stage = Stage::new("C-random");
                    Batch::Evaluate(axes::proposals(&self.space, &stage, points))
                }
            },
            Phase::Refine(refine) => refine.next_batch(seen),
        }
    }

    /// Returns the phase after a finished one, or nothing after the last.
    fn next_phase(&mut self, seen: &Observations) -> Option<Phase> {
        let learned = match &self.phase {
            Phase::Scan(scan) => {
                self.order = scan.by_sensitivity(seen);
                scan.dead(seen)
            }
            Phase::Descent(descent) | Phase::SecondDescent(descent) => descent.dead().clone(),
            Phase::Random(_) | Phase::Given(_) | Phase::Refine(_) => BTreeSet::new(),
        };
        if !self.settings.vary_dead_fields {
            self.dead.extend(learned);
        }
        match &self.phase {
            Phase::Scan(_) => Some(Phase::Descent(self.descent("B-", self.settings.passes))),
            Phase::Descent(_) => Some(self.random()),
            Phase::Random(_) | Phase::Given(_) => {
                let passes = self.settings.second_passes;
                Some(Phase::SecondDescent(self.descent("B2-", passes)))
            }
            Phase::SecondDescent(_) => Some(Phase::Refine(self.refine())),
            Phase::Refine(_) => None,
        }
    }
}

impl Strategy for Staged {
    fn next_batch(&mut self, seen: &Observations) -> Batch {
        loop {
            if let Batch::Evaluate(proposals) = self.ask(seen) {
                return Batch::Evaluate(proposals);
            }
            match self.next_phase(seen) {
                Some(phase) => self.phase = phase,
                None => return Batch::Finished,
            }
        }
    }
}
