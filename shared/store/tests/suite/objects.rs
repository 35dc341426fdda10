//! Creating and reading.

use bytes::Bytes;
use evalfarm_domain::Digest;
use evalfarm_results::{BesideFile, TaskFile};
use evalfarm_store::{Creation, JobObject, ObjectPath, Store, StoreError};

use super::{job, task, text};

fn object(name: &str) -> ObjectPath {
    ObjectPath::task(&job("objects"), TaskFile::Hits, &task(name)).unwrap()
}

pub(crate) async fn are_created_once(store: &Store) {
    let path = object("once");
    let create = |bytes: &str| store.create(&path, text(bytes));
    assert_eq!(create("one").await.unwrap(), Creation::Created);
    assert_eq!(create("one").await.unwrap(), Creation::Same);
    let other = Creation::Different {
        expected: Digest::of(b"two"),
        found: Digest::of(b"one"),
    };
    assert_eq!(create("two").await.unwrap(), other);
    assert_eq!(store.read(&path).await.unwrap(), Some(text("one")));
}

pub(crate) async fn have_one_creator_however_many_try(store: &Store) {
    let path = object("contended");
    let tries = (0..8).map(|number| {
        let (store, path) = (store.clone(), path.clone());
        tokio::spawn(async move {
            let bytes = Bytes::from(vec![number; 100_000]);
            (
                Digest::of(&bytes),
                store.create(&path, bytes).await.unwrap(),
            )
        })
    });
    let tries: Vec<_> = tries.collect();
    let mut outcomes = Vec::new();
    for one in tries {
        outcomes.push(one.await.unwrap());
    }
    let mut winners = outcomes
        .iter()
        .filter(|(_, creation)| *creation == Creation::Created);
    let winner = winners.next().expect("one has created it").0;
    assert!(winners.next().is_none(), "{outcomes:?}");
    for (expected, creation) in outcomes.iter().filter(|(digest, _)| *digest != winner) {
        let lost = Creation::Different {
            expected: *expected,
            found: winner,
        };
        assert_eq!(*creation, lost);
    }
    let stored = store.require(&path).await.unwrap();
    assert_eq!(Digest::of(&stored), winner);
}

pub(crate) async fn that_are_missing_are_said_to_be(store: &Store) {
    let path = object("missing");
    assert_eq!(store.read(&path).await.unwrap(), None);
    let error = store.require(&path).await.unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }));
    assert_eq!(
        error.to_string(),
        "the store has no `jobs/objects/hits/missing.parquet`"
    );
    let verdict = JobObject::Beside(BesideFile::Verdict);
    let none = store.read_of_job(&job("nobody"), verdict).await.unwrap();
    assert_eq!(none, None);
}

pub(crate) async fn can_be_taken_back(store: &Store) {
    let job = job("resumed");
    let path = ObjectPath::job(&job, JobObject::Ended).unwrap();
    for reason in ["one", "two"] {
        // Whether it is there or not.
        store.remove(&path).await.unwrap();
        assert!(!store.has(&path).await.unwrap());
        assert_eq!(store.read(&path).await.unwrap(), None);
        let created = store.create(&path, text(reason)).await.unwrap();
        assert_eq!(created, Creation::Created);
        assert!(store.has(&path).await.unwrap());
        assert_eq!(store.require(&path).await.unwrap(), text(reason));
    }
    let submission = ObjectPath::job(&job, JobObject::Submission).unwrap();
    assert_eq!(submission.as_str(), "jobs/resumed/submission.json");
    store.create(&submission, text("{}")).await.unwrap();
    store.remove(&path).await.unwrap();
    assert!(store.has(&submission).await.unwrap());
}

pub(crate) async fn may_be_empty_or_large(store: &Store) {
    // Larger than what is digested on the runtime's own threads, and than one read of a socket.
    let large = Bytes::from(
        (0..3_000_000_u32)
            .map(|at| (at % 251) as u8)
            .collect::<Vec<_>>(),
    );
    for (name, bytes) in [("empty", Bytes::new()), ("large", large)] {
        let path = object(name);
        let created = store.create(&path, bytes.clone()).await.unwrap();
        assert_eq!(created, Creation::Created);
        assert_eq!(store.require(&path).await.unwrap(), bytes);
        assert_eq!(store.create(&path, bytes).await.unwrap(), Creation::Same);
    }
}
