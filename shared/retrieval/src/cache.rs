//! An index kept on disk, so that the next process need not build it.
//!
//! One file an index, named by what the index depends on:
//!
//! ```text
//! length of the header (u64, little-endian) · header (JSON) · tantivy's files one after the other · SHA-256 of all before
//! ```
//!
//! It is read whole and verified before anything in it is used; what is wrong with it is a reason to build, never an
//! error. It is written under another name, flushed and renamed, by whoever holds the lock beside it: a process that
//! is killed leaves at most an unfinished file, which the next builder overwrites.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use evalfarm_domain::{Corpus, Digest, EngineSettings, FieldName};
use serde::{Deserialize, Serialize};
use tantivy::Index;
use tantivy::directory::{Directory as _, RamDirectory};

use crate::{Bm25Index, IndexError, build};

/// Raised whenever the layout of the file, or what this crate puts into the index, changes.
const FORMAT: u32 = 1;

/// Bytes of a SHA-256.
const DIGEST_BYTES: usize = 32;

/// Bytes of the header's length.
const LENGTH_BYTES: usize = 8;

/// An index, and whether it had to be built.
#[derive(Debug)]
pub struct Cached {
    /// The index.
    pub index: Bm25Index,
    /// Where it came from.
    pub usage: CacheUse,
}

/// Where an index came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CacheUse {
    /// It was on disk.
    Opened,
    /// It was built and stored.
    Built {
        /// Why the disk had none.
        because: Stale,
    },
}

/// Why a stored index was not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Stale {
    /// There was none.
    #[error("no index is stored yet")]
    Absent,
    /// The file is damaged or was cut off.
    #[error("the stored index is damaged")]
    Damaged,
    /// The file is whole, but holds an index of another corpus, other settings or another version.
    #[error("the stored index is of another corpus, other settings or another version")]
    Foreign,
}

/// Everything that decides what is in an index.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Key {
    format: u32,
    tantivy: String,
    analysis: String,
    corpus: Digest,
    settings: EngineSettings,
    fields: Vec<FieldName>,
    documents: usize,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    key: Key,
    files: Vec<StoredFile>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredFile {
    name: String,
    bytes: usize,
}

impl Bm25Index {
    /// Opens the index that `folder` keeps for this corpus and these settings, or builds and stores it.
    ///
    /// `fingerprint` identifies the corpus's content. Any number of processes may call this at once for one folder: one
    /// builds, the others wait for it. Deleting the folder's files at any time is safe.
    pub fn open_or_build(
        folder: &Path,
        fingerprint: Digest,
        corpus: &Corpus,
        settings: &EngineSettings,
    ) -> Result<Cached, IndexError> {
        build::check(corpus, settings)?;
        let key = Key {
            format: FORMAT,
            tantivy: tantivy::version_string().to_owned(),
            analysis: evalfarm_analysis::version(),
            corpus: fingerprint,
            settings: *settings,
            fields: corpus.fields.clone(),
            documents: corpus.documents.len(),
        };
        let path = folder.join(file_name(&key));
        if let Ok(index) = open(&path, &key, corpus)? {
            let usage = CacheUse::Opened;
            return Ok(Cached { index, usage });
        }
        fs::create_dir_all(folder).map_err(cache_error("create", folder))?;
        let lock_path = path.with_extension("lock");
        let lock = File::create(&lock_path).map_err(cache_error("create", &lock_path))?;
        lock.lock().map_err(cache_error("lock", &lock_path))?;
        // Whoever held the lock before may have built it.
        let because = match open(&path, &key, corpus)? {
            Ok(index) => {
                let usage = CacheUse::Opened;
                return Ok(Cached { index, usage });
            }
            Err(because) => because,
        };
        let (directory, index) = build::build(corpus, settings)?;
        publish(&path, &pack(&directory, key)?)?;
        let usage = CacheUse::Built { because };
        Ok(Cached { index, usage })
    }
}

/// Returns the name of the file that holds the index of that key.
fn file_name(key: &Key) -> String {
    let json = serde_json::to_vec(key).expect("a key has a JSON form");
    format!("bm25-{}.index", Digest::of(&json).short(16))
}

fn cache_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> IndexError {
    let path = path.to_owned();
    move |source| IndexError::Cache {
        action,
        path,
        source,
    }
}

/// Opens a stored index; the inner error says why it cannot be used.
fn open(path: &Path, key: &Key, corpus: &Corpus) -> Result<Result<Bm25Index, Stale>, IndexError> {
    let bytes = match fs::read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err(Stale::Absent)),
        Err(error) => return Err(cache_error("read", path)(error)),
    };
    let Some((header, payload)) = verified(&bytes) else {
        return Ok(Err(Stale::Damaged));
    };
    // A header that this version cannot read is that of another version: the digest says that it is whole.
    let Some(header) = serde_json::from_slice::<Header>(header)
        .ok()
        .filter(|header| header.key == *key)
    else {
        return Ok(Err(Stale::Foreign));
    };
    let Some(directory) = unpack(&header.files, payload) else {
        return Ok(Err(Stale::Damaged));
    };
    let index = Index::open(directory).map_err(IndexError::from);
    let index = index.and_then(|index| Bm25Index::open(&index, corpus, &key.settings));
    Ok(index.map_err(|_| Stale::Damaged))
}

/// Returns header and payload of a file whose digest is right.
fn verified(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (content, digest) = bytes.split_at_checked(bytes.len().checked_sub(DIGEST_BYTES)?)?;
    if Digest::of(content).as_bytes() != digest {
        return None;
    }
    let (length, rest) = content.split_first_chunk::<LENGTH_BYTES>()?;
    rest.split_at_checked(usize::try_from(u64::from_le_bytes(*length)).ok()?)
}

fn unpack(files: &[StoredFile], payload: &[u8]) -> Option<RamDirectory> {
    let directory = RamDirectory::create();
    let mut rest = payload;
    for file in files {
        let (content, behind) = rest.split_at_checked(file.bytes)?;
        directory
            .atomic_write(Path::new(&file.name), content)
            .ok()?;
        rest = behind;
    }
    rest.is_empty().then_some(directory)
}

/// Returns the bytes of the file that holds the index in `directory`.
fn pack(directory: &RamDirectory, key: Key) -> Result<Vec<u8>, IndexError> {
    let mut names: Vec<PathBuf> = Index::open(directory.clone())?
        .directory()
        .list_managed_files()
        .into_iter()
        .collect();
    names.sort_unstable();
    let mut payload = Vec::new();
    let mut files = Vec::new();
    for name in names {
        // A file may be registered and never written, or be deleted again.
        let Ok(content) = directory.atomic_read(&name) else {
            continue;
        };
        files.push(StoredFile {
            name: name.to_string_lossy().into_owned(),
            bytes: content.len(),
        });
        payload.extend(content);
    }
    let header = serde_json::to_vec(&Header { key, files }).expect("a header has a JSON form");
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header);
    bytes.extend(payload);
    let digest = Digest::of(&bytes);
    bytes.extend(digest.as_bytes());
    Ok(bytes)
}

/// Writes the file whole under another name and renames it. The caller holds the lock.
fn publish(path: &Path, bytes: &[u8]) -> Result<(), IndexError> {
    let staged = path.with_extension("tmp");
    let mut file = File::create(&staged).map_err(cache_error("create", &staged))?;
    file.write_all(bytes)
        .and_then(|()| file.sync_all())
        .map_err(cache_error("write", &staged))?;
    fs::rename(&staged, path).map_err(cache_error("rename the new index to", path))
}
