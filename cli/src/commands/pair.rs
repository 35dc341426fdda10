//! Two tables of per-query values on the queries that both have, for commands that plan and check rather than judge.

use std::path::Path;

use evalfarm_dataset::value_table::{ValueTable, ValueTableOptions, read_value_table};
use evalfarm_domain::{CandidateId, Direction, Metric, MetricName, QueryId};
use evalfarm_gate::{Context, Evidence, EvidenceParts, JudgedMetric, Side};

use crate::commands::measuring::input;
use crate::failure::Failure;

/// Values of both sides, one column for each metric that both tables have.
#[derive(Debug)]
pub(crate) struct Pair {
    pub(crate) queries: Vec<QueryId>,
    pub(crate) metrics: Vec<MetricName>,
    pub(crate) baseline: Vec<Vec<f64>>,
    pub(crate) candidate: Vec<Vec<f64>>,
}

impl Pair {
    /// Reads two tables. Queries that one of them lacks, or has no values of, are left out: nothing is judged here.
    pub(crate) fn read(baseline: &Path, candidate: &Path) -> Result<Self, Failure> {
        let options = ValueTableOptions::default();
        let read = |path: &Path| read_value_table(path, &options).map_err(input);
        let (before, after) = (read(baseline)?, read(candidate)?);
        let metrics: Vec<MetricName> = before
            .metrics
            .iter()
            .map(|(name, _)| name.clone())
            .filter(|name| column(&after, name).is_some())
            .collect();
        let rows: Vec<(usize, usize)> = before
            .queries
            .iter()
            .enumerate()
            .filter_map(|(row, query)| Some((row, after.queries.binary_search(query).ok()?)))
            .filter(|&(one, other)| {
                complete(&before, one, &metrics) && complete(&after, other, &metrics)
            })
            .collect();
        if metrics.is_empty() || rows.is_empty() {
            return Err(Failure::input(format!(
                "`{}` and `{}` have no metric or no query in common",
                baseline.display(),
                candidate.display()
            )));
        }
        let values = |table: &ValueTable,
                      rows: &dyn Fn(&(usize, usize)) -> usize,
                      pairs: &[(usize, usize)]| {
            let of = |name: &MetricName| -> Vec<f64> {
                let column = column(table, name).unwrap_or_default();
                pairs.iter().filter_map(|pair| column[rows(pair)]).collect()
            };
            metrics.iter().map(of).collect::<Vec<_>>()
        };
        Ok(Self {
            queries: rows
                .iter()
                .map(|&(row, _)| before.queries[row].clone())
                .collect(),
            baseline: values(&before, &|pair| pair.0, &rows),
            candidate: values(&after, &|pair| pair.1, &rows),
            metrics,
        })
    }

    /// Returns both columns of a metric, or an error that names those that there are.
    pub(crate) fn columns(&self, wanted: &str) -> Result<(&[f64], &[f64]), Failure> {
        let name = match wanted.parse::<Metric>() {
            Ok(metric) => metric.name(),
            Err(_) => MetricName::try_from(wanted).map_err(Failure::input)?,
        };
        if let Some(at) = self.metrics.iter().position(|metric| *metric == name) {
            return Ok((&self.baseline[at], &self.candidate[at]));
        }
        let has: Vec<String> = self
            .metrics
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let has = has.join(", ");
        Err(
            Failure::input(format!("both tables have {has}, not `{name}`"))
                .with_hint("name one of these with `--metric`"),
        )
    }

    /// Returns evidence of the values alone.
    pub(crate) fn evidence(self) -> Result<Evidence, Failure> {
        let id = |name: &str| CandidateId::try_from(name).map_err(Failure::input);
        let judged = |name: &MetricName| match name.as_str().parse::<Metric>() {
            Ok(metric) => JudgedMetric::from(metric),
            Err(_) => JudgedMetric::instrument(name.clone(), Direction::Higher),
        };
        Evidence::new(EvidenceParts {
            metrics: self.metrics.iter().map(judged).collect(),
            queries: self.queries,
            baseline: Side::of_values(id("baseline")?, self.baseline),
            candidates: vec![Side::of_values(id("candidate")?, self.candidate)],
            weights: None,
            clusters: None,
            context: Context::default(),
        })
        .map_err(Failure::input)
    }
}

fn column<'a>(table: &'a ValueTable, name: &MetricName) -> Option<&'a [Option<f64>]> {
    let found = table.metrics.iter().find(|(own, _)| own == name);
    found.map(|(_, values)| values.as_slice())
}

fn complete(table: &ValueTable, row: usize, metrics: &[MetricName]) -> bool {
    let has = |name| column(table, name).is_some_and(|values| values[row].is_some());
    table.failure[row].is_none() && metrics.iter().all(has)
}

/// Queries of the made-up experiment.
const QUERIES: usize = 600;

/// Returns a made-up experiment that looks like a real one: on about half of the queries the values differ, by amounts of many
/// sizes, and metrics go together.
pub(crate) fn example() -> Result<Evidence, Failure> {
    let names = ["nDCG@10", "RR@10", "R@10", "P@10"];
    let metric = |name: &str| -> Result<MetricName, Failure> {
        let metric: Metric = name.parse().map_err(Failure::input)?;
        Ok(metric.name())
    };
    let query = |row: usize| QueryId::try_from(format!("q{row:04}")).map_err(Failure::input);
    // Golden-ratio steps spread evenly over [0, 1) without a random source.
    let spread = |row: usize, step: f64| (row as f64 * step).fract();
    let base = |row: usize, _: usize| spread(row, 0.618_033_988_749_895);
    let moved = |row: usize, metric: usize| {
        let value = base(row, metric);
        let changes = spread(row, 0.754_877_666_246_693) < 0.5;
        let target = spread(row + 7 * metric, 0.569_840_290_998_053);
        if changes {
            0.6 * value + 0.4 * target
        } else {
            value
        }
    };
    let values = |value: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let of = |metric| (0..QUERIES).map(|row| value(row, metric)).collect();
        (0..names.len()).map(of).collect()
    };
    Pair {
        queries: (0..QUERIES).map(query).collect::<Result<_, _>>()?,
        metrics: names.into_iter().map(metric).collect::<Result<_, _>>()?,
        baseline: values(&base),
        candidate: values(&moved),
    }
    .evidence()
}
