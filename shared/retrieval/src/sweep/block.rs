//! Candidates side by side, as the kernel reads them.

use evalfarm_domain::Combine;

use crate::candidates::PreparedCandidate;

/// Candidates of a full block.
pub(super) const LANES: usize = 64;

/// A block's lanes are a multiple of this, so that no instruction set needs a remainder loop.
const STEP: usize = 16;

/// Candidates in blocks: for each column the weights of all candidates of a block.
#[derive(Debug, Clone)]
pub(crate) struct Blocks(Box<[Block]>);

/// Some candidates side by side.
#[derive(Debug, Clone)]
pub(super) struct Block {
    candidates: usize,
    lanes: usize,
    /// Column by column, one weight a lane; NaN where a candidate does not search the field, so that no comparison with a
    /// product ever holds. It never leaves the kernel.
    weights: Box<[f32]>,
    /// The factors of sum and maximum, one pair of lanes each; nothing when every score is the plain maximum.
    combine: Option<Box<[f32]>>,
}

impl Blocks {
    /// Arranges candidates over `columns` fields.
    pub(crate) fn new(candidates: &[PreparedCandidate], columns: usize) -> Self {
        let blocks = candidates.chunks(LANES);
        Self(blocks.map(|block| Block::new(block, columns)).collect())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Block> {
        self.0.iter()
    }
}

impl Block {
    fn new(candidates: &[PreparedCandidate], columns: usize) -> Self {
        let lanes = candidates.len().next_multiple_of(STEP);
        let mut weights = vec![f32::NAN; columns * lanes];
        let mut combine = vec![0.0; 2 * lanes];
        for (lane, candidate) in candidates.iter().enumerate() {
            for &(column, weight) in &candidate.weights {
                weights[column * lanes + lane] = weight;
            }
            let [sum, maximum] = candidate.factors();
            combine[lane] = sum;
            combine[lanes + lane] = maximum;
        }
        let plain = candidates
            .iter()
            .all(|candidate| candidate.combine == Combine::BestFields { tie_breaker: 0.0 });
        Self {
            candidates: candidates.len(),
            lanes,
            weights: weights.into(),
            combine: (!plain).then(|| combine.into()),
        }
    }

    /// Returns the number of candidates.
    pub(super) fn candidates(&self) -> usize {
        self.candidates
    }

    /// Returns the number of lanes; those behind the last candidate have no hits.
    pub(super) fn lanes(&self) -> usize {
        self.lanes
    }

    /// Returns the weights of one column.
    pub(super) fn weights(&self, column: usize) -> &[f32] {
        &self.weights[column * self.lanes..][..self.lanes]
    }

    /// Returns the factors of sum and maximum, unless every score is the plain maximum.
    pub(super) fn combine(&self) -> Option<(&[f32], &[f32])> {
        let combine = self.combine.as_deref()?;
        Some(combine.split_at(self.lanes))
    }
}
