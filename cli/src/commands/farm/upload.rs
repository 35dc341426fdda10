//! A dataset sent to the farm, unless it is there.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

use evalfarm_coordinator::Progress;
use evalfarm_coordinator::api::{MAX_FILE_BYTES, MissingFiles};
use evalfarm_dataset::Manifest;
use serde::Serialize;

use crate::failure::{Failure, FileError};
use crate::farm::{Client, FarmError};

/// What had to be sent.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub(super) struct Uploaded {
    files: usize,
    bytes: u64,
}

/// Sends what the farm lacks of the dataset in `folder`.
pub(super) fn upload(
    client: &Client,
    folder: &Path,
    manifest: &Manifest,
    progress: &dyn Progress,
) -> Result<Uploaded, Failure> {
    let fingerprint = manifest.fingerprint.to_string();
    let dataset = ["datasets", fingerprint.as_str()];
    if client.has(&dataset)? {
        return Ok(Uploaded::default());
    }
    let path = folder.join("manifest.json");
    let bytes =
        fs::read(&path).map_err(|error| Failure::input(FileError::new("read", &path, error)))?;
    let answer: MissingFiles = client.post_bytes(&[&dataset[..], &["missing"]].concat(), &bytes)?;
    let missing: Vec<_> = manifest
        .files
        .iter()
        .filter(|file| answer.missing.contains(&file.sha256))
        .collect();
    if let Some(file) = missing
        .iter()
        .find(|file| file.bytes > MAX_FILE_BYTES as u64)
    {
        return Err(Failure::input(format!(
            "`{}` has {} bytes, a coordinator takes at most {MAX_FILE_BYTES} in one file",
            folder.join(&file.name).display(),
            file.bytes,
        ))
        .with_hint(format!(
            "put the files of the dataset into the object store of the farm under `datasets/{fingerprint}/`, each under its sha256 \
             and `manifest.json` last"
        )));
    }
    let total = missing.iter().map(|file| file.bytes).sum();
    let uploaded = Uploaded {
        files: missing.len(),
        bytes: total,
    };
    progress.note(&format!(
        "uploading dataset `{}`, {total} bytes",
        manifest.name
    ));
    progress.begin("uploading", total);
    for file in missing {
        let path = folder.join(&file.name);
        let named = |source| FarmError::Source {
            path: path.display().to_string(),
            source,
        };
        let mut bytes = Counted {
            inner: File::open(&path).map_err(named)?,
            progress,
        };
        let digest = file.sha256.to_string();
        let route = [&dataset[..], &["files", &digest]].concat();
        client.put(&route, &mut bytes, file.bytes)?;
    }
    progress.end();
    client.put(&dataset, &mut bytes.as_slice(), bytes.len() as u64)?;
    Ok(uploaded)
}

/// A file that tells how much of it was read.
struct Counted<'a> {
    inner: File,
    progress: &'a dyn Progress,
}

impl Read for Counted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.progress.advance(read as u64);
        Ok(read)
    }
}
