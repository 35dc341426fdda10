//! `evalfarm dataset split`: train and holdout, the same on every machine.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_dataset::split::{
    Filter, GroupBy, Likeness, SplitManifest, SplitReport, SplitRequest, TrainSize,
    split as split_queries,
};
use evalfarm_domain::{Grade, Judgments, Query, QueryId};
use serde_json::json;

use super::verify::{read_split, split_failure};
use crate::commands::measuring::counted;
use crate::commands::run::dataset_at;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm dataset split shop --seed 20260816 --train 1400 --sample 2000 --out split.json
  evalfarm dataset split shop --seed 1 --train-share 0.7 --group-by near-duplicates --out split.json
  evalfarm dataset split --ids ids.txt --seed 20260816 --train 1400 --out split.json

Queries are ordered by sha256(\"{seed}|{id}\"); the first --sample are taken and the first --train of these are train, so \
that a larger sample contains a smaller one.";

/// Arguments of `evalfarm dataset split`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SplitArgs {
    /// The folder of a dataset
    #[arg(required_unless_present = "ids", conflicts_with = "ids")]
    folder: Option<PathBuf>,
    /// A file with one query id a line, or a split whose ids are split again, instead of a dataset
    #[arg(long)]
    ids: Option<PathBuf>,
    /// Seed of the hash order, a whole number from 0
    #[arg(long, allow_negative_numbers = true)]
    seed: u64,
    /// Queries on the train side
    #[arg(
        long,
        required_unless_present = "train_share",
        conflicts_with = "train_share"
    )]
    train: Option<usize>,
    /// Share of the queries on the train side, 0 to 1
    #[arg(long, allow_negative_numbers = true)]
    train_share: Option<f64>,
    /// Queries on both sides together (default: all)
    #[arg(long)]
    sample: Option<usize>,
    /// Keep queries on one side together: `cluster`, `near-duplicates`, or the name of a query column
    #[arg(long, conflicts_with = "ids")]
    group_by: Option<String>,
    /// Leave out queries without a relevant judgment
    #[arg(long, conflicts_with = "ids")]
    has_relevant: bool,
    /// File to write, which must not hold another split; printed when absent
    #[arg(long)]
    out: Option<PathBuf>,
}

/// Splits, says what there is to say, and writes the manifest.
pub(crate) fn split(args: &SplitArgs, printer: &Printer) -> Result<u8, Failure> {
    let (queries, judgments, relevant_from) = queries(args)?;
    let train = match (args.train, args.train_share) {
        (Some(count), _) => TrainSize::Count(count),
        (None, share) => TrainSize::Share(share.unwrap_or_default()),
    };
    let request = SplitRequest {
        seed: args.seed,
        total: args.sample,
        train,
        filter: if args.has_relevant {
            Filter::HasRelevant
        } else {
            Filter::All
        },
        group_by: match args.group_by.as_deref() {
            None => GroupBy::Nothing,
            Some("cluster") => GroupBy::Cluster,
            Some("near-duplicates") => GroupBy::NearDuplicates,
            Some(column) => GroupBy::Column(column.to_owned()),
        },
    };
    let made =
        split_queries(&queries, &judgments, relevant_from, &request).map_err(split_failure)?;
    let manifest = &made.manifest;
    say(&made.report, manifest, args.ids.is_none(), printer);
    match &args.out {
        None => {
            let json: serde_json::Value =
                serde_json::from_str(&manifest.to_json()).map_err(Failure::infrastructure)?;
            printer.data(|| manifest.to_json(), &json)?;
        }
        Some(path) => {
            refuse_other(path, manifest)?;
            manifest.write(path).map_err(Failure::infrastructure)?;
            let text = || {
                format!(
                    "{} written\n  train    {} queries, sha256 {}\n  holdout  {} queries, sha256 {}\n",
                    path.display(),
                    manifest.train.ids.len(),
                    manifest.train.sha256,
                    manifest.holdout.ids.len(),
                    manifest.holdout.sha256,
                )
            };
            let document = json!({
                "out": path.display().to_string(),
                "train": manifest.train.ids.len(),
                "train_sha256": manifest.train.sha256,
                "holdout": manifest.holdout.ids.len(),
                "holdout_sha256": manifest.holdout.sha256,
                // Without texts no two queries can be told to be alike.
                "overlap": args.ids.is_none().then_some(&made.report.overlap),
            });
            printer.data(text, &document)?;
        }
    }
    Ok(exit_code::DONE)
}

fn queries(args: &SplitArgs) -> Result<(Vec<Query>, Judgments, Grade), Failure> {
    match (&args.folder, &args.ids) {
        (Some(folder), _) => {
            let dataset = dataset_at(folder)?;
            let relevant_from = dataset.manifest.relevant_from;
            Ok((dataset.queries, dataset.judgments, relevant_from))
        }
        (None, Some(path)) => {
            let ids = ids(path)?;
            let queries = ids.into_iter().map(|id| Query::new(id, "")).collect();
            Ok((queries, Judgments::default(), Grade::RELEVANT))
        }
        (None, None) => Err(Failure::input("a dataset or `--ids` is needed")),
    }
}

fn ids(path: &Path) -> Result<Vec<QueryId>, Failure> {
    if path
        .extension()
        .is_some_and(|extension| extension == "json")
    {
        let split = read_split(path)?;
        return Ok(split
            .train
            .ids
            .into_iter()
            .chain(split.holdout.ids)
            .collect());
    }
    let shown = path.display();
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(format!("failed to read `{shown}`: {error}"))
            .with_hint("`--ids` takes a text file with one query id a line, or a split")
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    let mut lines: BTreeMap<QueryId, usize> = BTreeMap::new();
    for (line, id) in (1..).zip(text.lines()) {
        if id.trim().is_empty() {
            continue;
        }
        let id = QueryId::try_from(id.trim_end_matches('\r'))
            .map_err(|error| Failure::input(format!("`{shown}`, line {line}: {error}")))?;
        if let Some(first) = lines.insert(id.clone(), line) {
            return Err(Failure::input(format!(
                "`{shown}`, line {line}: query `{id}` occurs again, first in line {first}"
            ))
            .with_hint("each query is on one side: remove the repeated line"));
        }
    }
    if lines.is_empty() {
        return Err(Failure::input(format!(
            "`{shown}`: there is no query id in it"
        )));
    }
    Ok(lines.into_keys().collect())
}

/// A split decides what a sweep may see, so it is not replaced by another without a word.
fn refuse_other(path: &Path, manifest: &SplitManifest) -> Result<(), Failure> {
    let there = path.try_exists().map_err(Failure::infrastructure)?;
    if there && fs::read_to_string(path).ok() != Some(manifest.to_json()) {
        return Err(Failure::input(format!(
            "`{}` already exists and is not this split",
            path.display()
        ))
        .with_hint("choose another file with `--out`, or remove this one first"));
    }
    Ok(())
}

fn say(report: &SplitReport, manifest: &SplitManifest, texts: bool, printer: &Printer) {
    if report.filtered_out > 0 {
        let left_out = counted(
            report.filtered_out,
            "query without a relevant judgment was",
            "queries without a relevant judgment were",
        );
        printer.note(&format!("{left_out} left out"));
    }
    if report.train_excess > 0 {
        let more = counted(report.train_excess, "query", "queries");
        printer.note(&format!(
            "the train side has {more} more than asked for, because a group stays together"
        ));
    }
    for (name, side) in [("train", &manifest.train), ("holdout", &manifest.holdout)] {
        if side.ids.is_empty() {
            printer.warning(&format!("the {name} side is empty"));
        }
    }
    if !texts {
        return;
    }
    alike("equal", &report.overlap.equal, printer);
    alike("nearly equal", &report.overlap.nearly_equal, printer);
}

fn alike(how: &str, pairs: &[Likeness], printer: &Printer) {
    if let Some(first) = pairs.first() {
        let queries = counted(pairs.len(), "holdout query is", "holdout queries are");
        printer.warning(&format!(
            "{queries} {how} to a train query after analysis, e.g. `{}` to `{}`; `--group-by near-duplicates` keeps them together",
            first.holdout, first.train,
        ));
    }
}
