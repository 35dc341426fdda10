//! Two runs, scored on the same judged queries.

use std::path::Path;

use evalfarm_dataset::trec::Run;
use evalfarm_domain::{FailureKind, Judgments, Measure, Measurement, Metric};
use evalfarm_gate::{Context, EvidenceParts, JudgedMetric, RawGatePolicy, Side};
use evalfarm_metrics::{Evaluation, QuerySet, evaluate};

use super::unjudged::Runs;
use super::{CompareArgs, Input, MissingArg, id_of};
use crate::commands::measuring::{OrderArg, counted, metric, unscorable};
use crate::failure::Failure;
use crate::output::Printer;

/// Reads both runs and scores them.
pub(super) fn read(
    args: &CompareArgs,
    policy: &RawGatePolicy,
    qrels: &Path,
    printer: &Printer,
) -> Result<Input, Failure> {
    let metrics = metrics(args, policy)?;
    let judgments = args.measuring.qrels(qrels, printer)?;
    let depth = args
        .measuring
        .measurement(metrics.clone(), &judgments)
        .depth;
    // Two more than asked for: what is returned and what of it is judged are evidence whatever the metrics are.
    let judged = Metric::new(Measure::Judged, Some(depth)).map_err(Failure::input)?;
    let zero = Metric::new(Measure::ZeroResult, None).map_err(Failure::input)?;
    let mut measured = metrics.clone();
    measured.extend([judged, zero]);
    let reader = Reader {
        args,
        qrels,
        judgments: &judgments,
        measurement: args.measuring.measurement(measured, &judgments),
        asked: &metrics,
        printer,
    };
    let (baseline, baseline_run) = reader.evaluation(&args.baseline)?;
    let (candidate, candidate_run) = reader.evaluation(&args.candidate)?;
    let notes = reader.notes(&baseline, &candidate);
    let relevant: usize = judgments
        .iter()
        .flat_map(|(_, judged)| judged.iter())
        .filter(|(_, grade)| *grade >= reader.measurement.relevant_from)
        .count();
    let asked = metrics.len();
    let runs = Runs {
        measuring: &args.measuring,
        judgments: &judgments,
        baseline: &baseline_run,
        candidate: &candidate_run,
    };
    let primary = primary(policy, &metrics)?;
    let others = metrics.iter().copied().filter(|one| *one != primary);
    let measurement = Measurement {
        metrics: std::iter::once(primary).chain(others).collect(),
        ..reader.measurement.clone()
    };
    let seen = runs.seen(&measurement, &id_of("candidate")?)?;
    let mut reruns = Vec::new();
    for path in &args.more.repeat {
        let (again, _) = reader.evaluation(path)?;
        reruns.push(side("rerun", &again, asked, args.missing)?);
    }
    let parts = EvidenceParts {
        queries: judgments.iter().map(|(query, _)| query.clone()).collect(),
        metrics: metrics.iter().copied().map(JudgedMetric::from).collect(),
        baseline: side("baseline", &baseline, asked, args.missing)?,
        candidates: vec![side("candidate", &candidate, asked, args.missing)?],
        weights: None,
        clusters: None,
        context: Context {
            gains: Some(reader.measurement.gains.to_string()),
            relevant_per_query: Some(relevant as f64 / judgments.len() as f64),
            ordered_by_rank: args.measuring.order == OrderArg::Rank,
            unjudged: Some(seen.unjudged),
            notes,
            ..Context::default()
        },
    };
    Ok(Input {
        parts,
        reruns,
        next: seen.next,
        baseline: args.baseline.display().to_string(),
        candidate: args.candidate.display().to_string(),
    })
}

/// Returns the metric that has to improve.
fn primary(policy: &RawGatePolicy, metrics: &[Metric]) -> Result<Metric, Failure> {
    match &policy.primary {
        Some(name) => metric(name).map_err(Failure::input),
        None => Ok(metrics
            .iter()
            .copied()
            .find(|one| *one == Metric::NDCG_10)
            .unwrap_or(metrics[0])),
    }
}

/// Returns the metrics of the command line and those that the policy needs, each once.
fn metrics(args: &CompareArgs, policy: &RawGatePolicy) -> Result<Vec<Metric>, Failure> {
    let mut metrics: Vec<Metric> = Vec::new();
    let mut add = |metric: Metric| {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    };
    if args.metrics.is_empty() {
        for name in ["nDCG@10", "RR@10", "R@10", "P@10"] {
            add(name.parse().map_err(Failure::input)?);
        }
    }
    args.metrics.iter().copied().for_each(&mut add);
    let margins = policy.max_drop.iter().flat_map(|margins| margins.keys());
    let guards = policy.guards.iter().flatten();
    for named in policy.primary.iter().chain(guards).chain(margins) {
        add(metric(named).map_err(Failure::input)?);
    }
    Ok(metrics)
}

struct Reader<'a> {
    args: &'a CompareArgs,
    qrels: &'a Path,
    judgments: &'a Judgments,
    measurement: Measurement,
    asked: &'a [Metric],
    printer: &'a Printer,
}

impl Reader<'_> {
    /// Says which queries the runs lack, and which are left out.
    fn notes(&self, baseline: &Evaluation, candidate: &Evaluation) -> Vec<String> {
        let (args, judgments, printer) = (self.args, self.judgments, self.printer);
        let mut notes = Vec::new();
        for (side, path, evaluation) in [
            ("baseline", &args.baseline, baseline),
            ("candidate", &args.candidate, candidate),
        ] {
            let counts = &evaluation.counts;
            if counts.missing_from_run > 0 {
                let judged = judgments.len();
                let missing = counts.missing_from_run;
                let note =
                    format!("{missing} of {judged} judged queries are not in the {side}'s run");
                printer.warning(&note);
                notes.push(note);
            }
            if counts.ignored_run_queries > 0 {
                let ignored = counted(
                    counts.ignored_run_queries,
                    "query has no judgments and is ignored",
                    "queries have no judgments and are ignored",
                );
                printer.note(&format!("`{}`: {ignored}", path.display()));
            }
        }
        notes
    }

    fn evaluation(&self, path: &Path) -> Result<(Evaluation, Run), Failure> {
        let measuring = &self.args.measuring;
        let (run, _) = measuring.run(path, self.asked, self.printer)?;
        let joined = measuring.join(&run, self.judgments)?;
        let evaluation = evaluate(&self.measurement, self.judgments, &joined, QuerySet::Judged)
            .map_err(|error| unscorable(error, self.qrels))?;
        if evaluation.counts.missing_from_run == self.judgments.len() {
            return Err(Failure::input(format!(
                "`{}` answers none of the queries that `{}` judges",
                path.display(),
                self.qrels.display(),
            ))
            .with_hint(
                "query ids are compared as they are written: are these files of one query set?",
            ));
        }
        Ok((evaluation, run))
    }
}

/// Returns what was measured of one run. A query that it lacks has failed, whether or not the other run has it, unless
/// the user says that nothing was found: queries that nobody answered are no evidence.
fn side(id: &str, own: &Evaluation, asked: usize, missing: MissingArg) -> Result<Side, Failure> {
    let column = |index: usize| own.per_query.iter().map(move |row| row.values[index]);
    let values = (0..asked).map(|index| column(index).map(|value| value.unwrap_or(0.0)).collect());
    let failures = own.per_query.iter().map(|row| match missing {
        MissingArg::Failed if !row.answered => Some(FailureKind::Missing),
        MissingArg::Failed | MissingArg::ZeroResult => None,
    });
    Ok(Side {
        failures: failures.collect(),
        zero_results: Some(
            column(asked + 1)
                .map(|value| value.is_some_and(|value| value > 0.5))
                .collect(),
        ),
        judged: Some(column(asked).collect()),
        ..Side::of_values(id_of(id)?, values.collect())
    })
}
