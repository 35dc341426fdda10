//! A private RabbitMQ for the contract, and what only a broker with queues of its own can do wrong.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker, BrokerError, PublishError, Settled};
use evalfarm_proto::{Queue, Topology};
use evalfarm_testkit::PrivateRabbit;

use crate::suite::{consume, letter, next, publish, topology};

fn server() -> &'static PrivateRabbit {
    static SHARED: OnceLock<PrivateRabbit> = OnceLock::new();
    SHARED.get_or_init(PrivateRabbit::start)
}

fn settings() -> AmqpSettings {
    AmqpSettings::new(server().uri(), "contract")
}

/// Returns a broker with queues of its own on the server that all tests share.
pub(crate) async fn broker(prefix: &str) -> Arc<dyn Broker> {
    let broker = AmqpBroker::connect(settings(), topology(prefix)).await;
    Arc::new(broker.unwrap())
}

#[tokio::test]
async fn a_message_for_a_deleted_queue_is_an_error_with_its_name() {
    let broker = broker("deleted").await;
    server().control(&["delete_queue", "test.deleted.tasks.v1"]);
    let error = broker
        .publish(Queue::Tasks, &letter("t1"))
        .await
        .unwrap_err();
    assert!(
        matches!(error, PublishError::Unroutable { .. }),
        "{error:?}"
    );
    assert_eq!(
        error.to_string(),
        "queue `test.deleted.tasks.v1` is not there"
    );
    // Other queues are not affected, and a new declaration repairs it.
    broker.publish(Queue::Events, &letter("t2")).await.unwrap();
    broker.declare().await.unwrap();
    publish(&broker, &["t3"]).await;
}

#[tokio::test]
async fn a_consumer_whose_queue_was_deleted_subscribes_to_the_new_one() {
    let broker = broker("recreated").await;
    let mut consumer = consume(&broker, 1);
    publish(&broker, &["t1"]).await;
    assert_eq!(next(&mut consumer).await.ack().await, Settled::Done);
    server().control(&["delete_queue", "test.recreated.tasks.v1"]);
    let deadline = Instant::now() + Duration::from_secs(10);
    while consumer.is_subscribed() {
        assert!(Instant::now() < deadline, "the loss is not noticed");
        tokio::task::yield_now().await;
    }
    broker.declare().await.unwrap();
    publish(&broker, &["t2"]).await;
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.letter().id, "t2");
    assert_eq!(delivery.ack().await, Settled::Done);
    assert!(consumer.is_subscribed());
}

#[tokio::test]
async fn a_retry_queue_that_is_gone_leaves_the_delivery_held() {
    let broker = broker("untiered").await;
    publish(&broker, &["t1"]).await;
    let mut consumer = consume(&broker, 1);
    let delivery = next(&mut consumer).await;
    server().control(&["delete_queue", "test.untiered.retry.100ms.v1"]);
    let held = delivery
        .retry(Duration::from_millis(100))
        .await
        .unwrap_err();
    let said = held.source.to_string();
    assert_eq!(said, "queue `test.untiered.retry.100ms.v1` is not there");
    broker.declare().await.unwrap();
    let delivery = held.delivery;
    let retried = delivery.retry(Duration::from_millis(100)).await;
    assert_eq!(retried.unwrap(), Settled::Done);
    let delivery = next(&mut consumer).await;
    assert_eq!(delivery.attempt(), 2);
    assert_eq!(delivery.ack().await, Settled::Done);
}

#[tokio::test]
async fn a_queue_with_other_settings_is_an_error_that_says_both() {
    let short = Duration::from_millis(100);
    let topology = |delays: &[Duration]| Topology::new("test.mismatch", delays).unwrap();
    let first = AmqpBroker::connect(settings(), topology(&[short])).await;
    first.unwrap().close().await;
    // The same name with another type, as an old installation may have left it.
    server().control(&["delete_queue", "test.mismatch.retry.100ms.v1"]);
    let definition = r#"{"queues":[{"name":"test.mismatch.retry.100ms.v1","vhost":"/","durable":true,"auto_delete":false,"arguments":{}}]}"#;
    server().import(definition);
    let error = AmqpBroker::connect(settings(), topology(&[short]))
        .await
        .unwrap_err();
    assert!(matches!(error, BrokerError::Mismatch { .. }), "{error:?}");
    let text = error.to_string();
    assert!(text.contains("`test.mismatch.retry.100ms.v1`"), "{text}");
    let both = "received the value '100' of type 'long' but current is none";
    assert!(text.contains(both), "{text}");
}

#[tokio::test]
async fn a_broker_that_cannot_be_reached_is_an_error_in_time() {
    let connect = async |uri: String| {
        let mut settings = AmqpSettings::new(uri, "contract");
        settings.connect_limit = Duration::from_secs(1);
        let start = Instant::now();
        let error = AmqpBroker::connect(settings, topology("unreachable"))
            .await
            .unwrap_err();
        assert!(start.elapsed() < Duration::from_secs(5));
        error
    };
    let uri = server().uri();
    // Port 1 of the loopback: nobody listens there. A listener that never answers. A virtual host that does not exist.
    let silent = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    for uri in [
        "amqp://guest:secret@127.0.0.1:1/%2f".to_owned(),
        format!("amqp://guest:secret@127.0.0.1:{silent_port}/%2f"),
        uri.replace("%2f", "nowhere"),
        uri.replace("guest:guest", "guest:wrong"),
    ] {
        let error = connect(uri.clone()).await;
        assert!(
            matches!(error, BrokerError::Unreachable { .. }),
            "{uri}: {error:?}"
        );
        assert!(error.to_string().contains("127.0.0.1:"), "{error}");
        assert!(!format!("{error:?}").contains("secret"), "{error:?}");
    }
    for uri in ["http://host/", "amqps://host/%2f"] {
        let error = connect(uri.to_owned()).await;
        assert!(matches!(error, BrokerError::Uri { .. }), "{uri}: {error:?}");
    }
}

#[tokio::test]
async fn a_full_memory_blocks_publishers_and_says_so() {
    // A broker of its own: the alarm stops every publisher.
    let server = PrivateRabbit::start();
    let mut settings = AmqpSettings::new(server.uri(), "contract");
    settings.confirm_limit = Duration::from_secs(3);
    let broker = AmqpBroker::connect(settings, topology("blocked")).await;
    let broker: Arc<dyn Broker> = Arc::new(broker.unwrap());
    let mut consumer = consume(&broker, 1);
    publish(&broker, &["t1"]).await;
    let delivery = next(&mut consumer).await;
    server.control(&["set_vm_memory_high_watermark", "0.0001"]);
    let error = broker
        .publish(Queue::Tasks, &letter("t2"))
        .await
        .unwrap_err();
    assert!(matches!(error, PublishError::Blocked { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "the broker accepts no messages: low on memory"
    );
    // Consumers go on.
    assert_eq!(delivery.ack().await, Settled::Done);
    server.control(&["set_vm_memory_high_watermark", "0.6"]);
    publish(&broker, &["t3"]).await;
}
