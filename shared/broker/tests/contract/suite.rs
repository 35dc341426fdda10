//! The contract, as functions of any broker.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_broker::{
    Broker, Consumer, DeadLetter, Delivery, Letter, PublishError, Settled, Trace,
};
use evalfarm_domain::{Digest, JobId};
use evalfarm_proto::{
    Cancel, DELIVERY_LIMIT, MAX_MESSAGE_BYTES, Message, Queue, Topology, Unreadable,
};

/// Delays of every test's topology.
pub(crate) const SHORT: Duration = Duration::from_millis(100);
pub(crate) const LONG: Duration = Duration::from_millis(1_500);

/// Within which everything has to happen that should.
const PATIENCE: Duration = Duration::from_secs(20);

/// Within which everything has to happen that should happen at once: less than any limit of ours.
const PROMPT: Duration = Duration::from_secs(5);

/// Long enough for something wrong to happen that would happen at once.
const MOMENT: Duration = Duration::from_millis(150);

pub(crate) fn topology(prefix: &str) -> Topology {
    Topology::new(&format!("test.{prefix}"), &[SHORT, LONG]).unwrap()
}

pub(crate) fn letter(id: &str) -> Letter {
    Letter {
        id: id.to_owned(),
        job: Some("j1".to_owned()),
        trace: Trace {
            parent: Some("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01".to_owned()),
            state: Some("vendor=value".to_owned()),
        },
        body: format!("body of {id}").into_bytes(),
    }
}

pub(crate) fn consume(broker: &Arc<dyn Broker>, prefetch: u16) -> Consumer {
    broker.consume(Queue::Tasks, NonZeroU16::new(prefetch).unwrap())
}

pub(crate) async fn publish(broker: &Arc<dyn Broker>, ids: &[&str]) {
    for id in ids {
        broker.publish(Queue::Tasks, &letter(id)).await.unwrap();
    }
}

pub(crate) async fn next(consumer: &mut Consumer) -> Delivery {
    tokio::time::timeout(PATIENCE, consumer.next())
        .await
        .expect("a delivery comes")
        .expect("the consumer goes on")
}

/// Asserts that nothing is delivered for a moment.
async fn nothing(consumer: &mut Consumer) {
    if let Ok(delivery) = tokio::time::timeout(MOMENT, consumer.next()).await {
        panic!("delivered: {delivery:?}");
    }
}

pub(crate) async fn dead(broker: &Arc<dyn Broker>, count: usize) -> Vec<DeadLetter> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let mut dead = broker.dead_letters(100).await.unwrap();
        if dead.len() == count {
            dead.sort_by(|one, other| one.letter.id.cmp(&other.letter.id));
            return dead;
        }
        assert!(Instant::now() < deadline, "not {count} dead: {dead:?}");
        tokio::task::yield_now().await;
    }
}

pub(crate) async fn what_is_published_is_delivered_until_acknowledged(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t2"]).await;
    let mut consumer = consume(broker, 1);
    for id in ["t1", "t2"] {
        let delivery = next(&mut consumer).await;
        assert_eq!(*delivery.letter(), letter(id));
        assert_eq!((delivery.attempt(), delivery.returned()), (1, 0));
        assert_eq!(delivery.ack().await, Settled::Done);
    }
    drop(consumer);
    nothing(&mut consume(broker, 1)).await;
}

pub(crate) async fn a_message_of_the_protocol_arrives_whole(broker: &Arc<dyn Broker>) {
    let message = Message::Cancel(Cancel {
        job: JobId::try_from("j1").unwrap(),
        reason: "x".repeat(500_000),
    });
    let letter = Letter::new(&message).unwrap();
    broker.publish(Queue::Events, &letter).await.unwrap();
    let mut consumer = broker.consume(Queue::Events, NonZeroU16::MIN);
    let delivery = next(&mut consumer).await;
    assert_eq!(Message::decode(&delivery.letter().body).unwrap(), message);
    assert_eq!(delivery.letter().job.as_deref(), Some("j1"));
    assert_eq!(delivery.ack().await, Settled::Done);
}

pub(crate) async fn what_a_dropped_consumer_held_goes_to_the_next(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1"]).await;
    let mut first = consume(broker, 1);
    let lost = next(&mut first).await;
    let mut second = consume(broker, 1);
    nothing(&mut second).await;
    drop(first);
    let again = next(&mut second).await;
    assert_eq!(*again.letter(), letter("t1"));
    assert_eq!((again.attempt(), again.returned()), (1, 1));
    // Both have done the work; the first is told that its word no longer counts.
    assert_eq!(lost.ack().await, Settled::Lost);
    assert_eq!(again.ack().await, Settled::Done);
}

pub(crate) async fn a_dropped_delivery_comes_again(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1"]).await;
    let mut consumer = consume(broker, 1);
    drop(next(&mut consumer).await);
    let again = next(&mut consumer).await;
    assert_eq!((again.attempt(), again.returned()), (1, 1));
    assert_eq!(again.ack().await, Settled::Done);
}

pub(crate) async fn a_retry_comes_back_after_its_delay_as_the_next_attempt(
    broker: &Arc<dyn Broker>,
) {
    publish(broker, &["t1"]).await;
    let mut consumer = consume(broker, 1);
    // More often than any count of the broker's own would allow, were its headers copied.
    for attempt in 1..=5 {
        let delivery = next(&mut consumer).await;
        assert_eq!(*delivery.letter(), letter("t1"));
        assert_eq!((delivery.attempt(), delivery.returned()), (attempt, 0));
        let start = Instant::now();
        assert_eq!(delivery.retry(SHORT).await.unwrap(), Settled::Done);
        nothing_before(&mut consumer, start + SHORT).await;
    }
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.attempt(), 6);
    assert_eq!(delivery.ack().await, Settled::Done);
    nothing(&mut consumer).await;
}

/// Asserts that nothing is delivered before `time`, less what clocks of two processes may differ in.
async fn nothing_before(consumer: &mut Consumer, time: Instant) {
    let wait = time.saturating_duration_since(Instant::now()) * 8 / 10;
    if let Ok(delivery) = tokio::time::timeout(wait, consumer.next()).await {
        panic!("delivered too early: {delivery:?}");
    }
}

pub(crate) async fn a_postponed_message_keeps_its_attempt(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1"]).await;
    let mut consumer = consume(broker, 1);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.retry(SHORT).await.unwrap(), Settled::Done);
    for _ in 0..3 {
        let delivery = next(&mut consumer).await;
        assert_eq!(delivery.attempt(), 2);
        assert_eq!(delivery.postpone(SHORT).await.unwrap(), Settled::Done);
    }
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.attempt(), 2);
    assert_eq!(delivery.ack().await, Settled::Done);
}

/// Returns the bytes of a message whose schema this release does not know, sealed as a newer release would.
fn from_a_newer_release() -> Vec<u8> {
    let body = b"whatever it says";
    let mut bytes = b"EVFM\x01\x01".to_vec();
    bytes.extend_from_slice(&u16::MAX.to_le_bytes());
    bytes.extend_from_slice(&u32::try_from(body.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(body);
    let digest = Digest::of(&bytes);
    bytes.extend_from_slice(&digest.as_bytes()[..8]);
    bytes
}

pub(crate) async fn a_message_of_a_newer_release_is_postponed_until_somebody_reads_it(
    broker: &Arc<dyn Broker>,
) {
    let mut newer = letter("newer");
    newer.body = from_a_newer_release();
    broker.publish(Queue::Tasks, &newer).await.unwrap();
    let mut consumer = consume(broker, 1);
    // More often than a broker takes a message back: postponing is no return.
    for _ in 0..=DELIVERY_LIMIT + 1 {
        let delivery = next(&mut consumer).await;
        let read = Message::decode(&delivery.letter().body);
        assert!(matches!(read, Err(Unreadable::Newer(_))), "{read:?}");
        assert_eq!((delivery.attempt(), delivery.returned()), (1, 0));
        assert_eq!(delivery.postpone(SHORT).await.unwrap(), Settled::Done);
    }
    // It holds up nobody who can be read.
    let known = Message::Cancel(Cancel {
        job: JobId::try_from("j1").unwrap(),
        reason: "asked for".to_owned(),
    });
    let known = Letter::new(&known).unwrap();
    let delivery = next(&mut consumer).await;
    broker.publish(Queue::Tasks, &known).await.unwrap();
    assert_eq!(delivery.postpone(LONG).await.unwrap(), Settled::Done);
    let delivery = next(&mut consumer).await;
    assert_eq!(*delivery.letter(), known);
    assert_eq!(delivery.ack().await, Settled::Done);
    // Whoever is newer gets the bytes as they were written, as the first attempt.
    let delivery = next(&mut consumer).await;
    assert_eq!((delivery.letter(), delivery.attempt()), (&newer, 1));
    assert_eq!(delivery.ack().await, Settled::Done);
    assert_eq!(dead(broker, 0).await, []);
}

pub(crate) async fn a_long_delay_does_not_hold_up_a_short_one(broker: &Arc<dyn Broker>) {
    publish(broker, &["slow", "fast"]).await;
    let mut consumer = consume(broker, 2);
    let (slow, fast) = (next(&mut consumer).await, next(&mut consumer).await);
    let start = Instant::now();
    assert_eq!(slow.retry(LONG).await.unwrap(), Settled::Done);
    assert_eq!(fast.retry(SHORT).await.unwrap(), Settled::Done);
    let first = next(&mut consumer).await;
    assert_eq!(first.letter().id, "fast");
    assert!(
        start.elapsed() < LONG,
        "the short delay took the long one's time"
    );
    let second = next(&mut consumer).await;
    assert_eq!(second.letter().id, "slow");
    assert_eq!(first.ack().await, Settled::Done);
    assert_eq!(second.ack().await, Settled::Done);
}

pub(crate) async fn a_dead_letter_keeps_its_reason_until_it_is_revived(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t2"]).await;
    let mut consumer = consume(broker, 1);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.retry(SHORT).await.unwrap(), Settled::Done);
    let delivery = next(&mut consumer).await;
    let reason = format!("the engine says `{}`", "é".repeat(2_000));
    assert_eq!(delivery.dead_letter(&reason).await.unwrap(), Settled::Done);
    let delivery = next(&mut consumer).await;
    assert_eq!(
        delivery.dead_letter("no such field").await.unwrap(),
        Settled::Done
    );
    let letters = dead(broker, 2).await;
    assert_eq!(letters[1].letter, letter("t2"));
    assert_eq!((letters[1].attempt, letters[1].reason.len()), (1, 1_999));
    assert!(reason.starts_with(&letters[1].reason));
    let expected = DeadLetter {
        letter: letter("t1"),
        attempt: 2,
        reason: "no such field".to_owned(),
        queue: Some(Queue::Tasks),
    };
    assert_eq!(letters[0], expected);
    // Looking takes nothing away.
    assert_eq!(dead(broker, 2).await, letters);
    let one = broker.dead_letters(1).await.unwrap();
    assert!(one.len() == 1 && letters.contains(&one[0]), "{one:?}");
    assert_eq!(dead(broker, 2).await, letters);
    assert_eq!(broker.revive("t1").await.unwrap(), 1);
    let again = next(&mut consumer).await;
    assert_eq!(*again.letter(), letter("t1"));
    assert_eq!((again.attempt(), again.returned()), (1, 0));
    assert_eq!(again.ack().await, Settled::Done);
    assert_eq!(dead(broker, 1).await, letters[1..]);
    assert_eq!(broker.revive("t1").await.unwrap(), 0);
}

pub(crate) async fn a_message_that_every_holder_drops_is_given_up(broker: &Arc<dyn Broker>) {
    publish(broker, &["poison"]).await;
    let mut consumer = consume(broker, 1);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.retry(SHORT).await.unwrap(), Settled::Done);
    for returned in 0..=DELIVERY_LIMIT {
        let delivery = next(&mut consumer).await;
        assert_eq!((delivery.attempt(), delivery.returned()), (2, returned));
        drop(delivery);
    }
    let letters = dead(broker, 1).await;
    let expected = DeadLetter {
        letter: letter("poison"),
        attempt: 2,
        reason: "delivery_limit".to_owned(),
        queue: Some(Queue::Tasks),
    };
    assert_eq!(letters, [expected]);
    assert_eq!(broker.revive("poison").await.unwrap(), 1);
    assert_eq!(next(&mut consumer).await.ack().await, Settled::Done);
}

pub(crate) async fn no_more_is_given_out_than_was_asked_for(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t2", "t3", "t4", "t5"]).await;
    let mut consumer = consume(broker, 2);
    let (one, two) = (next(&mut consumer).await, next(&mut consumer).await);
    nothing(&mut consumer).await;
    // What one consumer may not take is there for another.
    let mut other = consume(broker, 1);
    let three = next(&mut other).await;
    assert_eq!(three.letter().id, "t3");
    assert_eq!(one.ack().await, Settled::Done);
    let four = next(&mut consumer).await;
    assert_eq!(four.letter().id, "t4");
    nothing(&mut consumer).await;
    assert_eq!(three.ack().await, Settled::Done);
    let five = next(&mut other).await;
    for delivery in [two, four, five] {
        assert_eq!(delivery.ack().await, Settled::Done);
    }
}

pub(crate) async fn a_duplicate_is_another_delivery_of_the_same_message(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t1"]).await;
    let mut consumer = consume(broker, 2);
    let (one, two) = (next(&mut consumer).await, next(&mut consumer).await);
    assert_eq!(one.letter(), two.letter());
    assert_eq!(one.ack().await, Settled::Done);
    assert_eq!(two.ack().await, Settled::Done);
    nothing(&mut consumer).await;
}

pub(crate) async fn a_stopped_consumer_returns_what_was_not_given_out(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t2", "t3"]).await;
    let mut consumer = consume(broker, 3);
    let mine = next(&mut consumer).await;
    // Sooner than the time after which stopping would give up on a subscription that does not end.
    let stopped = tokio::time::timeout(PROMPT, consumer.stop()).await;
    assert!(stopped.is_ok(), "the subscription does not end");
    assert!(!consumer.is_subscribed());
    assert!(consumer.next().await.is_none());
    let mut other = consume(broker, 3);
    let mut ids = Vec::new();
    for _ in 0..2 {
        let delivery = next(&mut other).await;
        ids.push(delivery.letter().id.clone());
        assert_eq!(delivery.ack().await, Settled::Done);
    }
    ids.sort();
    assert_eq!(ids, ["t2", "t3"]);
    // The one that was given out is finished after the stop.
    assert_eq!(mine.ack().await, Settled::Done);
    drop(consumer);
    nothing(&mut other).await;
}

pub(crate) async fn a_broadcast_reaches_everyone_who_listens(broker: &Arc<dyn Broker>) {
    broker.broadcast(&letter("nobody")).await.unwrap();
    let (mut one, mut other) = (broker.listen(), broker.listen());
    for listener in [&mut one, &mut other] {
        // A listener hears from some moment on: sent until heard.
        let heard = tokio::time::timeout(PATIENCE, async {
            loop {
                broker.broadcast(&letter("c1")).await.unwrap();
                let heard = tokio::time::timeout(MOMENT, listener.next()).await;
                if let Ok(heard) = heard {
                    return heard;
                }
            }
        });
        assert_eq!(heard.await.unwrap(), Some(letter("c1")));
    }
}

pub(crate) async fn too_much_is_refused_before_it_is_sent(broker: &Arc<dyn Broker>) {
    let mut large = letter("t1");
    large.body = vec![0; MAX_MESSAGE_BYTES + 1];
    let refused = broker.publish(Queue::Tasks, &large).await;
    assert!(
        matches!(refused, Err(PublishError::TooLarge { .. })),
        "{refused:?}"
    );
    large.body.pop();
    broker.publish(Queue::Tasks, &large).await.unwrap();
    let long = letter(&"t".repeat(256));
    let refused = broker.publish(Queue::Tasks, &long).await;
    assert!(
        matches!(refused, Err(PublishError::IdTooLong { len: 256 })),
        "{refused:?}"
    );
    let mut consumer = consume(broker, 1);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.letter().body.len(), MAX_MESSAGE_BYTES);
    assert_eq!(delivery.ack().await, Settled::Done);
}

pub(crate) async fn many_messages_arrive_once_each_when_nothing_fails(broker: &Arc<dyn Broker>) {
    let publishers: Vec<_> = (0..200)
        .map(|number| {
            let broker = Arc::clone(broker);
            let letter = letter(&format!("t{number:03}"));
            tokio::spawn(async move { broker.publish(Queue::Tasks, &letter).await })
        })
        .collect();
    let mut consumer = consume(broker, 8);
    let mut ids = Vec::new();
    for _ in 0..200 {
        let delivery = next(&mut consumer).await;
        ids.push(delivery.letter().id.clone());
        assert_eq!(delivery.ack().await, Settled::Done);
    }
    for publisher in publishers {
        publisher.await.unwrap().unwrap();
    }
    ids.sort();
    let expected: Vec<String> = (0..200).map(|number| format!("t{number:03}")).collect();
    assert_eq!(ids, expected);
}

pub(crate) async fn a_closed_broker_delivers_and_takes_nothing(broker: &Arc<dyn Broker>) {
    publish(broker, &["t1", "t2"]).await;
    let mut consumer = consume(broker, 1);
    let delivery = next(&mut consumer).await;
    broker.close().await;
    let refused = broker.publish(Queue::Tasks, &letter("t3")).await;
    assert!(matches!(refused, Err(PublishError::Closed)), "{refused:?}");
    drop(delivery);
    let end = tokio::time::timeout(PATIENCE, consumer.next()).await;
    assert!(end.unwrap().is_none());
}
