//! Datasets over HTTP: a manifest says what is needed, then come the files, then the manifest for good.

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::{Path, State};
use axum::http::header::CONTENT_LENGTH;
use axum::http::{HeaderMap, StatusCode};
use evalfarm_domain::Digest;
use serde::Deserialize;

use super::answer::Refused;
use super::routes::Shared;
use crate::api::{MAX_JSON_BYTES, MissingFiles, ProblemCode};

pub(super) async fn is_there(
    State(shared): State<Shared>,
    Path(fingerprint): Path<String>,
) -> Result<StatusCode, Refused> {
    let fingerprint = digest(&fingerprint)?;
    if shared.jobs.farm.store.has_dataset(fingerprint).await? {
        return Ok(StatusCode::NO_CONTENT);
    }
    let message = format!("there is no dataset `{fingerprint}`");
    Err(Refused::not_found(message))
}

pub(super) async fn missing(
    State(shared): State<Shared>,
    Path(fingerprint): Path<String>,
    manifest: Bytes,
) -> Result<Json<MissingFiles>, Refused> {
    check_manifest(&manifest, digest(&fingerprint)?)?;
    let store = &shared.jobs.farm.store;
    let missing = store.missing_dataset_files(&manifest).await?;
    Ok(Json(MissingFiles { missing }))
}

pub(super) async fn file(
    State(shared): State<Shared>,
    Path((fingerprint, sha256)): Path<(String, String)>,
    headers: HeaderMap,
    body: Body,
) -> Result<StatusCode, Refused> {
    let (fingerprint, sha256) = (digest(&fingerprint)?, digest(&sha256)?);
    let stated = headers.get(CONTENT_LENGTH);
    let stated = stated.and_then(|length| length.to_str().ok()?.parse().ok());
    let (bytes, _room) = shared.uploads.receive(body, stated).await?;
    let store = &shared.jobs.farm.store;
    store.put_dataset_file(fingerprint, sha256, bytes).await?;
    Ok(StatusCode::NO_CONTENT)
}

pub(super) async fn manifest(
    State(shared): State<Shared>,
    Path(fingerprint): Path<String>,
    manifest: Bytes,
) -> Result<StatusCode, Refused> {
    check_manifest(&manifest, digest(&fingerprint)?)?;
    shared
        .jobs
        .farm
        .store
        .put_dataset_manifest(manifest)
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Holds a manifest to the fingerprint of its path.
fn check_manifest(manifest: &[u8], expected: Digest) -> Result<(), Refused> {
    #[derive(Deserialize)]
    struct Stated {
        fingerprint: Digest,
    }
    if manifest.len() > MAX_JSON_BYTES {
        let message = format!("the manifest has more than {MAX_JSON_BYTES} bytes");
        return Err(Refused::new(ProblemCode::TooLarge, message));
    }
    let invalid = |message: String| Refused::new(ProblemCode::Invalid, message);
    let stated: Stated = serde_json::from_slice(manifest)
        .map_err(|error| invalid(format!("the body is no manifest: {error}")))?;
    if stated.fingerprint == expected {
        return Ok(());
    }
    Err(invalid(format!(
        "the manifest is of dataset `{}`, the path says `{expected}`",
        stated.fingerprint
    )))
}

fn digest(text: &str) -> Result<Digest, Refused> {
    Digest::try_from(text.to_owned()).map_err(|_| {
        let message = format!("`{text}` is not 64 hexadecimal digits");
        Refused::new(ProblemCode::Invalid, message)
    })
}
