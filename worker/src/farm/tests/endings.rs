//! How work ends before it is done, and how a worker does.

use std::num::NonZeroU32;
use std::sync::atomic::Ordering;
use std::time::Duration;

use evalfarm_broker::{Broker as _, Letter};
use evalfarm_domain::{EvaluateTask, JobSettings};
use evalfarm_proto::{Cancel, Commit, Message, Queue};
use evalfarm_state::{Budget, JobStore as _, Permit, PermitId};
use evalfarm_testkit::until;

use super::bench::{Farm, Worker, engine_name, options, with_engine};
use crate::farm::{Delay, Engine, Order};

/// A farm whose only permit is the test's, so that a task is at work for as long as the test wants.
struct Held {
    farm: Farm,
    worker: Worker,
    settings: JobSettings,
    task: EvaluateTask,
    permit: PermitId,
}

impl Held {
    async fn new() -> Self {
        let farm = Farm::new().await;
        let settings = farm.job("j1", 10, Some(engine_name())).await;
        let budget = Budget {
            concurrent: NonZeroU32::MIN,
            pace: None,
        };
        let permit = PermitId("test".to_owned());
        let hold = Duration::from_hours(1);
        let granted = farm
            .state
            .acquire(&engine_name(), &budget, &permit, hold)
            .await;
        assert_eq!(granted.unwrap(), Permit::Granted);
        let delay = Delay {
            latency: Duration::ZERO,
            budget: Some(budget),
        };
        let worker = farm.start(with_engine("w1", Engine::Delay(delay)));
        let task = farm.evaluate(&settings, 0);
        farm.publish(&Message::Evaluate(task.clone())).await;
        farm.works_on(&worker.id, &task.id()).await;
        Self {
            farm,
            worker,
            settings,
            task,
            permit,
        }
    }

    async fn let_go(&self) {
        let engine = engine_name();
        let given = self.farm.state.give_back(&engine, &self.permit);
        given.await.unwrap();
    }

    async fn rows(&self) -> bool {
        self.farm.rows(&self.task).await.is_some()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_drain_finishes_what_is_at_hand_and_takes_nothing_more() {
    let held = Held::new().await;
    let next = Message::Evaluate(held.farm.evaluate(&held.settings, 4));
    held.farm.publish(&next).await;
    until("the worker is ready", async || {
        held.worker.subscribed.load(Ordering::Acquire)
    })
    .await;
    held.worker.orders.send_replace(Order::Drain);
    until("the worker takes nothing more", async || {
        !held.worker.subscribed.load(Ordering::Acquire)
    })
    .await;
    held.let_go().await;
    let finished = held.farm.finished().await;
    assert_eq!(
        (finished.task, finished.commit),
        (held.task.id(), Commit::First)
    );
    assert!(held.rows().await);
    assert_eq!(held.worker.end().await.abandoned, 0);
    let mut consumer = held
        .farm
        .broker
        .consume(Queue::Tasks, 1.try_into().unwrap());
    let delivery = consumer.next().await.unwrap();
    assert_eq!(
        (delivery.letter().id.clone(), delivery.returned()),
        (next.id(), 0)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abandoned_task_goes_back_to_the_queue() {
    let held = Held::new().await;
    held.worker.orders.send_replace(Order::Abandon);
    let (farm, task) = (&held.farm, held.task.id());
    assert!(!held.rows().await);
    assert_eq!(held.worker.end().await.abandoned, 1);
    let mut consumer = farm.broker.consume(Queue::Tasks, 1.try_into().unwrap());
    let delivery = consumer.next().await.unwrap();
    assert_eq!(
        (
            delivery.letter().id.as_str(),
            delivery.returned(),
            delivery.attempt()
        ),
        (task.as_str(), 1, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broadcast_cancels_what_is_at_hand() {
    let held = Held::new().await;
    let cancel = Message::Cancel(Cancel {
        job: held.settings.job.clone(),
        reason: "a test".to_owned(),
    });
    let letter = Letter::new(&cancel).unwrap();
    held.farm.broker.broadcast(&letter).await.unwrap();
    assert_nothing_is_left(held).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_flag_cancels_what_is_at_hand_when_the_broadcast_was_missed() {
    let held = Held::new().await;
    let flag = held.farm.state.cancel(&held.settings.job, "a test");
    flag.await.unwrap();
    assert_nothing_is_left(held).await;
}

/// The task was acknowledged without a result.
async fn assert_nothing_is_left(held: Held) {
    // The only slot is free again.
    let other = held.farm.job("j2", 10, None).await;
    let task = held.farm.evaluate(&other, 0);
    held.farm.publish(&Message::Evaluate(task.clone())).await;
    assert_eq!(held.farm.finished().await.task, task.id());
    assert!(!held.rows().await);
    assert_eq!(held.worker.drain().await.abandoned, 0);
    let mut consumer = held
        .farm
        .broker
        .consume(Queue::Tasks, 1.try_into().unwrap());
    let sentinel = Message::Evaluate(held.farm.evaluate(&other, 4));
    held.farm.publish(&sentinel).await;
    let delivery = consumer.next().await.unwrap();
    assert_eq!(delivery.letter().id, sentinel.id());
    assert!(held.farm.broker.dead_letters(1).await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn tasks_of_a_cancelled_job_are_dropped() {
    let farm = Farm::new().await;
    let (cancelled, wanted) = (
        farm.job("j1", 10, None).await,
        farm.job("j2", 10, None).await,
    );
    farm.state.cancel(&cancelled.job, "a test").await.unwrap();
    let task = farm.evaluate(&cancelled, 0);
    farm.publish(&Message::Evaluate(task.clone())).await;
    let next = farm.evaluate(&wanted, 0);
    farm.publish(&Message::Evaluate(next.clone())).await;
    let worker = farm.start(options("w1"));
    assert_eq!(farm.finished().await.task, next.id());
    assert_eq!(farm.rows(&task).await, None);
    worker.drain().await;
}
