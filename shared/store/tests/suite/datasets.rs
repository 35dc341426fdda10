//! Publishing datasets, and fetching them into the cache.

use std::fs;
use std::path::Path;

use bytes::Bytes;
use evalfarm_dataset::Dataset;
use evalfarm_domain::Digest;
use evalfarm_store::{Creation, LocalCache, ObjectPath, Publication, Store, StoreError};

use super::dataset_in;

const ROOM: u64 = 1 << 20;

pub(crate) async fn are_fetched_as_they_were_published(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    let fingerprint = dataset_in(&folder, "published");
    for outcome in [Publication::Published, Publication::AlreadyThere] {
        let published = store.publish_dataset(&folder).await.unwrap();
        assert_eq!(published, (fingerprint, outcome));
    }
    let cache = LocalCache::open(&parent.path().join("cache"), ROOM).unwrap();
    let cached = cache.dataset(store, fingerprint).await.unwrap();
    assert_eq!(cached.dataset, Dataset::open(&folder).unwrap());
    for entry in fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        let copy = cached.kept.folder().join(path.file_name().unwrap());
        assert_eq!(fs::read(&copy).unwrap(), fs::read(&path).unwrap());
    }
}

/// Creates the objects of a dataset one by one, the manifest among them or not, each as `change` makes it.
async fn upload(
    store: &Store,
    folder: &Path,
    fingerprint: Digest,
    with_manifest: bool,
    change: impl Fn(&str, Vec<u8>) -> Vec<u8>,
) {
    let manifest = Dataset::open(folder).unwrap().manifest;
    let mut objects: Vec<(ObjectPath, &str)> = manifest
        .files
        .iter()
        .map(|file| {
            let path = ObjectPath::dataset_file(fingerprint, file.sha256);
            (path, file.name.as_str())
        })
        .collect();
    if with_manifest {
        objects.push((ObjectPath::dataset_manifest(fingerprint), "manifest.json"));
    }
    for (path, name) in objects {
        let bytes = change(name, fs::read(folder.join(name)).unwrap());
        let created = store.create(&path, Bytes::from(bytes)).await.unwrap();
        assert_eq!(created, Creation::Created);
    }
}

pub(crate) async fn are_invisible_until_their_manifest_is_there(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    let fingerprint = dataset_in(&folder, "half uploaded");
    upload(store, &folder, fingerprint, false, |_, bytes| bytes).await;
    let cache = LocalCache::open(&parent.path().join("cache"), ROOM).unwrap();
    let error = cache.dataset(store, fingerprint).await.unwrap_err();
    assert!(matches!(error, StoreError::NoDataset { .. }), "{error}");
    let (_, published) = store.publish_dataset(&folder).await.unwrap();
    assert_eq!(published, Publication::Published);
    cache.dataset(store, fingerprint).await.unwrap();
}

pub(crate) async fn come_in_piece_by_piece(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    let fingerprint = dataset_in(&folder, "piece by piece");
    let read = |name: &str| Bytes::from(fs::read(folder.join(name)).unwrap());
    let files = Dataset::open(&folder).unwrap().manifest.files;
    let manifest = read("manifest.json");
    let mut expected: Vec<Digest> = files.iter().map(|file| file.sha256).collect();
    for file in &files {
        let missing = store.missing_dataset_files(&manifest).await.unwrap();
        assert_eq!(missing, expected);
        let early = store.put_dataset_manifest(manifest.clone()).await;
        let StoreError::Incomplete { missing } = early.unwrap_err() else {
            panic!("the manifest was accepted");
        };
        assert_eq!(missing, expected);
        assert!(!store.has_dataset(fingerprint).await.unwrap());
        for outcome in [Creation::Created, Creation::Same] {
            let put = store.put_dataset_file(fingerprint, file.sha256, read(&file.name));
            assert_eq!(put.await.unwrap(), outcome);
        }
        expected.remove(0);
    }
    let missing = store.missing_dataset_files(&manifest).await.unwrap();
    assert_eq!(missing, []);
    for outcome in [Publication::Published, Publication::AlreadyThere] {
        let put = store.put_dataset_manifest(manifest.clone()).await.unwrap();
        assert_eq!(put, (fingerprint, outcome));
        assert!(store.has_dataset(fingerprint).await.unwrap());
    }
    let cache = LocalCache::open(&parent.path().join("cache"), ROOM).unwrap();
    cache.dataset(store, fingerprint).await.unwrap();
}

pub(crate) async fn without_a_file_or_with_another_are_refused(store: &Store) {
    let (set, file) = (Digest::of(b"refused"), Digest::of(b"promised"));
    let put = store.put_dataset_file(set, file, Bytes::from_static(b"brought"));
    let error = put.await.unwrap_err();
    let brought = Digest::of(b"brought");
    assert_eq!(
        error.to_string(),
        format!("the bytes for `datasets/{set}/{file}` have sha256 `{brought}`, not `{file}`")
    );
    let path = ObjectPath::dataset_file(set, file);
    assert!(!store.has(&path).await.unwrap());
    let no_json = store.missing_dataset_files(b"{").await.unwrap_err();
    assert!(matches!(no_json, StoreError::Manifest(_)), "{no_json}");
    let escaping = format!(
        r#"{{"fingerprint":"{set}","files":[{{"name":"../x","bytes":1,"sha256":"{file}"}}]}}"#
    );
    let error = store.put_dataset_manifest(Bytes::from(escaping)).await;
    let error = error.unwrap_err();
    assert!(matches!(error, StoreError::Name { .. }), "{error}");
}

pub(crate) async fn keep_every_look_once(store: &Store) {
    let set = Digest::of(b"looked at");
    assert_eq!(store.looks(set).await.unwrap(), Vec::<Bytes>::new());
    let mut looks: Vec<Bytes> = (0..10)
        .map(|number| Bytes::from(format!("{{\"look\":{number}}}")))
        .collect();
    for outcome in [Creation::Created, Creation::Same] {
        for look in &looks {
            let added = store.add_look(set, look.clone()).await.unwrap();
            assert_eq!(added, outcome);
        }
    }
    looks.sort_by_key(|look| Digest::of(look).to_string());
    assert_eq!(store.looks(set).await.unwrap(), looks);
    let other = Digest::of(b"not looked at");
    assert_eq!(store.looks(other).await.unwrap(), Vec::<Bytes>::new());
}

pub(crate) async fn that_are_damaged_are_refused(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let cache = LocalCache::open(&parent.path().join("cache"), ROOM).unwrap();
    let flip = |bytes: Vec<u8>| -> Vec<u8> {
        let middle = bytes.len() / 2;
        let flipped = bytes.iter().enumerate();
        flipped
            .map(|(at, byte)| byte ^ u8::from(at == middle))
            .collect()
    };
    let folder = parent.path().join("bytes");
    let bytes = dataset_in(&folder, "damaged bytes");
    upload(store, &folder, bytes, true, |name, bytes| match name {
        "queries.parquet" => flip(bytes),
        _ => bytes,
    })
    .await;
    // Grades are no part of any file but the manifest, so that only digests over content notice.
    let folder = parent.path().join("meaning");
    let meaning = dataset_in(&folder, "damaged meaning");
    upload(store, &folder, meaning, true, |name, bytes| match name {
        "manifest.json" => {
            let text = String::from_utf8(bytes).unwrap();
            let changed = text.replace("\"relevant_from\": 1.0", "\"relevant_from\": 0.5");
            assert_ne!(changed, text);
            changed.into_bytes()
        }
        _ => bytes,
    })
    .await;
    for fingerprint in [bytes, meaning] {
        let error = cache.dataset(store, fingerprint).await.unwrap_err();
        assert!(
            matches!(error, StoreError::DamagedDataset { .. }),
            "{error}"
        );
        assert!(!error.is_temporary());
    }
    let left = fs::read_dir(parent.path().join("cache/entries")).unwrap();
    assert_eq!(left.count(), 0);
}

pub(crate) async fn that_are_others_are_refused(store: &Store) {
    let parent = tempfile::tempdir().unwrap();
    let folder = parent.path().join("set");
    let found = dataset_in(&folder, "under another's name");
    let asked = Digest::of(b"another");
    upload(store, &folder, asked, true, |_, bytes| bytes).await;
    let cache = LocalCache::open(&parent.path().join("cache"), ROOM).unwrap();
    let error = cache.dataset(store, asked).await.unwrap_err();
    let expected = format!("dataset `{found}` was found under the fingerprint `{asked}`");
    assert_eq!(error.to_string(), expected);
}
