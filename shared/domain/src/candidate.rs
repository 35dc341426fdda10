//! Candidates: configurations under evaluation, in the one form that equal configurations share.
//!
//! Scaling all weights changes no ranking under either way of combining fields, so a candidate keeps ratios to the
//! largest weight, rounded to f32. Both its identity and its evaluation use them: two spellings of one configuration
//! cannot end in different rows.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{CandidateId, Digest, FieldName};

/// A configuration that cannot be evaluated.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum CandidateError {
    /// A weight was negative, NaN or infinite.
    #[error("weight `{value}` of field `{field}` is not a finite number of at least 0")]
    Weight {
        /// The field whose weight was rejected.
        field: FieldName,
        /// The rejected weight.
        value: f64,
    },
    /// No field has a positive weight, so nothing could be retrieved.
    #[error("no field has a positive weight")]
    NoWeight,
    /// A positive weight is so small beside the largest that f32 products would lose it.
    #[error("weight of field `{field}` is {ratio:e} of the largest, less than {MIN_RATIO:e}")]
    RatioTooSmall {
        /// The field whose weight was rejected.
        field: FieldName,
        /// Its weight divided by the largest weight.
        ratio: f64,
    },
    /// The tie breaker was not between 0 and 1.
    #[error("tie breaker `{value}` is not between 0 and 1")]
    TieBreaker {
        /// The rejected tie breaker.
        value: f64,
    },
}

/// Smallest ratio of a positive weight to the largest weight.
///
/// Products with any BM25 contribution of a real corpus stay in f32's normal range (1.2e-38) with room to spare.
pub const MIN_RATIO: f64 = 1e-12;

/// How the scores of several fields become the score of a document.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Combine {
    /// The best weighted field score, plus `tie_breaker` times the others: `t·Σ + (1 − t)·max`.
    BestFields {
        /// 0 ≤ t ≤ 1; 0 is the plain maximum.
        tie_breaker: f32,
    },
    /// The sum of the weighted field scores.
    MostFields,
}

impl Combine {
    /// Returns `best_fields` with a checked tie breaker.
    pub fn best_fields(tie_breaker: f64) -> Result<Self, CandidateError> {
        if (0.0..=1.0).contains(&tie_breaker) {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "rounding to f32 is the canonical form"
            )]
            let tie_breaker = tie_breaker as f32 + 0.0; // -0.0 becomes 0.0
            Ok(Self::BestFields { tie_breaker })
        } else {
            Err(CandidateError::TieBreaker { value: tie_breaker })
        }
    }
}

/// Field weights in canonical form.
///
/// Invariants: at least one field; every weight in [[`MIN_RATIO`], 1]; the largest is 1. A field of weight 0 is absent,
/// because weight 0 removes the field and its matches.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(
    try_from = "BTreeMap<FieldName, f64>",
    into = "BTreeMap<FieldName, f32>"
)]
pub struct FieldWeights(BTreeMap<FieldName, f32>);

impl FieldWeights {
    /// Returns the weight of a field, 0 when the field is not searched.
    pub fn weight(&self, field: &str) -> f32 {
        self.0.get(field).copied().unwrap_or(0.0)
    }

    /// Returns the searched fields with their weights, by field name.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&FieldName, f32)> {
        self.0.iter().map(|(field, &weight)| (field, weight))
    }
}

impl TryFrom<BTreeMap<FieldName, f64>> for FieldWeights {
    type Error = CandidateError;

    fn try_from(weights: BTreeMap<FieldName, f64>) -> Result<Self, CandidateError> {
        let mut largest = 0.0_f64;
        for (field, &value) in &weights {
            if !value.is_finite() || value < 0.0 {
                let field = field.clone();
                return Err(CandidateError::Weight { field, value });
            }
            if value > largest {
                largest = value;
            }
        }
        if largest <= 0.0 {
            return Err(CandidateError::NoWeight);
        }
        let mut ratios = BTreeMap::new();
        for (field, value) in weights {
            let ratio = value / largest;
            if value > 0.0 && ratio < MIN_RATIO {
                return Err(CandidateError::RatioTooSmall { field, ratio });
            }
            if value > 0.0 {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "rounding to f32 is the canonical form"
                )]
                ratios.insert(field, ratio as f32);
            }
        }
        Ok(Self(ratios))
    }
}

impl From<FieldWeights> for BTreeMap<FieldName, f32> {
    fn from(weights: FieldWeights) -> Self {
        weights.0
    }
}

/// A configuration under evaluation, in canonical form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Candidate {
    /// How field scores are combined.
    pub combine: Combine,
    /// Ratios of the field weights to the largest.
    pub weights: FieldWeights,
}

impl Candidate {
    /// Returns the candidate's canonical JSON: keys in declared order, fields by name, shortest round-trip numbers.
    ///
    /// # Panics
    ///
    /// Never: every part of a candidate has a JSON form.
    pub fn canonical_json(&self) -> String {
        serde_json::to_string(self).expect("a candidate has a JSON form")
    }

    /// Returns the identity of the candidate: `c` and the first 16 hexadecimal digits of the SHA-256 of its canonical
    /// JSON.
    ///
    /// # Panics
    ///
    /// Never: the text is neither empty nor too long.
    pub fn id(&self) -> CandidateId {
        let digest = Digest::of(self.canonical_json().as_bytes());
        CandidateId::try_from(format!("c{}", digest.short(16))).expect("17 characters are an id")
    }
}

impl fmt::Display for Candidate {
    /// Writes the weights as people compare them: `title 1 brand 0.625`, with how they combine unless it is a plain
    /// maximum.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let weights: Vec<String> = self
            .weights
            .iter()
            .map(|(field, weight)| format!("{field} {weight}"))
            .collect();
        f.write_str(&weights.join(" "))?;
        match self.combine {
            Combine::BestFields { tie_breaker } if tie_breaker > 0.0 => {
                write!(f, " tie_breaker {tie_breaker}")
            }
            Combine::BestFields { .. } => Ok(()),
            Combine::MostFields => f.write_str(" most_fields"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn weights(pairs: &[(&str, f64)]) -> Result<FieldWeights, CandidateError> {
        let map: BTreeMap<FieldName, f64> = pairs
            .iter()
            .map(|&(field, weight)| (FieldName::try_from(field).unwrap(), weight))
            .collect();
        FieldWeights::try_from(map)
    }

    fn candidate(pairs: &[(&str, f64)]) -> Candidate {
        Candidate {
            combine: Combine::best_fields(0.0).unwrap(),
            weights: weights(pairs).unwrap(),
        }
    }

    #[test]
    fn w3_spellings_of_one_number_are_one_candidate() {
        let pairs = [
            ([("a", 1.0), ("b", 0.1 + 0.2)], [("a", 1.0), ("b", 0.3)]),
            ([("a", 1.0), ("b", -0.0)], [("a", 1.0), ("b", 0.0)]),
        ];
        for (one, other) in pairs {
            assert_eq!(candidate(&one).id(), candidate(&other).id());
        }
        assert!(matches!(
            weights(&[("a", f64::NAN)]),
            Err(CandidateError::Weight { .. })
        ));
    }

    #[test]
    fn w5_scaled_weights_are_one_candidate_and_zero_is_not_tiny() {
        let one = candidate(&[("title", 4.0), ("brand", 2.5), ("category", 0.0)]);
        let scaled = candidate(&[("title", 10.0), ("brand", 6.25)]);
        assert_eq!(one.id(), scaled.id());
        let tiny = candidate(&[("title", 4.0), ("brand", 2.5), ("category", 1e-6)]);
        assert_ne!(one.id(), tiny.id());
    }

    #[test]
    fn weights_that_retrieve_nothing_or_underflow_are_refused() {
        assert_eq!(weights(&[("a", 0.0)]), Err(CandidateError::NoWeight));
        assert_eq!(weights(&[]), Err(CandidateError::NoWeight));
        assert!(matches!(
            weights(&[("a", 1.0), ("b", 1e-20)]),
            Err(CandidateError::RatioTooSmall { .. })
        ));
    }

    #[test]
    fn the_canonical_form_is_pinned() {
        // A hand-written text: changing it changes every stored candidate id.
        let json = r#"{"combine":{"kind":"best_fields","tie_breaker":0.0},"weights":{"brand":0.625,"title":1.0}}"#;
        let one = candidate(&[("title", 4.0), ("brand", 2.5)]);
        assert_eq!(one.canonical_json(), json);
        assert_eq!(serde_json::from_str::<Candidate>(json).unwrap(), one);
    }
}
