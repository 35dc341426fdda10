//! `evalfarm watch`: jobs followed until they end.

use std::time::Duration;

use clap::Args;
use evalfarm_coordinator::api::JobList;
use evalfarm_domain::JobId;

use super::following::Following;
use super::{job_id, text};
use crate::embedded::stop_on_interrupt;
use crate::exit_code;
use crate::failure::Failure;
use crate::farm::{Client, Connection, FarmError};
use crate::output::Printer;

const EXAMPLES: &str = "\
Examples:
  evalfarm watch
  evalfarm watch j1a2b3c4d5e6f7a8b9c0d
  evalfarm watch j1a2b3c4d5e6f7a8b9c0d --format json | jq '.jobs[0].end'

Without a job, all jobs that are not over are followed, also those that are submitted meanwhile.
Interrupting it ends no job. The exit code does not say how the jobs ended: `evalfarm submit --wait`
does.";

/// Pause between looks for further jobs.
const LOOK: Duration = Duration::from_millis(500);

/// Arguments of `evalfarm watch`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct WatchArgs {
    /// The job, as `evalfarm submit` printed it (default: all that are not over)
    #[arg(value_parser = job_id)]
    job: Option<JobId>,
    #[command(flatten)]
    connection: Connection,
}

/// Follows the jobs and prints how they are at the end.
pub(crate) fn watch(args: &WatchArgs, printer: &Printer) -> Result<u8, Failure> {
    let client = args.connection.client()?;
    stop_on_interrupt().map_err(Failure::infrastructure)?;
    let mut following = Following::new(&client, printer, false);
    if let Some(job) = &args.job {
        following.add(job);
        while following.any() {
            following.step(LOOK)?;
        }
    } else {
        join_running(&client, &mut following)?;
        while following.any() {
            following.step(LOOK)?;
            match join_running(&client, &mut following) {
                // Whoever follows a job reports it when the coordinator stays away.
                Err(error) if error.may_pass() => {}
                other => other?,
            }
        }
    }
    let ended = JobList {
        jobs: following.into_statuses(),
    };
    let shown = || {
        if ended.jobs.is_empty() {
            "no job is running\n".to_owned()
        } else {
            text::jobs(&ended.jobs)
        }
    };
    printer.foreign_data(shown, &ended)?;
    Ok(exit_code::DONE)
}

/// Follows every job that is not over and not followed yet.
fn join_running(client: &Client, following: &mut Following<'_>) -> Result<(), FarmError> {
    let list: JobList = client.get(&["jobs"])?;
    // The oldest first, so that bars keep their places.
    for job in list.jobs.iter().rev() {
        if !job.state.is_over() {
            following.add(&job.job);
        }
    }
    Ok(())
}
