//! Queries that are equal or nearly equal after analysis, which leak from one side of a split to the other.

use std::collections::BTreeMap;

use evalfarm_analysis::Analyzer;
use evalfarm_domain::{Fold, Query, QueryId};
use serde::Serialize;

use super::SplitManifest;

/// Least Jaccard similarity, |A ∩ B| / |A ∪ B|, of the token sets of nearly equal queries.
///
/// At 0.8 a query of five words may have one word more than another of four. It is compared in whole numbers,
/// `5·|A ∩ B| ≥ 4·|A ∪ B|`.
pub const MIN_SIMILARITY: f64 = 0.8;

/// A holdout query that has a like on the train side.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Likeness {
    /// The query of the holdout side.
    pub holdout: QueryId,
    /// The most similar query of the train side, the first bytewise of several.
    pub train: QueryId,
    /// Jaccard similarity of their token sets: 1 when they are equal.
    pub similarity: f64,
}

/// Holdout queries that have a like on the train side: what a sweep learns from the one it knows of the other.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Overlap {
    /// Holdout queries with the same tokens as a train query, by id.
    pub equal: Vec<Likeness>,
    /// Holdout queries with nearly the same tokens as a train query and not the same, by id.
    pub nearly_equal: Vec<Likeness>,
}

/// Returns the holdout queries that have a like on the train side.
pub fn overlap(queries: &[Query], split: &SplitManifest) -> Overlap {
    let side_of: BTreeMap<QueryId, Fold> = [Fold::Train, Fold::Holdout]
        .into_iter()
        .flat_map(|fold| split.queries(fold).into_iter().map(move |id| (id, fold)))
        .collect();
    let inside: Vec<(&Query, Fold)> = queries
        .iter()
        .filter_map(|query| Some((query, *side_of.get(&query.id)?)))
        .collect();
    let sets = TokenSets::of(inside.iter().map(|(query, _)| query.text.as_str()));
    let members = |set: usize, fold: Fold| -> Vec<&QueryId> {
        let of_set = sets.members[set].iter().map(|&at| inside[at]);
        of_set
            .filter(|&(_, side)| side == fold)
            .map(|(query, _)| &query.id)
            .collect()
    };
    let mut best: BTreeMap<&QueryId, (Ratio, &QueryId)> = BTreeMap::new();
    let mut consider = |holdout_set: usize, train_set: usize, ratio: Ratio| {
        let Some(train) = members(train_set, Fold::Train).into_iter().min() else {
            return;
        };
        for holdout in members(holdout_set, Fold::Holdout) {
            let better = best.get(holdout).is_none_or(|&(known, partner)| {
                ratio.more_than(known) || (!known.more_than(ratio) && train < partner)
            });
            if better {
                best.insert(holdout, (ratio, train));
            }
        }
    };
    for set in 0..sets.tokens.len() {
        consider(set, set, Ratio::ONE);
    }
    for (a, b, ratio) in sets.nearly_equal() {
        consider(a, b, ratio);
        consider(b, a, ratio);
    }
    let mut overlap = Overlap::default();
    for (holdout, (ratio, train)) in best {
        let likeness = Likeness {
            holdout: holdout.clone(),
            train: train.clone(),
            similarity: ratio.value(),
        };
        if ratio.intersection == ratio.union {
            overlap.equal.push(likeness);
        } else {
            overlap.nearly_equal.push(likeness);
        }
    }
    overlap
}

/// Returns a group name for each query that is equal or nearly equal to another, directly or through others: the
/// smallest id of the group. Queries without a like are left out.
pub(crate) fn groups(queries: &[&Query]) -> BTreeMap<QueryId, String> {
    let sets = TokenSets::of(queries.iter().map(|query| query.text.as_str()));
    let mut parent: Vec<usize> = (0..sets.tokens.len()).collect();
    for (a, b, _) in sets.nearly_equal() {
        let (a, b) = (root(&mut parent, a), root(&mut parent, b));
        parent[a.max(b)] = a.min(b);
    }
    let mut together: BTreeMap<usize, Vec<&QueryId>> = BTreeMap::new();
    for (set, members) in sets.members.iter().enumerate() {
        let group = together.entry(root(&mut parent, set)).or_default();
        group.extend(members.iter().map(|&at| &queries[at].id));
    }
    let mut group_of = BTreeMap::new();
    for ids in together.into_values().filter(|ids| ids.len() > 1) {
        let name = ids
            .iter()
            .min()
            .map(ToString::to_string)
            .unwrap_or_default();
        group_of.extend(ids.into_iter().map(|id| (id.clone(), name.clone())));
    }
    group_of
}

/// Finds the representative of a set, shortening the path on the way.
fn root(parent: &mut [usize], mut set: usize) -> usize {
    while parent[set] != set {
        parent[set] = parent[parent[set]];
        set = parent[set];
    }
    set
}

/// A Jaccard similarity as the two counts it is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ratio {
    intersection: usize,
    union: usize,
}

impl Ratio {
    const ONE: Self = Self {
        intersection: 1,
        union: 1,
    };

    fn value(self) -> f64 {
        self.intersection as f64 / self.union as f64
    }

    fn more_than(self, other: Self) -> bool {
        self.intersection * other.union > other.intersection * self.union
    }

    fn is_nearly_equal(self) -> bool {
        5 * self.intersection >= 4 * self.union
    }
}

/// The distinct token sets of some texts.
struct TokenSets {
    /// Tokens of each distinct set as numbers, rarest first.
    tokens: Vec<Vec<usize>>,
    /// Places of the texts that have the set.
    members: Vec<Vec<usize>>,
}

impl TokenSets {
    fn of<'a>(texts: impl Iterator<Item = &'a str>) -> Self {
        let mut members_of: BTreeMap<Vec<String>, Vec<usize>> = BTreeMap::new();
        for (at, text) in texts.enumerate() {
            members_of.entry(token_set(text)).or_default().push(at);
        }
        let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
        for token in members_of.keys().flatten() {
            *frequency.entry(token).or_default() += 1;
        }
        let mut by_rarity: Vec<(usize, &str)> = frequency
            .into_iter()
            .map(|(token, count)| (count, token))
            .collect();
        by_rarity.sort_unstable();
        let number: BTreeMap<&str, usize> =
            by_rarity.iter().map(|&(_, token)| token).zip(0..).collect();
        let tokens = members_of
            .keys()
            .map(|set| {
                let mut numbers: Vec<usize> =
                    set.iter().map(|token| number[token.as_str()]).collect();
                numbers.sort_unstable();
                numbers
            })
            .collect();
        Self {
            tokens,
            members: members_of.into_values().collect(),
        }
    }

    /// Returns the pairs of different sets that are nearly equal, the smaller place first.
    ///
    /// Two sets of similarity at least t share at least `ceil(t·n)` tokens, n the size of either, so they share one of
    /// the `n − ceil(t·n) + 1` rarest tokens of each. Only sets that meet in an index of these are compared (prefix
    /// filter: Chaudhuri, Ganti and Kaushik, *A primitive operator for similarity joins in data cleaning*, ICDE 2006).
    fn nearly_equal(&self) -> Vec<(usize, usize, Ratio)> {
        let mut index: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        let mut compared_with = vec![usize::MAX; self.tokens.len()];
        let mut found = Vec::new();
        for (set, tokens) in self.tokens.iter().enumerate() {
            let needed = (4 * tokens.len()).div_ceil(5);
            let prefix = tokens
                .iter()
                .take((tokens.len() + 1).saturating_sub(needed));
            for token in prefix {
                let earlier = index.entry(*token).or_default();
                for &other in earlier.iter() {
                    if compared_with[other] == set {
                        continue;
                    }
                    compared_with[other] = set;
                    let ratio = jaccard(&self.tokens[other], tokens);
                    if ratio.is_nearly_equal() {
                        found.push((other, set, ratio));
                    }
                }
                earlier.push(set);
            }
        }
        found
    }
}

/// Returns the sorted distinct English tokens of a text. A text without any, e.g. of stop words only, has its own lower
/// case as its one token, so that it is like itself and nothing else.
fn token_set(text: &str) -> Vec<String> {
    let mut tokens = Analyzer::English.tokens(text);
    if tokens.is_empty() {
        // The space keeps it apart from every token of an analysed text.
        tokens.push(format!(" {}", text.trim().to_lowercase()));
    }
    tokens.sort_unstable();
    tokens.dedup();
    tokens
}

fn jaccard(a: &[usize], b: &[usize]) -> Ratio {
    let (mut at_a, mut at_b, mut intersection) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(at_a), b.get(at_b)) {
        if x == y {
            intersection += 1;
        }
        at_a += usize::from(x <= y);
        at_b += usize::from(y <= x);
    }
    Ratio {
        intersection,
        union: a.len() + b.len() - intersection,
    }
}
