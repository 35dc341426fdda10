//! An explicit list.

use super::{Batch, Configuration, Proposal, Stage, Strategy};
use crate::sweep::Observations;

/// Proposes what was listed, in order, in one batch.
#[derive(Debug)]
pub struct List {
    entries: Vec<Configuration>,
}

impl List {
    /// Returns the strategy that proposes these entries.
    pub fn new(entries: Vec<Configuration>) -> Self {
        Self { entries }
    }
}

impl Strategy for List {
    fn next_batch(&mut self, _seen: &Observations) -> Batch {
        let entries = std::mem::take(&mut self.entries);
        if entries.is_empty() {
            return Batch::Finished;
        }
        let proposals = entries.into_iter().map(|configuration| Proposal {
            stage: Stage::new("list"),
            configuration,
        });
        Batch::Evaluate(proposals.collect())
    }
}
