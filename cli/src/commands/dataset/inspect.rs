//! `evalfarm dataset inspect`: what is in a dataset?

use std::path::PathBuf;

use clap::Args;
use evalfarm_dataset::{Inspection, Manifest, NearCollision, Spread, inspect as inspect_dataset};
use evalfarm_report::{Align, Table, share};
use serde_json::json;

use super::generate::stored_text;
use crate::commands::run::dataset_at;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

/// Arguments of `evalfarm dataset inspect`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  evalfarm dataset inspect shop\n  evalfarm dataset inspect shop --format json"
)]
pub(crate) struct InspectArgs {
    /// The folder of a dataset
    folder: PathBuf,
}

/// Opens the dataset and prints its counts.
pub(crate) fn inspect(args: &InspectArgs, printer: &Printer) -> Result<u8, Failure> {
    if args.folder.is_file() {
        return Err(
            Failure::input(format!("`{}` is a file", args.folder.display()))
                .with_hint("a dataset is a folder with a `manifest.json`: import the file first"),
        );
    }
    let dataset = dataset_at(&args.folder)?;
    let manifest = &dataset.manifest;
    let inspection = inspect_dataset(
        &dataset.corpus,
        &dataset.queries,
        &dataset.judgments,
        manifest.relevant_from,
    );
    printer.data(
        || stored_text(manifest, &args.folder) + &text(manifest, &inspection),
        &json!({ "manifest": manifest, "inspection": inspection }),
    )?;
    Ok(exit_code::DONE)
}

fn text(manifest: &Manifest, inspection: &Inspection) -> String {
    let mut text = format!(
        "  source {}; licence {}{}\n",
        manifest.source,
        manifest.licence,
        if manifest.synthetic {
            "; synthetic"
        } else {
            ""
        },
    );
    let mut fields = Table::new(&[
        ("field", Align::Left),
        ("filled", Align::Right),
        ("distinct texts", Align::Right),
        ("", Align::Left),
    ]);
    for field in &inspection.fields {
        fields.row([
            field.name.to_string(),
            share(field.filled),
            field.distinct.to_string(),
            if field.dead {
                "the same in every document: cannot change a ranking"
            } else {
                ""
            }
            .to_owned(),
        ]);
    }
    text = text + "\n" + &fields.text() + "\n";
    let mut grades = Table::new(&[("grade", Align::Right), ("judgments", Align::Right)]);
    for grade in &inspection.grades {
        grades.row([grade.grade.to_string(), grade.judgments.to_string()]);
    }
    text = text + &grades.text() + "\n";
    text.push_str(&spread("judged documents a query", &inspection.judged));
    text.push_str(&spread("relevant documents a query", &inspection.relevant));
    let remarks = [
        (
            inspection.queries_without_relevant,
            "queries without a relevant document",
        ),
        (
            inspection.queries_without_judgment,
            "queries without a judgment",
        ),
        (inspection.queries_without_text, "queries without text"),
        (
            inspection.queries_with_cluster,
            "queries in clusters: resampled together",
        ),
        (
            inspection.judged_not_in_corpus,
            "judgments of documents that are not in the corpus",
        ),
    ];
    for (count, what) in remarks.into_iter().filter(|&(count, _)| count > 0) {
        text.push_str(&line(count, what));
    }
    text.push_str(&near("document", &inspection.near_documents));
    text + &near("query", &inspection.near_queries)
}

fn line(count: u64, what: &str) -> String {
    format!("  {count} {what}\n")
}

fn spread(what: &str, spread: &Spread) -> String {
    let Spread {
        min,
        median,
        mean,
        max,
    } = spread;
    format!("  {what}: {min} to {max}, median {median}, mean {mean:.2}\n")
}

fn near(what: &str, pairs: &[NearCollision]) -> String {
    match pairs.first() {
        None => String::new(),
        Some(pair) => format!(
            "  {} pairs of {what} ids look like one, e.g. `{}` and `{}`\n",
            pairs.len(),
            pair.first,
            pair.second
        ),
    }
}
