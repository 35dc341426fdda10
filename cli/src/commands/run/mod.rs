//! `evalfarm run`: a sweep in one process, from its file to its verdict.

mod source;
mod text;

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::thread;

use clap::Args;
use evalfarm_coordinator::sweep::SweepFile;
use evalfarm_coordinator::{
    Job, JobError, Progress as _, RunError, Surroundings, VerdictRecord, WorkersError,
    run as run_job,
};
use evalfarm_results::{JobFolder, ResultsError};
use evalfarm_retrieval::{Bm25Index, CacheUse};
use evalfarm_worker::Evaluator;
use serde_json::Value;

use crate::commands::verdict_code;
use crate::embedded::{Embedded, stop_on_interrupt};
use crate::failure::Failure;
use crate::output::Printer;
use crate::places;
use crate::progress::Bars;

pub(crate) use source::{dataset_at, dataset_failure, prepare};

const EXAMPLES: &str = "\
Examples:
  evalfarm run datasets/sweeps/shop.toml
  evalfarm run sweep.toml --out results/monday
  evalfarm run sweep.toml --out results/monday --resume
  evalfarm run sweep.toml --format json | jq .verdict

The folder of a job holds rows/ and hits/ (Parquet), candidates.parquet and verdict.json. docs/sweep-file.md describes
the sweep file.";

/// Arguments of `evalfarm run`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct RunArgs {
    /// The sweep file
    sweep: PathBuf,
    /// Folder of the job (default: evalfarm-jobs/NAME-JOB)
    #[arg(long)]
    out: Option<PathBuf>,
    /// Go on where an interrupted run of the same job stopped: only what is missing is computed
    #[arg(long)]
    resume: bool,
    /// Threads that evaluate; the result does not depend on it (default: all cores)
    #[arg(long)]
    threads: Option<NonZeroUsize>,
    /// Folder of generated datasets and indexes; may be deleted at any time
    #[arg(long, env = "EVALFARM_CACHE")]
    cache: Option<PathBuf>,
    /// Say nothing about progress
    #[arg(long, short)]
    quiet: bool,
}

/// Runs the sweep and prints the verdict.
pub(crate) fn run(args: &RunArgs, printer: &Printer) -> Result<u8, Failure> {
    let bars = Bars::new(printer, args.quiet);
    let sweep = SweepFile::read(&args.sweep).map_err(Failure::input)?;
    let cache = places::cache(args.cache.as_deref())?;
    let threads = match args.threads {
        Some(threads) => threads,
        None => thread::available_parallelism().map_err(Failure::infrastructure)?,
    };
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.get())
        .build_global()
        .map_err(Failure::infrastructure)?;
    stop_on_interrupt().map_err(Failure::infrastructure)?;
    let source = source::prepare(&sweep.dataset, &cache, &bars)?;
    let job = Job::new(sweep, &source.dataset).map_err(|error| job_failure(error, &args.sweep))?;
    embedded_alone(&job)?;
    let folder = folder(args, &job)?;
    let dataset = &source.dataset;
    let index = Bm25Index::open_or_build(
        &cache.join("indexes"),
        dataset.manifest.corpus_digest,
        &dataset.corpus,
        &job.settings.engine,
    )
    .map_err(Failure::infrastructure)?;
    if let CacheUse::Built { .. } = index.usage {
        bars.note("the index was built; the next run opens it");
    }
    let evaluator = Evaluator::new(&job.settings, dataset, &index.index).map_err(Failure::input)?;
    let around = Surroundings {
        folder: &folder,
        ledger: &source.ledger,
        workers: &Embedded {
            evaluator: &evaluator,
            folder: &folder,
            threads,
        },
        progress: &bars,
    };
    let record = run_job(&job, &around).map_err(|error| failure(error, args, folder.path()))?;
    let evidence = index.index.field_evidence();
    printer.data(
        || text::run_text(&record, &evidence, folder.path()),
        &document(&record, folder.path())?,
    )?;
    Ok(verdict_code(record.verdict))
}

/// Refuses a sweep whose engine is one of the workers'.
fn embedded_alone(job: &Job) -> Result<(), Failure> {
    match &job.settings.served_by {
        None => Ok(()),
        Some(engine) => Err(Failure::input(format!(
            "the sweep names engine `{engine}`, and `evalfarm run` has the embedded engine alone"
        ))
        .with_hint(
            "leave `name` out of `[engine]`, or submit the sweep to a farm whose workers are configured with that engine",
        )),
    }
}

/// Takes up the job's folder: a fresh one, or with `--resume` the one that an interrupted run left.
fn folder(args: &RunArgs, job: &Job) -> Result<JobFolder, Failure> {
    let name = job.sweep.name.as_str();
    let id = &job.settings.job;
    let path = match (&args.out, args.resume) {
        (Some(out), _) => out.clone(),
        (None, false) => places::fresh_job_folder(name, id)?,
        (None, true) => match places::last_job_folder(name, id)? {
            Some(folder) => folder,
            None => {
                return Err(Failure::input(format!(
                    "there is no folder of job `{id}` to resume in `evalfarm-jobs`"
                ))
                .with_hint("a changed sweep file or dataset is another job; leave `--resume` out to start it"));
            }
        },
    };
    let record = serde_json::to_value(job.record()).map_err(Failure::infrastructure)?;
    let folder =
        JobFolder::create(&path, id, &record).map_err(|error| folder_failure(error, &path))?;
    if !folder.is_new() && !args.resume {
        return Err(
            Failure::input(format!("`{}` already holds this job", path.display())).with_hint(
                "add `--resume` to go on with what it holds, or choose another folder with `--out`",
            ),
        );
    }
    Ok(folder)
}

/// Wraps an error of a sweep that does not fit its dataset.
pub(crate) fn job_failure(error: JobError, file: &Path) -> Failure {
    let file = file.display();
    let hint = match &error {
        JobError::UnknownField { .. } => {
            format!("`{file}` names fields in `[baseline] weights`: use those of the corpus")
        }
        JobError::Split(_) | JobError::Sample { .. } | JobError::EmptyFold { .. } => format!(
            "`{file}` says how many queries are train and holdout: together at most those of the dataset, \
             which `evalfarm dataset inspect` counts"
        ),
    };
    Failure::input(error).with_hint(hint)
}

fn folder_failure(error: ResultsError, path: &Path) -> Failure {
    match error {
        ResultsError::OtherJobFolder { .. } => Failure::input(error).with_hint(
            "the sweep file, the dataset or the version of evalfarm is not the one that made it: choose another folder with `--out`",
        ),
        ResultsError::NotAJobFolder { .. } => Failure::input(error)
            .with_hint("choose a folder that is empty or does not exist yet with `--out`"),
        // The message says what to do.
        ResultsError::InUse { .. } => Failure::infrastructure(error),
        error => Failure::infrastructure(error)
            .with_hint(format!("`{}` has to be a folder that can be written to", path.display())),
    }
}

fn failure(error: RunError, args: &RunArgs, folder: &Path) -> Failure {
    let resume = format!(
        "what was finished is kept; go on with `evalfarm run {} --out {} --resume`",
        args.sweep.display(),
        folder.display(),
    );
    match error {
        RunError::Workers(WorkersError::Interrupted) => Failure::Interrupted { hint: resume },
        RunError::Evidence(_) | RunError::Observation(_) => Failure::input(error),
        error @ RunError::TooManyRows { .. } => Failure::input(error).with_hint(
            "judge the best candidate alone (`judge = \"winner_on_holdout\"` in `[policy]`, with a `[split]`), name fewer \
             candidates, or raise `max_rows` if memory allows: about 120 bytes a row",
        ),
        error => Failure::infrastructure(error).with_hint(resume),
    }
}

/// The record, and where it was stored.
fn document(record: &VerdictRecord, folder: &Path) -> Result<Value, Failure> {
    let mut document = serde_json::to_value(record).map_err(Failure::infrastructure)?;
    if let Some(object) = document.as_object_mut() {
        let out = folder.display().to_string();
        object.insert("out".to_owned(), Value::String(out));
    }
    Ok(document)
}
