//! `evalfarm submit`: a sweep handed to a farm.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use evalfarm_coordinator::Job;
use evalfarm_coordinator::api::{EndOfJob, JobStatus, Submission, Submitted};
use evalfarm_coordinator::sweep::{SplitSource, SweepFile};
use evalfarm_domain::JobId;
use serde::Serialize;
use serde_json::Value;

use super::following::Following;
use super::upload::{Uploaded, upload};
use super::verdict::verdict_text;
use crate::commands::run::{job_failure, prepare};
use crate::commands::verdict_code;
use crate::embedded::stop_on_interrupt;
use crate::exit_code;
use crate::failure::{Failure, FileError};
use crate::farm::{Client, Connection};
use crate::output::Printer;
use crate::places;
use crate::progress::Bars;

const EXAMPLES: &str = "\
Examples:
  evalfarm submit datasets/sweeps/shop.toml
  evalfarm submit sweep.toml --wait
  evalfarm submit sweep.toml --format json | jq -r .job

A job is its content: the same sweep over the same dataset joins the job that is there. A dataset
that the farm does not have is uploaded first. With --wait the exit code is that of the verdict, and
3 when the job fails or is cancelled; interrupting it ends no job.";

/// Arguments of `evalfarm submit`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct SubmitArgs {
    /// The sweep file
    sweep: PathBuf,
    /// Follow the job to its end and print the verdict
    #[arg(long)]
    wait: bool,
    /// Folder of generated datasets; may be deleted at any time
    #[arg(long, env = "EVALFARM_CACHE")]
    cache: Option<PathBuf>,
    /// Say nothing about progress
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    connection: Connection,
}

/// What is printed of a submission in JSON.
#[derive(Debug, Serialize)]
struct Document<'a> {
    job: &'a JobId,
    name: &'a str,
    created: bool,
    dataset: String,
    uploaded: Uploaded,
}

/// Submits the sweep and prints the job, or with `--wait` its verdict.
pub(crate) fn submit(args: &SubmitArgs, printer: &Printer) -> Result<u8, Failure> {
    let bars = Bars::new(printer, args.quiet);
    let text = sweep_text(&args.sweep)?;
    let sweep = SweepFile::read(&args.sweep).map_err(Failure::input)?;
    let split_manifest = sweep.split.as_ref().and_then(|split| match split {
        SplitSource::Manifest(path) => Some(path.clone()),
        SplitSource::Computed(_) => None,
    });
    let client = args.connection.client()?;
    let cache = places::cache(args.cache.as_deref())?;
    let source = prepare(&sweep.dataset, &cache, &bars)?;
    // What does not fit the dataset is found here, before anything is sent.
    let job = Job::new(sweep, &source.dataset).map_err(|error| job_failure(error, &args.sweep))?;
    let manifest = &source.dataset.manifest;
    let split_manifest = split_manifest.as_deref().map(read).transpose()?;
    let sending = Bars::new(printer, args.quiet).counting("bytes");
    let uploaded = upload(&client, &source.folder, manifest, &sending)?;
    let submission = Submission {
        sweep: text,
        dataset: manifest.fingerprint,
        split_manifest,
    };
    let submitted: Submitted = client.post(&["jobs"], &submission)?;
    if args.wait {
        say(&submitted, printer, args.quiet);
        return wait(&client, &submitted.job, args.quiet, printer);
    }
    let document = Document {
        job: &submitted.job,
        name: job.sweep.name.as_str(),
        created: submitted.created,
        dataset: manifest.fingerprint.to_string(),
        uploaded,
    };
    printer.foreign_data(|| shown(&submitted), &document)?;
    Ok(exit_code::DONE)
}

fn sweep_text(path: &Path) -> Result<String, Failure> {
    read(path)
        .map_err(|error| error.with_hint("name a sweep file; docs/sweep-file.md describes it"))
}

fn read(path: &Path) -> Result<String, Failure> {
    fs::read_to_string(path).map_err(|error| Failure::input(FileError::new("read", path, error)))
}

fn outcome(submitted: &Submitted) -> &'static str {
    if submitted.created {
        "is submitted"
    } else {
        "is there already: the same sweep over the same dataset was submitted before, this joins it"
    }
}

fn shown(submitted: &Submitted) -> String {
    let job = &submitted.job;
    format!(
        "job {job} {}\n\n  evalfarm watch {job}\n  evalfarm results {job}\n",
        outcome(submitted)
    )
}

fn say(submitted: &Submitted, printer: &Printer, quiet: bool) {
    if !quiet {
        printer.note(&format!("job {} {}", submitted.job, outcome(submitted)));
    }
}

/// Follows the job to its end and prints the verdict.
fn wait(client: &Client, job: &JobId, quiet: bool, printer: &Printer) -> Result<u8, Failure> {
    stop_on_interrupt().map_err(Failure::infrastructure)?;
    let mut following = Following::new(client, printer, quiet);
    following.add(job);
    while following.any() {
        following.step(Duration::from_secs(1))?;
    }
    let status = following.into_statuses().into_iter().next();
    match status.and_then(|status: JobStatus| status.end) {
        Some(EndOfJob::Judged { verdict }) => {
            let record: Value = client.get(&["jobs", job.as_str(), "verdict"])?;
            let shown =
                || verdict_text(&record).unwrap_or_else(|| format!("{verdict}\n\njob {job}\n"));
            printer.foreign_data(shown, &record)?;
            Ok(verdict_code(verdict))
        }
        Some(EndOfJob::Cancelled { by, reason }) => {
            let why = if reason.is_empty() {
                String::new()
            } else {
                format!(": {reason}")
            };
            Err(
                Failure::infrastructure(format!("job `{job}` was cancelled by `{by}`{why}"))
                    .with_hint("submitted again, it goes on with what it had finished"),
            )
        }
        Some(EndOfJob::Failed { error, input }) => {
            let failure = Failure::infrastructure(format!("job `{job}` failed: {error}"));
            Err(failure.with_hint(if input {
                "the sweep file or the dataset has to change: submitted as it is, it would fail again"
            } else {
                "submitted again, it goes on with what it had finished"
            }))
        }
        None => Err(Failure::infrastructure(format!(
            "the coordinator says that job `{job}` is over, but not how it ended"
        ))),
    }
}
