//! The canonical form of a sweep: the same meaning gives the same bytes.

use evalfarm_domain::{Candidate, EngineName, EngineSettings};
use evalfarm_gate::GatePolicy;
use serde::Serialize;

use super::document::{SweepFile, SweepName};
use super::measure::MetricSettings;
use super::plan::{Moves, SweepPlan};
use super::policy::Judge;
use super::source::{SplitSizes, SplitSource};
use crate::plan::MAX_ROWS;
use crate::sweep::{Point, Space};

/// Number of the form; a change of its bytes for the same meaning needs the next one.
const FORM: u32 = 1;

#[derive(Serialize)]
struct Canonical<'a> {
    form: u32,
    name: &'a SweepName,
    seed: u64,
    /// Absent at its default, so that naming the default changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_rows: Option<u64>,
    sample: Option<u32>,
    split: Option<SplitSizes>,
    engine: EngineSettings,
    /// Absent for the embedded engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    served_by: Option<&'a EngineName>,
    metrics: &'a MetricSettings,
    baseline: &'a Candidate,
    sweep: CanonicalPlan<'a>,
    judge: Judge,
    policy: &'a GatePolicy,
}

#[derive(Serialize)]
#[serde(rename_all = "snake_case")]
enum CanonicalPlan<'a> {
    List(Vec<Listed<'a>>),
    InSpace {
        space: &'a Space,
        baseline: &'a Point,
        moves: &'a Moves,
    },
}

#[derive(Serialize)]
struct Listed<'a> {
    name: &'a str,
    candidate: &'a Candidate,
}

impl SweepFile {
    /// Returns the sweep as one line of JSON: keys in a fixed order, defaults filled in, weights as ratios, ranges as
    /// their values.
    ///
    /// It does not say which data the sweep runs over, because where a dataset lies is no part of its meaning: a job id
    /// needs the dataset's fingerprint and, for a split from a manifest, the digests of its two sides beside this text.
    ///
    /// # Panics
    ///
    /// Never: every part has a JSON form.
    pub fn canonical_json(&self) -> String {
        let split = match &self.split {
            Some(SplitSource::Computed(sizes)) => Some(*sizes),
            Some(SplitSource::Manifest(_)) | None => None,
        };
        let sweep = match &self.plan {
            SweepPlan::List(entries) => CanonicalPlan::List(
                entries
                    .iter()
                    .map(|entry| Listed {
                        name: &entry.label,
                        candidate: &entry.candidate,
                    })
                    .collect(),
            ),
            SweepPlan::InSpace {
                space,
                baseline,
                moves,
            } => CanonicalPlan::InSpace {
                space,
                baseline,
                moves,
            },
        };
        let canonical = Canonical {
            form: FORM,
            name: &self.name,
            seed: self.seed,
            max_rows: Some(self.max_rows).filter(|&rows| rows != MAX_ROWS),
            sample: self.sample.map(std::num::NonZeroU32::get),
            split,
            engine: self.engine,
            served_by: self.served_by.as_ref(),
            metrics: &self.metrics,
            baseline: &self.baseline.configuration.candidate,
            sweep,
            judge: self.judge,
            policy: &self.policy,
        };
        serde_json::to_string(&canonical).expect("every part has a JSON form")
    }
}
