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
use crate::farm::jobs::Entry;

/// The file that names a folder's job.
const JOB: &str = "job.json";

pub(super) async fn list(
    State(shared): State<Shared>,
    Path(job): Path<String>,
) -> Result<Json<FileList>, Refused> {
    let (id, entry) = shared.jobs.get(&job)?;
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
    let folder = folder(&shared, &id, &entry).await?;
    let asked = path.clone();
    let bytes = blocking(move || {
        // Only what would be listed is read, so no path leads out of the folder.
        let listed = paths(&folder)?.into_iter().any(|known| known == asked);
        match listed {
            true => fs::read(folder.join(asked)).map(Some),
            false => Ok(None),
        }
    })
    .await?;
    match bytes {
        Some(bytes) => Ok((
            [(CONTENT_TYPE, "application/octet-stream")],
            Body::from(bytes),
        )),
        None => Err(Refused::not_found(format!(
            "job `{id}` has no file `{path}`"
        ))),
    }
}

/// Returns this coordinator's copy of the job's folder, made again from the store when it is gone.
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
    let beside = BesideFile::ALL.map(BesideFile::name);
    let present = [JOB].into_iter().chain(beside);
    paths.extend(
        present
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
