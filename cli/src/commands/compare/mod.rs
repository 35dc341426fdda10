//! `evalfarm compare`: a verdict from results that somebody already has.

mod given;
mod more;
mod origin;
mod runs;
mod tables;
mod unjudged;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use evalfarm_domain::{CandidateId, DocId, Fold, Metric, MetricName, QueryId};
use evalfarm_gate::{
    Evidence, EvidenceError, EvidenceParts, GatePolicy, RawGatePolicy, Side, judge,
};
use evalfarm_report::{Findings, findings_text};
use serde_json::{Value, json};

use self::given::Given;
use self::more::MoreArgs;
use crate::commands::measuring::{MeasuringArgs, metric};
use crate::commands::outcomes::OutcomeArgs;
use crate::commands::policy::read_policy;
use crate::commands::verdict_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm compare baseline.run candidate.run --qrels qrels.txt
  evalfarm compare baseline.json candidate.json
  evalfarm compare baseline.csv candidate.csv --primary RR@10 --guard R@10
  evalfarm compare baseline.json candidate.json --repeat candidate-again.json --statuses coverage.json
  evalfarm compare 194/388 233/388
  evalfarm compare control treatment --outcomes sessions.csv --policy policy.toml
  evalfarm compare job job --split holdout --baseline-id c0a1… --candidate-id c9f2…

Value tables are Parquet, CSV, JSONL or JSON with one row a query: an id column (`query_id`, `qid`, `query`) and one \
numeric column a metric. A query that only one side has counts as failed on the other, and never helps the candidate. \
Optional columns say more: `failure` (why a query failed), `zero_result`, `judged_share`, `rewrite_status` and \
`rerank_status`; empty means that nothing happened, and what one side records of results the other has to record too.

Of runs, a judged query that a run lacks has failed there, also when both lack it: `--missing zero-result` says that \
nothing was found.";

/// What a judged query is that a run does not contain, whether or not the other run contains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MissingArg {
    /// The system failed on it: its pair never helps the candidate
    Failed,
    /// The system answered and found nothing
    ZeroResult,
}

/// Queries of which side of a job's split are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum SplitArg {
    /// Those that the sweep selected on
    Train,
    /// Those that it did not
    Holdout,
    /// Those of a job without a split
    All,
}

impl SplitArg {
    fn fold(self) -> Fold {
        match self {
            Self::Train => Fold::Train,
            Self::Holdout => Fold::Holdout,
            Self::All => Fold::All,
        }
    }
}

/// Arguments of `evalfarm compare`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    #[command(flatten)]
    given: Given,
    /// Results of the baseline: a TREC run with --qrels, a table of per-query values or the folder of a job without
    baseline: PathBuf,
    /// Results of the candidate, of the same kind
    candidate: PathBuf,
    /// Judgments; the two files are then TREC runs
    #[arg(long, conflicts_with_all = ["lower_is_better", "baseline_id", "candidate_id", "split"])]
    qrels: Option<PathBuf>,
    /// Metric that has to improve (default: nDCG@10)
    #[arg(long, value_parser = name)]
    primary: Option<String>,
    /// Metric that must not be harmed; may be given several times (default: the other metrics)
    #[arg(long = "guard", value_parser = name)]
    guards: Vec<String>,
    /// Metrics computed from runs, the primary first (default: nDCG@10 RR@10 R@10 P@10)
    #[arg(long = "metric", value_parser = metric, requires = "qrels")]
    metrics: Vec<Metric>,
    /// What a judged query is that a run does not contain
    #[arg(long, value_enum, default_value = "failed", requires = "qrels")]
    missing: MissingArg,
    /// Column of a value table that is a cost, so that less is better; may be given several times
    #[arg(long)]
    lower_is_better: Vec<String>,
    /// Candidate to take as the baseline from rows of a job that hold several
    #[arg(long)]
    baseline_id: Option<String>,
    /// Candidate to take as the candidate from rows of a job that hold several
    #[arg(long)]
    candidate_id: Option<String>,
    /// Queries to take from rows of a job that hold both sides of a split
    #[arg(long, value_enum)]
    split: Option<SplitArg>,
    /// Gate policy, a TOML file; see docs/policy.md
    #[arg(long)]
    policy: Option<PathBuf>,
    #[command(flatten)]
    more: MoreArgs,
    #[command(flatten)]
    outcomes: OutcomeArgs,
    #[command(flatten)]
    measuring: MeasuringArgs,
}

/// What is judged, and what people call its sides.
struct Input {
    parts: EvidenceParts,
    /// The reruns of the command line, over the same queries and metrics.
    reruns: Vec<Side>,
    /// Unjudged documents of runs, the most decisive first.
    next: Vec<(QueryId, DocId)>,
    baseline: String,
    candidate: String,
}

fn name(text: &str) -> Result<String, String> {
    MetricName::try_from(text)
        .map(String::from)
        .map_err(|error| error.to_string())
}

/// Judges the candidate and prints the verdict.
pub(crate) fn compare(args: &CompareArgs, printer: &Printer) -> Result<u8, Failure> {
    args.given.check(&args.baseline, &args.candidate)?;
    args.more.check()?;
    let raw = raw_policy(args)?;
    let policy = GatePolicy::try_from(raw.clone()).map_err(Failure::input)?;
    let (baseline, candidate) = (&args.baseline, &args.candidate);
    if let Some(code) = args
        .outcomes
        .compare(baseline, candidate, &policy, printer)?
    {
        return Ok(code);
    }
    let mut input = match &args.qrels {
        Some(qrels) => runs::read(args, &raw, qrels, printer)?,
        None => tables::read(args, &raw, printer)?,
    };
    args.more.add(&policy, &input.reruns, &mut input.parts)?;
    let evidence = Evidence::new(input.parts).map_err(Failure::input)?;
    let judgement = judge(&policy, &evidence).map_err(unjudgeable)?;
    let mut document = serde_json::to_value(&judgement).map_err(Failure::infrastructure)?;
    name_sides(&mut document, args);
    if let Some(path) = &args.more.judge_next {
        unjudged::write_next(path, &input.next)?;
    }
    let text = || {
        findings_text(&Findings {
            verdict: judgement.verdict,
            candidate: &input.candidate,
            baseline: &input.baseline,
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

fn unjudgeable(error: EvidenceError) -> Failure {
    let hint = match &error {
        EvidenceError::NotMeasured { role, .. } => match *role {
            "primary" => "name one of these with `--primary`",
            "guard" => "name only these with `--guard`",
            _ => "change the policy file, or measure the metric",
        },
        _ => return Failure::input(error),
    };
    Failure::input(error).with_hint(hint)
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

/// Returns what the policy file says, with what the command line says in its place.
fn raw_policy(args: &CompareArgs) -> Result<RawGatePolicy, Failure> {
    let mut raw = match &args.policy {
        None => RawGatePolicy::default(),
        Some(path) => read_policy(path)?,
    };
    if let Some(primary) = &args.primary {
        raw.primary = Some(primary.clone());
    } else if let Some(first) = args.metrics.first() {
        raw.primary.get_or_insert_with(|| first.to_string());
    }
    if !args.guards.is_empty() {
        raw.guards = Some(args.guards.clone());
    }
    Ok(raw)
}

fn id_of(text: &str) -> Result<CandidateId, Failure> {
    CandidateId::try_from(text).map_err(Failure::input)
}
