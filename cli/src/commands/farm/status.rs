//! `evalfarm status`: how far jobs are.

use clap::Args;
use evalfarm_coordinator::api::{JobList, JobStatus};
use evalfarm_domain::JobId;

use super::{job_id, text};
use crate::exit_code;
use crate::failure::Failure;
use crate::farm::Connection;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm status
  evalfarm status j1a2b3c4d5e6f7a8b9c0d
  evalfarm status --format json | jq -r '.jobs[] | select(.state == \"running\") | .job'

The exit code says whether the coordinator answered, not how a job ended.";

/// Arguments of `evalfarm status`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct StatusArgs {
    /// The job, as `evalfarm submit` printed it (default: all jobs)
    #[arg(value_parser = job_id)]
    job: Option<JobId>,
    #[command(flatten)]
    connection: Connection,
}

/// Prints one job or all.
pub(crate) fn status(args: &StatusArgs, printer: &Printer) -> Result<u8, Failure> {
    let client = args.connection.client()?;
    if let Some(job) = &args.job {
        let status: JobStatus = client.get(&["jobs", job.as_str()])?;
        printer.foreign_data(|| text::job(&status), &status)?;
    } else {
        let list: JobList = client.get(&["jobs"])?;
        printer.foreign_data(|| text::jobs(&list.jobs), &list)?;
    }
    Ok(exit_code::DONE)
}
