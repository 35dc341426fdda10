//! A broker that dies and comes back. Apart from the contract, because the other tests share a broker that lives.

use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;

use evalfarm_broker::{
    AmqpBroker, AmqpSettings, Broker, Consumer, Delivery, Letter, Settled, Trace,
};
use evalfarm_proto::{Queue, Topology};
use evalfarm_testkit::{PrivateRabbit, until};

const SHORT: Duration = Duration::from_millis(200);
const LONG: Duration = Duration::from_secs(3);

fn letter(id: &str) -> Letter {
    Letter {
        id: id.to_owned(),
        job: None,
        trace: Trace::default(),
        body: vec![1, 2, 3],
    }
}

async fn next(consumer: &mut Consumer) -> Delivery {
    tokio::time::timeout(Duration::from_mins(1), consumer.next())
        .await
        .expect("a delivery comes")
        .expect("the consumer goes on")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn publisher_and_consumer_recover_from_a_killed_broker() {
    let mut server = PrivateRabbit::start();
    let topology = Topology::new("test.restart", &[SHORT, LONG]).unwrap();
    let mut settings = AmqpSettings::new(server.uri(), "restart");
    settings.confirm_limit = Duration::from_mins(1);
    let broker = AmqpBroker::connect(settings, topology).await.unwrap();
    let broker: Arc<dyn Broker> = Arc::new(broker);
    let mut consumer = broker.consume(Queue::Tasks, NonZeroU16::MIN);
    // RabbitMQ 3.10 may lose everything in a queue that it is told of just before its death, because the names of its queues
    // are written some time later: a fresh queue would test that fault and not our recovery.
    until("the queue", async || consumer.is_subscribed()).await;
    server.control(&["eval", "[dets:sync(Table) || Table <- dets:all()]."]);
    for id in ["t0", "t1", "t2", "t3"] {
        broker.publish(Queue::Tasks, &letter(id)).await.unwrap();
    }
    let postponed = next(&mut consumer).await;
    assert_eq!(postponed.letter().id, "t0");
    assert_eq!(postponed.postpone(LONG).await.unwrap(), Settled::Done);
    assert_eq!(next(&mut consumer).await.ack().await, Settled::Done);
    let held = next(&mut consumer).await;
    assert_eq!(held.letter().id, "t2");

    server.kill();
    until("noticing the loss", async || !consumer.is_subscribed()).await;
    let publishing = {
        let broker = Arc::clone(&broker);
        tokio::spawn(async move { broker.publish(Queue::Tasks, &letter("t4")).await })
    };
    let server = tokio::task::spawn_blocking(move || {
        server.restart();
        server
    })
    .await
    .unwrap();

    // What was published while the broker was dead is confirmed once it lives.
    publishing.await.unwrap().unwrap();
    assert_eq!(held.ack().await, Settled::Lost);
    let mut ids = Vec::new();
    while ids.len() < 4 {
        let delivery = next(&mut consumer).await;
        let id = delivery.letter().id.clone();
        // The acknowledgement of t1 may have died with the broker.
        if id != "t1" {
            ids.push(id);
        }
        assert_eq!(delivery.ack().await, Settled::Done);
    }
    ids.sort();
    assert_eq!(ids, ["t0", "t2", "t3", "t4"]);
    assert!(consumer.is_subscribed());
    // The new subscription is as narrow as the old one.
    for id in ["t5", "t6"] {
        broker.publish(Queue::Tasks, &letter(id)).await.unwrap();
    }
    let one = next(&mut consumer).await;
    let unasked = tokio::time::timeout(Duration::from_millis(300), consumer.next()).await;
    assert!(unasked.is_err(), "more than the prefetch: {unasked:?}");
    assert_eq!(one.ack().await, Settled::Done);
    assert_eq!(next(&mut consumer).await.ack().await, Settled::Done);
    broker.close().await;
    drop(server);
}
