//! The files of a job over HTTP.

use std::fs;
use std::io;
use std::path::{Path as FilePath, PathBuf};

use axum::Json;
use axum::body::Body;
use axum::extract::{Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use evalfarm_domain::{Digest, JobId};
use evalfarm_results::{BesideFile, TaskFile};

use super::answer::Refused;
use super::routes::Shared;
use crate::api::{FileEntry, FileList, JobState, ProblemCode};
use crate::farm::entry::Entry;

/// The file that names a folder's job.
const JOB: &str = "job.json";

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<Json<FileList>, Refused> {
    let (id, entry) = shared.jobs.get(&job)?;
    let _looking = entry.looking.lock().await;
    let folder = folder(&shared, &id, &entry).await?;
    let files = blocking(move || entries(&folder)).await?;
    Ok(Json(FileList {
        name: entry.submission.name.clone(),
        files,
    }))
}

pub(super) async fn file(
    State(shared): State<Shared>,
    Path((job, path)): Path<(String, String)>,
) -> Result<impl IntoResponse, Refused> {
    let (id, entry) = shared.jobs.get(&job)?;
    // Only a path that could be listed is looked at, so none leads out of the folder.
    if !is_of_job(&path) {
        return Err(no_file(&id, &path));
    }
    let folder = {
        let _looking = entry.looking.lock().await;
        folder(&shared, &id, &entry).await?
    };
    let read = folder.join(&path);
    let bytes = blocking(move || match fs::read(read) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    })
    .await?;
    match bytes {
        Some(bytes) => Ok((
            [(CONTENT_TYPE, "application/octet-stream")],
            Body::from(bytes),
        )),
        None => Err(no_file(&id, &path)),
    }
}

fn no_file(job: &JobId, path: &str) -> Refused {
    Refused::not_found(format!("job `{job}` has no file `{path}`"))
}

/// Whether a path is that of a job's file: a task's, in the folder of its kind, or one beside these folders.
fn is_of_job(path: &str) -> bool {
    let plain = |name: &str| {
        let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
        !name.is_empty() && name.bytes().all(allowed)
    };
    match path.split_once('/') {
        Some((folder, name)) => {
            let kind = TaskFile::ALL.iter().any(|kind| kind.folder() == folder);
            kind && name.strip_suffix(".parquet").is_some_and(plain)
        }
        None => beside().any(|name| name == path),
    }
}

/// Names of the files beside the folders.
fn beside() -> impl Iterator<Item = &'static str> {
    [JOB]
        .into_iter()
        .chain(BesideFile::ALL.map(BesideFile::name))
}

/// Returns this coordinator's copy of the job's folder, to whoever holds [`Entry::looking`]; it is made again from the store when it is gone.
async fn folder(shared: &Shared, id: &JobId, entry: &Entry) -> Result<PathBuf, Refused> {
    let farm = &shared.jobs.farm;
    let folder = farm.job_folder(id);
    let verdict = folder.join(BesideFile::Verdict.name());
    let whole = entry.board.state() != JobState::Judged || verdict.is_file();
    if !whole {
        farm.store.fetch_job(id, &folder).await?;
    }
    Ok(folder)
}

fn entries(folder: &FilePath) -> io::Result<Vec<FileEntry>> {
    let mut entries = Vec::new();
    for path in paths(folder)? {
        let bytes = fs::read(folder.join(&path))?;
        entries.push(FileEntry {
            path,
            bytes: bytes.len() as u64,
            sha256: Digest::of(&bytes),
        });
    }
    Ok(entries)
}

/// Returns the paths of a job's files, in bytewise order.
fn paths(folder: &FilePath) -> io::Result<Vec<String>> {
    let mut paths = Vec::new();
    for kind in TaskFile::ALL.map(TaskFile::folder) {
        let listed = match fs::read_dir(folder.join(kind)) {
            Ok(listed) => listed,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(error),
        };
        for entry in listed {
            if let Ok(name) = entry?.file_name().into_string()
                && name.ends_with(".parquet")
            {
                paths.push(format!("{kind}/{name}"));
            }
        }
    }
    paths.extend(
        beside()
            .filter(|name| folder.join(name).is_file())
            .map(ToOwned::to_owned),
    );
    paths.sort_unstable();
    Ok(paths)
}

async fn blocking<T: Send + 'static>(
    read: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, Refused> {
    let unavailable = |error: String| {
        tracing::warn!(error, "files of a job cannot be read");
        Refused::new(ProblemCode::Unavailable, "the files cannot be read now")
    };
    match tokio::task::spawn_blocking(read).await {
        Ok(read) => read.map_err(|error| unavailable(error.to_string())),
        Err(error) => Err(unavailable(error.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_a_job_are_served() {
        for path in [
            "rows/t1a2b.parquet",
            "means/t1.parquet",
            "verdict.json",
            "job.json",
        ] {
            assert!(is_of_job(path), "{path}");
        }
        for path in [
            "",
            "..",
            "rows/..",
            "rows/../job.json",
            "rows/../../other/rows/t1.parquet",
            "/etc/passwd",
            "rows//etc/x.parquet",
            "rows/.parquet",
            "rows/t1.parquet/",
            "looks.path",
            "staging/t1.parquet",
            "rows/t1.parquet\0",
        ] {
            assert!(!is_of_job(path), "{path}");
        }
    }
}
