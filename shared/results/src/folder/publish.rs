//! Files that appear whole or not at all.
//!
//! A file is written and synced in the staging folder, which lies on the same file system, and then moved to its place in
//! one step. A process that is killed leaves at most a file in the staging folder.
//!
//! A file that has its name is whole even after a power failure. The name itself may be lost with the power until
//! [`sync_folder`] returns: the task is then computed again, and a folder needs to be synced only before something is
//! published that says that all of it is there.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use tempfile::NamedTempFile;

use crate::ResultsError;

/// What became of a task's content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// It was published.
    Written,
    /// The same content was there already.
    Identical,
}

/// Publishes a file that must not be there yet, or be there with the same content.
pub(super) fn publish_once(
    staging: &Path,
    target: &Path,
    bytes: &[u8],
) -> Result<Commit, ResultsError> {
    // The usual duplicate is found without writing anything.
    match fs::read(target) {
        Ok(present) => return compared(target, &present, bytes),
        Err(error) if error.kind() == ErrorKind::NotFound => {}
        Err(error) => return Err(ResultsError::io("read", target)(error)),
    }
    match synced(staging, bytes)?.persist_noclobber(target) {
        Ok(_) => Ok(Commit::Written),
        // Somebody else published it in the meantime.
        Err(error) if error.error.kind() == ErrorKind::AlreadyExists => {
            let present = fs::read(target).map_err(ResultsError::io("read", target))?;
            compared(target, &present, bytes)
        }
        Err(error) => Err(ResultsError::io("publish", target)(error.error)),
    }
}

/// Publishes a file in place of what may be there.
pub(super) fn publish_over(
    staging: &Path,
    target: &Path,
    bytes: &[u8],
) -> Result<(), ResultsError> {
    moved(synced(staging, bytes)?, target)
}

/// Publishes a file in place of what may be there, whose content may be lost with the power.
pub(super) fn publish_unsynced(
    staging: &Path,
    target: &Path,
    bytes: &[u8],
) -> Result<(), ResultsError> {
    moved(staged(staging, bytes)?, target)
}

fn moved(file: NamedTempFile, target: &Path) -> Result<(), ResultsError> {
    let moved = file.persist(target);
    moved
        .map(drop)
        .map_err(|error| ResultsError::io("publish", target)(error.error))
}

fn compared(target: &Path, present: &[u8], bytes: &[u8]) -> Result<Commit, ResultsError> {
    if present == bytes {
        Ok(Commit::Identical)
    } else {
        Err(ResultsError::Differs {
            path: target.to_owned(),
        })
    }
}

fn staged(staging: &Path, bytes: &[u8]) -> Result<NamedTempFile, ResultsError> {
    let mut builder = tempfile::Builder::new();
    builder.prefix("staged-");
    readable_by_others(&mut builder);
    let mut file = builder
        .tempfile_in(staging)
        .map_err(ResultsError::io("create a file in", staging))?;
    file.write_all(bytes)
        .map_err(ResultsError::io("write", file.path()))?;
    Ok(file)
}

fn synced(staging: &Path, bytes: &[u8]) -> Result<NamedTempFile, ResultsError> {
    let file = staged(staging, bytes)?;
    file.as_file()
        .sync_all()
        .map_err(ResultsError::io("write", file.path()))?;
    Ok(file)
}

/// Temporary files are private by default; results are as readable as the user's other files.
#[cfg(unix)]
fn readable_by_others(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable_by_others(_builder: &mut tempfile::Builder<'_, '_>) {}

/// Makes the names in a folder as durable as the content of its files.
pub(super) fn sync_folder(folder: &Path) -> Result<(), ResultsError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(ResultsError::io("sync", folder))?;
    }
    Ok(())
}
