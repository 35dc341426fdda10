//! Split manifests as files: our own form, and that of the published experiment.

use std::fs;
use std::path::Path;

use evalfarm_domain::{Digest, Fold, QueryId};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Side, SplitError, SplitManifest};

/// Version of the form that is written. Rises whenever a key is added, removed or changes its meaning.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    version: u32,
    seed: u64,
    total: usize,
    train_asked: usize,
    filter: Option<String>,
    group_by: Option<String>,
    /// In words, for who reads the file with another program.
    assignment: String,
    train: FileSide,
    holdout: FileSide,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileSide {
    count: usize,
    sha256: Digest,
    ids: Vec<QueryId>,
}

/// What is read of a manifest in the form of the published experiment. It has more keys, in words.
#[derive(Deserialize)]
struct Foreign {
    split_seed: u64,
    total: usize,
    train_count: usize,
    holdout_count: usize,
    filter: Option<String>,
    train_query_ids_sha256: Digest,
    holdout_query_ids_sha256: Digest,
    train_query_ids: Vec<Value>,
    holdout_query_ids: Vec<Value>,
}

const ASSIGNMENT: &str = "ids in ascending order of sha256(\"{seed}|{id}\"), id bytes breaking ties; the first `total` are \
taken, the first `train_asked` of these are train; sha256 of a side: its ids, bytewise sorted, joined by commas";

impl SplitManifest {
    /// Reads a split and verifies it. Both forms are read: that of [`Self::to_json`], and the one with `split_seed` and
    /// integer ids, whose digests are over the ids in the order in which they are listed.
    pub fn read(path: &Path) -> Result<Self, SplitError> {
        let text = fs::read_to_string(path).map_err(|source| SplitError::Read {
            path: path.to_owned(),
            source,
        })?;
        let json = |source| SplitError::Json {
            path: path.to_owned(),
            source,
        };
        let text = text.trim_start_matches('\u{feff}');
        let value: Value = serde_json::from_str(text).map_err(json)?;
        let manifest = if value.get("split_seed").is_some() {
            from_foreign(serde_json::from_str(text).map_err(json)?)?
        } else {
            from_file(serde_json::from_str(text).map_err(json)?)?
        };
        manifest.verify()?;
        Ok(manifest)
    }

    /// Returns the split as JSON, the same bytes for the same split.
    ///
    /// # Panics
    ///
    /// Never: every part of a split has a JSON form.
    pub fn to_json(&self) -> String {
        let side = |side: &Side| FileSide {
            count: side.ids.len(),
            sha256: side.sha256,
            ids: side.ids.clone(),
        };
        let file = File {
            version: VERSION,
            seed: self.seed,
            total: self.total,
            train_asked: self.train_asked,
            filter: self.filter.clone(),
            group_by: self.group_by.clone(),
            assignment: ASSIGNMENT.to_owned(),
            train: side(&self.train),
            holdout: side(&self.holdout),
        };
        let mut text = serde_json::to_string_pretty(&file).expect("a split has a JSON form");
        text.push('\n');
        text
    }

    /// Writes the split whole: into a file beside `path` first, which is then renamed.
    pub fn write(&self, path: &Path) -> Result<(), SplitError> {
        crate::files::write_whole(path, self.to_json().as_bytes()).map_err(|source| {
            SplitError::Write {
                path: path.to_owned(),
                source,
            }
        })
    }
}

fn from_file(file: File) -> Result<SplitManifest, SplitError> {
    if file.version != VERSION {
        return Err(SplitError::Version {
            found: file.version,
            expected: VERSION,
        });
    }
    for (fold, side) in [(Fold::Train, &file.train), (Fold::Holdout, &file.holdout)] {
        check_count(fold, side.ids.len(), side.count)?;
    }
    let side = |side: FileSide| Side {
        ids: side.ids,
        sha256: side.sha256,
    };
    Ok(SplitManifest {
        seed: file.seed,
        total: file.total,
        train_asked: file.train_asked,
        filter: file.filter,
        group_by: file.group_by,
        train: side(file.train),
        holdout: side(file.holdout),
    })
}

fn from_foreign(file: Foreign) -> Result<SplitManifest, SplitError> {
    check_count(Fold::Train, file.train_query_ids.len(), file.train_count)?;
    check_count(
        Fold::Holdout,
        file.holdout_query_ids.len(),
        file.holdout_count,
    )?;
    let side = |fold, ids: &[Value], sha256| -> Result<Side, SplitError> {
        let ids: Result<Vec<QueryId>, SplitError> =
            ids.iter().map(|value| foreign_id(fold, value)).collect();
        Ok(Side { ids: ids?, sha256 })
    };
    Ok(SplitManifest {
        seed: file.split_seed,
        total: file.total,
        train_asked: file.train_count,
        filter: file.filter,
        group_by: None,
        train: side(
            Fold::Train,
            &file.train_query_ids,
            file.train_query_ids_sha256,
        )?,
        holdout: side(
            Fold::Holdout,
            &file.holdout_query_ids,
            file.holdout_query_ids_sha256,
        )?,
    })
}

fn check_count(fold: Fold, found: usize, recorded: usize) -> Result<(), SplitError> {
    if found == recorded {
        return Ok(());
    }
    Err(SplitError::Count {
        fold,
        found,
        recorded,
    })
}

fn foreign_id(fold: Fold, value: &Value) -> Result<QueryId, SplitError> {
    let wrong = || SplitError::Id {
        fold,
        value: value.to_string(),
    };
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Number(number) if number.is_u64() || number.is_i64() => number.to_string(),
        _ => return Err(wrong()),
    };
    QueryId::try_from(text).map_err(|_| wrong())
}
