//! The whole file.

use std::fmt;
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;

use evalfarm_domain::{EngineName, EngineSettings};
use evalfarm_gate::GatePolicy;
use serde::Serialize;

use super::baseline::{Baseline, baseline};
use super::error::SweepFileError;
use super::measure::{MetricSettings, engine, metrics};
use super::plan::{Moves, SweepPlan, plan};
use super::policy::{self, Judge};
use super::reader::{Entry, Section};
use super::source::{DatasetSource, SplitSource, dataset, split};
use crate::plan::MAX_ROWS;
use crate::sweep::strategy::{
    AxisScan, Configuration, CoordinateDescent, Grid, List, RandomBox, Refine, Staged, Strategy,
};
use crate::sweep::{Sweep, SweepReport};

/// Name of a sweep: lower-case letters, digits and hyphens, 1 to 64 of them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SweepName(Box<str>);

impl SweepName {
    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SweepName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A sweep file, checked, with its defaults filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct SweepFile {
    /// Name of the sweep.
    pub name: SweepName,
    /// Seed of everything random in the job.
    pub seed: u64,
    /// Where the dataset comes from.
    pub dataset: DatasetSource,
    /// Queries that are used, the first ones of the hash order; all when nothing is said.
    pub sample: Option<NonZeroU32>,
    /// The split; there is one whenever `judge` is [`Judge::WinnerOnHoldout`].
    pub split: Option<SplitSource>,
    /// What decides per-field scores.
    pub engine: EngineSettings,
    /// The engine that answers, as workers are configured with it; nothing for the embedded one.
    pub served_by: Option<EngineName>,
    /// What is measured.
    pub metrics: MetricSettings,
    /// What candidates are compared with.
    pub baseline: Baseline,
    /// Which candidates are proposed.
    pub plan: SweepPlan,
    /// Most rows that are stored of candidates that are not judged.
    pub max_rows: u64,
    /// Which candidates are judged, and on which queries.
    pub judge: Judge,
    /// The rules of the gate, with primary and guards of `metrics`.
    pub policy: GatePolicy,
}

const TOP_LEVEL: [&str; 10] = [
    "name", "seed", "max_rows", "dataset", "split", "engine", "metrics", "baseline", "sweep",
    "policy",
];

impl SweepFile {
    /// Reads and checks a file. Relative paths in it start at its folder.
    pub fn read(path: &Path) -> Result<Self, SweepFileError> {
        let text = fs::read_to_string(path).map_err(|source| SweepFileError::Read {
            path: path.to_owned(),
            source,
        })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, folder).map_err(|source| SweepFileError::InFile {
            path: path.to_owned(),
            source: Box::new(source),
        })
    }

    /// Checks the text of a sweep file whose relative paths start at `folder`.
    pub fn parse(text: &str, folder: &Path) -> Result<Self, SweepFileError> {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let mut document = Section::document(text, &TOP_LEVEL)?;
        let name = name(&document.require("name", NAME)?)?;
        let seed = document.require("seed", "a whole number")?.seed()?;
        let max_rows = document.count("max_rows", 0..=u32::MAX)?;
        let (dataset, sample) = dataset(&mut document, folder)?;
        let split = split(&mut document, folder, sample)?;
        let (engine, served_by) = engine(&mut document)?;
        let metrics = metrics(&mut document)?;
        let mut baseline = baseline(&mut document)?;
        let plan = plan(&mut document, &baseline)?;
        if let SweepPlan::InSpace {
            space,
            baseline: point,
            ..
        } = &plan
        {
            // the same numbers as every other point, so that a strategy that comes back to it finds it evaluated
            baseline.configuration = Configuration::at(space, point.clone());
        }
        let mut policy = policy::section(&mut document)?;
        let judge = policy::judge(&document, policy.as_mut(), &plan, split.as_ref())?;
        let policy = policy::gate(policy, &metrics, seed)?;
        Ok(Self {
            name,
            seed,
            dataset,
            sample,
            split: split.filter(|_| judge == Judge::WinnerOnHoldout),
            engine,
            served_by,
            metrics,
            baseline,
            plan,
            max_rows: max_rows.map_or(MAX_ROWS, u64::from),
            judge,
            policy,
        })
    }

    /// Returns the sweep, about to evaluate its baseline.
    pub fn start(&self) -> Sweep {
        let direction = self.metrics.primary.direction();
        Sweep::new(
            self.baseline.configuration.clone(),
            self.strategy(),
            direction,
        )
    }

    /// Returns what a sweep of this file found so far; nothing before its baseline is observed.
    pub fn report(&self, sweep: &Sweep) -> Option<SweepReport> {
        let space = match &self.plan {
            SweepPlan::List(_) => None,
            SweepPlan::InSpace { space, .. } => Some(space),
        };
        SweepReport::new(sweep, &self.baseline.fields, space)
    }

    fn strategy(&self) -> Box<dyn Strategy> {
        let (space, baseline, moves) = match &self.plan {
            SweepPlan::List(entries) => return Box::new(List::new(entries.clone())),
            SweepPlan::InSpace {
                space,
                baseline,
                moves,
            } => (space.clone(), baseline.clone(), moves),
        };
        match moves.clone() {
            Moves::Grid(settings) => Box::new(Grid::new(space, settings)),
            Moves::AxisScan(settings) => Box::new(AxisScan::new(space, baseline, settings)),
            Moves::CoordinateDescent(settings) => Box::new(CoordinateDescent::new(space, settings)),
            Moves::Random(settings) => Box::new(RandomBox::new(space, settings, self.seed)),
            Moves::Refine(settings) => Box::new(Refine::new(space, settings)),
            Moves::Staged(settings) => Box::new(Staged::new(space, baseline, settings, self.seed)),
        }
    }
}

const NAME: &str = "a name of 1 to 64 lower-case letters, digits and hyphens";

fn name(entry: &Entry<'_>) -> Result<SweepName, SweepFileError> {
    let name = entry.text(NAME)?;
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    if (1..=64).contains(&name.len()) && name.bytes().all(fits) {
        Ok(SweepName(name.into_boxed_str()))
    } else {
        Err(entry.not_allowed(NAME))
    }
}
