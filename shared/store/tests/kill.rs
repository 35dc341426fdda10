//! Writers into a folder that are killed while they write.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};

use bytes::Bytes;
use evalfarm_domain::{JobId, TaskId};
use evalfarm_results::TaskFile;
use evalfarm_store::{Limits, ObjectPath, Store, Variables};

/// Names the store's folder for the process that is to be killed.
const ROOT: &str = "EVALFARM_STORE_TO_KILL";

const BYTES: usize = 4 << 20;

async fn store(root: &Path) -> Store {
    let address = format!("file://{}", root.display());
    let variables = Variables::default();
    let opened = Store::open_with(&address, &variables, Limits::default()).await;
    opened.unwrap()
}

fn path(number: usize) -> ObjectPath {
    let job = JobId::try_from("j").unwrap();
    let task = TaskId::try_from(format!("t{number}")).unwrap();
    ObjectPath::task(&job, TaskFile::Rows, &task).unwrap()
}

fn content(number: usize) -> Bytes {
    Bytes::from(vec![u8::try_from(number % 251).unwrap(); BYTES])
}

/// Returns how many objects are being written, or were when their writer died.
fn staged(staging: &Path) -> usize {
    let entries = fs::read_dir(staging).unwrap();
    entries
        .filter(|entry| entry.as_ref().unwrap().file_name() != "lock")
        .count()
}

/// Not a test of its own: what the other test starts and kills.
#[tokio::test]
async fn writes_until_it_is_killed() {
    let Some(root) = std::env::var_os(ROOT) else {
        return;
    };
    let store = store(Path::new(&root)).await;
    for number in 0.. {
        let bytes = content(number);
        eprintln_now(number);
        store.create(&path(number), bytes).await.unwrap();
    }
}

/// Writes a line past the test harness's capture.
fn eprintln_now(number: usize) {
    use std::io::Write as _;
    std::io::stderr()
        .write_all(format!("{number}\n").as_bytes())
        .unwrap();
}

#[tokio::test]
async fn f36_a_writer_that_is_killed_leaves_whole_objects_only() {
    let parent = tempfile::tempdir().unwrap();
    let root = parent.path().join("store");
    let staging = root.join(".staging");
    let mut killed_while_staging = 0;
    let mut whole = 0;
    for round in 0..20 {
        let mut writer = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "writes_until_it_is_killed", "--nocapture"])
            .env(ROOT, &root)
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let started = BufReader::new(writer.stderr.take().unwrap()).lines();
        // It says which object it is about to write: those that are there already, and up to three new ones.
        let mut started = started.map(|line| line.unwrap().parse::<usize>().unwrap());
        let last = whole + round % 3;
        assert!(started.any(|number| number == last));
        // Every other one dies at once, the others as soon as something lies in the staging folder.
        let place = root.join(path(last).as_str());
        while round % 2 == 0 && staged(&staging) == 0 && !place.is_file() {
            std::thread::yield_now();
        }
        writer.kill().unwrap();
        writer.wait().unwrap();
        killed_while_staging += usize::from(staged(&staging) > 0);

        let store = store(&root).await;
        whole = 0;
        while let Some(bytes) = store.read(&path(whole)).await.unwrap() {
            assert_eq!(bytes, content(whole), "object {whole} after round {round}");
            whole += 1;
        }
        let listed = store
            .committed(&JobId::try_from("j").unwrap(), TaskFile::Rows)
            .await
            .unwrap();
        assert_eq!(listed.len(), whole);
        assert_eq!(fs::read_dir(&staging).unwrap().count(), 1, "the lock alone");
    }
    assert!(
        killed_while_staging > 0,
        "no writer was killed while it staged"
    );
    assert!(whole > 0);
}
