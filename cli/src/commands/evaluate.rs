//! `evalfarm evaluate`: metric values of a run.

use std::fmt::Write as _;
use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evalfarm_domain::{Measure, Metric};
use evalfarm_metrics::{
    Evaluation, EvaluationCounts, NoRelevant, QuerySet, QueryValues, evaluate as evaluate_run,
};
use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::commands::measuring::{MeasuringArgs, Ties, counted, metric, unscorable};
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm evaluate qrels.txt run.txt nDCG@10 RR@10 R@100
  evalfarm evaluate qrels.txt run.txt map recip_rank P_5 -q
  evalfarm evaluate qrels.txt run.txt nDCG@10 --gains 0=0,1=0.01,2=0.1,3=1 --format json

Every judged query counts: one that the run does not answer is an empty ranking (trec_eval -c). docs/metrics.md has the \
formulas and every difference from trec_eval.";

/// What a query counts in a mean when nothing in it could score.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum NoRelevantArg {
    /// It counts as 0, as in trec_eval
    Zero,
    /// It is left out of the mean
    Exclude,
}

/// Arguments of `evalfarm evaluate`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct EvaluateArgs {
    /// Judgments: TREC qrels or BEIR TSV, gzipped or not
    qrels: PathBuf,
    /// Rankings: a TREC run, gzipped or not
    run: PathBuf,
    /// Metrics by their ir-measures or trec_eval names
    #[arg(required = true)]
    metrics: Vec<String>,
    /// Print the value of each query too
    #[arg(short = 'q', long)]
    per_query: bool,
    /// What a query without relevant documents counts in a mean
    #[arg(long, value_enum, default_value = "zero")]
    no_relevant: NoRelevantArg,
    /// Leave out judged queries that the run does not answer (trec_eval without -c); flatters a run that answers the easy ones
    #[arg(long)]
    only_answered: bool,
    #[command(flatten)]
    measuring: MeasuringArgs,
}

/// A metric with the spelling that the user chose, which is the spelling that is printed.
struct Asked<'a> {
    spelling: &'a str,
    metric: Metric,
}

/// Prints the values of a run.
pub(crate) fn evaluate(args: &EvaluateArgs, printer: &Printer) -> Result<u8, Failure> {
    let asked = args
        .metrics
        .iter()
        .map(|spelling| {
            let metric = metric(spelling).map_err(Failure::input)?;
            Ok(Asked { spelling, metric })
        })
        .collect::<Result<Vec<_>, Failure>>()?;
    let metrics: Vec<Metric> = asked.iter().map(|asked| asked.metric).collect();
    let judgments = args.measuring.qrels(&args.qrels, printer)?;
    let (run, ties) = args.measuring.run(&args.run, &metrics, printer)?;
    let measurement = args.measuring.measurement(metrics, &judgments);
    let joined = args.measuring.join(&run, &judgments)?;
    let set = if args.only_answered {
        QuerySet::OnlyAnswered
    } else {
        QuerySet::Judged
    };
    if !run
        .queries
        .keys()
        .any(|query| judgments.query(query.as_str()).is_some())
    {
        return Err(nothing_in_common(args));
    }
    let evaluation = evaluate_run(&measurement, &judgments, &joined, set)
        .map_err(|error| unscorable(error, &args.qrels))?;
    say_counts(&evaluation.counts, printer);
    let policy = match args.no_relevant {
        NoRelevantArg::Zero => NoRelevant::Zero,
        NoRelevantArg::Exclude => NoRelevant::Exclude,
    };
    printer.data(
        || text(&evaluation, &asked, policy, args.per_query),
        &document(&evaluation, &asked, &ties, policy, args.per_query),
    )?;
    Ok(exit_code::DONE)
}

fn say_counts(counts: &EvaluationCounts, printer: &Printer) {
    let EvaluationCounts {
        queries,
        missing_from_run,
        ignored_run_queries,
        without_relevant,
        without_gain: _,
        self_hits_dropped,
    } = *counts;
    let remarks = [
        (
            missing_from_run,
            format!(
                "{missing_from_run} of {queries} judged queries are not in the run and count as empty rankings"
            ),
        ),
        (
            ignored_run_queries,
            counted(
                ignored_run_queries,
                "query of the run has no judgments and is ignored",
                "queries of the run have no judgments and are ignored",
            ),
        ),
        (
            without_relevant,
            format!("{without_relevant} of {queries} queries have no relevant document"),
        ),
        (
            self_hits_dropped,
            counted(
                self_hits_dropped,
                "hit whose document is the query was dropped",
                "hits whose document is the query were dropped",
            ),
        ),
    ];
    for (_, remark) in remarks.into_iter().filter(|&(count, _)| count > 0) {
        printer.note(&remark);
    }
}

/// A run of other queries scores 0 everywhere, which looks like a bad run and is a wrong file.
fn nothing_in_common(args: &EvaluateArgs) -> Failure {
    Failure::input(format!(
        "`{}` answers none of the queries that `{}` judges",
        args.run.display(),
        args.qrels.display(),
    ))
    .with_hint("query ids are compared as they are written, leading zeros included: are these files of one query set?")
}

/// Four decimals, as `trec_eval` and ir-measures print them; counts without any. JSON has every digit.
fn number(metric: Metric, value: Option<f64>) -> String {
    match (metric.measure(), value) {
        (_, None) => "null".to_owned(),
        (Measure::NumQ | Measure::NumRet | Measure::NumRel | Measure::NumRelRet, Some(value)) => {
            format!("{value:.0}")
        }
        (_, Some(value)) => format!("{value:.4}"),
    }
}

/// One line a metric and query, `metric query value` separated by tabs, means under `all`.
fn text(evaluation: &Evaluation, asked: &[Asked<'_>], policy: NoRelevant, queries: bool) -> String {
    let mut text = String::new();
    let mut line = |asked: &Asked<'_>, query: &str, value: Option<f64>| {
        let value = number(asked.metric, value);
        writeln!(text, "{:<22}\t{query}\t{value}", asked.spelling)
            .expect("a string can be written to");
    };
    for query in evaluation.per_query.iter().filter(|_| queries) {
        for (asked, &value) in asked.iter().zip(&query.values) {
            // As in trec_eval, the number of queries is said for all of them only.
            if asked.metric.measure() != Measure::NumQ {
                line(asked, query.query.as_str(), value);
            }
        }
    }
    for (asked, means) in asked.iter().zip(&evaluation.all) {
        line(asked, "all", means.under(policy));
    }
    text
}

#[derive(Serialize)]
struct Document {
    metrics: Vec<Value>,
    counts: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    queries: Option<Vec<Value>>,
}

fn document(
    evaluation: &Evaluation,
    asked: &[Asked<'_>],
    ties: &Ties,
    policy: NoRelevant,
    queries: bool,
) -> Document {
    let metrics = asked
        .iter()
        .zip(&evaluation.all)
        .map(|(asked, means)| {
            json!({
                "metric": asked.metric,
                "name": asked.spelling,
                "all": means.under(policy),
                "zero": means.zero,
                "exclude": means.exclude,
                "unattainable": means.unattainable,
                "undefined": means.undefined,
            })
        })
        .collect();
    let counts = &evaluation.counts;
    Document {
        metrics,
        counts: json!({
            "queries": counts.queries,
            "missing_from_run": counts.missing_from_run,
            "ignored_run_queries": counts.ignored_run_queries,
            "without_relevant": counts.without_relevant,
            "without_gain": counts.without_gain,
            "self_hits_dropped": counts.self_hits_dropped,
            "ties": ties,
        }),
        queries: queries.then(|| {
            let rows = evaluation.per_query.iter();
            rows.map(|row| query_document(row, asked)).collect()
        }),
    }
}

fn query_document(row: &QueryValues, asked: &[Asked<'_>]) -> Value {
    let values: Map<String, Value> = asked
        .iter()
        .zip(&row.values)
        .map(|(asked, value)| (asked.spelling.to_owned(), json!(value)))
        .collect();
    json!({
        "query": row.query,
        "answered": row.answered,
        "has_relevant": row.has_relevant,
        "idcg_zero": !row.has_gain,
        "values": values,
    })
}
