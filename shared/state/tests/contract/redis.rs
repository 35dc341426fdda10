//! A private Redis for the contract, and what happens when one dies.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use evalfarm_state::{
    Claim, JobStore as _, Progress, RedisSettings, RedisStore, StateError, TaskEnd,
};
use evalfarm_testkit::PrivateRedis;

use crate::suite::{Scene, claimant, job, task};

/// Returns a store of its own on the server that all tests share.
pub(crate) fn scene(prefix: &str) -> Scene {
    static SHARED: OnceLock<PrivateRedis> = OnceLock::new();
    let server = SHARED.get_or_init(PrivateRedis::start);
    Scene::new(Arc::new(store(server, prefix)), None)
}

fn store(server: &PrivateRedis, prefix: &str) -> RedisStore {
    let mut settings = RedisSettings::new(server.url());
    prefix.clone_into(&mut settings.prefix);
    settings.limit = Duration::from_secs(2);
    RedisStore::open(&settings).unwrap()
}

#[tokio::test]
async fn a_killed_redis_is_an_error_and_a_restarted_one_remembers() {
    let mut server = PrivateRedis::start();
    let store = store(&server, "restart");
    let (id, done) = (job("j1"), TaskEnd::Done);
    store.expect(&id, 0, 3).await.unwrap();
    store.end(&id, &task("t1"), done).await.unwrap();
    server.kill();
    for _ in 0..2 {
        let error = store.end(&id, &task("t2"), done).await.unwrap_err();
        assert!(
            matches!(
                error,
                StateError::Unreachable(_) | StateError::Timeout { .. }
            ),
            "{error:?}"
        );
    }
    server.restart();
    let deadline = Instant::now() + Duration::from_secs(10);
    while store.end(&id, &task("t2"), done).await.is_err() {
        assert!(Instant::now() < deadline, "the store does not recover");
    }
    let expected = Progress {
        planned: 3,
        done: 2,
        dead: 0,
    };
    assert_eq!(store.progress(&id).await.unwrap(), Some(expected));
}

#[tokio::test]
async fn an_emptied_redis_loses_progress_and_nothing_else() {
    let server = PrivateRedis::start();
    let store = store(&server, "emptied");
    let (id, lease) = (job("j1"), Duration::from_hours(1));
    store.expect(&id, 0, 3).await.unwrap();
    store.end(&id, &task("t1"), TaskEnd::Done).await.unwrap();
    server.flush();
    assert_eq!(store.progress(&id).await.unwrap(), None);
    // Every script still runs, although the server forgot them too.
    store.expect(&id, 0, 3).await.unwrap();
    store.end(&id, &task("t1"), TaskEnd::Done).await.unwrap();
    let claim = store
        .claim(&id, &task("t2"), &claimant("w1", 0), lease)
        .await;
    assert!(matches!(claim.unwrap(), Claim::Granted(_)));
    let expected = Progress {
        planned: 3,
        done: 1,
        dead: 0,
    };
    assert_eq!(store.progress(&id).await.unwrap(), Some(expected));
}

#[tokio::test]
async fn a_frozen_redis_is_a_timeout_and_a_lost_answer_is_not_counted_twice() {
    let server = PrivateRedis::start();
    let store = store(&server, "frozen");
    let (id, who) = (job("j1"), claimant("w1", 0));
    let lease = Duration::from_hours(1);
    store.expect(&id, 0, 1).await.unwrap();
    server.freeze();
    let start = Instant::now();
    let ended = store.end(&id, &task("t1"), TaskEnd::Done).await;
    assert!(
        matches!(ended, Err(StateError::Timeout { .. })),
        "{ended:?}"
    );
    assert!(start.elapsed() < Duration::from_secs(3));
    let claim = store.claim(&id, &task("t1"), &who, lease).await;
    assert!(
        matches!(claim, Err(StateError::Timeout { .. })),
        "{claim:?}"
    );
    server.thaw();
    // The server now runs what it was sent while frozen, twice each; asking once more changes nothing.
    let deadline = Instant::now() + Duration::from_secs(10);
    while store.end(&id, &task("t1"), TaskEnd::Done).await.is_err() {
        assert!(Instant::now() < deadline, "the store does not recover");
    }
    let claim = store.claim(&id, &task("t1"), &who, lease).await.unwrap();
    assert!(matches!(claim, Claim::Granted(lease) if lease.fence == 1));
    let progress = store.progress(&id).await.unwrap().unwrap();
    assert_eq!(progress.done, 1);
}

#[tokio::test]
async fn a_redis_that_was_never_there_is_an_error_that_can_be_ignored() {
    // Port 1 of the loopback: nobody listens there.
    let mut settings = RedisSettings::new("redis://127.0.0.1:1/");
    settings.limit = Duration::from_secs(1);
    let store = RedisStore::open(&settings).unwrap();
    let error = store.progress(&job("j1")).await.unwrap_err();
    assert!(
        matches!(
            error,
            StateError::Unreachable(_) | StateError::Timeout { .. }
        ),
        "{error:?}"
    );
    let error = RedisStore::open(&RedisSettings::new("http://user:secret@host/")).unwrap_err();
    assert_eq!(error.to_string(), "`…@host/` is not the URL of a Redis");
}
