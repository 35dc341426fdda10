//! What every [`JobStore`] owes, asked of both; and what Redis owes when it dies.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

mod redis;
mod suite;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use evalfarm_state::MemoryStore;
use suite::Scene;

fn memory() -> Scene {
    let clock = Arc::new(AtomicU64::new(1_000_000));
    let hands = Arc::clone(&clock);
    let store = MemoryStore::new(move || Duration::from_micros(clock.load(Ordering::Relaxed)));
    let pass = move |time: Duration| {
        hands.fetch_add(u64::try_from(time.as_micros()).unwrap(), Ordering::Relaxed);
    };
    Scene::new(Arc::new(store), Some(Box::new(pass)))
}

macro_rules! contract {
    ($($case:ident),+ $(,)?) => {
        mod in_memory {
            $(#[tokio::test] async fn $case() { super::suite::$case(&super::memory()).await })+
        }
        mod in_redis {
            $(#[tokio::test] async fn $case() {
                super::suite::$case(&super::redis::scene(stringify!($case))).await
            })+
        }
    };
}

contract!(
    progress_counts_each_task_once,
    done_replaces_dead_and_stays,
    nothing_is_known_of_a_new_job,
    a_task_is_claimed_by_one,
    the_same_claimant_gets_the_same_lease,
    an_expired_lease_goes_to_the_next_with_a_higher_fence,
    a_released_lease_goes_to_the_next,
    one_of_many_claimants_wins,
    the_first_reason_to_cancel_stays,
    a_forgotten_job_is_new,
    workers_are_listed_by_their_latest_report,
    permits_are_bounded,
    a_permit_that_is_not_given_back_expires,
    permits_come_at_their_pace,
    many_callers_never_hold_more_permits_than_there_are,
    hostile_ids_stay_apart,
);
