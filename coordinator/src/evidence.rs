//! From measured candidates to the evidence that the gate judges; the same for a job that runs and for stored rows.

use evalfarm_domain::{Metric, Query};
use evalfarm_gate::{
    Context, Evidence, EvidenceError, EvidenceParts, JudgedMetric, Side, Unjudged,
};
use evalfarm_results::JobQuery;

use crate::looks::EarlierLooks;

/// What is known of a job beside its rows.
#[derive(Debug)]
pub(crate) struct About<'a> {
    /// The judged queries, in bytewise order of their ids.
    pub(crate) queries: &'a [JobQuery],
    /// What was measured, the primary first.
    pub(crate) metrics: &'a [Metric],
    /// How grades became gains.
    pub(crate) gains: String,
    /// Whether the data were generated.
    pub(crate) synthetic: bool,
    /// Earlier looks at the holdout; absent when there is none.
    pub(crate) earlier: Option<EarlierLooks>,
    /// Further sentences for the limits.
    pub(crate) notes: Vec<String>,
    /// Unfinished rows of queries that chose the candidate and do not judge it: the job is incomplete all the same.
    pub(crate) unfinished_train_rows: usize,
}

/// Puts the baseline and its family together. A family of the baseline alone means that nothing beat it.
pub(crate) fn evidence(
    about: &About<'_>,
    baseline: &Side,
    family: Vec<Side>,
    unjudged: Option<Vec<Unjudged>>,
) -> Result<Evidence, EvidenceError> {
    let queries = about.queries;
    let relevant: usize = queries.iter().map(|query| query.relevant as usize).sum();
    let weights = weights(queries.iter().map(|query| &query.query));
    let mut notes = notes(about, weights.is_some());
    if family.iter().any(|side| side.id == baseline.id) {
        notes.push("no candidate was better than the baseline on the train queries".to_owned());
    }
    notes.extend(about.earlier.and_then(looks));
    notes.extend(about.notes.iter().cloned());
    Evidence::new(EvidenceParts {
        queries: queries.iter().map(|query| query.query.id.clone()).collect(),
        metrics: about
            .metrics
            .iter()
            .map(|&metric| JudgedMetric::from(metric))
            .collect(),
        baseline: baseline.clone(),
        candidates: family,
        weights,
        clusters: clusters(queries),
        context: Context {
            descriptions: Some(queries.iter().map(|query| query.query.clone()).collect()),
            unjudged,
            gains: Some(about.gains.clone()),
            relevant_per_query: Some(relevant as f64 / queries.len().max(1) as f64),
            synthetic: about.synthetic,
            looks: about
                .earlier
                .map_or(0, |earlier| earlier.same_hypothesis.saturating_add(1)),
            notes,
            missing_rows: about.unfinished_train_rows,
            ..Context::default()
        },
    })
}

fn notes(about: &About<'_>, weighted: bool) -> Vec<String> {
    let mut notes = Vec::new();
    let without = about
        .queries
        .iter()
        .filter(|query| query.relevant == 0)
        .count();
    if without > 0 {
        notes.push(format!(
            "{without} of {} queries have no relevant judgment and count as 0 for every candidate",
            about.queries.len(),
        ));
    }
    if weighted {
        notes.push(
            "each query counts by its weight here, and once in the means of candidates.parquet"
                .to_owned(),
        );
    }
    notes
}

fn looks(earlier: EarlierLooks) -> Option<String> {
    (earlier.same_holdout > 0).then(|| {
        format!(
            "earlier looks at this holdout: {}, of these at this very comparison under this policy: {}",
            earlier.same_holdout, earlier.same_hypothesis,
        )
    })
}

/// Returns the traffic weights of queries; nothing when all are 1.
fn weights<'a>(queries: impl Iterator<Item = &'a Query>) -> Option<Vec<f64>> {
    let weights: Vec<f64> = queries.map(|query| query.weight).collect();
    let alike = weights.iter().all(|weight| weight.total_cmp(&1.0).is_eq());
    (!alike).then_some(weights)
}

/// Returns the cluster of each query; nothing when each query is alone.
fn clusters(queries: &[JobQuery]) -> Option<Vec<String>> {
    let cluster = |query: &JobQuery| query.query.cluster.clone();
    queries
        .iter()
        .any(|query| cluster(query).is_some())
        .then(|| {
            // A query without a cluster is its own; the two kinds of names cannot meet.
            let named = |query: &JobQuery| match cluster(query) {
                Some(name) => format!("cluster {name}"),
                None => format!("query {}", query.query.id),
            };
            queries.iter().map(named).collect()
        })
}
