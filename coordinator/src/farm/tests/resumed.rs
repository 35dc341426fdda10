//! Coordinators that take up what others left.

use std::fs;

use bytes::Bytes;
use evalfarm_domain::JobId;
use evalfarm_proto::Message;
use evalfarm_store::JobObject;

use super::scene::{Does, Scene, sweep, verdict};
use crate::api::{EndOfJob, JobState};

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_was_cancelled_while_its_verdict_was_stored_is_judged() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Finishes));
    let job = farm.take_in(&scene).await;
    let end = farm.end(&job).await;
    let cancelled = Bytes::from_static(br#"{"how":"cancelled","by":"mia","reason":""}"#);
    let ended = scene
        .store
        .create_for_job(&job, JobObject::Ended, cancelled)
        .await;
    ended.unwrap();
    farm.stop().await;
    let farm = scene.start("b", 1, Box::new(|_| Does::Vanishes));
    assert_eq!(farm.jobs.take_up_all().await.unwrap(), 0);
    assert_eq!(farm.end(&job).await, end);
    let again = farm
        .submit(scene.submission(sweep("one")), 2)
        .await
        .unwrap();
    assert!(!again.created);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn jobs_are_taken_up_in_the_order_in_which_they_were_submitted() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let mut submitted = Vec::new();
    for at in 0..6 {
        let name = format!("number-{at}");
        let one = farm
            .submit(scene.submission(sweep(&name)), at)
            .await
            .unwrap();
        submitted.push(one.job);
    }
    farm.stop().await;
    let by_id: Vec<&JobId> = {
        let mut sorted: Vec<&JobId> = submitted.iter().collect();
        sorted.sort();
        sorted
    };
    assert!(
        by_id.iter().zip(&submitted).any(|(a, b)| **a != *b),
        "it tells nothing"
    );
    let (order, mut began) = tokio::sync::mpsc::unbounded_channel();
    let script = move |message: &Message| {
        drop(order.send(super::scene::named(message).0));
        Does::Finishes
    };
    let farm = scene.start("b", 1, Box::new(script));
    assert_eq!(farm.jobs.take_up_all().await.unwrap(), 6);
    for job in &submitted {
        farm.end(job).await;
    }
    let mut order = Vec::new();
    while let Ok(job) = began.try_recv() {
        order.push(job);
    }
    order.dedup();
    assert_eq!(order, submitted);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_is_submitted_while_the_coordinator_stops_waits_for_the_next_one() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Finishes));
    farm.jobs.pause().await;
    let one = farm
        .submit(scene.submission(sweep("one")), 1)
        .await
        .unwrap();
    assert!(one.created);
    assert_eq!(farm.jobs.list()[0].state, JobState::Queued);
    farm.stop().await;
    let farm = scene.start("b", 1, Box::new(|_| Does::Finishes));
    assert_eq!(farm.jobs.take_up_all().await.unwrap(), 1);
    let end = farm.end(&one.job).await;
    assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_copy_of_a_folder_is_made_good_and_gives_the_same_bytes() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Finishes));
    let job = farm.take_in(&scene).await;
    farm.end(&job).await;
    let whole = verdict(scene.folder.path(), "a", &job);
    farm.stop().await;

    // As a power failure may leave it, before the verdict was stored.
    let scene_store = &scene.store;
    let verdict_path = evalfarm_store::ObjectPath::job(
        &job,
        JobObject::Beside(evalfarm_results::BesideFile::Verdict),
    );
    scene_store.remove(&verdict_path.unwrap()).await.unwrap();
    let folder = scene.folder.path().join("a/jobs").join(job.as_str());
    fs::write(folder.join("verdict.json"), "{\"half\":").unwrap();
    let mut damaged = 0;
    for kind in ["rows", "hits", "condensed"] {
        for file in fs::read_dir(folder.join(kind)).unwrap() {
            let file = file.unwrap().path();
            let bytes = fs::read(&file).unwrap();
            fs::write(&file, &bytes[..bytes.len() / 2]).unwrap();
            damaged += 1;
        }
    }
    assert!(damaged > 3);
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    assert_eq!(farm.jobs.take_up_all().await.unwrap(), 1);
    let end = farm.end(&job).await;
    assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
    assert_eq!(verdict(scene.folder.path(), "a", &job), whole);
    let notes = farm.jobs.get(job.as_str()).unwrap().1.board.status().notes;
    let here = scene.folder.path().display().to_string();
    assert!(
        notes.iter().any(|note| note.contains("set aside")),
        "{notes:?}"
    );
    assert!(notes.iter().all(|note| !note.contains(&here)), "{notes:?}");
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_job_that_an_earlier_release_evaluates_otherwise_is_not_run_under_its_name() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let now = farm.take_in(&scene).await;
    let stored = scene.store.read_of_job(&now, JobObject::Submission).await;
    farm.cancel(&now).await.unwrap();
    farm.stop().await;
    let earlier = JobId::try_from("j0000").unwrap();
    let bytes = stored.unwrap().unwrap();
    let created = scene
        .store
        .create_for_job(&earlier, JobObject::Submission, bytes)
        .await;
    created.unwrap();
    let farm = scene.start("b", 1, Box::new(|_| Does::Finishes));
    assert_eq!(farm.jobs.take_up_all().await.unwrap(), 1);
    let end = farm.end(&earlier).await;
    let EndOfJob::Failed { error, input } = end else {
        panic!("{end:?}");
    };
    assert!(input && error.contains(now.as_str()), "{error}");
    farm.stop().await;
}
