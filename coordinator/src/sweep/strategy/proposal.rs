//! What strategies and their driver say to each other.

use std::collections::BTreeMap;
use std::fmt;

use evalfarm_domain::{Candidate, CandidateError, Combine, FieldName, FieldWeights};
use serde::Serialize;

use crate::sweep::{Observations, Point, Space};

/// Ratios at which an axis is scanned.
///
/// Source: the published sweep of 218 configurations, whose levels these are.
pub const DEFAULT_LEVELS: [f64; 18] = [
    0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.375, 0.5, 0.625, 0.8, 1.0, 1.25, 1.6, 2.0, 2.5, 3.2,
    5.0,
];

/// Largest ratio unless a sweep says otherwise. Source: the published sweep.
pub const DEFAULT_MAX_RATIO: f64 = 5.0;

/// Names the part of a sweep that proposed a candidate, e.g. `A-axis:brand`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Stage(String);

impl Stage {
    /// Returns the stage of this name.
    pub(in crate::sweep) fn new(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    /// Returns the name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A configuration as someone wrote or a strategy made it, with the candidate that it is.
#[derive(Debug, Clone, PartialEq)]
pub struct Configuration {
    /// What people call it: the name in a list, or the ratios of a point.
    pub label: String,
    /// The weights as written, each finite and at least 0.
    pub weights: BTreeMap<FieldName, f64>,
    /// The configuration in canonical form.
    pub candidate: Candidate,
    /// Where it lies in the space of the sweep, if in any.
    pub point: Option<Point>,
}

impl Configuration {
    /// Returns the configuration with these weights, bound to no space.
    pub fn new(
        label: String,
        weights: BTreeMap<FieldName, f64>,
        combine: Combine,
    ) -> Result<Self, CandidateError> {
        let candidate = Candidate {
            combine,
            weights: FieldWeights::try_from(weights.clone())?,
        };
        Ok(Self {
            label,
            weights,
            candidate,
            point: None,
        })
    }

    /// Returns the configuration at a point.
    pub fn at(space: &Space, point: Point) -> Self {
        Self {
            label: space.label(&point),
            weights: space.weights(&point),
            candidate: space.candidate(&point),
            point: Some(point),
        }
    }
}

/// A configuration with the stage that wants to know about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Proposal {
    /// The stage that proposes it.
    pub stage: Stage,
    /// What is proposed.
    pub configuration: Configuration,
}

/// What a strategy answers.
#[derive(Debug, Clone, PartialEq)]
pub enum Batch {
    /// The values of these are needed before the strategy can go on; in the order in which they count as evaluated.
    Evaluate(Vec<Proposal>),
    /// The strategy has proposed everything that it wants to know.
    Finished,
}

/// A rule for what to evaluate next.
///
/// It sees observations of the folds that a sweep may select on, and nothing else.
pub trait Strategy: fmt::Debug + Send {
    /// Returns the next batch. Everything proposed before has been observed.
    fn next_batch(&mut self, seen: &Observations) -> Batch;
}

impl<S: Strategy + ?Sized> Strategy for Box<S> {
    fn next_batch(&mut self, seen: &Observations) -> Batch {
        (**self).next_batch(seen)
    }
}
