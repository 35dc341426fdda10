//! `evalfarm cancel`: a job ended before it is finished.

use clap::Args;
use evalfarm_coordinator::api::{CancelRequest, JobStatus};
use evalfarm_domain::JobId;

use super::{job_id, text};
use crate::exit_code;
use crate::failure::Failure;
use crate::farm::Connection;
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm cancel j1a2b3c4d5e6f7a8b9c0d
  evalfarm cancel j1a2b3c4d5e6f7a8b9c0d --reason 'wrong baseline'

What the job has finished is kept: submitted again, it goes on from there.";

/// Arguments of `evalfarm cancel`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CancelArgs {
    /// The job, as `evalfarm submit` printed it
    #[arg(value_parser = job_id)]
    job: JobId,
    /// Why, for the people who look at the job later
    #[arg(long, default_value = "", hide_default_value = true)]
    reason: String,
    #[command(flatten)]
    connection: Connection,
}

/// Cancels the job and prints how it is now.
pub(crate) fn cancel(args: &CancelArgs, printer: &Printer) -> Result<u8, Failure> {
    let client = args.connection.client()?;
    let request = CancelRequest {
        reason: args.reason.clone(),
    };
    let status: JobStatus = client.post(&["jobs", args.job.as_str(), "cancel"], &request)?;
    printer.foreign_data(|| text::job(&status), &status)?;
    Ok(exit_code::DONE)
}
