//! Jobs that are submitted, joined and cancelled at awkward moments.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use evalfarm_store::{JobObject, ObjectPath};

use super::scene::{Does, Scene, actor, sweep};
use crate::api::{EndOfJob, JobState};
use crate::farm::credentials::Role;
use crate::farm::jobs::JobsError;

fn cancelled() -> EndOfJob {
    EndOfJob::Cancelled {
        by: "mia".to_owned(),
        reason: "wrong split".to_owned(),
    }
}

/// Tasks vanish until the switch is turned.
fn switched(on: &Arc<AtomicBool>) -> Box<super::scene::Script> {
    let on = Arc::clone(on);
    Box::new(move |_| {
        if on.load(Ordering::SeqCst) {
            Does::Finishes
        } else {
            Does::Vanishes
        }
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn equal_submissions_at_once_are_one_job() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 4, Box::new(|_| Does::Finishes));
    let submit = |at| farm.submit(scene.submission(sweep("one")), at);
    let (a, b, c) = tokio::join!(submit(1), submit(2), submit(3));
    let all = [a.unwrap(), b.unwrap(), c.unwrap()];
    assert_eq!(all.iter().filter(|one| one.created).count(), 1, "{all:?}");
    assert!(all.iter().all(|one| one.job == all[0].job));
    assert_eq!(farm.jobs.list().len(), 1);
    let end = farm.end(&all[0].job).await;
    assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
    let again = farm
        .submit(scene.submission(sweep("one")), 4)
        .await
        .unwrap();
    assert!(!again.created);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_is_cancelled_while_it_waits_and_while_it_runs_and_can_be_submitted_again() {
    let scene = Scene::new().await;
    let on = Arc::new(AtomicBool::new(false));
    let farm = scene.start("a", 1, switched(&on));
    let runs = farm
        .submit(scene.submission(sweep("runs")), 1)
        .await
        .unwrap()
        .job;
    farm.when(&runs, |status| status.tasks.planned > 0).await;
    let waits = farm
        .submit(scene.submission(sweep("waits")), 2)
        .await
        .unwrap()
        .job;
    assert_eq!(
        farm.jobs.get(waits.as_str()).unwrap().1.board.state(),
        JobState::Queued
    );
    for job in [&waits, &runs] {
        farm.cancel(job).await.unwrap();
        assert_eq!(farm.end(job).await, cancelled());
        let over = farm.cancel(job).await.unwrap_err();
        assert!(matches!(over, JobsError::Over { .. }), "{over:?}");
        let ended = ObjectPath::job(job, JobObject::Ended).unwrap();
        assert!(scene.store.has(&ended).await.unwrap());
    }
    on.store(true, Ordering::SeqCst);
    for (job, name) in [(&runs, "runs"), (&waits, "waits")] {
        let again = farm.submit(scene.submission(sweep(name)), 3).await.unwrap();
        assert!(again.created);
        let flag = farm.jobs.farm.lines.state.cancelled(job).await.unwrap();
        assert_eq!(flag, None, "workers would drop its tasks");
        let end = farm.end(job).await;
        assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
        let ended = ObjectPath::job(job, JobObject::Ended).unwrap();
        assert!(!scene.store.has(&ended).await.unwrap());
    }
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn only_its_submitter_or_an_operator_cancels_a_job() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let job = farm
        .submit(scene.submission(sweep("mias")), 1)
        .await
        .unwrap()
        .job;
    let tom = actor("tom", Role::Proposer);
    let refused = farm.jobs.cancel(&tom, job.as_str(), "").await.unwrap_err();
    assert!(matches!(refused, JobsError::NotYours { .. }), "{refused:?}");
    farm.cancel(&job).await.unwrap();
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_ends_at_once_the_first_stays() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let job = farm.take_in(&scene).await;
    let failed = EndOfJob::Failed {
        error: "no worker".to_owned(),
        input: false,
    };
    let first = farm.jobs.store_end(&job, failed.clone()).await.unwrap();
    assert_eq!(first, failed);
    let second = farm.jobs.store_end(&job, cancelled()).await.unwrap();
    assert_eq!(second, failed);
    let over = farm.cancel(&job).await.unwrap_err();
    assert!(matches!(over, JobsError::Over { .. }), "{over:?}");
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_waits_holds_no_dataset_and_one_that_is_over_neither() {
    let scene = Scene::new().await;
    let on = Arc::new(AtomicBool::new(false));
    let farm = scene.start("a", 1, switched(&on));
    let first = farm
        .submit(scene.submission(sweep("first")), 1)
        .await
        .unwrap()
        .job;
    farm.when(&first, |status| status.tasks.planned > 0).await;
    let entry = |job: &evalfarm_domain::JobId| farm.jobs.get(job.as_str()).unwrap().1;
    for number in 0..20 {
        let name = format!("waits-{number}");
        let job = farm
            .submit(scene.submission(sweep(&name)), 2)
            .await
            .unwrap()
            .job;
        assert!(entry(&job).prepared().is_none());
        farm.cancel(&job).await.unwrap();
    }
    farm.cancel(&first).await.unwrap();
    farm.end(&first).await;
    assert!(entry(&first).prepared().is_none());
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_whose_broker_refuses_everything_ends_when_it_is_cancelled() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    evalfarm_broker::Broker::close(&*farm.broker).await;
    let job = farm.take_in(&scene).await;
    let refused = |note: &String| note.starts_with("waiting for the broker");
    let status = farm
        .when(&job, |status| status.notes.iter().any(refused))
        .await;
    assert_eq!(status.notes.len(), 1, "{:?}", status.notes);
    farm.cancel(&job).await.unwrap();
    assert_eq!(farm.end(&job).await, cancelled());
    farm.stop().await;
}
