//! The bounded cache of datasets.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

#[expect(dead_code, reason = "the suite has more than what is needed here")]
mod suite;

use std::fs::{self, File};
use std::path::Path;
use std::time::{Duration, SystemTime};

use evalfarm_domain::Digest;
use evalfarm_store::{Limits, LocalCache, Room, Store, StoreError};
use suite::dataset_in;

/// A store with datasets of nearly the same size, their fingerprints, and the largest size.
async fn published(parent: &Path, count: usize) -> (Store, Vec<Digest>, u64) {
    let store = Store::in_memory(Limits::default());
    let mut fingerprints = Vec::new();
    let mut largest = 0;
    for number in 0..count {
        let folder = parent.join(format!("set{number}"));
        fingerprints.push(dataset_in(&folder, &format!("number {number}")));
        store.publish_dataset(&folder).await.unwrap();
        let sizes = fs::read_dir(&folder).unwrap();
        let size = sizes
            .map(|entry| entry.unwrap().metadata().unwrap().len())
            .sum();
        largest = largest.max(size);
    }
    (store, fingerprints, largest)
}

fn entry(cache: &Path, fingerprint: Digest) -> std::path::PathBuf {
    cache.join(format!("entries/dataset-{fingerprint}"))
}

/// Sets when an entry was last used.
fn used_at(cache: &Path, fingerprint: Digest, second: u64) {
    let lock = cache.join(format!("locks/dataset-{fingerprint}"));
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(second);
    let lock = File::options().write(true).open(lock).unwrap();
    lock.set_modified(time).unwrap();
}

#[tokio::test]
async fn the_least_recently_used_entry_makes_room_and_one_in_use_never_does() {
    let parent = tempfile::tempdir().unwrap();
    let (store, sets, size) = published(parent.path(), 4).await;
    let folder = parent.path().join("cache");
    let cache = LocalCache::open(&folder, 2 * size + size / 2).unwrap();
    let there = || -> Vec<bool> {
        sets.iter()
            .map(|&set| entry(&folder, set).is_dir())
            .collect()
    };
    drop(cache.dataset(&store, sets[0]).await.unwrap());
    drop(cache.dataset(&store, sets[1]).await.unwrap());
    used_at(&folder, sets[0], 2000);
    used_at(&folder, sets[1], 1000);
    let third = cache.dataset(&store, sets[2]).await.unwrap();
    assert_eq!(there(), [true, false, true, false]);
    // The third is older than the first now, and in use.
    used_at(&folder, sets[2], 500);
    let fourth = cache.dataset(&store, sets[3]).await.unwrap();
    assert_eq!(there(), [false, false, true, true]);
    let error = cache.dataset(&store, sets[0]).await.unwrap_err();
    assert!(matches!(error, StoreError::CacheInUse { .. }), "{error}");
    assert!(error.is_temporary());
    drop((third, fourth));
    cache.dataset(&store, sets[0]).await.unwrap();
    // Using an entry makes it the most recently used: its time is now, not in 1970.
    let lock = folder.join(format!("locks/dataset-{}", sets[0]));
    let modified = fs::metadata(lock).unwrap().modified().unwrap();
    assert!(modified > SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000));
}

#[tokio::test]
async fn what_can_never_fit_is_refused_before_anything_is_evicted() {
    let parent = tempfile::tempdir().unwrap();
    let (store, sets, size) = published(parent.path(), 1).await;
    let folder = parent.path().join("cache");
    let small = LocalCache::open(&folder, size - 1).unwrap();
    let error = small.dataset(&store, sets[0]).await.unwrap_err();
    assert!(matches!(error, StoreError::CacheTooSmall { .. }), "{error}");
    assert_eq!(fs::read_dir(folder.join("staging")).unwrap().count(), 0);
    let enough = LocalCache::open(&folder, size).unwrap();
    enough.dataset(&store, sets[0]).await.unwrap();
}

#[tokio::test]
async fn a_damaged_entry_is_fetched_again() {
    let parent = tempfile::tempdir().unwrap();
    let (store, sets, size) = published(parent.path(), 1).await;
    let folder = parent.path().join("cache");
    let cache = LocalCache::open(&folder, size).unwrap();
    let damages: [fn(&Path); 3] = [
        |entry| fs::write(entry.join("queries.parquet"), "x").unwrap(),
        |entry| fs::remove_file(entry.join("manifest.json")).unwrap(),
        |entry| fs::remove_dir_all(entry).unwrap(),
    ];
    for damage in damages {
        drop(cache.dataset(&store, sets[0]).await.unwrap());
        damage(&entry(&folder, sets[0]));
        let cached = cache.dataset(&store, sets[0]).await.unwrap();
        assert_eq!(cached.dataset.manifest.fingerprint, sets[0]);
        assert_eq!(cached.kept.folder(), entry(&folder, sets[0]));
    }
}

#[tokio::test]
async fn one_downloads_and_the_others_wait() {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("cache");
    let cache = LocalCache::open(&folder, 1000).unwrap();
    let made = std::sync::atomic::AtomicUsize::new(0);
    let keep = || {
        let open = |folder: &Path| {
            let path = folder.join("file");
            fs::read(&path).map_err(|source| StoreError::Io {
                action: "read",
                path,
                source,
            })
        };
        let made = &made;
        let make = move |room: Room| async move {
            made.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
            room.reserve(7).await?;
            tokio::task::yield_now().await;
            fs::write(room.folder().join("file"), "content").unwrap();
            Ok(())
        };
        cache.keep("index-1", open, make)
    };
    let (one, two, three) = tokio::join!(keep(), keep(), keep());
    for kept in [one, two, three] {
        assert_eq!(kept.unwrap().0, b"content");
    }
    assert_eq!(made.into_inner(), 1);
}

#[tokio::test]
async fn what_a_killed_process_staged_is_removed_by_the_next_that_makes_something() {
    let parent = tempfile::tempdir().unwrap();
    let (store, sets, size) = published(parent.path(), 1).await;
    let folder = parent.path().join("cache");
    let cache = LocalCache::open(&folder, size).unwrap();
    fs::create_dir(folder.join("staging/.tmpdead")).unwrap();
    fs::write(folder.join("staging/.tmpdead/half"), "half").unwrap();
    cache.dataset(&store, sets[0]).await.unwrap();
    assert_eq!(fs::read_dir(folder.join("staging")).unwrap().count(), 0);
}
