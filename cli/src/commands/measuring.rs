//! What the commands that score run files have in common: how judgments and runs are read and what is measured.

use std::collections::BTreeMap;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

use clap::{Args, ValueEnum};
use evalfarm_dataset::InputError;
use evalfarm_dataset::trec::{
    Dedupe, Order, Qrels, QrelsOptions, Run, RunOptions, read_qrels, read_run,
};
use evalfarm_domain::{GainMap, Gains, Grade, Judgments, Measurement, Metric};
use evalfarm_metrics::{JoinedRun, SelfHits};

use crate::failure::Failure;
use crate::output::Printer;

/// What decides the order of a run's hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// Score descending, then document id descending, as in trec_eval
    Score,
    /// The ranks in the file
    Rank,
}

/// What to do with a document that is in one ranking twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum DedupeArg {
    /// Keep its first place and count the others
    First,
}

/// How judgments and runs are read, and what counts as relevant.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArgs {
    /// What decides the order of hits
    #[arg(long, value_enum, default_value = "score")]
    pub(crate) order: OrderArg,
    /// Accept a document twice in one ranking (an error otherwise)
    #[arg(long, value_enum)]
    dedupe: Option<DedupeArg>,
    /// Drop hits whose document id is the query id
    #[arg(long)]
    drop_self_hits: bool,
    /// Gain of a grade: `linear`, `exponential`, or a list such as `0=0,1=0.01,2=0.1,3=1`
    #[arg(long, default_value = "linear", value_parser = gains)]
    gains: Gains,
    /// Lowest grade that counts as relevant
    #[arg(long, default_value = "1", value_parser = grade)]
    level: Grade,
    /// Accept grades with a fraction (an error otherwise)
    #[arg(long)]
    fractional: bool,
    /// Grades of labels, e.g. `E=3,S=2,C=1,I=0`
    #[arg(long, value_parser = labels)]
    labels: Option<BTreeMap<String, Grade>>,
}

impl MeasuringArgs {
    /// Reads judgments and says what is worth knowing about them.
    pub(crate) fn qrels(&self, path: &Path, printer: &Printer) -> Result<Judgments, Failure> {
        let options = QrelsOptions {
            fractional: self.fractional,
            labels: self.labels.clone(),
        };
        let Qrels {
            judgments,
            warnings,
            ..
        } = read_qrels(path, &options).map_err(input)?;
        for warning in warnings {
            printer.warning(&format!("`{}`: {warning}", path.display()));
        }
        Ok(judgments)
    }

    /// Reads a run and says what is worth knowing about it.
    pub(crate) fn run(
        &self,
        path: &Path,
        depth: NonZeroU32,
        printer: &Printer,
    ) -> Result<Run, Failure> {
        let options = RunOptions {
            order: match self.order {
                OrderArg::Score => Order::Score,
                OrderArg::Rank => Order::Rank,
            },
            dedupe: match self.dedupe {
                Some(DedupeArg::First) => Dedupe::First,
                None => Dedupe::Refuse,
            },
        };
        let run = read_run(path, options).map_err(input)?;
        let name = path.display();
        if run.duplicates_dropped > 0 {
            let count = run.duplicates_dropped;
            printer.warning(&format!(
                "`{name}`: {count} repeated documents were dropped"
            ));
        }
        let ties = run.ties_at(NonZeroUsize::try_from(depth).unwrap_or(NonZeroUsize::MIN));
        if self.order == OrderArg::Score && ties.queries_across_cut > 0 {
            printer.note(&format!(
                "`{name}`: in {} of {} queries equal scores meet at rank {depth}, and {:.1} % of all hits share their score: \
                 document ids decide there",
                ties.queries_across_cut,
                ties.queries,
                100.0 * ties.tied_share(),
            ));
        }
        Ok(run)
    }

    /// Joins a run with judgments.
    pub(crate) fn join(&self, run: &Run, judgments: &Judgments) -> Result<JoinedRun, Failure> {
        let self_hits = if self.drop_self_hits {
            SelfHits::Drop
        } else {
            SelfHits::Keep
        };
        let mut joined = JoinedRun::new();
        for (query, hits) in &run.queries {
            let documents = hits.iter().map(|hit| &hit.document);
            joined
                .insert(judgments, query, documents, self_hits)
                .map_err(Failure::input)?;
        }
        Ok(joined)
    }

    /// Returns what is measured: these metrics, with gains and levels as asked for.
    pub(crate) fn measurement(&self, metrics: Vec<Metric>, judgments: &Judgments) -> Measurement {
        let top_grade = judgments
            .iter()
            .flat_map(|(_, judged)| judged.iter().map(|(_, grade)| grade))
            .max()
            .unwrap_or(Grade::RELEVANT);
        Measurement {
            depth: deepest(&metrics),
            metrics,
            gains: self.gains.clone(),
            relevant_from: self.level,
            top_grade,
        }
    }
}

/// Returns the largest cutoff of the metrics, at least 10: the rank at which ties are worth a word.
pub(crate) fn deepest(metrics: &[Metric]) -> NonZeroU32 {
    const TOP_TEN: NonZeroU32 = NonZeroU32::new(10).expect("10 is not 0");
    let cutoffs = metrics.iter().filter_map(|metric| metric.cutoff());
    cutoffs.max().unwrap_or(TOP_TEN).max(TOP_TEN)
}

/// Wraps an error of an input file with its own hint.
pub(crate) fn input(error: InputError) -> Failure {
    let hint = error.hint();
    let failure = Failure::input(error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// Reads a metric's name.
pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    text.parse::<Metric>().map_err(|error| {
        format!("{error}; names look like `nDCG@10`, `RR@10`, `P@5`, `R@100`, `AP`, `Judged@10`, `ndcg_cut_10`")
    })
}

/// Reads a grade.
pub(crate) fn grade(text: &str) -> Result<Grade, String> {
    let number: f64 = text
        .parse()
        .map_err(|_| format!("`{text}` is not a number"))?;
    Grade::try_from(number).map_err(|error| error.to_string())
}

/// Reads `linear`, `exponential` or a list of `grade=gain`.
pub(crate) fn gains(text: &str) -> Result<Gains, String> {
    match text {
        "linear" => return Ok(Gains::Linear),
        "exponential" => return Ok(Gains::Exponential),
        _ => {}
    }
    let mut map = BTreeMap::new();
    for pair in text.split(',') {
        let (key, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` is not `grade=gain`"))?;
        let gain: f64 = value
            .trim()
            .parse()
            .map_err(|_| format!("gain `{value}` is not a number"))?;
        if map.insert(grade(key.trim())?, gain).is_some() {
            return Err(format!("grade `{key}` is listed twice"));
        }
    }
    GainMap::new(map)
        .map(Gains::Map)
        .map_err(|error| error.to_string())
}

/// Reads a list of `label=grade`.
pub(crate) fn labels(text: &str) -> Result<BTreeMap<String, Grade>, String> {
    let mut map = BTreeMap::new();
    for pair in text.split(',') {
        let (label, value) = pair
            .split_once('=')
            .ok_or_else(|| format!("`{pair}` is not `label=grade`"))?;
        if map
            .insert(label.trim().to_owned(), grade(value.trim())?)
            .is_some()
        {
            return Err(format!("label `{label}` is listed twice"));
        }
    }
    Ok(map)
}
