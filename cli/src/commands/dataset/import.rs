//! `evalfarm dataset import`: files of a known format into a verified dataset.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use evalfarm_dataset::beir::{self, BeirOptions};
use evalfarm_dataset::catalogue::{self, CatalogueFiles, FieldMap};
use evalfarm_dataset::esci::{self, EsciCorpus, EsciGains, EsciOptions};
use evalfarm_dataset::trec::{self, CollectionFiles, TopicIds};
use evalfarm_dataset::{About, Imported, InputError, JoinOptions, QrelsOptions, store};
use evalfarm_domain::{Gains, Grade};

use super::generate::stored_text;
use crate::commands::measuring::{gains, grade, input, labels};
use crate::commands::run::dataset_failure;
use crate::exit_code;
use crate::failure::Failure;
use crate::output::Printer;

const CATALOGUE_EXAMPLES: &str = "\
Examples:
  evalfarm dataset import catalogue --products products.jsonl.gz --id id --ratings ratings.csv \\
      --field title --field name --field 'attrs=attr_t*' --out shop
  evalfarm dataset import catalogue --products products.csv --id sku --ratings ratings.csv \\
      --field title --field body=description,bullets --labels E=3,S=2,C=1,I=0 --out shop

Ratings are a CSV with the columns query, docid and rating; query_id, weight, cluster and any others are optional.";

/// The format to read.
#[derive(Debug, Subcommand)]
pub(crate) enum ImportCommand {
    /// A test collection: TREC documents, topics and qrels
    Trec(TrecArgs),
    /// A BEIR folder: corpus.jsonl, queries.jsonl, qrels/SPLIT.tsv
    Beir(BeirArgs),
    /// Amazon's Shopping Queries (ESCI): examples and products in Parquet
    Esci(EsciArgs),
    /// A product catalogue (JSONL, CSV or TSV) with a CSV of ratings
    #[command(after_help = CATALOGUE_EXAMPLES)]
    Catalogue(CatalogueArgs),
}

/// What every format needs to know beside its files.
#[derive(Debug, Args)]
pub(crate) struct AboutArgs {
    /// Folder of the dataset, which must not exist or be empty
    #[arg(long)]
    out: PathBuf,
    /// What people call the dataset (default: the name of the folder)
    #[arg(long)]
    name: Option<String>,
    /// Where the data came from, in words
    #[arg(long, default_value = "unknown")]
    source: String,
    /// Under which licence the data may be used
    #[arg(long, default_value = "unknown")]
    licence: String,
    /// Lowest grade that counts as relevant
    #[arg(long, default_value = "1", value_parser = grade)]
    relevant_from: Grade,
    /// Refuse judgments of documents that are not in the corpus (kept and counted otherwise)
    #[arg(long)]
    require_judged_documents: bool,
    /// Keep queries without any judgment (left out and counted otherwise)
    #[arg(long)]
    keep_unjudged_queries: bool,
}

/// How grades are read and what they are worth.
#[derive(Debug, Args)]
pub(crate) struct GradeArgs {
    /// Gain of a grade: `linear`, `exponential`, or a list such as `0=0,1=0.01,2=0.1,3=1`
    #[arg(long, default_value = "linear", value_parser = gains)]
    gains: Gains,
    /// Accept grades with a fraction (an error otherwise)
    #[arg(long)]
    fractional: bool,
    /// Grades of labels, e.g. `E=3,S=2,C=1,I=0`
    #[arg(long, value_parser = labels)]
    labels: Option<BTreeMap<String, Grade>>,
}

/// Arguments of `evalfarm dataset import trec`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  evalfarm dataset import trec --documents docs.xml --topics topics.xml --qrels qrels.txt \\\n      --out cranfield"
)]
pub(crate) struct TrecArgs {
    /// Documents in TREC's markup
    #[arg(long)]
    documents: PathBuf,
    /// Topics in TREC's markup
    #[arg(long)]
    topics: PathBuf,
    /// Judgments
    #[arg(long)]
    qrels: PathBuf,
    /// Number topics by their place in the file, as Cranfield's judgments do, instead of by their own number
    #[arg(long)]
    topics_by_position: bool,
    #[command(flatten)]
    grades: GradeArgs,
    #[command(flatten)]
    about: AboutArgs,
}

/// Arguments of `evalfarm dataset import beir`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  evalfarm dataset import beir scifact --split test --out scifact-test"
)]
pub(crate) struct BeirArgs {
    /// The folder
    folder: PathBuf,
    /// Which judgments: the file qrels/SPLIT.tsv
    #[arg(long, default_value = "test")]
    split: String,
    #[command(flatten)]
    grades: GradeArgs,
    #[command(flatten)]
    about: AboutArgs,
}

/// Arguments of `evalfarm dataset import esci`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  evalfarm dataset import esci --examples examples.parquet --products products.parquet --locale us \\\n      --gains E=1,S=0.1,C=0.01,I=0 --small-version --split test --out esci-us"
)]
pub(crate) struct EsciArgs {
    /// The examples: `shopping_queries_dataset_examples.parquet`
    #[arg(long)]
    examples: PathBuf,
    /// The products: `shopping_queries_dataset_products.parquet`
    #[arg(long)]
    products: PathBuf,
    /// Locale of examples and products
    #[arg(long)]
    locale: String,
    /// What each label is worth, e.g. `E=1,S=0.1,C=0.01,I=0`; there is no default, because published scripts disagree
    #[arg(long, value_parser = esci_gains)]
    gains: EsciGains,
    /// Only the reduced version
    #[arg(long)]
    small_version: bool,
    /// Only examples of this split, e.g. `test`
    #[arg(long)]
    split: Option<String>,
    /// Take every product of the locale into the corpus, not only those that are judged
    #[arg(long)]
    all_products: bool,
    #[command(flatten)]
    about: AboutArgs,
}

/// Arguments of `evalfarm dataset import catalogue`.
#[derive(Debug, Args)]
pub(crate) struct CatalogueArgs {
    /// The catalogue, gzipped or not
    #[arg(long)]
    products: PathBuf,
    /// The key or column that identifies a document
    #[arg(long)]
    id: String,
    /// A field, in scoring order: NAME, NAME=KEY, NAME=KEY,KEY or NAME='PREFIX*'; may be given several times
    #[arg(long = "field", required = true)]
    fields: Vec<FieldMap>,
    /// The ratings, gzipped or not
    #[arg(long)]
    ratings: PathBuf,
    #[command(flatten)]
    grades: GradeArgs,
    #[command(flatten)]
    about: AboutArgs,
}

impl GradeArgs {
    fn options(&self) -> QrelsOptions {
        QrelsOptions {
            fractional: self.fractional,
            labels: self.labels.clone(),
        }
    }
}

impl AboutArgs {
    fn join(&self) -> JoinOptions {
        JoinOptions {
            require_judged_documents: self.require_judged_documents,
            keep_unjudged_queries: self.keep_unjudged_queries,
        }
    }
}

/// Reads the files and stores the dataset.
pub(crate) fn import(command: &ImportCommand, printer: &Printer) -> Result<u8, Failure> {
    let (imported, args, gains, labels) = match command {
        ImportCommand::Trec(args) => {
            let files = CollectionFiles {
                documents: args.documents.clone(),
                topics: args.topics.clone(),
                qrels: args.qrels.clone(),
                topic_ids: if args.topics_by_position {
                    TopicIds::Position
                } else {
                    TopicIds::Number
                },
                grades: args.grades.options(),
                join: args.about.join(),
            };
            graded(trec::import(&files), &args.about, &args.grades)?
        }
        ImportCommand::Beir(args) => {
            let fields = ["title", "text"].into_iter().map(str::parse);
            let options = BeirOptions {
                split: args.split.clone(),
                fields: fields.collect::<Result<_, _>>().map_err(Failure::input)?,
                grades: args.grades.options(),
                join: args.about.join(),
            };
            graded(
                beir::import(&args.folder, &options),
                &args.about,
                &args.grades,
            )?
        }
        ImportCommand::Esci(args) => {
            let options = EsciOptions {
                examples: args.examples.clone(),
                products: args.products.clone(),
                locale: args.locale.clone(),
                small_version: args.small_version,
                split: args.split.clone(),
                corpus: if args.all_products {
                    EsciCorpus::Locale
                } else {
                    EsciCorpus::Judged
                },
                join: args.about.join(),
            };
            let imported = esci::import(&options).map_err(input)?;
            let gains = args.gains.to_gains().map_err(Failure::input)?;
            (
                imported,
                &args.about,
                gains,
                esci::labels().map_err(Failure::input)?,
            )
        }
        ImportCommand::Catalogue(args) => {
            let files = CatalogueFiles {
                catalogue: args.products.clone(),
                id_key: args.id.clone(),
                fields: args.fields.clone(),
                ratings: args.ratings.clone(),
                grades: args.grades.options(),
                join: args.about.join(),
            };
            graded(catalogue::import(&files), &args.about, &args.grades)?
        }
    };
    finish(imported, args, gains, labels, printer)
}

type Read<'a> = (Imported, &'a AboutArgs, Gains, BTreeMap<String, Grade>);

/// Adds what the user said of grades to what was read.
fn graded<'a>(
    imported: Result<Imported, InputError>,
    about: &'a AboutArgs,
    grades: &GradeArgs,
) -> Result<Read<'a>, Failure> {
    let labels = grades.labels.clone().unwrap_or_default();
    Ok((
        imported.map_err(input)?,
        about,
        grades.gains.clone(),
        labels,
    ))
}

fn finish(
    imported: Imported,
    args: &AboutArgs,
    gains: Gains,
    labels: BTreeMap<String, Grade>,
    printer: &Printer,
) -> Result<u8, Failure> {
    for warning in &imported.warnings {
        printer.warning(&warning.to_string());
    }
    let folder_name = args.out.file_name().unwrap_or_default().to_string_lossy();
    let about = About {
        source: args.source.clone(),
        licence: args.licence.clone(),
        gains,
        relevant_from: args.relevant_from,
        labels,
        sources: imported.sources,
        warnings: imported.warnings,
        ..About::new(
            args.name
                .clone()
                .unwrap_or_else(|| folder_name.into_owned()),
        )
    };
    let manifest = store(&args.out, imported.content, about).map_err(dataset_failure)?;
    if manifest.counts.relevant == 0 {
        printer.warning(&format!(
            "no judgment is relevant: `--relevant-from {}` is above every grade",
            args.relevant_from
        ));
    }
    printer.data(|| stored_text(&manifest, &args.out), &manifest)?;
    Ok(exit_code::DONE)
}

/// Reads `E=1,S=0.1,C=0.01,I=0`: each of the four labels once.
fn esci_gains(text: &str) -> Result<EsciGains, String> {
    let mut found: BTreeMap<&str, f64> = BTreeMap::new();
    for pair in text.split(',') {
        let (label, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` is not `label=gain`"))?;
        let gain = value
            .trim()
            .parse()
            .map_err(|_| format!("gain `{value}` is not a number"))?;
        if found.insert(label.trim(), gain).is_some() {
            return Err(format!("label `{label}` is listed twice"));
        }
    }
    let mut take = |label: &str| {
        found
            .remove(label)
            .ok_or_else(|| format!("label `{label}` is missing"))
    };
    let gains = EsciGains {
        exact: take("E")?,
        substitute: take("S")?,
        complement: take("C")?,
        irrelevant: take("I")?,
    };
    match found.keys().next() {
        Some(other) => Err(format!("label `{other}` is not one of E, S, C and I")),
        None => Ok(gains),
    }
}
