//! What a job measured, checked before any statistic is computed.

use std::collections::BTreeSet;

use evalfarm_domain::{
    CandidateId, Direction, FailureKind, Measure, Metric, MetricName, QueryId, RerankStatus,
    RewriteStatus,
};
use evalfarm_stats::{Design, DesignError};

/// A metric as the gate needs to know it.
#[derive(Debug, Clone, PartialEq)]
pub struct JudgedMetric {
    /// Name under which values, policy and verdict know it.
    pub name: MetricName,
    /// Which way it has to move to be better.
    pub direction: Direction,
    /// The worst value there is, which a failed candidate is given; when nothing is known, 0 for a metric and the largest
    /// value seen for a cost.
    pub worst: Option<f64>,
    /// Whether it says how good a ranking is, and so guards by default. The judged share and counts do not.
    pub quality: bool,
}

impl JudgedMetric {
    /// Returns an operational figure, e.g. a latency, that has no known worst value.
    pub fn instrument(name: MetricName, direction: Direction) -> Self {
        Self {
            name,
            direction,
            worst: None,
            quality: true,
        }
    }
}

impl From<Metric> for JudgedMetric {
    fn from(metric: Metric) -> Self {
        let quality = match metric.measure() {
            Measure::Ndcg(_)
            | Measure::ReciprocalRank
            | Measure::Precision
            | Measure::Recall
            | Measure::AveragePrecision
            | Measure::Success
            | Measure::Err
            | Measure::Rbp(_)
            | Measure::RPrecision
            | Measure::ZeroResult => true,
            Measure::Judged
            | Measure::NumQ
            | Measure::NumRet
            | Measure::NumRel
            | Measure::NumRelRet => false,
        };
        Self {
            name: metric.name(),
            direction: metric.direction(),
            worst: Some(match metric.direction() {
                Direction::Higher => 0.0,
                Direction::Lower => 1.0,
            }),
            quality,
        }
    }
}

/// What was measured of the baseline or of one candidate; every column in the order of [`EvidenceParts::queries`].
#[derive(Debug, Clone, PartialEq)]
pub struct Side {
    /// Which configuration, run or file this is.
    pub id: CandidateId,
    /// For each metric, one scored value for each query; finite for failed queries too.
    pub values: Vec<Vec<f64>>,
    /// Why a query has no ranking.
    pub failures: Vec<Option<FailureKind>>,
    /// Whether a query returned nothing; absent when it was not recorded.
    pub zero_results: Option<Vec<bool>>,
    /// What became of the rewrite stage; absent when it was not recorded.
    pub rewrite: Option<Vec<RewriteStatus>>,
    /// What became of the rerank stage; absent when it was not recorded.
    pub rerank: Option<Vec<RerankStatus>>,
    /// Share of the returned hits that are judged, nothing where none was returned; absent when it was not recorded.
    pub judged: Option<Vec<Option<f64>>>,
}

impl Side {
    /// Returns a side of which only the values are known, none of them failed.
    pub fn of_values(id: CandidateId, values: Vec<Vec<f64>>) -> Self {
        let queries = values.first().map_or(0, Vec::len);
        Self {
            id,
            values,
            failures: vec![None; queries],
            zero_results: None,
            rewrite: None,
            rerank: None,
            judged: None,
        }
    }

    /// Whether a stage failed on this query and its input was scored; a failed query is not degraded as well.
    pub(crate) fn is_degraded(&self, row: usize) -> bool {
        let rewrite = self.rewrite.as_ref().is_some_and(|s| s[row].is_degraded());
        let rerank = self.rerank.as_ref().is_some_and(|s| s[row].is_degraded());
        self.failures[row].is_none() && (rewrite || rerank)
    }

    fn reorder(&mut self, order: &[usize]) {
        for column in &mut self.values {
            *column = picked(column, order);
        }
        self.failures = picked(&self.failures, order);
        self.zero_results = self.zero_results.as_ref().map(|c| picked(c, order));
        self.rewrite = self.rewrite.as_ref().map(|c| picked(c, order));
        self.rerank = self.rerank.as_ref().map(|c| picked(c, order));
        self.judged = self.judged.as_ref().map(|c| picked(c, order));
    }
}

fn picked<T: Clone>(column: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| column[row].clone()).collect()
}

/// What is known of the data beside the values, for the limits of the verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// How grades became gains, in words.
    pub gains: Option<String>,
    /// Relevant judgments for each query, on average over the query set.
    pub relevant_per_query: Option<f64>,
    /// Whether the data were generated.
    pub synthetic: bool,
    /// Change of the primary that reruns of the same configuration showed, in its own unit.
    pub noise_band: Option<f64>,
    /// Rows that the job planned and has not got.
    pub missing_rows: usize,
    /// Whether a file's ranks were trusted instead of its scores.
    pub ordered_by_rank: bool,
    /// How often this hypothesis was looked at on this query set, this time included; 0 when nobody counts.
    pub looks: u32,
    /// Further sentences for the limits.
    pub notes: Vec<String>,
}

/// Everything that evidence is made of, unchecked.
#[derive(Debug, Clone, PartialEq)]
pub struct EvidenceParts {
    /// The manifest's query set; decides what is paired, whatever a candidate answered.
    pub queries: Vec<QueryId>,
    /// The metrics of the job.
    pub metrics: Vec<JudgedMetric>,
    /// What candidates are compared with.
    pub baseline: Side,
    /// The candidates that are judged as one family.
    pub candidates: Vec<Side>,
    /// Share of traffic of each query, when queries carry weights.
    pub weights: Option<Vec<f64>>,
    /// Cluster of each query, when queries are not independent.
    pub clusters: Option<Vec<String>>,
    /// What is known beside the values.
    pub context: Context,
}

/// Checked evidence, its queries by ascending id.
///
/// Invariants: at least one query, metric and candidate; ids distinct; every column has one entry for each query; every
/// value finite, judged shares in [0, 1].
#[derive(Debug, Clone, PartialEq)]
pub struct Evidence {
    pub(crate) parts: EvidenceParts,
    pub(crate) design: Design,
}

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
    /// A value is NaN or infinite.
    #[error("`{metric}` of query `{query}` is `{value}` in `{side}`: values have to be finite")]
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
        /// `primary`, `guard` or `max_drop`.
        role: &'static str,
        /// The metric.
        metric: MetricName,
        /// What was measured.
        measured: String,
    },
}

impl Evidence {
    /// Checks the parts and brings the queries into the order of their ids, so that the order in which they came, on both
    /// sides alike, changes no bit of the judgement.
    pub fn new(mut parts: EvidenceParts) -> Result<Self, EvidenceError> {
        check_names(&parts)?;
        check_context(&parts)?;
        for side in std::iter::once(&parts.baseline).chain(&parts.candidates) {
            check_side(&parts, side)?;
        }
        let rows = parts.queries.len();
        let mut order: Vec<usize> = (0..rows).collect();
        order.sort_by(|&a, &b| parts.queries[a].cmp(&parts.queries[b]));
        let labels = parts.clusters.as_ref().map(|clusters| numbered(clusters));
        Design::new(rows, parts.weights.clone(), labels.as_deref())
            .map_err(EvidenceError::Design)?;
        parts.queries = picked(&parts.queries, &order);
        parts.weights = parts.weights.map(|column| picked(&column, &order));
        parts.clusters = parts.clusters.map(|column| picked(&column, &order));
        parts.baseline.reorder(&order);
        for candidate in &mut parts.candidates {
            candidate.reorder(&order);
        }
        let labels = parts.clusters.as_ref().map(|clusters| numbered(clusters));
        let design = Design::new(rows, parts.weights.clone(), labels.as_deref())
            .map_err(EvidenceError::Design)?;
        Ok(Self { parts, design })
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.parts.queries.len()
    }

    /// Returns the candidates' ids, in the order in which they were given.
    pub fn candidates(&self) -> impl ExactSizeIterator<Item = &CandidateId> {
        self.parts.candidates.iter().map(|side| &side.id)
    }
}

/// Numbers cluster labels by their order as text.
fn numbered(clusters: &[String]) -> Vec<u32> {
    let distinct: BTreeSet<&String> = clusters.iter().collect();
    let distinct: Vec<&String> = distinct.into_iter().collect();
    clusters
        .iter()
        .map(|label| {
            let number = distinct.binary_search(&label).unwrap_or_default();
            u32::try_from(number).unwrap_or(u32::MAX)
        })
        .collect()
}

fn check_names(parts: &EvidenceParts) -> Result<(), EvidenceError> {
    distinct(
        "queries",
        "query",
        parts.queries.iter().map(QueryId::as_str),
    )?;
    distinct(
        "metrics",
        "metric",
        parts.metrics.iter().map(|metric| metric.name.as_str()),
    )?;
    let ids = parts.candidates.iter().map(|side| side.id.as_str());
    distinct("candidates", "candidate", ids)
}

fn distinct<'a>(
    what: &'static str,
    one: &'static str,
    ids: impl Iterator<Item = &'a str>,
) -> Result<(), EvidenceError> {
    let mut seen = BTreeSet::new();
    for id in ids {
        if !seen.insert(id) {
            return Err(EvidenceError::Twice {
                what: one,
                id: id.to_owned(),
            });
        }
    }
    if seen.is_empty() {
        return Err(EvidenceError::Empty { what });
    }
    Ok(())
}

fn check_context(parts: &EvidenceParts) -> Result<(), EvidenceError> {
    let context = [
        ("the noise band".to_owned(), parts.context.noise_band),
        (
            "the number of relevant judgments a query".to_owned(),
            parts.context.relevant_per_query,
        ),
    ];
    let worst = parts.metrics.iter().map(|metric| {
        (
            format!("the worst value of `{}`", metric.name),
            metric.worst,
        )
    });
    for (what, value) in context.into_iter().chain(worst) {
        if let Some(value) = value.filter(|value| !(0.0..f64::INFINITY).contains(value)) {
            let value = value.to_string();
            return Err(EvidenceError::Context { what, value });
        }
    }
    Ok(())
}

fn check_side(parts: &EvidenceParts, side: &Side) -> Result<(), EvidenceError> {
    let rows = parts.queries.len();
    let length = |what: &str, found: usize, expected: usize| {
        if found == expected {
            return Ok(());
        }
        Err(EvidenceError::Length {
            side: side.id.clone(),
            what: what.to_owned(),
            found,
            expected,
        })
    };
    length("metric columns", side.values.len(), parts.metrics.len())?;
    length("failure entries", side.failures.len(), rows)?;
    for (what, found) in [
        (
            "zero-result entries",
            side.zero_results.as_ref().map(Vec::len),
        ),
        ("rewrite statuses", side.rewrite.as_ref().map(Vec::len)),
        ("rerank statuses", side.rerank.as_ref().map(Vec::len)),
        ("judged shares", side.judged.as_ref().map(Vec::len)),
    ] {
        length(what, found.unwrap_or(rows), rows)?;
    }
    for (metric, column) in parts.metrics.iter().zip(&side.values) {
        length(&format!("values of `{}`", metric.name), column.len(), rows)?;
        if let Some(row) = column.iter().position(|value| !value.is_finite()) {
            return Err(EvidenceError::NotFinite {
                side: side.id.clone(),
                metric: metric.name.clone(),
                query: parts.queries[row].clone(),
                value: column[row].to_string(),
            });
        }
    }
    for (query, share) in parts.queries.iter().zip(side.judged.iter().flatten()) {
        if let Some(share) = share.filter(|share| !(0.0..=1.0).contains(share)) {
            return Err(EvidenceError::JudgedShare {
                side: side.id.clone(),
                query: query.clone(),
                value: share.to_string(),
            });
        }
    }
    Ok(())
}
