//! The commands that talk to a farm.

mod cancel;
mod following;
mod results;
mod status;
mod submit;
#[cfg(test)]
mod tests;
mod text;
mod upload;
mod verdict;
mod watch;
mod workers;

use evalfarm_domain::JobId;

pub(crate) use cancel::{CancelArgs, cancel};
pub(crate) use results::{ResultsArgs, results};
pub(crate) use status::{StatusArgs, status};
pub(crate) use submit::{SubmitArgs, submit};
pub(crate) use watch::{WatchArgs, watch};
pub(crate) use workers::{WorkersArgs, workers};

/// Reads a job id from the command line.
fn job_id(text: &str) -> Result<JobId, String> {
    JobId::try_from(text).map_err(|error| error.to_string())
}
