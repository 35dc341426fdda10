//! What stored rows say of one candidate on one fold, as columns in fold order.

use evalfarm_domain::CandidateId;
use evalfarm_gate::Side;
use evalfarm_results::{MeansRow, RowsView};

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

    /// What the rows come to; one weight for each query.
    pub(crate) fn means(&self, weights: &[f64]) -> MeansRow {
        let scored: Vec<&[f64]> = self.side.values.iter().map(Vec::as_slice).collect();
        MeansRow::new(self.side.id.clone(), &scored, &self.top_digests, weights)
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
