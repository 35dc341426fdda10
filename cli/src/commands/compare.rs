//! `evalfarm compare`: a verdict from results that somebody already has.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_dataset::value_table::{ValueTable, ValueTableOptions, read_value_table};
use evalfarm_domain::{CandidateId, Direction, FailureKind, Measure, Metric, MetricName, QueryId};
use evalfarm_gate::{
    Context, Evidence, EvidenceParts, GatePolicy, JudgedMetric, RawGatePolicy, Side, judge,
};
use evalfarm_metrics::{QuerySet, evaluate};
use evalfarm_report::{Findings, findings_text};
use serde_json::{Value, json};

use crate::commands::measuring::{MeasuringArgs, OrderArg, input, metric};
use crate::commands::verdict_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm compare baseline.run candidate.run --qrels qrels.txt
  evalfarm compare baseline.json candidate.json
  evalfarm compare baseline.csv candidate.csv --primary RR@10 --guard R@10
  evalfarm compare rows.parquet rows.parquet --baseline-id c0a1… --candidate-id c9f2…

Value tables are Parquet, CSV, JSONL or JSON with one row a query: an id column (`query`, `query_id`, `qid`) and one
numeric column a metric. A query that only one side has counts as failed on the other.";

/// Arguments of `evalfarm compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// Results of the baseline: a TREC run with --qrels, a table of per-query values without
    baseline: PathBuf,
    /// Results of the candidate, of the same kind
    candidate: PathBuf,
    /// Judgments; the two files are then TREC runs
    #[arg(long)]
    qrels: Option<PathBuf>,
    /// Metric that has to improve
    #[arg(long, value_parser = name)]
    primary: Option<String>,
    /// Metric that must not be harmed; may be given several times [default: the other metrics]
    #[arg(long = "guard", value_parser = name)]
    guards: Vec<String>,
    /// Metrics computed from runs, the primary first [default: nDCG@10 RR@10 R@10 P@10]
    #[arg(long = "metric", value_parser = metric, requires = "qrels")]
    metrics: Vec<Metric>,
    /// Column of a value table that is a cost, so that less is better; may be given several times
    #[arg(long)]
    lower_is_better: Vec<String>,
    /// Candidate to take from a baseline table that holds several
    #[arg(long)]
    baseline_id: Option<String>,
    /// Candidate to take from a candidate table that holds several
    #[arg(long)]
    candidate_id: Option<String>,
    /// Gate policy, a TOML file; see docs/policy.md
    #[arg(long)]
    policy: Option<PathBuf>,
    #[command(flatten)]
    measuring: MeasuringArgs,
}

fn name(text: &str) -> Result<String, String> {
    MetricName::try_from(text)
        .map(String::from)
        .map_err(|error| error.to_string())
}

/// Judges the candidate and prints the verdict.
pub(crate) fn compare(args: &CompareArgs, printer: &Printer) -> Result<u8, Failure> {
    let parts = match &args.qrels {
        Some(qrels) => runs(args, qrels, printer)?,
        None => tables(args, printer)?,
    };
    let policy = policy(args)?;
    let evidence = Evidence::new(parts).map_err(Failure::input)?;
    let judgement = judge(&policy, &evidence).map_err(Failure::input)?;
    let mut document = serde_json::to_value(&judgement).map_err(Failure::infrastructure)?;
    name_sides(&mut document, args);
    let text = || {
        findings_text(&Findings {
            verdict: judgement.verdict,
            candidate: &args.candidate.display().to_string(),
            baseline: &args.baseline.display().to_string(),
            reasons: &judgement.reasons,
            criteria: &judgement.criteria,
            metrics: &judgement.metrics,
            family: &judgement.family,
            limits: &judgement.limits,
        })
    };
    printer.data(text, &document)?;
    Ok(verdict_code(judgement.verdict))
}

/// Says which files the two sides are: their ids alone say nothing to a reader.
fn name_sides(document: &mut Value, args: &CompareArgs) {
    if let Some(object) = document.as_object_mut() {
        let files = json!({
            "baseline": args.baseline.display().to_string(),
            "candidate": args.candidate.display().to_string(),
        });
        object.insert("files".to_owned(), files);
    }
}

fn policy(args: &CompareArgs) -> Result<GatePolicy, Failure> {
    let mut raw = match &args.policy {
        None => RawGatePolicy::default(),
        Some(path) => {
            let text = std::fs::read_to_string(path).map_err(|error| {
                Failure::input(error)
                    .with_hint(format!("`--policy {}` has to be a file", path.display()))
            })?;
            toml::from_str(&text).map_err(|error| {
                Failure::input(format!(
                    "`{}` is not a gate policy: {error}",
                    path.display()
                ))
            })?
        }
    };
    if let Some(primary) = &args.primary {
        raw.primary = Some(primary.clone());
    } else if let Some(first) = args.metrics.first() {
        raw.primary.get_or_insert_with(|| first.to_string());
    }
    if !args.guards.is_empty() {
        raw.guards = Some(args.guards.clone());
    }
    GatePolicy::try_from(raw).map_err(Failure::input)
}

fn default_metrics() -> Vec<Metric> {
    ["nDCG@10", "RR@10", "R@10", "P@10"]
        .into_iter()
        .filter_map(|name| name.parse().ok())
        .collect()
}

/// Scores two runs on the same judged queries.
fn runs(args: &CompareArgs, qrels: &Path, printer: &Printer) -> Result<EvidenceParts, Failure> {
    let mut metrics = if args.metrics.is_empty() {
        default_metrics()
    } else {
        args.metrics.clone()
    };
    for named in args.primary.iter().chain(&args.guards) {
        let named = metric(named).map_err(Failure::input)?;
        if !metrics.contains(&named) {
            metrics.push(named);
        }
    }
    let judgments = args.measuring.qrels(qrels, printer)?;
    // Two more than asked for: what is returned and what of it is judged are evidence whatever the metrics are.
    let asked = metrics.len();
    let depth = args
        .measuring
        .measurement(metrics.clone(), &judgments)
        .depth;
    let judged = Metric::new(Measure::Judged, Some(depth)).map_err(Failure::input)?;
    let zero = Metric::new(Measure::ZeroResult, None).map_err(Failure::input)?;
    let mut measured = metrics.clone();
    measured.extend([judged, zero]);
    let measurement = args.measuring.measurement(measured, &judgments);
    let side = |path: &Path, id: &str| -> Result<Side, Failure> {
        let run = args.measuring.run(path, depth, printer)?;
        let joined = args.measuring.join(&run, &judgments)?;
        let evaluation = evaluate(&measurement, &judgments, &joined, QuerySet::Judged)
            .map_err(Failure::input)?;
        let counts = &evaluation.counts;
        if counts.missing_from_run > 0 || counts.ignored_run_queries > 0 {
            printer.note(&format!(
                "`{}`: {} judged queries are not in the run and count as zero-result, {} queries without judgments are ignored",
                path.display(),
                counts.missing_from_run,
                counts.ignored_run_queries,
            ));
        }
        let column = |index: usize| -> Vec<Option<f64>> {
            let rows = evaluation.per_query.iter();
            rows.map(|row| row.values[index]).collect()
        };
        let scored = |index: usize| {
            column(index)
                .into_iter()
                .map(|v| v.unwrap_or(0.0))
                .collect()
        };
        let zero: Vec<bool> = column(asked + 1)
            .iter()
            .map(|v| v.is_some_and(|v| v > 0.5))
            .collect();
        Ok(Side {
            failures: vec![None; zero.len()],
            zero_results: Some(zero),
            judged: Some(column(asked)),
            ..Side::of_values(id_of(id)?, (0..asked).map(scored).collect())
        })
    };
    let baseline = side(&args.baseline, "baseline")?;
    let candidate = side(&args.candidate, "candidate")?;
    let relevant: usize = judgments
        .iter()
        .flat_map(|(_, judged)| judged.iter())
        .filter(|(_, grade)| *grade >= measurement.relevant_from)
        .count();
    Ok(EvidenceParts {
        queries: judgments.iter().map(|(query, _)| query.clone()).collect(),
        metrics: metrics.into_iter().map(JudgedMetric::from).collect(),
        baseline,
        candidates: vec![candidate],
        weights: None,
        clusters: None,
        context: Context {
            gains: Some(measurement.gains.to_string()),
            relevant_per_query: Some(relevant as f64 / judgments.len() as f64),
            ordered_by_rank: args.measuring.order == OrderArg::Rank,
            ..Context::default()
        },
    })
}

fn id_of(text: &str) -> Result<CandidateId, Failure> {
    CandidateId::try_from(text).map_err(Failure::input)
}

/// Pairs two tables over the queries of both: one that a side lacks has failed there.
fn tables(args: &CompareArgs, printer: &Printer) -> Result<EvidenceParts, Failure> {
    let read = |path: &Path, id: &Option<String>| {
        let candidate = id.as_deref().map(id_of).transpose()?;
        let options = ValueTableOptions {
            candidate,
            fold: None,
        };
        read_value_table(path, &options).map_err(input)
    };
    let baseline = read(&args.baseline, &args.baseline_id)?;
    let candidate = read(&args.candidate, &args.candidate_id)?;
    let queries: Vec<QueryId> = baseline
        .queries
        .iter()
        .chain(&candidate.queries)
        .cloned()
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect();
    let metrics = common_metrics(args, &baseline, &candidate, printer)?;
    let mut notes = Vec::new();
    for (own, other, side) in [
        (&baseline, &candidate, "candidate"),
        (&candidate, &baseline, "baseline"),
    ] {
        let has: BTreeSet<&QueryId> = other.queries.iter().collect();
        let missing = own
            .queries
            .iter()
            .filter(|query| !has.contains(query))
            .count();
        if missing > 0 {
            let note = format!(
                "{missing} of {} queries are missing from the {side}",
                queries.len()
            );
            printer.warning(&note);
            notes.push(note);
        }
    }
    Ok(EvidenceParts {
        baseline: side(&baseline, &queries, &metrics, "baseline")?,
        candidates: vec![side(&candidate, &queries, &metrics, "candidate")?],
        metrics,
        queries,
        weights: None,
        clusters: None,
        context: Context {
            notes,
            ..Context::default()
        },
    })
}

/// Returns the metrics that both tables have, in the baseline's order; a table without the other's metrics cannot be
/// compared, and a column that only one has is said to be left out.
fn common_metrics(
    args: &CompareArgs,
    baseline: &ValueTable,
    candidate: &ValueTable,
    printer: &Printer,
) -> Result<Vec<JudgedMetric>, Failure> {
    let names = |table: &ValueTable| -> Vec<MetricName> {
        table.metrics.iter().map(|(name, _)| name.clone()).collect()
    };
    let (before, after) = (names(baseline), names(candidate));
    let shown = |names: &[MetricName]| {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    for (own, other, path) in [
        (&before, &after, &args.baseline),
        (&after, &before, &args.candidate),
    ] {
        let alone: Vec<MetricName> = own
            .iter()
            .filter(|name| !other.contains(name))
            .cloned()
            .collect();
        if alone.len() == own.len() {
            return Err(Failure::input(format!(
                "the tables have no metric in common: `{}` has {}, `{}` has {}",
                args.baseline.display(),
                shown(&before),
                args.candidate.display(),
                shown(&after),
            ))
            .with_hint("metrics at different cutoffs or with different gains cannot be compared: compute both again"));
        }
        if !alone.is_empty() {
            printer.warning(&format!(
                "only `{}` has {}: left out",
                path.display(),
                shown(&alone)
            ));
        }
    }
    let costs: BTreeSet<MetricName> = args
        .lower_is_better
        .iter()
        .map(|name| MetricName::try_from(name.as_str()).map_err(Failure::input))
        .collect::<Result<_, _>>()?;
    if let Some(unknown) = costs.iter().find(|cost| !before.contains(cost)) {
        return Err(Failure::input(format!(
            "`--lower-is-better {unknown}` names no column, the baseline has {}",
            shown(&before)
        )));
    }
    let common = before.into_iter().filter(|name| after.contains(name));
    Ok(common
        .map(|name| match name.as_str().parse::<Metric>() {
            Ok(metric) => JudgedMetric::from(metric),
            Err(_) if costs.contains(&name) => JudgedMetric::instrument(name, Direction::Lower),
            Err(_) => JudgedMetric::instrument(name, Direction::Higher),
        })
        .collect())
}

/// Lays a table out over the query set.
fn side(
    table: &ValueTable,
    queries: &[QueryId],
    metrics: &[JudgedMetric],
    id: &str,
) -> Result<Side, Failure> {
    let rows: Vec<Option<usize>> = {
        let index: std::collections::BTreeMap<&QueryId, usize> = table
            .queries
            .iter()
            .enumerate()
            .map(|(row, id)| (id, row))
            .collect();
        queries.iter().map(|id| index.get(id).copied()).collect()
    };
    let column = |name: &MetricName| {
        let found = table.metrics.iter().find(|(own, _)| own == name);
        found.map(|(_, values)| values)
    };
    // A query whose value is missing in any metric that says how good a ranking is has no result to score.
    let scored: Vec<(&JudgedMetric, &Vec<Option<f64>>)> = metrics
        .iter()
        .filter_map(|metric| Some((metric, column(&metric.name)?)))
        .collect();
    let failures = rows
        .iter()
        .map(|row| match *row {
            None => Some(FailureKind::Missing),
            Some(row) => table.failure[row].or_else(|| {
                let hole = |(metric, values): &(&JudgedMetric, &Vec<Option<f64>>)| {
                    metric.quality && values[row].is_none()
                };
                scored.iter().any(hole).then_some(FailureKind::Missing)
            }),
        })
        .collect();
    let values = scored
        .iter()
        .map(|(metric, values)| {
            let worst = metric.worst.unwrap_or(0.0);
            rows.iter()
                .map(|row| row.and_then(|row| values[row]).unwrap_or(worst))
                .collect()
        })
        .collect();
    let at = |row: &Option<usize>, flags: &Vec<bool>| row.is_some_and(|row| flags[row]);
    Ok(Side {
        id: id_of(id)?,
        values,
        failures,
        zero_results: table
            .zero_result
            .as_ref()
            .map(|flags| rows.iter().map(|row| at(row, flags)).collect()),
        rewrite: None,
        rerank: None,
        judged: table.judged.as_ref().map(|shares| {
            rows.iter()
                .map(|row| row.and_then(|row| shares[row]))
                .collect()
        }),
    })
}
