//! What stored rows say of one candidate on one fold, as columns in fold order.

use evalfarm_domain::{CandidateId, Digest};
use evalfarm_gate::Side;
use evalfarm_results::RowsView;

use crate::sweep::ResultClass;
use crate::verdict::ChangedQueries;

/// One candidate on one fold.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Measured {
    /// What the gate needs.
    pub(crate) side: Side,
    /// Digest of the ranked document ids of each query.
    top_digests: Vec<u64>,
}

impl Measured {
    /// Takes the rows of the candidate at `index` out of a view.
    pub(crate) fn new(id: &CandidateId, view: &RowsView, index: usize, metrics: usize) -> Self {
        let cells = view.cells(index);
        Self {
            side: Side {
                id: id.clone(),
                values: (0..metrics)
                    .map(|metric| view.scored(index, metric).to_vec())
                    .collect(),
                failures: cells.iter().map(|cell| cell.failure).collect(),
                zero_results: Some(cells.iter().map(|cell| cell.zero_result).collect()),
                rewrite: Some(cells.iter().map(|cell| cell.rewrite).collect()),
                rerank: Some(cells.iter().map(|cell| cell.rerank).collect()),
                judged: Some(cells.iter().map(|cell| cell.judged_share).collect()),
            },
            top_digests: cells.iter().map(|cell| cell.top_digest).collect(),
        }
    }

    /// Mean of the scored values of one metric, summed in fold order; what an analyst's `mean(scored)` gives.
    pub(crate) fn mean(&self, metric: usize) -> f64 {
        let values = &self.side.values[metric];
        values.iter().sum::<f64>() / values.len() as f64
    }

    /// The same mean by traffic, when queries carry weights: what the gate compares and a sweep climbs.
    pub(crate) fn weighted_mean(&self, metric: usize, weights: Option<&[f64]>) -> f64 {
        let Some(weights) = weights else {
            return self.mean(metric);
        };
        let values = self.side.values[metric].iter().zip(weights);
        let sum: f64 = values.map(|(value, weight)| value * weight).sum();
        sum / weights.iter().sum::<f64>()
    }

    /// The class of the result: equal for two candidates exactly when every scored value and every ranking is.
    pub(crate) fn class(&self) -> ResultClass {
        let values = self.side.values.iter().flatten();
        let bytes: Vec<u8> = values
            .flat_map(|value| value.to_bits().to_le_bytes())
            .chain(
                self.top_digests
                    .iter()
                    .flat_map(|digest| digest.to_le_bytes()),
            )
            .collect();
        let digest = Digest::of(&bytes);
        let mut head = [0; 8];
        head.copy_from_slice(&digest.as_bytes()[..8]);
        ResultClass(u64::from_le_bytes(head))
    }

    /// Counts the queries whose ranking, or any of whose values, differ from another candidate's.
    pub(crate) fn changes(&self, other: &Self) -> ChangedQueries {
        let mut changed = ChangedQueries {
            rankings: 0,
            metrics: 0,
            unchanged: 0,
        };
        for (row, (own, theirs)) in self.top_digests.iter().zip(&other.top_digests).enumerate() {
            let ranking = own != theirs;
            let columns = self.side.values.iter().zip(&other.side.values);
            let metric = columns
                .into_iter()
                .any(|(own, theirs)| own[row].total_cmp(&theirs[row]).is_ne());
            changed.rankings += usize::from(ranking);
            changed.metrics += usize::from(metric);
            changed.unchanged += usize::from(!ranking && !metric);
        }
        changed
    }
}
