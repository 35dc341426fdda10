//! Two tables of per-query values, paired over the queries of both.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use evalfarm_dataset::value_table::{ValueTable, ValueTableOptions, read_value_table};
use evalfarm_dataset::{Fault, InputError};
use evalfarm_domain::{
    Direction, FailureKind, Fold, Measure, Metric, MetricName, QueryId, RerankStatus,
};
use evalfarm_gate::{Context, EvidenceParts, JudgedMetric, RawGatePolicy, Side};

use super::origin::{Origin, refuse_different};
use super::{CompareArgs, Input, id_of};
use crate::commands::measuring::input;
use crate::failure::Failure;
use crate::output::Printer;

/// Values of a metric that we know lie in [0, 1]; other tools' sums may leave it by a rounding error.
const ROUNDING: f64 = 1e-9;

/// Largest figure that is accepted of a column that we do not know. Beyond it sums of doubles lose whole units.
const LARGEST: f64 = 1e15;

/// Reads both tables. A query that one of them lacks has failed there.
pub(super) fn read(
    args: &CompareArgs,
    policy: &RawGatePolicy,
    printer: &Printer,
) -> Result<Input, Failure> {
    let (baseline, fold) = table(
        args,
        &args.baseline,
        "baseline",
        args.baseline_id.as_deref(),
    )?;
    let before = Origin::of(&baseline, fold)?;
    let (candidate, fold) = table(
        args,
        &args.candidate,
        "candidate",
        args.candidate_id.as_deref(),
    )?;
    let after = Origin::of(&candidate, fold)?;
    refuse_different(before.as_ref(), after.as_ref())?;
    refuse_one_sided(&baseline, &candidate)?;
    for table in [&baseline, &candidate] {
        note_ignored(table, printer);
    }
    let origin = before.as_ref().or(after.as_ref());
    // A job's queries are the set, whatever rows it has: one without rows is missing and not left out.
    let known = origin.iter().flat_map(|origin| origin.queries.keys());
    let read = baseline.queries.iter().chain(&candidate.queries);
    let queries: BTreeSet<QueryId> = known.chain(read).cloned().collect();
    let queries: Vec<QueryId> = queries.into_iter().collect();
    let mut notes = missing_queries(&baseline, &candidate, queries.len())?;
    let metrics = common_metrics(args, policy, &baseline, &candidate, &mut notes)?;
    for note in &notes {
        printer.warning(note);
    }
    let reruns = args
        .more
        .repeat
        .iter()
        .map(|path| rerun(path, &queries, &metrics))
        .collect::<Result<_, _>>()?;
    let parts = EvidenceParts {
        baseline: side(&baseline, &queries, &metrics, "baseline")?,
        candidates: vec![side(&candidate, &queries, &metrics, "candidate")?],
        metrics,
        weights: origin.and_then(|origin| origin.weights(&queries)),
        clusters: origin.and_then(|origin| origin.clusters(&queries)),
        context: Context {
            synthetic: [&before, &after]
                .into_iter()
                .flatten()
                .any(|job| job.synthetic),
            descriptions: origin.and_then(|origin| {
                let known = |id| origin.queries.get(id).map(|known| known.query.clone());
                queries.iter().map(known).collect()
            }),
            gains: origin.and_then(|origin| origin.gains.clone()),
            relevant_per_query: origin.and_then(|origin| origin.relevant_per_query(&queries)),
            notes,
            ..Context::default()
        },
        queries,
    };
    Ok(Input {
        parts,
        reruns,
        next: Vec::new(),
        baseline: called(&baseline),
        candidate: called(&candidate),
    })
}

/// Says which columns say nothing here: a figure with its unit written along is a text.
fn note_ignored(table: &ValueTable, printer: &Printer) {
    if !table.ignored.is_empty() {
        let names: Vec<String> = table
            .ignored
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        printer.note(&format!(
            "`{}`: not numbers and not known, so ignored: {}",
            table.path.display(),
            names.join(", ")
        ));
    }
}

/// Refuses what only one side records: the other's harm, or its absence, could not be told.
fn refuse_one_sided(baseline: &ValueTable, candidate: &ValueTable) -> Result<(), Failure> {
    type Recorded = fn(&ValueTable) -> bool;
    let columns: [(&str, Recorded); 2] = [
        ("zero_result", |table| table.zero_result.is_some()),
        ("judged_share", |table| table.judged.is_some()),
    ];
    for (name, recorded) in columns {
        let (has, lacks) = match (recorded(baseline), recorded(candidate)) {
            (true, false) => (baseline, candidate),
            (false, true) => (candidate, baseline),
            (true, true) | (false, false) => continue,
        };
        return Err(Failure::input(format!(
            "`{}` has no column `{name}`, and `{}` has one",
            lacks.path.display(),
            has.path.display()
        ))
        .with_hint("record it on both sides, or on neither"));
    }
    Ok(())
}

/// Reads a rerun, which has to have measured the same.
fn rerun(path: &Path, queries: &[QueryId], metrics: &[JudgedMetric]) -> Result<Side, Failure> {
    let table = read_value_table(path, &ValueTableOptions::default()).map_err(unreadable)?;
    check_range(&table)?;
    let lacks =
        |metric: &&JudgedMetric| !table.metrics.iter().any(|(name, _)| *name == metric.name);
    if let Some(metric) = metrics.iter().find(lacks) {
        return Err(Failure::input(format!(
            "`{}` has no `{}`, which the results that it repeats have",
            path.display(),
            metric.name
        )));
    }
    side(&table, queries, metrics, "rerun")
}

fn called(table: &ValueTable) -> String {
    let path = table.path.display();
    match &table.candidate {
        Some(candidate) => format!("{path} ({candidate})"),
        None => path.to_string(),
    }
}

/// Reads a table, and of our own rows one side of the split, which is returned with it.
fn table(
    args: &CompareArgs,
    path: &Path,
    side: &str,
    id: Option<&str>,
) -> Result<(ValueTable, Option<Fold>), Failure> {
    let mut options = ValueTableOptions {
        candidate: id.map(id_of).transpose()?,
        fold: args.split.map(super::SplitArg::fold),
        ..ValueTableOptions::default()
    };
    let shown = path.display();
    let mut folds: Vec<Fold> = options.fold.into_iter().collect();
    if folds.is_empty() {
        // Each side is looked for alone: read together, a query on both would be there twice.
        for fold in [Fold::Train, Fold::Holdout, Fold::All] {
            options.fold = Some(fold);
            let read = read_value_table(path, &options);
            if read.is_ok_and(|table| table.candidate.is_some()) {
                folds.push(fold);
            }
        }
        options.fold = None;
    }
    if folds.len() > 1 {
        let folds: Vec<String> = folds.iter().map(|fold| format!("`{fold}`")).collect();
        return Err(Failure::input(format!(
            "`{shown}` has rows of the sides {} of a split",
            folds.join(" and ")
        ))
        .with_hint("a sweep has selected on train: compare on the other with `--split holdout`"));
    }
    let table = read_value_table(path, &options).map_err(unreadable)?;
    let argument = id
        .map(|_| format!("--{side}-id"))
        .or(args.split.map(|_| "--split".to_owned()));
    if let Some(argument) = argument.filter(|_| table.candidate.is_none()) {
        return Err(Failure::input(format!(
            "`{argument}` chooses among the rows of a job, and `{shown}` is one table of values"
        ))
        .with_hint("leave it out, or give the folder of a job"));
    }
    check_range(&table)?;
    Ok((table, folds.first().copied()))
}

/// Adds what to do when somebody forgets that runs need judgments.
fn unreadable(error: InputError) -> Failure {
    let no_table = matches!(
        error.fault(),
        Some(Fault::Missing { .. } | Fault::Csv { .. } | Fault::Empty { .. })
    );
    if no_table {
        return Failure::input(error).with_hint(
            "a table of values has a header, a column `query_id` and one numeric column a metric; \
             for TREC runs add `--qrels FILE`",
        );
    }
    input(error)
}

/// Refuses values that a metric cannot have: a percentage, another tool's sentinel, a column under a wrong name.
fn check_range(table: &ValueTable) -> Result<(), Failure> {
    for (name, values) in &table.metrics {
        let (low, high) = match name.as_str().parse::<Metric>().map(Metric::measure) {
            Ok(Measure::NumQ | Measure::NumRet | Measure::NumRel | Measure::NumRelRet) => {
                (0.0, LARGEST)
            }
            Ok(_) => (0.0, 1.0),
            Err(_) => (-LARGEST, LARGEST),
        };
        let allowed = low - ROUNDING..=high + ROUNDING;
        let outside = values
            .iter()
            .zip(&table.queries)
            .find_map(|(value, query)| Some((value.filter(|v| !allowed.contains(v))?, query)));
        if let Some((value, query)) = outside {
            return Err(Failure::input(format!(
                "`{}`: {name} of query `{query}` is `{value:?}`, expected a value from {low} to {high}",
                table.path.display(),
            ))
            .with_hint(
                "divide percentages by 100; where a query has no value, leave all its cells empty",
            ));
        }
    }
    Ok(())
}

/// Says how many queries each side lacks.
fn missing_queries(
    baseline: &ValueTable,
    candidate: &ValueTable,
    all: usize,
) -> Result<Vec<String>, Failure> {
    let mut notes = Vec::new();
    let read: BTreeSet<&QueryId> = baseline.queries.iter().chain(&candidate.queries).collect();
    if read.len() < all {
        let missing = all - read.len();
        notes.push(format!(
            "{missing} of {all} queries of the job have no rows and count as failed on both sides"
        ));
    }
    for (own, other, side) in [
        (baseline, candidate, "candidate"),
        (candidate, baseline, "baseline"),
    ] {
        let has: BTreeSet<&QueryId> = other.queries.iter().collect();
        let missing = own
            .queries
            .iter()
            .filter(|query| !has.contains(query))
            .count();
        if missing == own.queries.len() {
            return Err(Failure::input(format!(
                "the tables have no query in common: `{}` has e.g. `{}`, `{}` has e.g. `{}`",
                baseline.path.display(),
                baseline.queries[0],
                candidate.path.display(),
                candidate.queries[0],
            ))
            .with_hint(
                "query ids are compared as they are written: are these results of one query set?",
            ));
        }
        if missing > 0 {
            notes.push(format!(
                "{missing} of {all} queries are missing from the {side}"
            ));
        }
    }
    Ok(notes)
}

/// Returns the metrics that both tables have, in the baseline's order, and notes what is left out. Tables that measured
/// the same thing to different depths or with different gains are refused.
fn common_metrics(
    args: &CompareArgs,
    policy: &RawGatePolicy,
    baseline: &ValueTable,
    candidate: &ValueTable,
    notes: &mut Vec<String>,
) -> Result<Vec<JudgedMetric>, Failure> {
    let before: Vec<&MetricName> = baseline.metrics.iter().map(|(name, _)| name).collect();
    let after: Vec<&MetricName> = candidate.metrics.iter().map(|(name, _)| name).collect();
    let common: Vec<&MetricName> = before
        .iter()
        .copied()
        .filter(|n| after.contains(n))
        .collect();
    let alone = |own: &[&MetricName]| -> Vec<MetricName> {
        let alone = own.iter().filter(|name| !common.contains(name));
        alone.map(|name| (*name).clone()).collect()
    };
    let (only_before, only_after) = (alone(&before), alone(&after));
    if common.is_empty() || measured_otherwise(&only_before, &only_after, &common) {
        return Err(Failure::input(format!(
            "the tables measure different things: `{}` has {}, `{}` has {}",
            args.baseline.display(),
            listed(&before),
            args.candidate.display(),
            listed(&after),
        ))
        .with_hint("values at different cutoffs, gains or relevance levels cannot be compared: compute both the same way"));
    }
    for (names, path) in [(only_before, &args.baseline), (only_after, &args.candidate)] {
        if !names.is_empty() {
            let names: Vec<&MetricName> = names.iter().collect();
            notes.push(format!(
                "only `{}` has {}: not compared",
                path.display(),
                listed(&names)
            ));
        }
    }
    let costs = costs(args, &common)?;
    for &name in &common {
        let mut directed = policy.directions.iter().flat_map(|columns| columns.keys());
        let said = costs.contains(name) || directed.any(|column| column == name.as_str());
        if name.as_str().parse::<Metric>().is_err() && !said {
            notes.push(format!(
                "`{name}` is no metric that evalfarm knows: more is taken to be better, unless `--lower-is-better {name}` or `directions` of a policy says otherwise"
            ));
        }
    }
    Ok(common
        .into_iter()
        .map(|name| match name.as_str().parse::<Metric>() {
            Ok(metric) => JudgedMetric::from(metric),
            Err(_) if costs.contains(name) => {
                JudgedMetric::instrument(name.clone(), Direction::Lower)
            }
            Err(_) => JudgedMetric::instrument(name.clone(), Direction::Higher),
        })
        .collect())
}

/// Whether each side has a metric that the other has too, but only at another cutoff, level or gain.
fn measured_otherwise(before: &[MetricName], after: &[MetricName], common: &[&MetricName]) -> bool {
    let kind = |name: &MetricName| {
        let metric = name.as_str().parse::<Metric>().ok()?;
        // All kinds of nDCG are one kind here, and all persistences of RBP.
        metric.slug().split('_').next().map(str::to_owned)
    };
    let shared: BTreeSet<String> = common.iter().filter_map(|name| kind(name)).collect();
    let kinds = |names: &[MetricName]| -> BTreeSet<String> {
        names
            .iter()
            .filter_map(kind)
            .filter(|kind| !shared.contains(kind))
            .collect()
    };
    !kinds(before).is_disjoint(&kinds(after))
}

fn listed(names: &[&MetricName]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    names.join(", ")
}

/// Returns the columns that the user calls costs.
fn costs(args: &CompareArgs, common: &[&MetricName]) -> Result<BTreeSet<MetricName>, Failure> {
    let mut costs = BTreeSet::new();
    for written in &args.lower_is_better {
        let name = MetricName::try_from(written.as_str()).map_err(Failure::input)?;
        if written.parse::<Metric>().is_ok() {
            return Err(Failure::input(format!(
                "`--lower-is-better {written}` names a metric whose direction is known"
            ))
            .with_hint("the option is for other columns, such as a latency"));
        }
        if !common.contains(&&name) {
            return Err(Failure::input(format!(
                "`--lower-is-better {written}` names no column that both tables have; these are {}",
                listed(common)
            )));
        }
        costs.insert(name);
    }
    Ok(costs)
}

/// Lays a table out over the query set.
fn side(
    table: &ValueTable,
    queries: &[QueryId],
    metrics: &[JudgedMetric],
    id: &str,
) -> Result<Side, Failure> {
    let index: BTreeMap<&QueryId, usize> = table
        .queries
        .iter()
        .enumerate()
        .map(|(row, id)| (id, row))
        .collect();
    let rows: Vec<Option<usize>> = queries.iter().map(|id| index.get(id).copied()).collect();
    // A query whose value is missing in any metric that says how good a ranking is has no result to score.
    let columns: Vec<(&JudgedMetric, &Vec<Option<f64>>)> = metrics
        .iter()
        .filter_map(|metric| {
            let (_, values) = table
                .metrics
                .iter()
                .find(|(name, _)| *name == metric.name)?;
            Some((metric, values))
        })
        .collect();
    let failure = |row: &Option<usize>| {
        let Some(row) = *row else {
            return Some(FailureKind::Missing);
        };
        table.failure[row].or_else(|| {
            let mut columns = columns.iter();
            columns
                .any(|(metric, values)| metric.quality && values[row].is_none())
                .then_some(FailureKind::Missing)
        })
    };
    let values = columns.iter().map(|(metric, values)| {
        let worst = metric.worst.unwrap_or(0.0);
        let value = |row: &Option<usize>| row.and_then(|row| values[row]).unwrap_or(worst);
        rows.iter().map(value).collect()
    });
    let laid_out = |flags: &Vec<bool>| -> Vec<bool> {
        let flag = |row: &Option<usize>| row.is_some_and(|row| flags[row]);
        rows.iter().map(flag).collect()
    };
    // The table says whether a stage failed, not which or how; the gate counts the failures of both stages together.
    let status = |failed: bool| {
        if failed {
            RerankStatus::InternalError
        } else {
            RerankStatus::NotRequested
        }
    };
    Ok(Side {
        id: id_of(table.candidate.as_deref().unwrap_or(id))?,
        values: values.collect(),
        failures: rows.iter().map(failure).collect(),
        zero_results: table.zero_result.as_ref().map(laid_out),
        rewrite: None,
        rerank: table
            .degraded
            .as_ref()
            .map(|flags| laid_out(flags).into_iter().map(status).collect()),
        judged: table.judged.as_ref().map(|shares| {
            let share = |row: &Option<usize>| row.and_then(|row| shares[row]);
            rows.iter().map(share).collect()
        }),
    })
}
