//! Evidence that cannot be judged.

use evalfarm_domain::{CandidateId, MetricName, QueryId};
use evalfarm_stats::DesignError;

/// Evidence that cannot be judged.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EvidenceError {
    /// There are no queries, metrics or candidates.
    #[error("there are no {what} to judge")]
    Empty {
        /// `queries`, `metrics` or `candidates`.
        what: &'static str,
    },
    /// An identifier occurs twice.
    #[error("{what} `{id}` occurs twice")]
    Twice {
        /// `query`, `metric` or `candidate`.
        what: &'static str,
        /// The identifier.
        id: String,
    },
    /// A column does not have one entry for each query, or a side not one column for each metric.
    #[error("`{side}` has `{found}` {what}, expected `{expected}`")]
    Length {
        /// The side.
        side: CandidateId,
        /// What is counted.
        what: String,
        /// Entries found.
        found: usize,
        /// Entries expected.
        expected: usize,
    },
    /// A value is NaN, infinite, or so large that sums over queries could overflow.
    #[error(
        "`{metric}` of query `{query}` is `{value}` in `{side}`: values have to be finite, at most 1e100 in magnitude"
    )]
    NotFinite {
        /// The side.
        side: CandidateId,
        /// The metric.
        metric: MetricName,
        /// The query.
        query: QueryId,
        /// The value, as text because NaN equals nothing.
        value: String,
    },
    /// A judged share is no share.
    #[error(
        "the judged share of query `{query}` is `{value}` in `{side}`: it has to lie in [0, 1]"
    )]
    JudgedShare {
        /// The side.
        side: CandidateId,
        /// The query.
        query: QueryId,
        /// The value, as text because NaN equals nothing.
        value: String,
    },
    /// A figure of the context or a metric's worst value is NaN, infinite or negative.
    #[error("{what} is `{value}`, it has to be finite and at least 0")]
    Context {
        /// Which figure.
        what: String,
        /// The value, as text because NaN equals nothing.
        value: String,
    },
    /// Weights or clusters do not fit the queries.
    #[error("the weights or clusters of the queries cannot be used")]
    Design(#[source] DesignError),
    /// The policy names a metric that was not measured.
    #[error("the policy's {role} `{metric}` was not measured, only {measured} were")]
    NotMeasured {
        /// `primary`, `guard`, or the key of the policy.
        role: &'static str,
        /// The metric.
        metric: MetricName,
        /// What was measured.
        measured: String,
    },
    /// A ceiling on flips is set for a metric whose values are not 0 or 1, or whose queries are weighted or clustered.
    #[error(
        "the policy's `{key}` names `{metric}`, whose values are not all 0 or 1 on queries that count the same"
    )]
    NotBinary {
        /// Key in the policy.
        key: &'static str,
        /// The metric.
        metric: MetricName,
    },
    /// What is known of the queries is not about these queries.
    #[error("query `{query}` is described as `{found}`")]
    Described {
        /// The query of the evidence.
        query: QueryId,
        /// The query at its place among the descriptions.
        found: String,
    },
}
