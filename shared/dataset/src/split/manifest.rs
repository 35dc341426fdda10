//! A split: what it was made from, and the ids of each side.

use std::collections::{BTreeMap, BTreeSet};

use evalfarm_domain::{Digest, Fold, Query, QueryId};

use super::{SplitError, hash_order};

/// The queries of one side.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Side {
    /// The ids as they are listed: bytewise sorted in a split that this program made.
    pub ids: Vec<QueryId>,
    /// SHA-256 of the ids as listed, joined by commas.
    pub sha256: Digest,
}

impl Side {
    fn sorted(mut ids: Vec<QueryId>) -> Self {
        ids.sort_unstable();
        let sha256 = listed_digest(&ids);
        Self { ids, sha256 }
    }
}

/// Returns the SHA-256 of ids joined by commas, in the order given.
pub(crate) fn listed_digest(ids: &[QueryId]) -> Digest {
    let texts: Vec<&str> = ids.iter().map(QueryId::as_str).collect();
    Digest::of(texts.join(",").as_bytes())
}

/// Which queries stay on one side together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping {
    /// What the groups are, as the manifest records it, e.g. `cluster`.
    pub name: String,
    /// Group of each query; a query that is not listed is alone.
    pub group_of: BTreeMap<QueryId, String>,
}

/// What beyond seed and sizes decides a split.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SplitOptions {
    /// Which queries were let in, as the manifest records it. The caller has applied it.
    pub filter: Option<String>,
    /// Which queries stay together.
    pub grouping: Option<Grouping>,
}

/// A train/holdout split of a dataset's queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SplitManifest {
    /// Seed of the hash order.
    pub seed: u64,
    /// Queries on both sides together.
    pub total: usize,
    /// Size of the train side that was asked for. The side itself is larger when a group crosses the boundary.
    pub train_asked: usize,
    /// Which queries were let in, in words.
    pub filter: Option<String>,
    /// What queries stay together, in words.
    pub group_by: Option<String>,
    /// Queries that a sweep may see.
    pub train: Side,
    /// Queries that judge the winner.
    pub holdout: Side,
}

impl SplitManifest {
    /// Splits the ids: the first `total` in hash order are the sample, the first `train` of these the train side.
    ///
    /// With groups, whole groups enter the train side in the order of the earliest member of each until the side has at
    /// least `train` queries. It then has at most one query less than the last group more than asked, and the holdout
    /// side as many fewer. Members of a group that are not in the sample are on no side.
    pub fn compute(
        ids: impl IntoIterator<Item = QueryId>,
        seed: u64,
        total: usize,
        train: usize,
        options: &SplitOptions,
    ) -> Result<Self, SplitError> {
        let mut order = hash_order(ids, seed);
        if let Some(query) = first_repeated(&order) {
            return Err(SplitError::Twice { query });
        }
        if total == 0 {
            return Err(SplitError::Empty);
        }
        if total > order.len() {
            let (asked, available) = (total, order.len());
            return Err(SplitError::TooFew { asked, available });
        }
        if train > total {
            return Err(SplitError::TrainTooLarge { train, total });
        }
        order.truncate(total);
        let (train_ids, holdout_ids) = match &options.grouping {
            None => {
                let holdout = order.split_off(train);
                (order, holdout)
            }
            Some(grouping) => divide_groups(order, train, &grouping.group_of),
        };
        if train < total && holdout_ids.is_empty() {
            let fold = Fold::Holdout;
            return Err(SplitError::GroupsTooLarge { fold });
        }
        Ok(Self {
            seed,
            total,
            train_asked: train,
            filter: options.filter.clone(),
            group_by: options.grouping.as_ref().map(|g| g.name.clone()),
            train: Side::sorted(train_ids),
            holdout: Side::sorted(holdout_ids),
        })
    }

    /// Returns the queries of a fold in bytewise order of their ids.
    pub fn queries(&self, fold: Fold) -> Vec<QueryId> {
        let sides: &[&Side] = match fold {
            Fold::Train => &[&self.train],
            Fold::Holdout => &[&self.holdout],
            Fold::All => &[&self.train, &self.holdout],
        };
        let mut ids: Vec<QueryId> = sides.iter().flat_map(|side| side.ids.clone()).collect();
        ids.sort_unstable();
        ids
    }

    /// Returns the digest of a fold's ids, bytewise sorted and joined by commas: the same for the same queries, however
    /// a file lists them.
    pub fn digest(&self, fold: Fold) -> Digest {
        listed_digest(&self.queries(fold))
    }

    /// Recomputes both digests and checks that sizes fit and no query occurs twice.
    pub fn verify(&self) -> Result<(), SplitError> {
        for (fold, side) in [(Fold::Train, &self.train), (Fold::Holdout, &self.holdout)] {
            let found = listed_digest(&side.ids);
            if found != side.sha256 {
                let recorded = side.sha256;
                return Err(SplitError::Digest {
                    fold,
                    found,
                    recorded,
                });
            }
        }
        let all = self.queries(Fold::All);
        if let Some(query) = first_repeated(&all) {
            return Err(SplitError::Twice { query });
        }
        if all.len() != self.total {
            return Err(SplitError::Count {
                fold: Fold::All,
                found: all.len(),
                recorded: self.total,
            });
        }
        Ok(())
    }

    /// Checks that every query of the split is among `queries`.
    pub fn check_queries(&self, queries: &[Query]) -> Result<(), SplitError> {
        let known: BTreeSet<&str> = queries.iter().map(|query| query.id.as_str()).collect();
        let all = self.queries(Fold::All);
        let mut unknown = all.iter().filter(|id| !known.contains(id.as_str()));
        match unknown.next() {
            None => Ok(()),
            Some(example) => Err(SplitError::Unknown {
                example: example.clone(),
                count: 1 + unknown.count(),
            }),
        }
    }

    /// Whether the same seed and sizes give the same sides from `ids`. Groups are not known to the manifest, so this says
    /// nothing about a split that has them.
    pub fn is_reproduced_from(&self, ids: impl IntoIterator<Item = QueryId>) -> bool {
        let options = SplitOptions::default();
        Self::compute(ids, self.seed, self.total, self.train_asked, &options).is_ok_and(|again| {
            [Fold::Train, Fold::Holdout]
                .into_iter()
                .all(|fold| again.queries(fold) == self.queries(fold))
        })
    }
}

fn first_repeated(ids: &[QueryId]) -> Option<QueryId> {
    let mut seen = BTreeSet::new();
    ids.iter().find(|id| !seen.insert(id.as_str())).cloned()
}

/// Divides ids in hash order so that groups stay whole.
fn divide_groups(
    order: Vec<QueryId>,
    train: usize,
    group_of: &BTreeMap<QueryId, String>,
) -> (Vec<QueryId>, Vec<QueryId>) {
    // The first member met is the one with the smallest hash, so groups stand in the order in which they are met.
    let mut groups: Vec<Vec<QueryId>> = Vec::new();
    let mut place: BTreeMap<&str, usize> = BTreeMap::new();
    for id in order {
        match group_of.get(&id) {
            None => groups.push(vec![id]),
            Some(group) => {
                let at = *place.entry(group).or_insert(groups.len());
                if at == groups.len() {
                    groups.push(Vec::new());
                }
                groups[at].push(id);
            }
        }
    }
    let (mut train_ids, mut holdout_ids) = (Vec::new(), Vec::new());
    for group in groups {
        if train_ids.len() < train {
            train_ids.extend(group);
        } else {
            holdout_ids.extend(group);
        }
    }
    (train_ids, holdout_ids)
}
