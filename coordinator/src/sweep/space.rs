//! The space that a sweep moves in: ratios of field weights to the weight of one anchor field.
//!
//! Scaling all weights changes no ranking, so one weight can be fixed without losing a configuration (except those
//! that do not search the anchor at all). A ratio of 0 removes the field from retrieval.

use std::collections::BTreeMap;

use evalfarm_domain::{Candidate, Combine, FieldName, FieldWeights};
use serde::Serialize;

/// Smallest positive ratio.
///
/// Together with [`LARGEST_RATIO`] it keeps every weight above `evalfarm_domain::MIN_RATIO` of the largest one, so that
/// a point always is a candidate.
pub const SMALLEST_RATIO: f64 = 1e-8;

/// Largest upper end that a space may have.
pub const LARGEST_RATIO: f64 = 1e3;

/// A space or point that makes no sense.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SpaceError {
    /// There is nothing to vary.
    #[error("there is no field beside the anchor field `{anchor}`")]
    NoField {
        /// The anchor field.
        anchor: FieldName,
    },
    /// A field occurs twice, or is the anchor.
    #[error("field `{field}` occurs more than once")]
    FieldTwice {
        /// The field.
        field: FieldName,
    },
    /// The upper end is not usable.
    #[error("largest ratio `{value}` is not between {SMALLEST_RATIO:e} and {LARGEST_RATIO}")]
    MaxRatio {
        /// The rejected number.
        value: f64,
    },
    /// A point has a coordinate too many or too few.
    #[error("`{found}` ratios given for `{expected}` fields")]
    Coordinates {
        /// Number of fields beside the anchor.
        expected: usize,
        /// Number of ratios.
        found: usize,
    },
    /// A ratio is NaN or infinite.
    #[error("ratio `{value}` of field `{field}` is not a finite number")]
    Ratio {
        /// The field.
        field: FieldName,
        /// The rejected ratio.
        value: f64,
    },
}

/// Ratios to the anchor field, one for each other field of a [`Space`], in its order.
///
/// Invariant: every ratio is 0 or lies in [[`SMALLEST_RATIO`], the largest ratio of the space].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Point(Box<[f64]>);

impl Point {
    /// Returns the ratios, in the order of the space's fields.
    pub fn ratios(&self) -> &[f64] {
        &self.0
    }
}

/// Fields, anchor and bounds of a sweep over field weights.
///
/// Invariants: at least one field beside the anchor, each once; the largest ratio lies in [[`SMALLEST_RATIO`],
/// [`LARGEST_RATIO`]].
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Space {
    anchor: FieldName,
    fields: Vec<FieldName>,
    max_ratio: f64,
    combine: Combine,
}

impl Space {
    /// Returns the space of the ratios of `fields` to `anchor`.
    pub fn new(
        anchor: FieldName,
        fields: Vec<FieldName>,
        max_ratio: f64,
        combine: Combine,
    ) -> Result<Self, SpaceError> {
        if fields.is_empty() {
            return Err(SpaceError::NoField { anchor });
        }
        for (position, field) in fields.iter().enumerate() {
            if *field == anchor || fields.iter().take(position).any(|other| other == field) {
                let field = field.clone();
                return Err(SpaceError::FieldTwice { field });
            }
        }
        if !(SMALLEST_RATIO..=LARGEST_RATIO).contains(&max_ratio) {
            return Err(SpaceError::MaxRatio { value: max_ratio });
        }
        Ok(Self {
            anchor,
            fields,
            max_ratio,
            combine,
        })
    }

    /// Returns the field whose weight is fixed.
    pub fn anchor(&self) -> &FieldName {
        &self.anchor
    }

    /// Returns the fields whose ratios are the coordinates, in order.
    pub fn fields(&self) -> &[FieldName] {
        &self.fields
    }

    /// Returns the largest ratio.
    pub fn max_ratio(&self) -> f64 {
        self.max_ratio
    }

    /// Returns the way in which the candidates of the space combine fields.
    pub fn combine(&self) -> Combine {
        self.combine
    }

    /// Returns the point with these ratios, each clamped to the space.
    pub fn point(&self, ratios: &[f64]) -> Result<Point, SpaceError> {
        if ratios.len() != self.fields.len() {
            return Err(SpaceError::Coordinates {
                expected: self.fields.len(),
                found: ratios.len(),
            });
        }
        for (field, &value) in self.fields.iter().zip(ratios) {
            if !value.is_finite() {
                let field = field.clone();
                return Err(SpaceError::Ratio { field, value });
            }
        }
        Ok(Point(ratios.iter().map(|&r| self.clamp(r)).collect()))
    }

    /// Returns the point with one ratio replaced by `ratio`, clamped to the space.
    pub(super) fn with(&self, point: &Point, axis: usize, ratio: f64) -> Point {
        let mut ratios = point.0.clone();
        ratios[axis] = self.clamp(ratio);
        Point(ratios)
    }

    /// Clamps a finite number to [0, largest ratio]; a positive one stays positive, because removing a field is
    /// something else than giving it a small weight. -0.0 becomes 0.0.
    fn clamp(&self, ratio: f64) -> f64 {
        if ratio > 0.0 {
            ratio.clamp(SMALLEST_RATIO, self.max_ratio)
        } else {
            0.0
        }
    }

    /// Returns the weights of a point: the anchor's is 1.
    pub fn weights(&self, point: &Point) -> BTreeMap<FieldName, f64> {
        let ratios = self.fields.iter().cloned().zip(point.0.iter().copied());
        std::iter::once((self.anchor.clone(), 1.0))
            .chain(ratios)
            .collect()
    }

    /// Returns the candidate at a point.
    ///
    /// # Panics
    ///
    /// Never: the bounds of ratios keep every weight above the smallest that a candidate may have.
    pub fn candidate(&self, point: &Point) -> Candidate {
        let weights = FieldWeights::try_from(self.weights(point))
            .expect("ratios lie within bounds that candidates accept");
        Candidate {
            combine: self.combine,
            weights,
        }
    }

    /// Writes a point as people read it: `brand 0.625 description 0`.
    pub fn label(&self, point: &Point) -> String {
        let parts: Vec<String> = self
            .fields
            .iter()
            .zip(&point.0)
            .map(|(field, ratio)| format!("{field} {ratio}"))
            .collect();
        parts.join(" ")
    }
}
