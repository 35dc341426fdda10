//! Candidates side by side, as the kernel reads them.

use std::ops::{Deref, DerefMut};

use evalfarm_domain::Combine;

use crate::candidates::PreparedCandidate;

/// Candidates of a full block.
pub(super) const LANES: usize = 64;

/// One number a candidate.
///
/// How many is part of the type, so that loops over them need neither remainder nor checks, and no vector of them crosses a cache
/// line.
#[derive(Debug, Clone, Copy)]
#[repr(align(64))]
pub(super) struct Lanes<T>([T; LANES]);

impl<T: Copy> Lanes<T> {
    /// Returns the same number for each candidate.
    #[inline]
    pub(super) const fn of(number: T) -> Self {
        Self([number; LANES])
    }
}

impl<T> Deref for Lanes<T> {
    type Target = [T; LANES];

    #[inline]
    fn deref(&self) -> &[T; LANES] {
        &self.0
    }
}

impl<T> DerefMut for Lanes<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut [T; LANES] {
        &mut self.0
    }
}

/// Candidates in blocks: for each column the weights of all candidates of a block.
#[derive(Debug, Clone)]
pub(crate) struct Blocks(Box<[Block]>);

/// Some candidates side by side.
#[derive(Debug, Clone)]
pub(super) struct Block {
    candidates: usize,
    /// Column by column; NaN where a candidate does not search the field, and behind the last candidate, so that no comparison
    /// with a product ever holds. It never leaves the kernel.
    weights: Box<[Lanes<f32>]>,
    /// The factors of sum and maximum; nothing when every score is the plain maximum.
    combine: Option<Box<[Lanes<f32>; 2]>>,
}

impl Blocks {
    /// Arranges candidates over `columns` fields.
    pub(crate) fn new(candidates: &[PreparedCandidate], columns: usize) -> Self {
        let blocks = candidates.chunks(LANES);
        Self(blocks.map(|block| Block::new(block, columns)).collect())
    }

    /// Returns the number of candidates.
    pub(super) fn candidates(&self) -> usize {
        self.0.iter().map(Block::candidates).sum()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter()
    }
}

impl Block {
    fn new(candidates: &[PreparedCandidate], columns: usize) -> Self {
        let mut weights = vec![Lanes::of(f32::NAN); columns];
        let mut combine = Box::new([Lanes::of(0.0); 2]);
        for (lane, candidate) in candidates.iter().enumerate() {
            for &(column, weight) in &candidate.weights {
                weights[column][lane] = weight;
            }
            for (factors, factor) in combine.iter_mut().zip(candidate.factors()) {
                factors[lane] = factor;
            }
        }
        let plain = candidates
            .iter()
            .all(|candidate| candidate.combine == Combine::BestFields { tie_breaker: 0.0 });
        Self {
            candidates: candidates.len(),
            weights: weights.into(),
            combine: (!plain).then_some(combine),
        }
    }

    /// Returns the number of candidates.
    pub(super) fn candidates(&self) -> usize {
        self.candidates
    }

    /// Returns the weights of one column; those behind the last candidate make no hits.
    pub(super) fn weights(&self, column: usize) -> &Lanes<f32> {
        &self.weights[column]
    }

    /// Returns the factors of sum and maximum, unless every score is the plain maximum.
    pub(super) fn combine(&self) -> Option<&[Lanes<f32>; 2]> {
        self.combine.as_deref()
    }
}
