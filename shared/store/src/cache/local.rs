//! Entries that can be made again: made by one, used by many, evicted when nobody uses them.
//!
//! ```text
//! entries/<name>/   an entry, renamed into place when it is whole
//! locks/<name>      shared by those who use the entry, held alone by whoever makes or evicts it; its time is the last use
//! staging/          what the holder of `making` makes or removes
//! making            held alone while an entry is made, so that the cache stays within its limit
//! ```
//!
//! The operating system lets go of locks however a process ends.

use std::fs::{self, File};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use tempfile::TempDir;
use tokio::time::Instant;

use crate::StoreError;
use crate::path::plain;
use crate::store::blocking;

const ENTRIES: &str = "entries";
const LOCKS: &str = "locks";
const STAGING: &str = "staging";
const MAKING: &str = "making";

/// Pause between two looks at a lock that somebody else holds.
const LOOK: Duration = Duration::from_millis(50);

/// How long others may use an entry that turned out to be damaged before that is an error.
const BUSY: Duration = Duration::from_secs(10);

/// A folder of entries whose files have at most so many bytes together. Any number of processes may share it, with one limit.
#[derive(Debug, Clone)]
pub struct LocalCache {
    folder: PathBuf,
    limit: u64,
}

/// An entry that stays as long as this value.
#[derive(Debug)]
pub struct Kept {
    folder: PathBuf,
    _lock: File,
}

impl Kept {
    /// Returns the folder of the entry, which is to be read and not changed.
    pub fn folder(&self) -> &Path {
        &self.folder
    }
}

/// Where an entry is being made.
#[derive(Debug, Clone)]
pub struct Room {
    cache: LocalCache,
    folder: PathBuf,
}

impl Room {
    /// Returns the folder to fill, which is empty at first.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Evicts entries until so many bytes fit, to be called as soon as the size of the entry is known. Fails with
    /// [`StoreError::CacheTooSmall`] or [`StoreError::CacheInUse`].
    pub async fn reserve(&self, bytes: u64) -> Result<(), StoreError> {
        let cache = self.cache.clone();
        blocking(move || cache.make_room(bytes)).await
    }
}

/// Who may go on with an entry that is to be made.
enum Turn {
    /// This caller, until the locks are dropped.
    Ours { making: File, entry: File },
    /// Somebody else is at it.
    Theirs,
}

impl LocalCache {
    /// Opens a cache, creating its folder if needed. `limit` is in bytes. Fails with [`StoreError::Io`].
    pub fn open(folder: &Path, limit: u64) -> Result<Self, StoreError> {
        for part in [ENTRIES, LOCKS, STAGING] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(StoreError::io("create", &part))?;
        }
        Ok(Self {
            folder: folder.to_owned(),
            limit,
        })
    }

    /// Returns an entry, opened, which is made first when it is not there or cannot be opened.
    ///
    /// `make` fills a folder, and `open` reads an entry and fails for one that is damaged. Entries that nobody uses make room, the least
    /// recently used first. Of several that ask at once, one makes the entry and the others wait.
    ///
    /// Fails with [`StoreError::Name`], with [`StoreError::CacheTooSmall`] or [`StoreError::CacheInUse`] when there is no room,
    /// with [`StoreError::CacheBusy`] when a damaged entry is in use, with what `make` says, or with what `open` says about an
    /// entry that was just made.
    pub async fn keep<T, O, M, F>(
        &self,
        name: &str,
        open: O,
        make: M,
    ) -> Result<(T, Kept), StoreError>
    where
        T: Send + 'static,
        O: Fn(&Path) -> Result<T, StoreError> + Clone + Send + 'static,
        M: Fn(Room) -> F,
        F: Future<Output = Result<(), StoreError>>,
    {
        let name = plain("cache entry", name)?;
        let folder = self.folder.join(ENTRIES).join(name);
        let mut damaged_since = None;
        loop {
            if let Some(lock) = self.shared(name)?
                && is_there(&folder)?
            {
                match opened(&folder, open.clone()).await {
                    Ok(value) => return Ok((value, kept(folder, lock)?)),
                    Err(_) => {
                        damaged_since.get_or_insert_with(Instant::now);
                    }
                }
            }
            match self.turn(name)? {
                Turn::Ours { making, entry } => {
                    let value = self.made(&folder, open.clone(), &make).await?;
                    drop(making);
                    drop(entry);
                    // Between the two locks it may have been evicted.
                    if let Some(lock) = self.shared(name)?
                        && is_there(&folder)?
                    {
                        return Ok((value, kept(folder, lock)?));
                    }
                }
                Turn::Theirs if damaged_since.is_some_and(|since| since.elapsed() > BUSY) => {
                    return Err(StoreError::CacheBusy { path: folder });
                }
                Turn::Theirs => tokio::time::sleep(LOOK).await,
            }
        }
    }

    /// Makes an entry that is not there, or is damaged, and puts it in its place. Both locks are held.
    async fn made<T, O, M, F>(&self, folder: &Path, open: O, make: &M) -> Result<T, StoreError>
    where
        T: Send + 'static,
        O: Fn(&Path) -> Result<T, StoreError> + Clone + Send + 'static,
        M: Fn(Room) -> F,
        F: Future<Output = Result<(), StoreError>>,
    {
        // Whoever had the lock before may have made it.
        if is_there(folder)?
            && let Ok(value) = opened(folder, open.clone()).await
        {
            return Ok(value);
        }
        let cache = self.clone();
        let old = folder.to_owned();
        let staged = blocking(move || {
            cache.clear_staging()?;
            cache.remove(&old)?;
            let staging = cache.folder.join(STAGING);
            tempfile::tempdir_in(&staging).map_err(StoreError::io("create a folder in", &staging))
        })
        .await?;
        let room = Room {
            cache: self.clone(),
            folder: staged.path().to_owned(),
        };
        make(room).await?;
        let value = opened(staged.path(), open).await?;
        let (cache, place) = (self.clone(), folder.to_owned());
        blocking(move || {
            cache.make_room(size_of(staged.path())?)?;
            put(staged, &place)
        })
        .await?;
        Ok(value)
    }

    /// Takes the lock of an entry together with others, unless somebody has it alone.
    fn shared(&self, name: &str) -> Result<Option<File>, StoreError> {
        let lock = lock_file(&self.folder.join(LOCKS).join(name))?;
        Ok(lock.try_lock_shared().is_ok().then_some(lock))
    }

    fn turn(&self, name: &str) -> Result<Turn, StoreError> {
        let making = lock_file(&self.folder.join(MAKING))?;
        let entry = lock_file(&self.folder.join(LOCKS).join(name))?;
        if making.try_lock().is_ok() && entry.try_lock().is_ok() {
            Ok(Turn::Ours { making, entry })
        } else {
            Ok(Turn::Theirs)
        }
    }

    /// Evicts entries that nobody uses, the least recently used first, until so many bytes fit. `making` is held.
    fn make_room(&self, needed: u64) -> Result<(), StoreError> {
        if needed > self.limit {
            return Err(StoreError::CacheTooSmall {
                folder: self.folder.clone(),
                needed,
                limit: self.limit,
            });
        }
        let entries = self.folder.join(ENTRIES);
        let mut present = Vec::new();
        for name in names(&entries)? {
            let folder = entries.join(&name);
            let lock = lock_file(&self.folder.join(LOCKS).join(&name))?;
            present.push((last_use(&lock, &folder)?, size_of(&folder)?, folder, lock));
        }
        present.sort_by(|one, other| (one.0, &one.2).cmp(&(other.0, &other.2)));
        let mut used: u64 = present.iter().map(|entry| entry.1).sum();
        for (_, size, folder, lock) in present {
            if used + needed <= self.limit {
                return Ok(());
            }
            if lock.try_lock().is_ok() {
                self.remove(&folder)?;
                used -= size;
            }
        }
        if used + needed <= self.limit {
            return Ok(());
        }
        Err(StoreError::CacheInUse {
            folder: self.folder.clone(),
            needed,
            used,
            limit: self.limit,
        })
    }

    /// Removes an entry at once for everybody, then its files. Its lock is held.
    fn remove(&self, entry: &Path) -> Result<(), StoreError> {
        if !is_there(entry)? {
            return Ok(());
        }
        let staging = self.folder.join(STAGING);
        let grave = tempfile::tempdir_in(&staging)
            .map_err(StoreError::io("create a folder in", &staging))?;
        fs::rename(entry, grave.path().join("evicted")).map_err(StoreError::io("evict", entry))?;
        grave.close().map_err(StoreError::io("remove", entry))
    }

    /// Removes what killed processes left. `making` is held, so that nobody else uses the folder.
    fn clear_staging(&self) -> Result<(), StoreError> {
        let staging = self.folder.join(STAGING);
        for name in names(&staging)? {
            let path = staging.join(name);
            fs::remove_dir_all(&path).map_err(StoreError::io("remove", &path))?;
        }
        Ok(())
    }
}

/// Marks the entry as used now.
fn kept(folder: PathBuf, mut lock: File) -> Result<Kept, StoreError> {
    lock.write_all(b"used\n")
        .map_err(StoreError::io("mark as used", &folder))?;
    Ok(Kept {
        folder,
        _lock: lock,
    })
}

async fn opened<T: Send + 'static>(
    folder: &Path,
    open: impl Fn(&Path) -> Result<T, StoreError> + Send + 'static,
) -> Result<T, StoreError> {
    let folder = folder.to_owned();
    blocking(move || open(&folder)).await
}

/// Moves a folder that is whole to its place.
fn put(staged: TempDir, place: &Path) -> Result<(), StoreError> {
    fs::rename(staged.path(), place).map_err(StoreError::io("publish", place))?;
    // It is not where it was made any more: there is nothing to remove.
    drop(staged.keep());
    Ok(())
}

fn lock_file(path: &Path) -> Result<File, StoreError> {
    File::options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)
        .map_err(StoreError::io("open", path))
}

fn last_use(lock: &File, folder: &Path) -> Result<SystemTime, StoreError> {
    lock.metadata()
        .and_then(|metadata| metadata.modified())
        .map_err(StoreError::io("look at", folder))
}

fn is_there(folder: &Path) -> Result<bool, StoreError> {
    folder
        .try_exists()
        .map_err(StoreError::io("look for", folder))
}

fn names(folder: &Path) -> Result<Vec<std::ffi::OsString>, StoreError> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(StoreError::io("list", folder))? {
        names.push(entry.map_err(StoreError::io("list", folder))?.file_name());
    }
    names.sort();
    Ok(names)
}

/// Returns the bytes of all files in a folder and below.
fn size_of(folder: &Path) -> Result<u64, StoreError> {
    let mut size = 0;
    for name in names(folder)? {
        let path = folder.join(name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => size += size_of(&path)?,
            Ok(metadata) => size += metadata.len(),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(StoreError::io("look at", &path)(error)),
        }
    }
    Ok(size)
}
