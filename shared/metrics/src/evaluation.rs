//! Values of a whole run: per query, and under `all`.

use std::collections::BTreeSet;

use evalfarm_domain::{Judgments, Measure, Measurement, Metric, QueryId};

use crate::{JoinedRun, MetricsError, QueryMetrics};

/// Which judged queries are evaluated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum QuerySet {
    /// Every judged query; one that the run does not answer has an empty ranking. `trec_eval -c`.
    #[default]
    Judged,
    /// Only judged queries that the run answers, which flatters a run that answers the easy ones. `trec_eval` without
    /// `-c`.
    OnlyAnswered,
}

/// What a query counts in a mean when no ranking could score: nothing is relevant, or nothing gains.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum NoRelevant {
    /// It counts as 0, as in `trec_eval`.
    #[default]
    Zero,
    /// It is left out of the mean.
    Exclude,
}

/// A run that could not be evaluated.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EvaluateError {
    /// A query's judgments cannot be scored.
    #[error("judgments of query `{query}` cannot be scored")]
    Judgments {
        /// The first such query, by id.
        query: QueryId,
        /// What is wrong with them.
        #[source]
        source: MetricsError,
    },
    /// No query is left to average over.
    #[error(
        "no query to evaluate: {judged} queries are judged, {answered} are answered, and none of them is in the set"
    )]
    NoQueries {
        /// Judged queries.
        judged: usize,
        /// Queries that the run answers, judged or not.
        answered: usize,
    },
}

/// The values of one query.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryValues {
    /// The query.
    pub query: QueryId,
    /// One value per metric; `None` where the metric is undefined.
    pub values: Vec<Option<f64>>,
    /// Whether the run answers the query; if not, the values are those of an empty ranking.
    pub answered: bool,
    /// Whether any document is relevant at the measurement's level.
    pub has_relevant: bool,
    /// Whether any judged document has a positive gain; if not, the ideal DCG is 0.
    pub has_gain: bool,
}

/// The values of one metric under `all`, by either policy for queries in which no ranking could score.
///
/// A mean over queries for every metric but the counts, which are summed as `trec_eval` does. `None` when there is no
/// value to average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MetricMeans {
    /// Such queries count as 0.
    pub zero: Option<f64>,
    /// Such queries are left out.
    pub exclude: Option<f64>,
    /// Number of queries in which no ranking could score.
    pub unattainable: usize,
    /// Number of queries whose value is undefined; they are in neither mean.
    pub undefined: usize,
}

impl MetricMeans {
    /// Returns the value under a policy.
    pub fn under(&self, policy: NoRelevant) -> Option<f64> {
        match policy {
            NoRelevant::Zero => self.zero,
            NoRelevant::Exclude => self.exclude,
        }
    }
}

/// How many queries there were of each kind. Printed with every evaluation, because a mean hides them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EvaluationCounts {
    /// Queries that were evaluated.
    pub queries: usize,
    /// Judged queries that the run does not answer, evaluated or not.
    pub missing_from_run: usize,
    /// Queries of the run without judgments, ignored.
    pub ignored_run_queries: usize,
    /// Evaluated queries without a relevant document.
    pub without_relevant: usize,
    /// Evaluated queries whose ideal DCG is 0.
    pub without_gain: usize,
    /// Hits that were removed because their document is the query itself.
    pub self_hits_dropped: usize,
}

/// The values of a run.
#[derive(Debug, Clone, PartialEq)]
pub struct Evaluation {
    /// What was measured, in the order of all values.
    pub metrics: Vec<Metric>,
    /// One entry per evaluated query, by query id.
    pub per_query: Vec<QueryValues>,
    /// One entry per metric.
    pub all: Vec<MetricMeans>,
    /// What the means are over.
    pub counts: EvaluationCounts,
}

/// Evaluates a run against judgments.
///
/// The judgments decide which queries there are, never the run: a judged query that the run lacks counts as an empty
/// ranking (unless `set` says otherwise), a query that only the run has is ignored, and both are counted. Sums run in
/// the order of query ids.
pub fn evaluate(
    measurement: &Measurement,
    judgments: &Judgments,
    run: &JoinedRun,
    set: QuerySet,
) -> Result<Evaluation, EvaluateError> {
    let mut totals = vec![Total::default(); measurement.metrics.len()];
    let mut per_query = Vec::new();
    let mut counts = EvaluationCounts {
        self_hits_dropped: run.self_hits_dropped(),
        ..EvaluationCounts::default()
    };
    for (query, judged) in judgments.iter() {
        let answer = run.answer(query);
        counts.missing_from_run += usize::from(answer.is_none());
        if answer.is_none() && set == QuerySet::OnlyAnswered {
            continue;
        }
        let metrics = QueryMetrics::new(measurement, Some(judged)).map_err(|source| {
            let query = query.clone();
            EvaluateError::Judgments { query, source }
        })?;
        let mut values = Vec::with_capacity(totals.len());
        metrics.values_into(answer.unwrap_or_default(), &mut values);
        for ((total, attainable), &value) in
            totals.iter_mut().zip(metrics.attainable()).zip(&values)
        {
            total.add(value, attainable);
        }
        counts.queries += 1;
        counts.without_relevant += usize::from(!metrics.has_relevant());
        counts.without_gain += usize::from(!metrics.has_gain());
        per_query.push(QueryValues {
            query: query.clone(),
            values,
            answered: answer.is_some(),
            has_relevant: metrics.has_relevant(),
            has_gain: metrics.has_gain(),
        });
    }
    let judged: BTreeSet<&QueryId> = judgments.iter().map(|(query, _)| query).collect();
    let unjudged = run.queries().filter(|query| !judged.contains(query));
    counts.ignored_run_queries = unjudged.count();
    if per_query.is_empty() {
        return Err(EvaluateError::NoQueries {
            judged: judgments.len(),
            answered: run.queries().len(),
        });
    }
    let metrics = measurement.metrics.clone();
    let all = metrics
        .iter()
        .zip(totals)
        .map(|(&metric, total)| total.means(is_count(metric)))
        .collect();
    Ok(Evaluation {
        metrics,
        per_query,
        all,
        counts,
    })
}

/// Whether a metric counts things, so that its value is a whole number and its value under `all` a sum over queries
/// instead of a mean: `NumQ`, `NumRet`, `NumRel`, `NumRelRet`. `zero_result` is not one of them: its mean is a rate.
pub fn is_count(metric: Metric) -> bool {
    match metric.measure() {
        Measure::NumQ | Measure::NumRet | Measure::NumRel | Measure::NumRelRet => true,
        Measure::Ndcg(_)
        | Measure::ReciprocalRank
        | Measure::Precision
        | Measure::Recall
        | Measure::AveragePrecision
        | Measure::Success
        | Measure::Err
        | Measure::Rbp(_)
        | Measure::Judged
        | Measure::RPrecision
        | Measure::ZeroResult => false,
    }
}

/// Running sums of one metric. A value of an unattainable query is 0, so one sum serves both policies.
#[derive(Debug, Clone, Default)]
struct Total {
    sum: f64,
    defined: usize,
    unattainable: usize,
    undefined: usize,
}

impl Total {
    fn add(&mut self, value: Option<f64>, attainable: bool) {
        self.unattainable += usize::from(!attainable);
        match value {
            Some(value) => {
                self.sum += value;
                self.defined += 1;
            }
            None => self.undefined += 1,
        }
    }

    fn means(&self, summed: bool) -> MetricMeans {
        // Only Judged@k is ever undefined, and it is always attainable: no query is subtracted twice.
        let attained = self.defined - self.unattainable;
        let mean = |queries: usize| match (summed, queries) {
            (_, 0) => None,
            (true, _) => Some(self.sum),
            (false, queries) => Some(self.sum / queries as f64),
        };
        MetricMeans {
            zero: mean(self.defined),
            exclude: mean(attained),
            unattainable: self.unattainable,
            undefined: self.undefined,
        }
    }
}
