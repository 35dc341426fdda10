//! What fails, and what becomes of it.

use std::collections::BTreeMap;
use std::num::NonZeroU32;
use std::time::Duration;

use evalfarm_broker::{Broker as _, Letter};
use evalfarm_domain::{Candidate, FieldName, FieldWeights};
use evalfarm_proto::{Fate, Message, Queue, TaskFailureKind};
use evalfarm_state::{JobStore as _, Progress};

use super::bench::{Farm, engine_name, options, with_engine};
use crate::farm::{Delay, Engine, Fault, Faulty, Options};

#[tokio::test(flavor = "multi_thread")]
async fn a_permanent_failure_is_dead_at_once_and_says_why() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, None).await;
    let mut task = farm.evaluate(&settings, 0);
    let unknown = FieldName::try_from("colour").unwrap();
    task.candidates = [Candidate {
        combine: task.candidates[0].combine,
        weights: FieldWeights::try_from(BTreeMap::from([(unknown, 1.0)])).unwrap(),
    }]
    .into();
    let worker = farm.start(options("w1"));
    farm.publish(&Message::Evaluate(task.clone())).await;
    let failed = farm.failed().await;
    assert_eq!(
        (failed.kind, failed.fate, failed.attempt),
        (TaskFailureKind::Permanent, Fate::Dead, 1)
    );
    assert_eq!(failed.task, task.id());
    assert!(
        failed.causes.iter().any(|cause| cause.contains("colour")),
        "{:?}",
        failed.causes
    );
    let dead = farm.dead().await;
    assert!(dead[0].reason.contains("colour"), "{}", dead[0].reason);
    let progress = farm.state.progress(&settings.job).await.unwrap();
    assert_eq!(
        progress,
        Some(Progress {
            planned: 0,
            done: 0,
            dead: 1
        })
    );
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_panic_uses_up_attempts_and_the_worker_survives() {
    let farm = Farm::new().await;
    let broken = farm.job("j1", 10, Some(engine_name())).await;
    let sound = farm.job("j2", 10, None).await;
    let broken_engine = Faulty {
        fault: Fault::Panic,
        query: None,
    };
    let worker = farm.start(with_engine("w1", Engine::Faulty(broken_engine)));
    farm.publish(&Message::Evaluate(farm.evaluate(&broken, 0)))
        .await;
    let fates = [farm.failed().await, farm.failed().await].map(|failed| {
        assert_eq!(failed.kind, TaskFailureKind::Panic);
        assert!(failed.causes[0].contains("injected"), "{:?}", failed.causes);
        (failed.attempt, failed.fate)
    });
    assert_eq!(fates, [(1, Fate::Retried), (2, Fate::Dead)]);
    assert_eq!(farm.dead().await[0].attempt, 2);
    farm.publish(&Message::Evaluate(farm.evaluate(&sound, 0)))
        .await;
    farm.finished().await;
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_deadline_frees_the_slot() {
    let farm = Farm::new().await;
    let slow = farm.job("j1", 10, Some(engine_name())).await;
    let quick = farm.job("j2", 10, None).await;
    let hour = Delay {
        latency: Duration::from_hours(1),
        budget: None,
    };
    let worker = farm.start(Options {
        deadline: Duration::from_secs(2),
        attempts: NonZeroU32::MIN,
        ..with_engine("w1", Engine::Delay(hour))
    });
    farm.publish(&Message::Evaluate(farm.evaluate(&slow, 0)))
        .await;
    let failed = farm.failed().await;
    assert_eq!(
        (failed.kind, failed.fate),
        (TaskFailureKind::Deadline, Fate::Dead)
    );
    farm.publish(&Message::Evaluate(farm.evaluate(&quick, 0)))
        .await;
    farm.finished().await;
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_stored_yet_is_tried_again_and_then_dead() {
    let farm = Farm::new().await;
    let mut settings = farm.job("j1", 10, None).await;
    settings.job = "j2".try_into().unwrap();
    let worker = farm.start(options("w1"));
    farm.publish(&Message::Average(farm.evaluate(&settings, 0)))
        .await;
    let fates = [farm.failed().await, farm.failed().await].map(|failed| {
        assert_eq!(failed.kind, TaskFailureKind::Retryable);
        failed.fate
    });
    assert_eq!(fates, [Fate::Retried, Fate::Dead]);
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn malformed_is_dead_and_newer_is_postponed() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, None).await;
    let tasks = [0, 4, 8].map(|first| Message::Evaluate(farm.evaluate(&settings, first)));
    let [mut malformed, mut newer, sound] = tasks.map(|task| Letter::new(&task).unwrap());
    malformed.body[20] ^= 1;
    // The version of the envelope.
    newer.body[4] += 1;
    let worker = farm.start(options("w1"));
    for letter in [&malformed, &newer, &sound] {
        farm.broker.publish(Queue::Tasks, letter).await.unwrap();
    }
    let failed = farm.failed().await;
    assert_eq!(
        (failed.task.as_str(), failed.fate),
        (malformed.id.as_str(), Fate::Dead)
    );
    assert_eq!(farm.finished().await.task.as_str(), sound.id);
    let dead = farm.dead().await;
    assert_eq!(dead.len(), 1);
    assert_eq!(dead[0].letter.body, malformed.body);
    assert!(
        dead[0].reason.starts_with("malformed: "),
        "{}",
        dead[0].reason
    );
    worker.drain().await;
    // Whoever comes next finds it, on its first attempt still.
    let mut consumer = farm.broker.consume(Queue::Tasks, 1.try_into().unwrap());
    let delivery = consumer.next().await.unwrap();
    assert_eq!(
        (&delivery.letter().body, delivery.attempt()),
        (&newer.body, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_is_not_a_task() {
    let farm = Farm::new().await;
    let worker = farm.start(options("w1"));
    let cancel = Message::Cancel(evalfarm_proto::Cancel {
        job: "j1".try_into().unwrap(),
        reason: "no reason".to_owned(),
    });
    farm.publish(&cancel).await;
    let dead = farm.dead().await;
    assert!(dead[0].reason.contains("not a task"), "{}", dead[0].reason);
    worker.drain().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_waits_for_a_worker_that_knows_its_engine() {
    let farm = Farm::new().await;
    let settings = farm.job("j1", 10, Some(engine_name())).await;
    let task = farm.evaluate(&settings, 0);
    let ignorant = farm.start(options("w1"));
    farm.publish(&Message::Evaluate(task.clone())).await;
    farm.works_on(&ignorant.id, &task.id()).await;
    let delay = Delay {
        latency: Duration::ZERO,
        budget: None,
    };
    let knowing = farm.start(with_engine("w2", Engine::Delay(delay)));
    let finished = farm.finished().await;
    assert_eq!((finished.worker, finished.attempt), (knowing.id.clone(), 1));
    assert!(farm.rows(&task).await.is_some());
    ignorant.drain().await;
    knowing.drain().await;
}
