//! Means of every candidate on every fold, kept after its rows are let go of.

use std::collections::BTreeMap;

use evalfarm_domain::{CandidateId, Fold};
use evalfarm_results::{FoldMeans, MeansRow};

use crate::sweep::ResultClass;

/// What is remembered of each candidate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Summaries(BTreeMap<CandidateId, Summary>);

/// What is remembered of one candidate.
#[derive(Debug, Clone, Default)]
pub(crate) struct Summary {
    /// Means of the scored values, one for each metric.
    pub(crate) means: Vec<FoldMeans>,
    /// The class of its result on the fold that the sweep selected on.
    pub(crate) class: Option<ResultClass>,
}

impl Summaries {
    /// Remembers a candidate's means on a fold.
    pub(crate) fn add(&mut self, fold: Fold, row: MeansRow) {
        let summary = self.0.entry(row.candidate).or_default();
        summary.means.resize(row.means.len(), FoldMeans::default());
        for (means, mean) in summary.means.iter_mut().zip(row.means) {
            let mean = Some(mean);
            match fold {
                Fold::Train => means.train = mean,
                Fold::Holdout => means.holdout = mean,
                Fold::All => means.all = mean,
            }
        }
        if fold != Fold::Holdout {
            summary.class = Some(ResultClass(row.class));
        }
    }

    /// Returns what is remembered of a candidate.
    pub(crate) fn get(&self, candidate: &CandidateId) -> Summary {
        self.0.get(candidate).cloned().unwrap_or_default()
    }
}
