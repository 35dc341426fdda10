//! The order in which queries enter a split.

use evalfarm_domain::{Digest, QueryId};

/// Returns the ids in ascending order of `sha256("{seed}|{id}")`; the id bytes break ties.
pub fn hash_order(ids: impl IntoIterator<Item = QueryId>, seed: u64) -> Vec<QueryId> {
    let mut keyed: Vec<(Digest, QueryId)> = ids
        .into_iter()
        .map(|id| (Digest::of(format!("{seed}|{id}").as_bytes()), id))
        .collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, id)| id).collect()
}
