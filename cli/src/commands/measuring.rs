//! What the commands that score run files have in common: how judgments and runs are read and what is measured.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::io::ErrorKind;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;

use clap::{Args, ValueEnum};
use evalfarm_coordinator::sweep::nearest;
use evalfarm_dataset::trec::{
    Dedupe, Order, Qrels, QrelsOptions, Run, RunOptions, read_qrels, read_run,
};
use evalfarm_dataset::value_table::metric_of_column;
use evalfarm_dataset::{Fault, InputError};
use evalfarm_domain::{
    DocId, GainMap, Gains, Grade, Judgments, Measurement, Metric, MetricError, QueryId,
};
use evalfarm_metrics::{EvaluateError, JoinedRun, SelfHits};

use serde::Serialize;

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

/// How judgments and runs are read, and what counts as relevant. Every command with these arguments has judgments under
/// the id `qrels`; without them the arguments mean nothing and are refused.
#[derive(Debug, Args)]
pub(crate) struct MeasuringArgs {
    /// What decides the order of hits
    #[arg(long, value_enum, default_value = "score", requires = "qrels")]
    pub(crate) order: OrderArg,
    /// Accept a document twice in one ranking (an error otherwise)
    #[arg(long, value_enum, requires = "qrels")]
    dedupe: Option<DedupeArg>,
    /// Drop hits whose document id is the query id
    #[arg(long, requires = "qrels")]
    drop_self_hits: bool,
    /// Gain of a grade: `linear`, `exponential`, or a list such as `0=0,1=0.01,2=0.1,3=1`
    #[arg(long, default_value = "linear", value_parser = gains, requires = "qrels")]
    gains: Gains,
    /// Lowest grade that counts as relevant
    #[arg(long, default_value = "1", value_parser = grade, requires = "qrels", allow_negative_numbers = true)]
    level: Grade,
    /// Accept grades with a fraction (an error otherwise)
    #[arg(long, requires = "qrels")]
    fractional: bool,
    /// Grades of labels, e.g. `E=3,S=2,C=1,I=0`
    #[arg(long, value_parser = labels, requires = "qrels")]
    labels: Option<BTreeMap<String, Grade>>,
}

/// How far equal scores, and so document ids, decide the metrics of a run.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Ties {
    /// Share of all hits whose score another hit of the query has too.
    pub(crate) tied_share: f64,
    /// For each cutoff of the metrics, the queries in which equal scores meet there; cutoffs without any are left out.
    pub(crate) queries_at_cutoff: BTreeMap<NonZeroU32, u64>,
    queries: u64,
}

impl Ties {
    fn of(run: &Run, metrics: &[Metric]) -> Self {
        let whole = run.ties_at(NonZeroUsize::MIN);
        let cutoffs: BTreeSet<NonZeroU32> = metrics.iter().filter_map(|m| m.cutoff()).collect();
        let at = |cutoff: NonZeroU32| {
            let cut = NonZeroUsize::try_from(cutoff).unwrap_or(NonZeroUsize::MAX);
            (cutoff, run.ties_at(cut).queries_across_cut)
        };
        Self {
            tied_share: whole.tied_share(),
            queries_at_cutoff: cutoffs
                .into_iter()
                .map(at)
                .filter(|&(_, n)| n > 0)
                .collect(),
            queries: whole.queries,
        }
    }
}

impl fmt::Display for Ties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let share = 100.0 * self.tied_share;
        write!(
            f,
            "{share:.1} % of the hits share their score with another of their query, and document ids decide their order"
        )?;
        let mut separator = ";";
        for (cutoff, count) in &self.queries_at_cutoff {
            write!(
                f,
                "{separator} at rank {cutoff} in {count} of {} queries",
                self.queries
            )?;
            separator = ",";
        }
        Ok(())
    }
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

    /// Reads a run and says what is worth knowing about it: repeated documents, and ties that decide a metric.
    pub(crate) fn run(
        &self,
        path: &Path,
        metrics: &[Metric],
        printer: &Printer,
    ) -> Result<(Run, Ties), Failure> {
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
            let dropped = usize::try_from(run.duplicates_dropped).unwrap_or(usize::MAX);
            let dropped = counted(dropped, "repeated document was", "repeated documents were");
            printer.warning(&format!("`{name}`: {dropped} dropped"));
        }
        let ties = Ties::of(&run, metrics);
        if self.order == OrderArg::Score && ties.tied_share > 0.0 {
            printer.note(&format!("`{name}`: {ties}"));
        }
        Ok((run, ties))
    }

    /// Whether a hit is left out because it is the query itself.
    pub(crate) fn drops(&self, query: &QueryId, document: &DocId) -> bool {
        self.drop_self_hits && document.as_str() == query.as_str()
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

/// Wraps an error of an input file with what to do next, in terms of this command line.
pub(crate) fn input(error: InputError) -> Failure {
    let hint = hint(&error);
    let failure = Failure::input(error);
    match hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

fn hint(error: &InputError) -> Option<&'static str> {
    if let InputError::Read { source, .. } = error {
        return match source.kind() {
            ErrorKind::NotFound => Some("check the path: it is taken from the current folder"),
            ErrorKind::IsADirectory => Some("a file is needed here, not a folder"),
            ErrorKind::UnexpectedEof | ErrorKind::InvalidInput | ErrorKind::InvalidData => {
                Some("the file is cut short or damaged: get it again")
            }
            _ => None,
        };
    }
    match error.fault()? {
        Fault::GradeLabel { .. } | Fault::UnknownLabel { .. } => {
            Some("say which grade each label is, e.g. `--labels E=3,S=2,C=1,I=0`")
        }
        Fault::FractionalGrade { .. } => {
            Some("`--fractional` accepts such grades, if they are meant as gains")
        }
        Fault::RankTwice { .. } | Fault::RankBelowOne { .. } => {
            Some("leave out `--order rank` to order by score, or number the ranks from 1")
        }
        Fault::Score { .. } => {
            Some("a hit without a finite score has no place: repair or remove the line")
        }
        Fault::ConflictingJudgment { .. } => {
            Some("decide for one of the two grades and remove the other line")
        }
        Fault::SeveralCandidates { .. } | Fault::NoSuchCandidate { .. } => Some(
            "name one with `--baseline-id` or `--candidate-id`; `candidates.parquet` of the job lists them",
        ),
        fault => fault.hint(),
    }
}

/// Wraps an error of scoring with the file whose judgments cannot be scored.
pub(crate) fn unscorable(error: EvaluateError, qrels: &Path) -> Failure {
    let listed = matches!(error, EvaluateError::Judgments { .. });
    let failure = Failure::input(error);
    if listed {
        let qrels = qrels.display();
        return failure.with_hint(format!(
            "every grade of `{qrels}` needs its gain: add it to `--gains`"
        ));
    }
    failure
}

/// Returns a number with its noun, e.g. `1 query` or `3 queries`.
pub(crate) fn counted(count: usize, one: &str, several: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        _ => format!("{count} {several}"),
    }
}

/// Names that a mistyped metric is compared with; a cutoff follows where the metric takes one.
const SPELLINGS: [&str; 23] = [
    "nDCG",
    "RR",
    "P",
    "R",
    "AP",
    "Success",
    "ERR",
    "RBP",
    "Judged",
    "Rprec",
    "zero_result",
    "NumQ",
    "NumRet",
    "NumRel",
    "NumRelRet",
    "ndcg_cut",
    "map_cut",
    "recip_rank",
    "recall",
    "precision",
    "map",
    "mrr",
    "num_rel_ret",
];

/// Reads a metric's name.
pub(crate) fn metric(text: &str) -> Result<Metric, String> {
    const EXAMPLES: &str =
        "names look like `nDCG@10`, `RR@10`, `P@5`, `R@100`, `AP`, `Judged@10`, `ndcg_cut_10`";
    text.parse::<Metric>().map_err(|error| match error {
        MetricError::Unknown { .. } => match meant(text) {
            Some(meant) => format!("{error}, did you mean `{meant}`? {EXAMPLES}"),
            None => format!("{error}; {EXAMPLES}"),
        },
        // The name is known, so it says itself what is wrong with it.
        MetricError::Cutoff { .. } | MetricError::Shape { .. } | MetricError::Parameter { .. } => {
            error.to_string()
        }
    })
}

/// Returns the metric that a mistyped name most likely means: a column name such as `ndcg10`, or the nearest known name
/// with the cutoff as it is written.
fn meant(text: &str) -> Option<String> {
    if let Some(metric) = metric_of_column(text) {
        return Some(metric.to_string());
    }
    let head = text.trim_end_matches(|c: char| c.is_ascii_digit());
    let digits = text.strip_prefix(head)?;
    let name = head.trim_end_matches(['@', '_', '.']).to_ascii_lowercase();
    let known: Vec<String> = SPELLINGS
        .iter()
        .map(|name| name.to_ascii_lowercase())
        .collect();
    let known: Vec<&str> = known.iter().map(String::as_str).collect();
    let found = nearest(&name, &known)?;
    let spelling = SPELLINGS
        .iter()
        .find(|spelling| spelling.eq_ignore_ascii_case(found))?;
    let written = match digits {
        "" => (*spelling).to_owned(),
        _ if spelling.contains('_') => format!("{spelling}_{digits}"),
        _ => format!("{spelling}@{digits}"),
    };
    written.parse::<Metric>().ok().map(|_| written)
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
