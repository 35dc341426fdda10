//! Splitting the queries of a dataset, and what there is to say about the result.

use std::collections::BTreeMap;

use evalfarm_domain::{Grade, Judgments, Query, QueryId};

use super::likeness::groups;
use super::{Grouping, Overlap, SplitError, SplitManifest, SplitOptions, overlap};

/// How large the train side is to be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainSize {
    /// So many queries.
    Count(usize),
    /// This share of the sample, 0 to 1, rounded to the nearest whole number of queries.
    Share(f64),
}

/// Which queries are let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// All of them.
    #[default]
    All,
    /// Those with at least one relevant judgment: the others cannot tell candidates apart.
    HasRelevant,
}

/// Which queries stay on one side together.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum GroupBy {
    /// Each query for itself.
    #[default]
    Nothing,
    /// Queries of one cluster.
    Cluster,
    /// Queries with the same text in this column; a query without it is alone.
    Column(String),
    /// Queries that are equal or nearly equal after analysis, directly or through others.
    NearDuplicates,
}

/// What split is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitRequest {
    /// Seed of the hash order.
    pub seed: u64,
    /// Size of the sample; all queries that are let in when absent.
    pub total: Option<usize>,
    /// Size of the train side.
    pub train: TrainSize,
    /// Which queries are let in.
    pub filter: Filter,
    /// Which queries stay together.
    pub group_by: GroupBy,
}

/// What there is to say about a split beyond its ids.
#[derive(Debug, Clone, PartialEq)]
pub struct SplitReport {
    /// Queries that the filter kept out.
    pub filtered_out: usize,
    /// Queries that were let in and are not in the sample.
    pub not_sampled: usize,
    /// Queries on the train side beyond the number asked for, because a group crossed the boundary.
    pub train_excess: usize,
    /// Queries in the sample's largest group: `train_excess` is always less. 1 without groups.
    pub largest_group: usize,
    /// Holdout queries that have a like on the train side.
    pub overlap: Overlap,
}

/// A split and what there is to say about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Split {
    /// The split.
    pub manifest: SplitManifest,
    /// What there is to say about it.
    pub report: SplitReport,
}

/// Splits the queries of a dataset. A query is relevant-judged from the grade `relevant_from` on.
pub fn split(
    queries: &[Query],
    judgments: &Judgments,
    relevant_from: Grade,
    request: &SplitRequest,
) -> Result<Split, SplitError> {
    let let_in: Vec<&Query> = queries
        .iter()
        .filter(|query| match request.filter {
            Filter::All => true,
            Filter::HasRelevant => judgments
                .query(query.id.as_str())
                .is_some_and(|of_query| of_query.iter().any(|(_, grade)| grade >= relevant_from)),
        })
        .collect();
    let total = request.total.unwrap_or(let_in.len());
    let train = match request.train {
        TrainSize::Count(count) => count,
        TrainSize::Share(share) => share_of(total, share)?,
    };
    let grouping = grouping(&let_in, &request.group_by)?;
    let options = SplitOptions {
        filter: match request.filter {
            Filter::All => None,
            Filter::HasRelevant => Some(format!(
                "at least one judgment of grade {relevant_from} or more"
            )),
        },
        grouping,
    };
    let ids = let_in.iter().map(|query| query.id.clone());
    let manifest = SplitManifest::compute(ids, request.seed, total, train, &options)?;
    let group_of = options.grouping.map(|grouping| grouping.group_of);
    let report = SplitReport {
        filtered_out: queries.len() - let_in.len(),
        not_sampled: let_in.len() - total,
        train_excess: manifest.train.ids.len() - train,
        largest_group: largest_group(&manifest, &group_of.unwrap_or_default()),
        overlap: overlap(queries, &manifest),
    };
    Ok(Split { manifest, report })
}

fn share_of(total: usize, share: f64) -> Result<usize, SplitError> {
    if !(0.0..=1.0).contains(&share) {
        return Err(SplitError::Share { share });
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of at most 1 of a number of queries"
    )]
    let count = (total as f64 * share).round() as usize;
    Ok(count.min(total))
}

fn grouping(queries: &[&Query], group_by: &GroupBy) -> Result<Option<Grouping>, SplitError> {
    let by = |name: &str, value: &dyn Fn(&Query) -> Option<String>| {
        let pairs = queries
            .iter()
            .filter_map(|query| Some((query.id.clone(), value(query)?)));
        let group_of: BTreeMap<QueryId, String> = pairs.collect();
        if group_of.is_empty() {
            let column = name.to_owned();
            return Err(SplitError::NoColumn { column });
        }
        let name = name.to_owned();
        Ok(Some(Grouping { name, group_of }))
    };
    match group_by {
        GroupBy::Nothing => Ok(None),
        GroupBy::Cluster => by("cluster", &|query| query.cluster.clone()),
        GroupBy::Column(column) => by(column, &|query| query.columns.get(column).cloned()),
        GroupBy::NearDuplicates => Ok(Some(Grouping {
            name: "equal or nearly equal after analysis".to_owned(),
            group_of: groups(queries),
        })),
    }
}

fn largest_group(manifest: &SplitManifest, group_of: &BTreeMap<QueryId, String>) -> usize {
    let mut sizes: BTreeMap<&str, usize> = BTreeMap::new();
    let sampled = manifest.train.ids.iter().chain(&manifest.holdout.ids);
    for group in sampled.filter_map(|id| group_of.get(id)) {
        *sizes.entry(group).or_default() += 1;
    }
    sizes.into_values().max().unwrap_or(1).max(1)
}
