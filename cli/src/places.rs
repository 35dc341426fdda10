//! Where a command keeps its files: the cache, and a job's folder.

use std::io;
use std::path::{Path, PathBuf};

use evalfarm_domain::JobId;

use crate::failure::Failure;

/// Folder under which jobs are kept when the user names none.
const JOBS: &str = "evalfarm-jobs";

/// Returns the folder of files that can be made again: generated datasets and indexes.
pub(crate) fn cache(chosen: Option<&Path>) -> Result<PathBuf, Failure> {
    match chosen {
        Some(folder) => Ok(folder.to_owned()),
        None => evalfarm_process::cache_folder().ok_or_else(|| {
            Failure::input("no folder for cached datasets and indexes: `HOME` is not set")
                .with_hint("name one with `--cache DIR`")
        }),
    }
}

/// Returns the folder of a job that is fetched from a farm: always the same, so that fetching again goes on.
pub(crate) fn fetched_job_folder(name: &str, job: &JobId) -> PathBuf {
    numbered(name, job, 1)
}

/// Returns a job folder that does not exist yet: `evalfarm-jobs/<name>-<job>`, with a number behind it when earlier
/// runs of the same job are kept there.
pub(crate) fn fresh_job_folder(name: &str, job: &JobId) -> Result<PathBuf, Failure> {
    for number in 1_u32.. {
        let folder = numbered(name, job, number);
        if !taken(&folder)? {
            return Ok(folder);
        }
    }
    Err(Failure::infrastructure("every job folder name is taken"))
}

/// Returns the last folder that an earlier run of this job was given, if there was one.
pub(crate) fn last_job_folder(name: &str, job: &JobId) -> Result<Option<PathBuf>, Failure> {
    let mut last = None;
    for number in 1_u32.. {
        let folder = numbered(name, job, number);
        if !taken(&folder)? {
            break;
        }
        last = Some(folder);
    }
    Ok(last)
}

fn numbered(name: &str, job: &JobId, number: u32) -> PathBuf {
    let short: String = job.as_str().chars().take(9).collect();
    let folder = match number {
        1 => format!("{name}-{short}"),
        _ => format!("{name}-{short}-{number}"),
    };
    Path::new(JOBS).join(folder)
}

fn taken(folder: &Path) -> Result<bool, Failure> {
    folder
        .try_exists()
        .map_err(|error: io::Error| Failure::infrastructure(error))
}
