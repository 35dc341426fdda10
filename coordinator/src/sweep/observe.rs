//! What a strategy may know of the candidates it proposed.
//!
//! The type of the fold keeps the holdout out: an observation can only be made of train queries, or of all queries in
//! a job that does not select on its own values.
//!
//! ```
//! use evalfarm_coordinator::sweep::{Observation, ResultClass, SelectionFold};
//!
//! let seen = Observation::new(SelectionFold::Train, 0.5, ResultClass(1));
//! ```
//!
//! ```compile_fail
//! use evalfarm_coordinator::sweep::{Observation, ResultClass};
//! use evalfarm_domain::Fold;
//!
//! // A holdout value is not an observation: `Fold` is not `SelectionFold`.
//! let seen = Observation::new(Fold::Holdout, 0.5, ResultClass(1));
//! ```

use std::collections::BTreeMap;

use evalfarm_domain::{CandidateId, Direction, Fold};
use serde::{Serialize, Serializer};

use super::Point;

/// The queries whose values a sweep may select on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionFold {
    /// The train side of a split.
    Train,
    /// Every query, in a job that judges every candidate as one family.
    All,
}

impl From<SelectionFold> for Fold {
    fn from(fold: SelectionFold) -> Self {
        match fold {
            SelectionFold::Train => Self::Train,
            SelectionFold::All => Self::All,
        }
    }
}

/// Digest of everything that was measured of a candidate: per-query values and top documents.
///
/// Two candidates of the same class gave the same result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ResultClass(pub u64);

/// Written as 16 hexadecimal digits: many readers of JSON round whole numbers above 2^53.
impl Serialize for ResultClass {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&format_args!("{:016x}", self.0))
    }
}

/// An observation that could not be accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ObservationError {
    /// The value was NaN or infinite.
    #[error("value `{value}` of the primary metric is not a finite number")]
    NotFinite {
        /// The rejected value.
        value: f64,
    },
    /// The number of observations is not the number of candidates asked for.
    #[error("`{told}` observations for `{asked}` candidates")]
    Count {
        /// Candidates of the pending batch.
        asked: usize,
        /// Observations given.
        told: usize,
    },
    /// Observations of different folds were mixed.
    #[error("an observation was made on other queries than the ones before it")]
    MixedFolds,
}

/// What the evaluation of one candidate gave.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Observation {
    fold: SelectionFold,
    value: f64,
    class: ResultClass,
}

impl Observation {
    /// Returns an observation; `value` is the mean of the primary metric and has to be finite.
    pub fn new(
        fold: SelectionFold,
        value: f64,
        class: ResultClass,
    ) -> Result<Self, ObservationError> {
        if value.is_finite() {
            Ok(Self { fold, value, class })
        } else {
            Err(ObservationError::NotFinite { value })
        }
    }

    /// Returns the queries it was made on.
    pub fn fold(self) -> SelectionFold {
        self.fold
    }

    /// Returns the mean of the primary metric, finite.
    pub fn value(self) -> f64 {
        self.value
    }

    /// Returns the class of the result.
    pub fn class(self) -> ResultClass {
        self.class
    }
}

/// A candidate with what its evaluation gave.
#[derive(Debug, Clone, PartialEq)]
pub struct Observed {
    /// The candidate.
    pub candidate: CandidateId,
    /// Where it lies in the space, when the sweep moves in one and the candidate combines fields as the baseline does.
    pub point: Option<Point>,
    /// What its evaluation gave.
    pub observation: Observation,
}

/// Everything observed so far, in evaluation order, each candidate once.
#[derive(Debug, Clone)]
pub struct Observations {
    direction: Direction,
    entries: Vec<Observed>,
    by_candidate: BTreeMap<CandidateId, usize>,
}

impl Observations {
    /// Returns an empty record for a primary metric that is better in this direction.
    pub(super) fn new(direction: Direction) -> Self {
        Self {
            direction,
            entries: Vec::new(),
            by_candidate: BTreeMap::new(),
        }
    }

    pub(super) fn push(&mut self, observed: Observed) {
        self.by_candidate
            .insert(observed.candidate.clone(), self.entries.len());
        self.entries.push(observed);
    }

    /// Returns what the evaluation of a candidate gave, if it was evaluated.
    pub fn get(&self, candidate: &CandidateId) -> Option<Observation> {
        let &index = self.by_candidate.get(candidate)?;
        Some(self.entries[index].observation)
    }

    /// Returns every observation, in evaluation order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Observed> {
        self.entries.iter()
    }

    /// Returns by how much `value` is better than `other`, negative when it is worse.
    pub fn improvement(&self, value: f64, other: f64) -> f64 {
        match self.direction {
            Direction::Higher => value - other,
            Direction::Lower => other - value,
        }
    }

    /// Returns the first best of some values: the first maximum, for a cost the first minimum.
    pub(super) fn first_best<T>(
        &self,
        items: impl IntoIterator<Item = T>,
        value: impl Fn(&T) -> f64,
    ) -> Option<T> {
        items.into_iter().reduce(|best, item| {
            if self.improvement(value(&item), value(&best)) > 0.0 {
                item
            } else {
                best
            }
        })
    }

    /// Returns the first best candidate in evaluation order: ties keep the earlier one, so the baseline keeps its own.
    pub fn best(&self) -> Option<&Observed> {
        self.first_best(&self.entries, |entry| entry.observation.value)
    }

    /// Returns the first best point in evaluation order.
    pub(super) fn best_point(&self) -> Option<&Point> {
        let with_point = self.entries.iter().filter(|entry| entry.point.is_some());
        self.first_best(with_point, |entry| entry.observation.value)
            .and_then(|entry| entry.point.as_ref())
    }
}
