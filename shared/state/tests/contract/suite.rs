//! The contract, as functions of any store.

use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_domain::{EngineName, JobId, TaskId, WorkerId};
use evalfarm_state::{
    Budget, Claim, Claimant, JobStore, Lease, Pace, Permit, PermitId, Progress, TaskEnd, Timestamp,
    WorkerReport,
};

const LONG: Duration = Duration::from_hours(1);
const SHORT: Duration = Duration::from_millis(60);

type Hands = Box<dyn Fn(Duration) + Send + Sync>;

/// A store and how its time passes: by a hand on its clock, or by itself.
pub(crate) struct Scene {
    pub(crate) store: Arc<dyn JobStore>,
    hands: Option<Hands>,
}

impl Scene {
    pub(crate) fn new(store: Arc<dyn JobStore>, hands: Option<Hands>) -> Self {
        Self { store, hands }
    }

    /// Lets time pass until `reached` says so.
    async fn until(&self, mut reached: impl AsyncFnMut() -> bool) {
        let deadline = Instant::now() + Duration::from_secs(10);
        while !reached().await {
            assert!(Instant::now() < deadline, "not reached");
            let step = Duration::from_millis(5);
            // Without a hand on its clock a store's time passes by itself, while it is asked.
            if let Some(pass) = &self.hands {
                pass(step);
            }
        }
    }
}

pub(crate) fn job(id: &str) -> JobId {
    JobId::try_from(id).unwrap()
}

pub(crate) fn task(id: &str) -> TaskId {
    TaskId::try_from(id).unwrap()
}

fn engine(id: &str) -> EngineName {
    EngineName::try_from(id).unwrap()
}

pub(crate) fn claimant(worker: &str, slot: u32) -> Claimant {
    let worker = WorkerId::try_from(worker).unwrap();
    Claimant { worker, slot }
}

fn permit(id: &str) -> PermitId {
    PermitId(id.to_owned())
}

fn budget(concurrent: u32, pace: Option<Pace>) -> Budget {
    let concurrent = NonZeroU32::new(concurrent).unwrap();
    Budget { concurrent, pace }
}

async fn granted(scene: &Scene, who: &Claimant, time: Duration) -> Lease {
    match scene.store.claim(&job("j1"), &task("t1"), who, time).await {
        Ok(Claim::Granted(lease)) => lease,
        other => panic!("{other:?}"),
    }
}

pub(crate) async fn progress_counts_each_task_once(scene: &Scene) {
    let (store, job) = (&scene.store, job("j1"));
    for (step, tasks) in [(0, 2), (1, 7), (1, 3), (0, 2)] {
        store.expect(&job, step, tasks).await.unwrap();
    }
    for name in ["t1", "t2", "t1", "t1"] {
        store.end(&job, &task(name), TaskEnd::Done).await.unwrap();
    }
    for _ in 0..2 {
        store.end(&job, &task("t3"), TaskEnd::Dead).await.unwrap();
    }
    let expected = Progress {
        planned: 5,
        done: 2,
        dead: 1,
    };
    assert_eq!(store.progress(&job).await.unwrap(), Some(expected));
}

pub(crate) async fn done_replaces_dead_and_stays(scene: &Scene) {
    let (store, job) = (&scene.store, job("j1"));
    for end in [TaskEnd::Dead, TaskEnd::Done, TaskEnd::Dead] {
        store.end(&job, &task("t1"), end).await.unwrap();
    }
    let expected = Progress {
        planned: 0,
        done: 1,
        dead: 0,
    };
    assert_eq!(store.progress(&job).await.unwrap(), Some(expected));
}

pub(crate) async fn nothing_is_known_of_a_new_job(scene: &Scene) {
    let (store, job) = (&scene.store, job("j1"));
    assert_eq!(store.progress(&job).await.unwrap(), None);
    assert_eq!(store.attempts(&job, &task("t1")).await.unwrap(), 0);
    assert_eq!(store.cancelled(&job).await.unwrap(), None);
    store.cancel(&job, "no").await.unwrap();
    assert_eq!(store.progress(&job).await.unwrap(), None);
    assert_eq!(store.workers().await.unwrap(), []);
}

pub(crate) async fn a_task_is_claimed_by_one(scene: &Scene) {
    let (one, other) = (claimant("w1", 0), claimant("w1", 1));
    let lease = granted(scene, &one, LONG).await;
    assert_eq!(lease.fence, 1);
    let held = scene
        .store
        .claim(&job("j1"), &task("t1"), &other, LONG)
        .await;
    assert_eq!(held.unwrap(), Claim::Held { by: one, fence: 1 });
    let elsewhere = scene
        .store
        .claim(&job("j2"), &task("t1"), &other, LONG)
        .await;
    assert!(matches!(elsewhere.unwrap(), Claim::Granted(_)));
}

pub(crate) async fn the_same_claimant_gets_the_same_lease(scene: &Scene) {
    let one = claimant("w1", 0);
    let first = granted(scene, &one, LONG).await;
    assert_eq!(granted(scene, &one, LONG).await, first);
    let attempts = scene.store.attempts(&job("j1"), &task("t1")).await;
    assert_eq!(attempts.unwrap(), 1);
}

pub(crate) async fn an_expired_lease_goes_to_the_next_with_a_higher_fence(scene: &Scene) {
    let (one, other) = (claimant("w1", 0), claimant("w2", 0));
    let old = granted(scene, &one, SHORT).await;
    let claims = async || {
        let claim = scene
            .store
            .claim(&job("j1"), &task("t1"), &other, LONG)
            .await;
        matches!(claim.unwrap(), Claim::Granted(lease) if lease.fence == 2)
    };
    assert!(!claims().await, "the lease has not expired yet");
    scene.until(claims).await;
    // The one that was too slow learns it and cannot take the lease away again.
    assert!(!scene.store.renew(&old, LONG).await.unwrap());
    scene.store.release(&old).await.unwrap();
    let held = scene.store.claim(&job("j1"), &task("t1"), &one, LONG).await;
    assert_eq!(
        held.unwrap(),
        Claim::Held {
            by: other,
            fence: 2
        }
    );
    let attempts = scene.store.attempts(&job("j1"), &task("t1")).await;
    assert_eq!(attempts.unwrap(), 2);
}

pub(crate) async fn a_released_lease_goes_to_the_next(scene: &Scene) {
    let lease = granted(scene, &claimant("w1", 0), SHORT).await;
    assert!(scene.store.renew(&lease, LONG).await.unwrap());
    for _ in 0..2 {
        scene.store.release(&lease).await.unwrap();
    }
    assert!(!scene.store.renew(&lease, LONG).await.unwrap());
    assert_eq!(granted(scene, &claimant("w2", 0), LONG).await.fence, 2);
}

pub(crate) async fn one_of_many_claimants_wins(scene: &Scene) {
    let claims: Vec<_> = (0..50)
        .map(|slot| {
            let store = Arc::clone(&scene.store);
            tokio::spawn(async move {
                let who = claimant("w1", slot);
                store.claim(&job("j1"), &task("t1"), &who, LONG).await
            })
        })
        .collect();
    let mut winners = 0;
    for claim in claims {
        match claim.await.unwrap().unwrap() {
            Claim::Granted(lease) => {
                assert_eq!(lease.fence, 1);
                winners += 1;
            }
            Claim::Held { fence, .. } => assert_eq!(fence, 1),
        }
    }
    assert_eq!(winners, 1);
}

pub(crate) async fn the_first_reason_to_cancel_stays(scene: &Scene) {
    let (store, job) = (&scene.store, job("j1"));
    for reason in ["asked for", "again"] {
        store.cancel(&job, reason).await.unwrap();
    }
    let reason = store.cancelled(&job).await.unwrap();
    assert_eq!(reason.as_deref(), Some("asked for"));
}

pub(crate) async fn a_forgotten_job_is_new(scene: &Scene) {
    let (store, id) = (&scene.store, job("j1"));
    store.expect(&id, 0, 2).await.unwrap();
    store.end(&id, &task("t1"), TaskEnd::Done).await.unwrap();
    store.cancel(&id, "no").await.unwrap();
    let lease = granted(scene, &claimant("w1", 0), LONG).await;
    store.expect(&job("j2"), 0, 1).await.unwrap();
    for _ in 0..2 {
        store.forget_job(&id).await.unwrap();
    }
    assert_eq!(store.progress(&id).await.unwrap(), None);
    assert_eq!(store.cancelled(&id).await.unwrap(), None);
    assert!(!store.renew(&lease, LONG).await.unwrap());
    assert_eq!(granted(scene, &claimant("w2", 0), LONG).await.fence, 1);
    assert!(store.progress(&job("j2")).await.unwrap().is_some());
}

pub(crate) async fn workers_are_listed_by_their_latest_report(scene: &Scene) {
    let store = &scene.store;
    let report = |worker: &str, seen: u64, current: &[&str]| WorkerReport {
        worker: WorkerId::try_from(worker).unwrap(),
        seen: Timestamp(seen),
        started: Timestamp(1),
        release: "0.1.0".to_owned(),
        slots: 2,
        current: current.iter().map(|id| task(id)).collect(),
    };
    let beats = [
        report("w2", 10, &["t1"]),
        report("w1", 11, &[]),
        report("w2", 30, &["t2", "t3"]),
        report("w2", 20, &["t1"]), // an old one that comes late
    ];
    for beat in &beats {
        store.beat(beat).await.unwrap();
    }
    let expected = [beats[1].clone(), beats[2].clone()];
    assert_eq!(store.workers().await.unwrap(), expected);
    for _ in 0..2 {
        store.forget_worker(&beats[1].worker).await.unwrap();
    }
    assert_eq!(store.workers().await.unwrap(), expected[1..]);
}

pub(crate) async fn permits_are_bounded(scene: &Scene) {
    let (store, two) = (&scene.store, budget(2, None));
    let acquire = async |engine_name: &str, id: &str| {
        let (name, id) = (engine(engine_name), permit(id));
        store.acquire(&name, &two, &id, LONG).await.unwrap()
    };
    for id in ["p1", "p2", "p1"] {
        assert_eq!(acquire("es", id).await, Permit::Granted, "{id}");
    }
    match acquire("es", "p3").await {
        Permit::AllHeld { expires_in } => {
            assert!(
                expires_in <= LONG && expires_in > LONG / 2,
                "{expires_in:?}"
            );
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(acquire("rerank", "p3").await, Permit::Granted);
    for _ in 0..2 {
        store.give_back(&engine("es"), &permit("p1")).await.unwrap();
    }
    assert_eq!(acquire("es", "p3").await, Permit::Granted);
    assert!(matches!(acquire("es", "p1").await, Permit::AllHeld { .. }));
}

pub(crate) async fn a_permit_that_is_not_given_back_expires(scene: &Scene) {
    let (store, one) = (&scene.store, budget(1, None));
    let acquire = async |id: &str, hold| {
        let permit = store.acquire(&engine("es"), &one, &permit(id), hold).await;
        permit.unwrap() == Permit::Granted
    };
    assert!(acquire("p1", SHORT).await);
    assert!(!acquire("p2", LONG).await);
    scene.until(async || acquire("p2", LONG).await).await;
}

pub(crate) async fn permits_come_at_their_pace(scene: &Scene) {
    let interval = Duration::from_millis(200);
    let pace = Pace {
        interval,
        burst: NonZeroU32::new(3).unwrap(),
    };
    let (store, paced) = (&scene.store, budget(100, Some(pace)));
    let acquire = async |id: &str| {
        let permit = store
            .acquire(&engine("es"), &paced, &permit(id), LONG)
            .await;
        permit.unwrap()
    };
    // A permit that is asked for again uses up no request.
    for id in ["p1", "p2", "p2", "p3", "p1"] {
        assert_eq!(acquire(id).await, Permit::Granted, "{id}");
    }
    match acquire("p4").await {
        Permit::TooSoon { wait } => assert!(wait <= interval && !wait.is_zero(), "{wait:?}"),
        other => panic!("{other:?}"),
    }
    scene
        .until(async || acquire("p4").await == Permit::Granted)
        .await;
    assert!(matches!(acquire("p5").await, Permit::TooSoon { .. }));
}

pub(crate) async fn many_callers_never_hold_more_permits_than_there_are(scene: &Scene) {
    let callers: Vec<_> = (0..50)
        .map(|number| {
            let store = Arc::clone(&scene.store);
            tokio::spawn(async move {
                let id = permit(&format!("p{number}"));
                let three = budget(3, None);
                store.acquire(&engine("es"), &three, &id, LONG).await
            })
        })
        .collect();
    let mut held = 0;
    for caller in callers {
        if caller.await.unwrap().unwrap() == Permit::Granted {
            held += 1;
        }
    }
    assert_eq!(held, 3);
}

pub(crate) async fn hostile_ids_stay_apart(scene: &Scene) {
    let store = &scene.store;
    let ids = ["a", "a}", "a}:ends", "{a}", "a b", "é\u{0}", "%7d"];
    for (number, id) in ids.iter().enumerate() {
        let tasks = number as u64 + 1;
        store.expect(&job(id), 0, tasks).await.unwrap();
        store.end(&job(id), &task(id), TaskEnd::Done).await.unwrap();
        let who = claimant(&format!("{id} 1 2"), 7);
        let claim = store.claim(&job(id), &task(id), &who, LONG).await;
        assert!(matches!(claim.unwrap(), Claim::Granted(_)), "{id}");
        let other = store
            .claim(&job(id), &task(id), &claimant("w", 0), LONG)
            .await;
        assert_eq!(other.unwrap(), Claim::Held { by: who, fence: 1 });
    }
    for (number, id) in ids.iter().enumerate() {
        let expected = Progress {
            planned: number as u64 + 1,
            done: 1,
            dead: 0,
        };
        let progress = store.progress(&job(id)).await.unwrap();
        assert_eq!(progress, Some(expected), "{id}");
    }
}
