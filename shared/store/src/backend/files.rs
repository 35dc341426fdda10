//! A folder as a store.
//!
//! An object is written and synced in `.staging/` below the root, so on the same file system, and gets its name by a hard
//! link, which fails if the name is taken. A process that is killed leaves at most a staged file, never half an object.

use std::fs::{self, File};
use std::io::{ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};

use bytes::Bytes;

use super::Listed;
use crate::{ObjectPath, StoreError};

/// No part of an object's path begins with a dot.
const STAGING: &str = ".staging";
const LOCK: &str = "lock";

#[derive(Debug)]
pub(crate) struct Files {
    root: PathBuf,
}

/// An object that is about to be read.
#[derive(Debug)]
pub(crate) struct Found {
    file: File,
    pub(crate) size: u64,
    target: PathBuf,
}

impl Found {
    pub(crate) fn read(mut self, path: &ObjectPath) -> Result<Bytes, StoreError> {
        let mut bytes = Vec::new();
        self.file
            .read_to_end(&mut bytes)
            .map_err(StoreError::io("read", &self.target))?;
        if bytes.len() as u64 != self.size {
            return Err(StoreError::Truncated {
                path: path.clone(),
                expected: self.size,
                found: bytes.len() as u64,
            });
        }
        Ok(Bytes::from(bytes))
    }
}

impl Files {
    /// Opens the folder, creating it if needed, and removes what killed processes left in the staging folder, unless
    /// somebody is writing.
    pub(crate) fn open(root: &Path) -> Result<Self, StoreError> {
        let staging = root.join(STAGING);
        fs::create_dir_all(&staging).map_err(StoreError::io("create", &staging))?;
        let files = Self {
            root: root.to_owned(),
        };
        let lock = files.lock_file()?;
        if lock.try_lock().is_ok() {
            for entry in fs::read_dir(&staging).map_err(StoreError::io("list", &staging))? {
                let path = entry.map_err(StoreError::io("list", &staging))?.path();
                if path != staging.join(LOCK) {
                    fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
                }
            }
        }
        Ok(files)
    }

    fn lock_file(&self) -> Result<File, StoreError> {
        let path = self.root.join(STAGING).join(LOCK);
        File::create(&path).map_err(StoreError::io("create", &path))
    }

    /// Creates an object, or returns `false` when there is one already.
    pub(crate) fn create(&self, path: &ObjectPath, bytes: &[u8]) -> Result<bool, StoreError> {
        let target = self.target(path);
        // The usual duplicate is found without writing anything.
        if target
            .try_exists()
            .map_err(StoreError::io("look for", &target))?
        {
            sync_parent(&target)?;
            return Ok(false);
        }
        // Shared by all writers; whoever has it alone may remove what lies in the staging folder.
        let lock = self.lock_file()?;
        lock.lock_shared()
            .map_err(StoreError::io("lock", &self.root))?;
        let staging = self.root.join(STAGING);
        let mut builder = tempfile::Builder::new();
        builder.prefix("staged-");
        readable_by_others(&mut builder);
        let mut staged = builder
            .tempfile_in(&staging)
            .map_err(StoreError::io("create a file in", &staging))?;
        staged
            .write_all(bytes)
            .and_then(|()| staged.as_file().sync_all())
            .map_err(StoreError::io("write", staged.path()))?;
        self.create_parents(&target)?;
        let created = match fs::hard_link(staged.path(), &target) {
            Ok(()) => true,
            Err(error) if error.kind() == ErrorKind::AlreadyExists => false,
            Err(error) => return Err(StoreError::io("link", &target)(error)),
        };
        // Also when another process created it: it may have died before it came to this.
        sync_parent(&target)?;
        Ok(created)
    }

    /// Creates the folders above a file and makes their names durable, the uppermost first.
    fn create_parents(&self, target: &Path) -> Result<(), StoreError> {
        let parent = target.parent().unwrap_or(&self.root);
        if parent.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(parent).map_err(StoreError::io("create", parent))?;
        let above: Vec<&Path> = parent
            .ancestors()
            .skip(1)
            .take_while(|folder| folder.starts_with(&self.root))
            .collect();
        above.into_iter().rev().try_for_each(sync_folder)
    }

    /// Whether there is an object; its name is durable then, whoever created it.
    pub(crate) fn exists(&self, path: &ObjectPath) -> Result<bool, StoreError> {
        let target = self.target(path);
        let exists = target.try_exists();
        let exists = exists.map_err(StoreError::io("look for", &target))?;
        if exists {
            sync_parent(&target)?;
        }
        Ok(exists)
    }

    /// Removes an object if there is one.
    pub(crate) fn remove(&self, path: &ObjectPath) -> Result<(), StoreError> {
        let target = self.target(path);
        match fs::remove_file(&target) {
            Ok(()) => sync_parent(&target),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
            Err(error) => Err(StoreError::io("remove", &target)(error)),
        }
    }

    /// Opens an object that has at most `limit` bytes and returns its size, or nothing when there is none.
    pub(crate) fn find(&self, path: &ObjectPath, limit: u64) -> Result<Option<Found>, StoreError> {
        let target = self.target(path);
        let file = match File::open(&target) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(StoreError::io("open", &target)(error)),
        };
        let metadata = file.metadata();
        let size = metadata.map_err(StoreError::io("look at", &target))?.len();
        if size > limit {
            return Err(StoreError::TooLarge {
                path: path.clone(),
                size,
                limit,
            });
        }
        Ok(Some(Found { file, size, target }))
    }

    /// Returns every object below a folder, by path. Files whose names cannot be ours are left out.
    pub(crate) fn list(&self, below: &ObjectPath) -> Result<Vec<Listed>, StoreError> {
        let mut listed = Vec::new();
        self.walk(below.as_str(), &mut listed)?;
        listed.sort();
        Ok(listed)
    }

    fn walk(&self, below: &str, listed: &mut Vec<Listed>) -> Result<(), StoreError> {
        for (name, metadata) in self.entries(below)? {
            let Some(path) = ObjectPath::listed(&format!("{below}/{name}")) else {
                continue;
            };
            if metadata.is_dir() {
                self.walk(path.as_str(), listed)?;
            } else if metadata.is_file() {
                let size = metadata.len();
                listed.push(Listed { path, size });
            }
        }
        Ok(())
    }

    /// Returns the names of the folders in a folder, by name.
    pub(crate) fn folders(&self, of: &ObjectPath) -> Result<Vec<String>, StoreError> {
        let mut names: Vec<String> = self
            .entries(of.as_str())?
            .into_iter()
            .filter(|(_, metadata)| metadata.is_dir())
            .map(|(name, _)| name)
            .collect();
        names.sort();
        Ok(names)
    }

    fn entries(&self, below: &str) -> Result<Vec<(String, fs::Metadata)>, StoreError> {
        let folder = self.root.join(below);
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(StoreError::io("list", &folder)(error)),
        };
        let mut found = Vec::new();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("list", &folder))?;
            let metadata = entry.metadata();
            let metadata = metadata.map_err(StoreError::io("look at", &entry.path()))?;
            if let Ok(name) = entry.file_name().into_string() {
                found.push((name, metadata));
            }
        }
        Ok(found)
    }

    fn target(&self, path: &ObjectPath) -> PathBuf {
        let mut target = self.root.clone();
        target.extend(path.parts());
        target
    }
}

/// Temporary files are private by default; every process of the farm reads objects, under whatever user.
#[cfg(unix)]
fn readable_by_others(builder: &mut tempfile::Builder<'_, '_>) {
    use std::os::unix::fs::PermissionsExt as _;
    builder.permissions(fs::Permissions::from_mode(0o666));
}

#[cfg(not(unix))]
fn readable_by_others(_builder: &mut tempfile::Builder<'_, '_>) {}

fn sync_parent(target: &Path) -> Result<(), StoreError> {
    target.parent().map_or(Ok(()), sync_folder)
}

/// Makes the names in a folder as durable as what they name.
fn sync_folder(folder: &Path) -> Result<(), StoreError> {
    if cfg!(unix) {
        File::open(folder)
            .and_then(|folder| folder.sync_all())
            .map_err(StoreError::io("sync", folder))?;
    }
    Ok(())
}
