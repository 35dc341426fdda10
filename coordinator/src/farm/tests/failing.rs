//! Tasks that fail, and workers that say what is not so.

use std::collections::BTreeSet;

use evalfarm_domain::{Fold, TaskId};
use evalfarm_gate::Verdict;
use evalfarm_proto::Message;
use evalfarm_results::JobFolder;
use serde_json::Value;

use super::scene::{Does, Running, Scene, failed, named, say, sweep, verdict};
use crate::api::EndOfJob;
use crate::rejudge;

fn judged(verdict: Verdict) -> EndOfJob {
    EndOfJob::Judged { verdict }
}

async fn one(scene: &Scene, farm: &Running) -> (evalfarm_domain::JobId, EndOfJob) {
    let job = farm.take_in(scene).await;
    let end = farm.end(&job).await;
    (job, end)
}

/// Whether a message is about rows of a fold.
fn rows_of(message: &Message, fold: Fold) -> bool {
    matches!(message, Message::Evaluate(task) if task.fold == fold)
}

fn incomplete(record: &Value) -> bool {
    let limits = record["limits"].as_array().unwrap();
    limits.iter().any(|limit| limit["code"] == "incomplete")
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_that_chose_without_some_rows_says_so_and_promotes_nobody() {
    let scene = Scene::new().await;
    let mut train = 0;
    let script = move |message: &Message| {
        train += usize::from(rows_of(message, Fold::Train));
        if rows_of(message, Fold::Train) && train == 1 {
            Does::Fails
        } else {
            Does::Finishes
        }
    };
    let farm = scene.start("a", 1, Box::new(script));
    let (job, end) = one(&scene, &farm).await;
    assert_eq!(end, judged(Verdict::InsufficientEvidence));
    let (_, entry) = farm.jobs.get(job.as_str()).unwrap();
    let status = entry.board.status();
    assert_eq!(status.tasks.dead, 1);
    assert!(
        status
            .notes
            .iter()
            .any(|note| note.contains("the engine is away"))
    );
    let bytes = verdict(scene.folder.path(), "a", &job);
    let record: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(record["unfinished_train_rows"], 12);
    assert!(incomplete(&record), "{:#}", record["limits"]);
    // Whoever judges the stored rows again says the same.
    let folder = JobFolder::open(&farm.jobs.farm.job_folder(&job)).unwrap();
    let again = rejudge(&folder, None).unwrap();
    assert_eq!(again.record, record);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_that_was_committed_before_its_task_is_given_up_counts() {
    let scene = Scene::new().await;
    let script = |message: &Message| {
        if rows_of(message, Fold::Train) {
            Does::FinishesAndFails
        } else {
            Does::Finishes
        }
    };
    let farm = scene.start("late", 1, Box::new(script));
    let (job, _) = one(&scene, &farm).await;
    let tasks = farm.jobs.get(job.as_str()).unwrap().1.board.status().tasks;
    assert_eq!((tasks.dead, tasks.done), (0, tasks.planned));
    let late = verdict(scene.folder.path(), "late", &job);
    farm.stop().await;
    let calm = Scene::new().await;
    let farm = calm.start("calm", 1, Box::new(|_| Does::Finishes));
    one(&calm, &farm).await;
    assert_eq!(late, verdict(calm.folder.path(), "calm", &job));
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_is_said_to_be_done_and_has_no_result_is_not_done() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::OnlySaysSo));
    let job = farm.take_in(&scene).await;
    farm.when(&job, |status| status.tasks.planned > 0).await;
    farm.cancel(&job).await.unwrap();
    farm.end(&job).await;
    let tasks = farm.jobs.get(job.as_str()).unwrap().1.board.status().tasks;
    assert_eq!(tasks.done, 0);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_said_again_of_an_earlier_step_changes_nothing() {
    let scene = Scene::new().await;
    let (heard, mut hear) = tokio::sync::mpsc::unbounded_channel();
    let script = move |message: &Message| {
        if rows_of(message, Fold::Holdout) {
            drop(heard.send(None));
            return Does::Vanishes;
        }
        drop(heard.send(Some(named(message))));
        Does::Finishes
    };
    let farm = scene.start("a", 1, Box::new(script));
    let job = farm.take_in(&scene).await;
    let mut earlier: BTreeSet<TaskId> = BTreeSet::new();
    while let Some(Some((_, task))) = hear.recv().await {
        earlier.insert(task);
    }
    assert!(!earlier.is_empty());
    for task in earlier {
        say(&farm.broker, &failed(job.clone(), task)).await;
    }
    farm.cancel(&job).await.unwrap();
    farm.end(&job).await;
    let tasks = farm.jobs.get(job.as_str()).unwrap().1.board.status().tasks;
    assert_eq!(tasks.dead, 0);
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_examination_that_is_given_up_fails_its_job_until_it_is_submitted_again() {
    let scene = Scene::new().await;
    let mut failures = 1;
    let script = move |message: &Message| {
        if matches!(message, Message::Examine(_)) && failures > 0 {
            failures -= 1;
            return Does::Fails;
        }
        Does::Finishes
    };
    let farm = scene.start("a", 1, Box::new(script));
    let (job, end) = one(&scene, &farm).await;
    let EndOfJob::Failed { error, input } = end else {
        panic!("{end:?}");
    };
    assert!(error.contains("the engine is away") && !input, "{error}");
    let again = farm
        .submit(scene.submission(sweep("one")), 2)
        .await
        .unwrap();
    assert!(again.created);
    let end = farm.end(&job).await;
    assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_breaks_goes_on_later_and_names_no_place_of_this_machine() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Finishes));
    let looks = farm.jobs.farm.ledger(scene.dataset);
    std::fs::create_dir_all(&looks).unwrap();
    let job = farm.take_in(&scene).await;
    let status = farm.when(&job, |status| !status.notes.is_empty()).await;
    let here = scene.folder.path().display().to_string();
    let note = &status.notes[0];
    assert!(note.starts_with("tried again in 1 s: the looks"), "{note}");
    assert!(!note.contains(&here), "{note}");
    std::fs::remove_dir(&looks).unwrap();
    let end = farm.end(&job).await;
    assert!(matches!(end, EndOfJob::Judged { .. }), "{end:?}");
    farm.stop().await;
}
