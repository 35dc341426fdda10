//! The suite over memory and a folder, and what only a folder has to do.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod suite;

use std::fs;
use std::path::Path;

use evalfarm_results::TaskFile;
use evalfarm_store::{Creation, Limits, ObjectPath, Store, StoreError, Variables};
use suite::{job, task, text};

async fn folder_store(root: &Path, limits: Limits) -> Store {
    let address = format!("file://{}", root.display());
    let variables = Variables::default();
    Store::open_with(&address, &variables, limits)
        .await
        .unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn memory_holds_the_contract() {
    suite::holds(&Store::in_memory(Limits::default())).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_folder_holds_the_contract() {
    let root = tempfile::tempdir().unwrap();
    let store = folder_store(&root.path().join("deep/store"), Limits::default()).await;
    suite::holds(&store).await;
}

#[tokio::test]
async fn a_folder_is_the_same_store_after_it_is_opened_again() {
    let root = tempfile::tempdir().unwrap();
    let path = ObjectPath::task(&job("j"), TaskFile::Rows, &task("t")).unwrap();
    let store = folder_store(root.path(), Limits::default()).await;
    let created = store.create(&path, text("rows")).await.unwrap();
    assert_eq!(created, Creation::Created);
    drop(store);
    // What a writer leaves that was killed while it staged.
    let staged = root.path().join(".staging/staged-abc");
    fs::write(&staged, "half").unwrap();
    let store = folder_store(root.path(), Limits::default()).await;
    assert!(!staged.try_exists().unwrap());
    assert_eq!(
        store.create(&path, text("rows")).await.unwrap(),
        Creation::Same
    );
    assert_eq!(fs::read(root.path().join(path.as_str())).unwrap(), b"rows");
    let folders = fs::read_dir(root.path().join(".staging")).unwrap();
    assert_eq!(folders.count(), 1, "the lock alone");
}

#[tokio::test]
async fn files_of_somebody_else_are_not_listed() {
    let root = tempfile::tempdir().unwrap();
    let store = folder_store(root.path(), Limits::default()).await;
    let rows = root.path().join("jobs/j/rows");
    fs::create_dir_all(&rows).unwrap();
    for name in ["t1.parquet", ".t2.parquet", "t 3.parquet", "notes.txt"] {
        fs::write(rows.join(name), "x").unwrap();
    }
    let committed = store.committed(&job("j"), TaskFile::Rows).await.unwrap();
    assert_eq!(committed, [task("t1")].into());
}

#[tokio::test]
async fn objects_above_the_limit_are_neither_created_nor_read() {
    let root = tempfile::tempdir().unwrap();
    let small = Limits {
        max_object: 20,
        ..Limits::default()
    };
    let path = ObjectPath::task(&job("j"), TaskFile::Rows, &task("t")).unwrap();
    let large = text("twenty-one characters");
    let [wide, narrow] = [Limits::default(), small].map(|limits| folder_store(root.path(), limits));
    let (wide, narrow) = (wide.await, narrow.await);
    let refused = narrow.create(&path, large.clone()).await.unwrap_err();
    wide.create(&path, large).await.unwrap();
    let unread = narrow.read(&path).await.unwrap_err();
    for error in [refused, unread] {
        assert!(
            matches!(error, StoreError::TooLarge { size: 21, .. }),
            "{error}"
        );
        assert_eq!(
            error.to_string(),
            "`jobs/j/rows/t.parquet` has 21 bytes, at most 20 are allowed"
        );
    }
}

#[tokio::test]
async fn addresses_that_are_none_are_refused_without_repeating_them() {
    let cases = [
        (
            "/var/farm",
            "stores of scheme `` are not known: file://, s3:// and gs:// are",
        ),
        ("ftp://host/x", "stores of scheme `ftp` are not known"),
        (
            "file://farm",
            "the path must be absolute, with three slashes",
        ),
        ("file:///a%20b", "without percent-encoding"),
        ("s3://ab", "the bucket's name must have at least 3"),
        (
            "s3://KEY:SECRET@bucket",
            "credentials belong into the environment",
        ),
        ("s3://bucket/../other", "every part of the prefix"),
        ("gs://bucket//x", "every part of the prefix"),
    ];
    for (address, expected) in cases {
        let opened = Store::open_with(address, &Variables::default(), Limits::default()).await;
        let text = opened.unwrap_err().to_string();
        assert!(text.contains(expected), "{address}: {text}");
        assert!(!text.contains("SECRET"), "{text}");
    }
}

#[test]
fn names_that_could_leave_their_folder_are_no_part_of_a_path() {
    let long = "t".repeat(129);
    for name in [
        "..", ".", "a/b", "a\\b", "_a", "-a", "a b", "a=b", "ä", "a\0", &long,
    ] {
        let refused = ObjectPath::task(&job("j"), TaskFile::Rows, &task(name)).unwrap_err();
        assert!(
            matches!(
                refused,
                StoreError::Name {
                    what: "task id",
                    ..
                }
            ),
            "{name}"
        );
        let refused = ObjectPath::task(&job(name), TaskFile::Rows, &task("t")).unwrap_err();
        assert!(
            matches!(refused, StoreError::Name { what: "job id", .. }),
            "{name}"
        );
    }
    let longest = "t".repeat(128);
    let path = ObjectPath::task(&job("j"), TaskFile::Rows, &task(&longest)).unwrap();
    assert_eq!(path.as_str(), format!("jobs/j/rows/{longest}.parquet"));
}
