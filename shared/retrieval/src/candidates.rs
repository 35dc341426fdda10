//! Candidates, checked against an index and resolved to its columns.

use std::collections::BTreeSet;
use std::sync::Arc;

use evalfarm_domain::{Candidate, CandidateId, Combine, FieldName};

use crate::Bm25Index;
use crate::bm25::FieldStatistics;
use crate::contenders::Needs;
use crate::matrix::ABSENT;
use crate::sweep::Blocks;

/// A candidate that an index cannot evaluate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RefusedCandidate {
    /// A weight is given for a field that the corpus does not have.
    #[error("candidate `{candidate}` gives field `{field}` a weight, the corpus has {known}")]
    UnknownField {
        /// The candidate.
        candidate: CandidateId,
        /// The field.
        field: FieldName,
        /// The fields of the corpus, as a message shows them.
        known: String,
    },
    /// A product of the weight and a possible score leaves f32's normal range, so that equal or infinite scores could
    /// stand for different ones.
    #[error(
        "candidate `{candidate}` gives field `{field}` weight {weight:e}, whose products leave the range of f32"
    )]
    Weight {
        /// The candidate.
        candidate: CandidateId,
        /// The field.
        field: FieldName,
        /// The weight.
        weight: f32,
    },
    /// The tie breaker is not between 0 and 1, or so small that its products leave f32's normal range.
    #[error(
        "candidate `{candidate}` has tie breaker {tie_breaker:e}, which is not between 0 and 1 or too small for f32"
    )]
    TieBreaker {
        /// The candidate.
        candidate: CandidateId,
        /// The tie breaker.
        tie_breaker: f32,
    },
}

/// Candidates that an index can evaluate, in the order in which they were given.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub(crate) fields: Arc<[FieldName]>,
    candidates: Vec<PreparedCandidate>,
    pub(crate) blocks: Blocks,
    /// The columns that a candidate searches, ascending.
    columns: Box<[usize]>,
    /// The largest factor of a sum.
    tie_breaker: f32,
}

impl Prepared {
    /// Returns the candidates.
    pub fn candidates(&self) -> &[PreparedCandidate] {
        &self.candidates
    }

    /// Returns what the candidates together ask of pruning.
    pub(crate) fn needs(&self, depth: usize) -> Needs {
        Needs {
            columns: self.columns.clone(),
            tie_breaker: self.tie_breaker,
            depth,
        }
    }
}

/// One candidate that an index can evaluate.
///
/// Invariants: at least one column; columns ascend, so that sums are taken in the corpus's field order; every weight is
/// positive; products stay in f32's normal range.
#[derive(Debug, Clone, PartialEq)]
pub struct PreparedCandidate {
    pub(crate) combine: Combine,
    pub(crate) weights: Box<[(usize, f32)]>,
}

impl PreparedCandidate {
    /// Returns the score of a document with these products of weight and score, in field order.
    ///
    /// ```text
    /// best_fields   t · Σ + (1 − t) · max
    /// most_fields   Σ
    /// ```
    ///
    /// In f32 without contraction. Both forms never decrease when one product increases, which pruning relies on;
    /// `max + t · (Σ − max)` would not do.
    pub(crate) fn combined(combine: Combine, sum: f32, best: f32) -> f32 {
        match combine {
            Combine::BestFields { tie_breaker } => tie_breaker * sum + (1.0 - tie_breaker) * best,
            Combine::MostFields => sum,
        }
    }

    /// Returns the factors of sum and maximum: `factors[0] · Σ + factors[1] · max` is the same bits as [`Self::combined`],
    /// because products with 1 and sums with 0 are exact.
    pub(crate) fn factors(&self) -> [f32; 2] {
        match self.combine {
            Combine::BestFields { tie_breaker } => [tie_breaker, 1.0 - tie_breaker],
            Combine::MostFields => [1.0, 0.0],
        }
    }

    /// Returns the score of a document with these scores in some columns, ascending; negative when it is no hit.
    pub(crate) fn score_of(&self, cells: &[(u32, f32)]) -> f32 {
        let (mut best, mut sum) = (ABSENT, 0.0);
        let mut weights = self.weights.iter().peekable();
        for &(column, score) in cells {
            while weights
                .next_if(|&&(other, _)| other < column as usize)
                .is_some()
            {}
            if let Some(&(_, weight)) = weights.next_if(|&&(other, _)| other == column as usize) {
                let product = weight * score;
                best = f32::max(best, product);
                sum += product;
            }
        }
        if best >= 0.0 {
            Self::combined(self.combine, sum, best)
        } else {
            ABSENT
        }
    }
}

impl Bm25Index {
    /// Checks candidates against this index and resolves their fields.
    pub fn prepare(&self, candidates: &[Candidate]) -> Result<Prepared, RefusedCandidate> {
        let candidates = candidates.iter().map(|one| self.prepare_one(one));
        let candidates: Vec<PreparedCandidate> = candidates.collect::<Result<_, _>>()?;
        let weights = candidates.iter().flat_map(|one| &one.weights);
        let columns: BTreeSet<usize> = weights.map(|&(column, _)| column).collect();
        let sums = candidates.iter().map(|one| one.factors()[0]);
        Ok(Prepared {
            fields: Arc::clone(&self.fields),
            blocks: Blocks::new(&candidates, self.fields.len()),
            columns: columns.into_iter().collect(),
            tie_breaker: sums.fold(0.0, f32::max),
            candidates,
        })
    }

    pub(crate) fn prepare_one(
        &self,
        candidate: &Candidate,
    ) -> Result<PreparedCandidate, RefusedCandidate> {
        let mut weights = Vec::with_capacity(candidate.weights.iter().len());
        for (field, weight) in candidate.weights.iter() {
            let column = self.fields.iter().position(|known| known == field);
            let column = column.ok_or_else(|| RefusedCandidate::UnknownField {
                candidate: candidate.id(),
                field: field.clone(),
                known: self.known_fields(),
            })?;
            if !stays_normal(weight, &self.columns[column].statistics, self.fields.len()) {
                return Err(RefusedCandidate::Weight {
                    candidate: candidate.id(),
                    field: field.clone(),
                    weight,
                });
            }
            weights.push((column, weight));
        }
        weights.sort_unstable_by_key(|&(column, _)| column);
        if let Combine::BestFields { tie_breaker } = candidate.combine {
            let products = weights
                .iter()
                .map(|&(column, weight)| weight * self.columns[column].statistics.least_score());
            let least = products.fold(f32::INFINITY, f32::min);
            let in_range = (0.0..=1.0).contains(&tie_breaker);
            if !in_range || (tie_breaker > 0.0 && tie_breaker * least < f32::MIN_POSITIVE) {
                return Err(RefusedCandidate::TieBreaker {
                    candidate: candidate.id(),
                    tie_breaker,
                });
            }
        }
        let combine = candidate.combine;
        let weights = weights.into();
        Ok(PreparedCandidate { combine, weights })
    }
}

/// Whether every product of `weight` and a positive score of the field is a normal number and sums of such products over
/// all fields are finite.
fn stays_normal(weight: f32, field: &FieldStatistics, fields: usize) -> bool {
    let greatest = weight * field.greatest_score() * fields as f32;
    weight * field.least_score() >= f32::MIN_POSITIVE && greatest.is_finite()
}

#[cfg(test)]
mod tests {
    use evalfarm_domain::EngineSettings;

    use super::*;

    #[test]
    fn weights_that_leave_the_normal_range_are_noticed() {
        let field = FieldStatistics::new(20_000, 200_000, &EngineSettings::default());
        for weight in [1e-12, 1e-6, 1.0, 1e20] {
            assert!(stays_normal(weight, &field, 5), "{weight:e}");
        }
        for weight in [1e-30, f32::MIN_POSITIVE, 1e30, f32::MAX] {
            assert!(!stays_normal(weight, &field, 5), "{weight:e}");
        }
    }
}
