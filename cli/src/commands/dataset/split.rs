//! `evalfarm dataset split`: train and holdout, the same on every machine.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use evalfarm_dataset::split::{
    Filter, GroupBy, Likeness, SplitReport, SplitRequest, TrainSize, split as split_queries,
};
use evalfarm_domain::{Grade, Judgments, Query, QueryId};
use serde_json::json;

use super::verify::{read_split, split_failure};
use crate::commands::run::dataset_at;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm dataset split shop --seed 20260816 --train 1400 --sample 2000 --out split.json
  evalfarm dataset split shop --seed 1 --train-share 0.7 --group-by near-duplicates --out split.json
  evalfarm dataset split --ids ids.txt --seed 20260816 --train 1400 --out split.json

Queries are ordered by sha256(\"{seed}|{id}\"); the first --sample are taken and the first --train of these are train, so
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
    /// Seed of the hash order
    #[arg(long)]
    seed: u64,
    /// Queries on the train side
    #[arg(
        long,
        required_unless_present = "train_share",
        conflicts_with = "train_share"
    )]
    train: Option<usize>,
    /// Share of the queries on the train side, 0 to 1
    #[arg(long)]
    train_share: Option<f64>,
    /// Queries on both sides together [default: all]
    #[arg(long)]
    sample: Option<usize>,
    /// Keep queries on one side together: `cluster`, `near-duplicates`, or the name of a query column
    #[arg(long)]
    group_by: Option<String>,
    /// Leave out queries without a relevant judgment
    #[arg(long, conflicts_with = "ids")]
    has_relevant: bool,
    /// File to write; printed when absent
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
    say(&made.report, printer);
    let manifest = &made.manifest;
    match &args.out {
        None => {
            let json: serde_json::Value =
                serde_json::from_str(&manifest.to_json()).map_err(Failure::infrastructure)?;
            printer.data(|| manifest.to_json(), &json)?;
        }
        Some(path) => {
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
                "overlap": made.report.overlap,
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
            // Without texts no two queries can be told to be alike.
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
    let text = fs::read_to_string(path).map_err(|error| {
        Failure::input(error).with_hint(format!("`--ids {}` has to be a text file", path.display()))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
    text.lines()
        .enumerate()
        .filter(|(_, line)| !line.trim().is_empty())
        .map(|(index, line)| {
            QueryId::try_from(line.trim_end_matches('\r')).map_err(|error| {
                Failure::input(format!("`{}`, line {}: {error}", path.display(), index + 1))
            })
        })
        .collect()
}

fn say(report: &SplitReport, printer: &Printer) {
    if report.filtered_out > 0 {
        printer.note(&format!(
            "{} queries without a relevant judgment were left out",
            report.filtered_out
        ));
    }
    if report.train_excess > 0 {
        printer.note(&format!(
            "the train side has {} queries more than asked for, because a group stays together",
            report.train_excess
        ));
    }
    alike("equal", &report.overlap.equal, printer);
    alike("nearly equal", &report.overlap.nearly_equal, printer);
}

fn alike(how: &str, pairs: &[Likeness], printer: &Printer) {
    if let Some(first) = pairs.first() {
        printer.warning(&format!(
            "{} holdout queries are {how} to a train query after analysis, e.g. `{}` and `{}`; `--group-by near-duplicates` keeps them together",
            pairs.len(),
            first.holdout,
            first.train,
        ));
    }
}
