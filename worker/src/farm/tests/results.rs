//! What is committed, by whomever and however often.

use std::fs;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use evalfarm_domain::{Digest, EngineName, JobId, JobSettings, TaskId, WorkerId};
use evalfarm_proto::{Commit, Message, TaskFailureKind};
use evalfarm_results::{JobFolder, TaskFile};
use evalfarm_retrieval::Bm25Index;
use evalfarm_state::{
    Budget, Claim, Claimant, JobStore, Lease, Permit, PermitId, Progress, StateError, TaskEnd,
    WorkerReport,
};
use evalfarm_store::{Creation, ObjectPath};

use super::bench::{Farm, engine_name, options, with_engine};
use crate::farm::{Delay, Engine, Options};
use crate::{Evaluator, Stop};

/// Returns a job's folder with what the embedded mode commits for these tasks.
fn embedded(farm: &Farm, settings: &JobSettings, messages: &[Message]) -> JobFolder {
    let root = farm.folder.path().join(format!("jobs-{}", settings.job));
    let folder = JobFolder::create(&root, &settings.job, &serde_json::Value::Null).unwrap();
    let index = Bm25Index::build(&farm.dataset.corpus, &settings.engine).unwrap();
    let evaluator = Evaluator::new(settings, &farm.dataset, &index).unwrap();
    let (metrics, never) = (evaluator.metrics(), Stop::never());
    for message in messages {
        match message {
            Message::Evaluate(task) => {
                let block = evaluator.evaluate(task, &never).unwrap();
                folder.commit_rows(&task.id(), &block).unwrap();
            }
            Message::Average(task) => {
                let means = evaluator.average(task, &never).unwrap();
                folder
                    .commit_means(&task.id(), task.fold, metrics, &means)
                    .unwrap();
            }
            Message::Examine(task) => {
                let found = evaluator.examine(task, &never).unwrap();
                let id = task.id();
                folder.commit_hits(&id, &found.hits).unwrap();
                folder.commit_relevant(&id, &found.relevant).unwrap();
                folder
                    .commit_condensed(&id, metrics, &found.condensed)
                    .unwrap();
                folder.commit_unjudged(&id, &found.unjudged).unwrap();
            }
            other => panic!("not a task: {other:?}"),
        }
    }
    folder
}

/// Every object of a job but its timings has the bytes that the embedded mode writes, and no other is there.
async fn assert_same_as_embedded(farm: &Farm, settings: &JobSettings, messages: &[Message]) {
    let folder = embedded(farm, settings, messages);
    for message in messages {
        let task = TaskId::try_from(message.id()).unwrap();
        for kind in TaskFile::ALL {
            let name = format!("{task}.parquet");
            let written = fs::read(folder.path().join(kind.folder()).join(name)).ok();
            let stored = farm.object(&settings.job, kind, &task).await;
            if kind == TaskFile::Timings {
                let examined = matches!(message, Message::Examine(_));
                assert_eq!(stored.is_some(), !examined, "{task}");
            } else {
                assert_eq!(stored, written.map(Bytes::from), "{task} {kind:?}");
            }
        }
    }
}

fn tasks(farm: &Farm, settings: &JobSettings) -> Vec<Message> {
    vec![
        Message::Evaluate(farm.evaluate(settings, 0)),
        Message::Evaluate(farm.evaluate(settings, 8)),
        Message::Average(farm.evaluate(settings, 4)),
        Message::Examine(farm.examine(settings)),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn two_jobs_at_once_give_what_the_embedded_mode_gives() {
    let farm = Farm::new().await;
    let jobs = [
        farm.job("j1", 10, None).await,
        farm.job("j2", 3, None).await,
    ];
    let all = jobs.each_ref().map(|settings| tasks(&farm, settings));
    let two = NonZeroU16::new(2).unwrap();
    // Only one stays open, so that each task finds the other job in the way.
    let worker = farm.start(Options {
        slots: two,
        open_jobs: NonZeroUsize::MIN,
        ..options("w1")
    });
    for (one, other) in all[0].iter().zip(&all[1]) {
        farm.publish(one).await;
        farm.publish(other).await;
    }
    for _ in 0..8 {
        let finished = farm.finished().await;
        assert_eq!((finished.commit, finished.attempt), (Commit::First, 1));
        assert_eq!(finished.worker, worker.id);
    }
    for (settings, messages) in jobs.iter().zip(&all) {
        assert_same_as_embedded(&farm, settings, messages).await;
        let progress = farm.state.progress(&settings.job).await.unwrap().unwrap();
        assert_eq!((progress.done, progress.dead), (4, 0));
    }
    assert_eq!(worker.drain().await.abandoned, 0);
    assert!(farm.state.workers().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_duplicate_is_identical_and_computed_by_nobody() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, None).await;
    let task = Message::Evaluate(farm.evaluate(&settings, 0));
    let worker = farm.start(options("w1"));
    farm.publish(&task).await;
    let first = farm.finished().await;
    farm.publish(&task).await;
    let second = farm.finished().await;
    assert_eq!(
        [first.commit, second.commit],
        [Commit::First, Commit::Identical]
    );
    assert_eq!(first.rows, second.rows);
    let stored = farm.object(&settings.job, TaskFile::Rows, &first.task);
    assert_eq!(Digest::of(&stored.await.unwrap()), first.rows);
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_delayed_engine_answers_as_the_embedded_one_within_its_budget() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, Some(engine_name())).await;
    let messages = tasks(&farm, &settings);
    let delay = Delay {
        latency: Duration::from_micros(100),
        budget: Some(Budget {
            concurrent: NonZeroU32::MIN,
            pace: None,
        }),
    };
    let worker = farm.start(Options {
        slots: NonZeroU16::new(3).unwrap(),
        ..with_engine("w1", Engine::Delay(delay))
    });
    for message in &messages {
        farm.publish(message).await;
    }
    for _ in &messages {
        farm.finished().await;
    }
    assert_same_as_embedded(&farm, &settings, &messages).await;
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_engine_that_does_nothing_leaves_nothing() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, Some(engine_name())).await;
    let task = farm.evaluate(&settings, 0);
    let worker = farm.start(with_engine("w1", Engine::Noop));
    farm.publish(&Message::Evaluate(task.clone())).await;
    assert_eq!(farm.finished().await.commit, Commit::First);
    assert_eq!(farm.rows(&task).await, None);
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn other_bytes_of_the_same_task_are_a_conflict() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, None).await;
    let task = farm.examine(&settings);
    let path = ObjectPath::task(&settings.job, TaskFile::Hits, &task.id()).unwrap();
    let other = farm.store.create(&path, Bytes::from_static(b"other"));
    assert_eq!(other.await.unwrap(), Creation::Created);
    let worker = farm.start(options("w1"));
    farm.publish(&Message::Examine(task.clone())).await;
    let failed = farm.failed().await;
    assert_eq!(failed.kind, TaskFailureKind::Conflict);
    let dead = farm.dead().await;
    assert!(
        dead[0].reason.starts_with("conflict: "),
        "{}",
        dead[0].reason
    );
    worker.drain().await;
}

/// Counts that cannot be reached.
#[derive(Debug)]
struct Away;

const AWAY: StateError = StateError::Timeout {
    limit: Duration::ZERO,
};

#[async_trait]
impl JobStore for Away {
    async fn expect(&self, _: &JobId, _: u32, _: u64) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn end(&self, _: &JobId, _: &TaskId, _: TaskEnd) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn progress(&self, _: &JobId) -> Result<Option<Progress>, StateError> {
        Err(AWAY)
    }
    async fn claim(
        &self,
        _: &JobId,
        _: &TaskId,
        _: &Claimant,
        _: Duration,
    ) -> Result<Claim, StateError> {
        Err(AWAY)
    }
    async fn renew(&self, _: &Lease, _: Duration) -> Result<bool, StateError> {
        Err(AWAY)
    }
    async fn release(&self, _: &Lease) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn attempts(&self, _: &JobId, _: &TaskId) -> Result<u64, StateError> {
        Err(AWAY)
    }
    async fn cancel(&self, _: &JobId, _: &str) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn cancelled(&self, _: &JobId) -> Result<Option<String>, StateError> {
        Err(AWAY)
    }
    async fn forget_job(&self, _: &JobId) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn beat(&self, _: &WorkerReport) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn workers(&self) -> Result<Vec<WorkerReport>, StateError> {
        Err(AWAY)
    }
    async fn forget_worker(&self, _: &WorkerId) -> Result<(), StateError> {
        Err(AWAY)
    }
    async fn acquire(
        &self,
        _: &EngineName,
        _: &Budget,
        _: &PermitId,
        _: Duration,
    ) -> Result<Permit, StateError> {
        Err(AWAY)
    }
    async fn give_back(&self, _: &EngineName, _: &PermitId) -> Result<(), StateError> {
        Err(AWAY)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn work_goes_on_without_counts_and_with_heartbeats_that_are_too_short() {
    let farm = Farm::new().await;
    let delay = Delay {
        latency: Duration::from_millis(1),
        budget: Some(Budget {
            concurrent: NonZeroU32::new(8).unwrap(),
            pace: None,
        }),
    };
    let states = [
        None,
        Some(Arc::new(Away) as Arc<dyn JobStore>),
        Some(Arc::clone(&farm.state) as Arc<dyn JobStore>),
    ];
    for (number, state) in states.into_iter().enumerate() {
        let settings = farm
            .job(&format!("j{number}"), 10, Some(engine_name()))
            .await;
        let messages = tasks(&farm, &settings);
        // No heartbeat is ever on time.
        let short = Options {
            heartbeat: Duration::from_nanos(1),
            slots: NonZeroU16::new(4).unwrap(),
            ..with_engine(&format!("w{number}"), Engine::Delay(delay.clone()))
        };
        let worker = farm.start_with(short, state);
        for message in &messages {
            farm.publish(message).await;
        }
        for _ in &messages {
            assert_eq!(farm.finished().await.commit, Commit::First);
        }
        assert_same_as_embedded(&farm, &settings, &messages).await;
        assert_eq!(worker.drain().await.abandoned, 0);
    }
}
