//! What a job measured, checked before any statistic is computed.

mod check;
mod error;

use std::collections::BTreeSet;

use evalfarm_domain::{
    CandidateId, Direction, FailureKind, Measure, Metric, MetricName, Query, QueryId, RerankStatus,
    RewriteStatus,
};
use evalfarm_stats::Design;

use crate::counts::unfinished;
use crate::{GatePolicy, Rerun};
use check::{check_context, check_descriptions, check_names, check_side};

pub use error::EvidenceError;

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
    /// Whether its values are known to be made from judgments, so that unjudged hits can make a loss of it.
    pub from_judgments: bool,
}

impl JudgedMetric {
    /// Returns an operational figure, e.g. a latency, that has no known worst value.
    pub fn instrument(name: MetricName, direction: Direction) -> Self {
        Self {
            name,
            direction,
            worst: None,
            quality: true,
            from_judgments: false,
        }
    }
}

impl From<Metric> for JudgedMetric {
    fn from(metric: Metric) -> Self {
        let (quality, from_judgments) = match metric.measure() {
            Measure::Ndcg(_)
            | Measure::ReciprocalRank
            | Measure::Precision
            | Measure::Recall
            | Measure::AveragePrecision
            | Measure::Success
            | Measure::Err
            | Measure::Rbp(_)
            | Measure::RPrecision => (true, true),
            Measure::ZeroResult => (true, false),
            Measure::Judged
            | Measure::NumQ
            | Measure::NumRet
            | Measure::NumRel
            | Measure::NumRelRet => (false, false),
        };
        Self {
            name: metric.name(),
            direction: metric.direction(),
            worst: Some(match metric.direction() {
                Direction::Higher => 0.0,
                Direction::Lower => 1.0,
            }),
            quality,
            from_judgments,
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

    pub(crate) fn reorder(&mut self, order: &[usize]) {
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

pub(crate) fn picked<T: Clone>(column: &[T], order: &[usize]) -> Vec<T> {
    order.iter().map(|&row| column[row].clone()).collect()
}

/// What missing judgments may have done to one candidate's comparison on one metric; every column in the order of
/// [`EvidenceParts::queries`].
#[derive(Debug, Clone, PartialEq)]
pub struct Unjudged {
    /// The candidate.
    pub candidate: CandidateId,
    /// The metric; the primary's and those of guards are looked at.
    pub metric: MetricName,
    /// The baseline's values on lists without their unjudged hits.
    pub condensed_baseline: Vec<f64>,
    /// The candidate's values on such lists.
    pub condensed_candidate: Vec<f64>,
    /// The least difference of each query over all ways to judge the unjudged hits.
    pub lowest: Option<Vec<f64>>,
    /// The largest such difference.
    pub highest: Option<Vec<f64>>,
}

impl Unjudged {
    fn columns(&self) -> impl Iterator<Item = &[f64]> {
        let condensed = [&self.condensed_baseline, &self.condensed_candidate];
        let bounds = self.lowest.iter().chain(&self.highest);
        condensed.into_iter().chain(bounds).map(Vec::as_slice)
    }

    fn reorder(&mut self, order: &[usize]) {
        self.condensed_baseline = picked(&self.condensed_baseline, order);
        self.condensed_candidate = picked(&self.condensed_candidate, order);
        self.lowest = self.lowest.as_ref().map(|c| picked(c, order));
        self.highest = self.highest.as_ref().map(|c| picked(c, order));
    }
}

/// What is known of the data beside the values, for slices and for the limits of the verdict.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Context {
    /// The queries with their texts, columns and weights, in the order of [`EvidenceParts::queries`]; slices need them.
    pub descriptions: Option<Vec<Query>>,
    /// What missing judgments may have done, for the candidates of which it was looked at. A candidate that is not among
    /// these cannot be promoted; nothing when lists cannot be looked at, or have not been yet.
    pub unjudged: Option<Vec<Unjudged>>,
    /// What reruns of one configuration showed.
    pub reruns: Vec<Rerun>,
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

impl Context {
    pub(crate) fn reorder(&mut self, order: &[usize]) {
        let descriptions = self.descriptions.as_ref();
        self.descriptions = descriptions.map(|column| picked(column, order));
        for unjudged in self.unjudged.iter_mut().flatten() {
            unjudged.reorder(order);
        }
    }
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

impl Evidence {
    /// Checks the parts and brings the queries into the order of their ids, so that the order in which they came, on both
    /// sides alike, changes no bit of the judgement. Unfinished queries of any side are added to the missing rows.
    pub fn new(mut parts: EvidenceParts) -> Result<Self, EvidenceError> {
        check_names(&parts)?;
        check_context(&parts)?;
        check_descriptions(&parts)?;
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
        parts.context.reorder(&order);
        let sides = std::iter::once(&parts.baseline).chain(&parts.candidates);
        parts.context.missing_rows += sides.map(unfinished).sum::<usize>();
        let labels = parts.clusters.as_ref().map(|clusters| numbered(clusters));
        let design = Design::new(rows, parts.weights.clone(), labels.as_deref())
            .map_err(EvidenceError::Design)?;
        Ok(Self { parts, design })
    }

    /// Returns the number of queries.
    pub fn queries(&self) -> usize {
        self.parts.queries.len()
    }

    /// Returns what is known of the unjudged hits of a candidate on one metric; nothing when it was not looked at.
    pub(crate) fn unjudged(&self, candidate: &Side, metric: &MetricName) -> Option<&Unjudged> {
        let known = self.parts.context.unjudged.iter().flatten();
        let mut own = known.filter(|one| one.candidate == candidate.id);
        own.find(|one| one.metric == *metric)
    }

    /// Returns the evidence with the directions that a policy states for figures other than metrics.
    pub(crate) fn directed(&self, policy: &GatePolicy) -> Self {
        let mut directed = self.clone();
        for metric in &mut directed.parts.metrics {
            if let Some(&direction) = policy.directions.get(&metric.name) {
                metric.direction = direction;
            }
        }
        directed
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
