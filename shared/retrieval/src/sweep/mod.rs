//! Many candidates over the contenders of one query.

mod block;
mod codes;
mod kernel;
mod keys;
mod network;
mod rankings;
#[cfg(test)]
mod tests;
mod weigh;

pub(crate) use block::Blocks;
use block::LANES;
pub use rankings::Rankings;

use crate::ScoredDocument;
use crate::candidates::PreparedCandidate;
use crate::contenders::Contenders;
use crate::top::TopDocuments;
use codes::{Codes, Layout};
use kernel::{Kernel, Scratch, rank_block};

/// Ranks the contenders of a query under many candidates; buffers are used again for the next query.
#[derive(Debug)]
pub(crate) struct Sweeper {
    kernel: Kernel,
    scratch: Scratch,
    codes: Codes,
    top: TopDocuments,
    scores: Vec<f32>,
}

impl Default for Sweeper {
    /// Returns a sweeper that uses the widest vectors of the machine.
    fn default() -> Self {
        Self {
            kernel: rank_block,
            scratch: Scratch::default(),
            codes: Codes::default(),
            top: TopDocuments::default(),
            scores: Vec::new(),
        }
    }
}

impl Sweeper {
    /// Fills `rankings` with the best `depth` contenders of each candidate.
    ///
    /// The contenders satisfy the needs of the candidates.
    pub(crate) fn rank(
        &mut self,
        contenders: &Contenders,
        candidates: &[PreparedCandidate],
        blocks: &Blocks,
        depth: usize,
        rankings: &mut Rankings,
    ) {
        match Layout::new(contenders.rows().len(), depth) {
            Some(layout) => self.rank_in_blocks(contenders, blocks, layout, rankings),
            None => self.rank_alone(contenders, candidates, depth, rankings),
        }
    }

    /// Ranks under many candidates at a time.
    fn rank_in_blocks(
        &mut self,
        contenders: &Contenders,
        blocks: &Blocks,
        layout: Layout,
        rankings: &mut Rankings,
    ) {
        rankings.start(contenders.rows(), blocks.candidates());
        self.codes.clear();
        let mut codes = [0; LANES];
        for block in blocks.iter() {
            (self.kernel)(contenders, block, layout, &mut self.scratch);
            let codes = &mut codes[..block.candidates()];
            for (lane, code) in codes.iter_mut().enumerate() {
                *code = self.codes.code(self.scratch.words(lane), |words| {
                    rankings.push(layout.positions(words));
                });
            }
            rankings.assign(codes);
        }
    }

    /// Returns the best `depth` contenders of one candidate, best first.
    pub(crate) fn select(
        &mut self,
        contenders: &Contenders,
        candidate: &PreparedCandidate,
        depth: usize,
    ) -> &[ScoredDocument] {
        let rows = contenders.rows();
        let scores = 0..rows.len();
        let scores = scores.map(|position| candidate.score_of(contenders.cells(position)));
        self.scores.clear();
        self.scores.extend(scores);
        self.top.select(&self.scores, rows, depth)
    }

    /// Selects the best documents of one candidate after the other.
    fn rank_alone(
        &mut self,
        contenders: &Contenders,
        candidates: &[PreparedCandidate],
        depth: usize,
        rankings: &mut Rankings,
    ) {
        rankings.clear(candidates.len());
        for candidate in candidates {
            let hits = self.select(contenders, candidate, depth);
            rankings.add(hits.iter().map(|hit| hit.row));
        }
    }
}
