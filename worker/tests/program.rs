//! The binary, from the outside: settings, probes, and a small farm over real servers.

#![expect(
    clippy::unwrap_used,
    reason = "clippy.toml allows it in test functions, this is also for what they call"
)]

mod place;

use std::fs;
use std::num::NonZeroU16;
use std::sync::LazyLock;
use std::time::Duration;

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker, Consumer, Letter, Trace};
use evalfarm_proto::{Commit, Message, Queue, Topology};
use evalfarm_state::{JobStore as _, RedisSettings, RedisStore};
use evalfarm_testkit::{PrivateRabbit, PrivateRedis, until};

use crate::place::{Place, SOON, ended, get, program, said, signal};

const PASSWORD: &str = "hunter2";

#[test]
fn check_prints_what_was_resolved_without_secrets() {
    let place = Place::new();
    let config = place.file(
        "worker.toml",
        "deadline = \"90s\"\nslots = 3\n[engines.slow]\nkind = \"delay\"\nlatency_ms = 15\n\
         concurrent = 64\nper_second = 2000\nburst = 10\n[engines.nothing]\nkind = \"noop\"\n",
    );
    let output = program()
        .args(["--check", "--store", "file:///srv/farm", "--slots", "7"])
        .arg("--config")
        .arg(&config)
        .env(
            "EVALFARM_BROKER",
            format!("amqp://farm:{PASSWORD}@broker:5672/%2f"),
        )
        .env("EVALFARM_REDIS", format!("redis://:{PASSWORD}@counts:6379"))
        .output()
        .unwrap();
    let shown = said(&output.stdout);
    assert!(output.status.success(), "{}", said(&output.stderr));
    assert!(!shown.contains(PASSWORD), "{shown}");
    for line in [
        "# broker amqp://***@broker:5672/%2f",
        "# redis redis://***@counts:6379",
        "slots = 7",
        "deadline = \"90s\"",
        "grace = \"120s\"",
        "attempts = 4",
        "heartbeat = \"5s\"",
        "latency_ms = 15",
        "kind = \"noop\"",
    ] {
        assert!(shown.contains(line), "`{line}` is not in\n{shown}");
    }
    // What is shown is a configuration again. The environment wins over the file that it names.
    let again = format!("broker_file = \"/nowhere\"\n{shown}");
    let again = place.file("again.toml", &again);
    let output = program()
        .arg("--check")
        .arg("--config")
        .arg(&again)
        .env("EVALFARM_BROKER", "amqp://broker")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", said(&output.stderr));
}

#[test]
fn settings_that_cannot_be_meant_end_with_2_and_say_which() {
    let place = Place::new();
    let unknown = place.file("unknown.toml", "slot = 3\n");
    let engine = place.file("engine.toml", "[engines.e]\nkind = \"delay\"\n");
    let kind = place.file("kind.toml", "[engines.e]\nkind = \"remote\"\n");
    let with_password = format!("amqp://farm:{PASSWORD}@broker");
    let store = ["--store", "file:///srv/farm"];
    let broker = ["--broker", "amqp://broker"];
    let twice = ["--broker", "amqp://broker", "--broker-file", "/run/broker"];
    let cases: [(Vec<&str>, &str); 10] = [
        ([&store[..], &twice].concat(), "both"),
        ([store, ["--config", &unknown]].concat(), "slot"),
        (
            [&store[..], &broker, &["--config", &engine]].concat(),
            "latency_ms",
        ),
        (
            [&store[..], &broker, &["--config", &kind]].concat(),
            "remote",
        ),
        (
            [store, ["--broker", &with_password]].concat(),
            "EVALFARM_BROKER_FILE",
        ),
        (store.to_vec(), "the broker's address"),
        (broker.to_vec(), "the store's address"),
        ([broker, ["--slots", "0"]].concat(), "--slots"),
        ([broker, ["--deadline", "10"]].concat(), "90s"),
        (
            [broker, ["--config", "/nowhere.toml"]].concat(),
            "/nowhere.toml",
        ),
    ];
    for (arguments, expected) in cases {
        let output = program().args(&arguments).output().unwrap();
        let errors = said(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}\n{errors}");
        assert!(errors.contains(expected), "{arguments:?}\n{errors}");
        assert!(!errors.contains(PASSWORD), "{errors}");
    }
}

#[test]
fn addresses_that_cannot_be_used_end_with_2_and_hide_passwords() {
    let place = Place::new();
    let secret = place.file("broker", &format!("http://farm:{PASSWORD}@broker\n"));
    let output = program()
        .args(["--broker-file", &secret, "--listen", "127.0.0.1:0"])
        .args(["--store", &place.store(), "--cache", &place.cache()])
        .output()
        .unwrap();
    let errors = said(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{errors}");
    assert!(!errors.contains(PASSWORD), "{errors}");
}

#[test]
fn a_worker_without_a_broker_lives_is_not_ready_and_ends_when_told() {
    let place = Place::new();
    // Nobody listens at the port of a listener that is gone.
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let mut worker = place
        .worker(&format!("amqp://127.0.0.1:{port}"), "w1")
        .spawn()
        .unwrap();
    let address = place.address("w1");
    assert_eq!(get(&address, "/livez").0, 200);
    assert_eq!(get(&address, "/readyz").0, 503);
    assert_eq!(get(&address, "/elsewhere").0, 404);
    signal(&worker, "TERM");
    assert_eq!(ended(&mut worker), Some(0));
}

/// One broker for all tests, which differ in the prefix of its queues.
static RABBIT: LazyLock<PrivateRabbit> = LazyLock::new(PrivateRabbit::start);

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

async fn connected(prefix: &str) -> AmqpBroker {
    let usual = Topology::default();
    let delays: Vec<Duration> = usual.tiers().iter().map(|tier| tier.delay).collect();
    let topology = Topology::new(prefix, &delays).unwrap();
    let settings = AmqpSettings::new(RABBIT.uri(), "test");
    AmqpBroker::connect(settings, topology).await.unwrap()
}

/// Waits for the next event that is not a hello.
async fn event(events: &mut Consumer) -> (Message, Trace) {
    loop {
        let delivery = tokio::time::timeout(SOON, events.next()).await;
        let delivery = delivery.expect("an event comes").unwrap();
        let message = Message::decode(&delivery.letter().body).unwrap();
        let trace = delivery.letter().trace.clone();
        assert_eq!(delivery.ack().await, evalfarm_broker::Settled::Done);
        if !matches!(message, Message::Hello(_)) {
            return (message, trace);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_farm_over_real_servers_works_with_and_without_counts_and_drains() {
    let redis = PrivateRedis::start();
    let place = Place::new();
    let tasks = place.publish_job("j1", None).await;
    let broker = connected("test").await;
    let mut events = broker.consume(Queue::Events, NonZeroU16::MIN);
    let mut counts = RedisSettings::new(redis.url());
    "test".clone_into(&mut counts.prefix);
    let counts = RedisStore::open(&counts).unwrap();

    let mut worker = place
        .worker(&RABBIT.uri(), "w1")
        .env("EVALFARM_REDIS", redis.url())
        .spawn()
        .unwrap();
    let address = place.address("w1");
    until("the worker is ready", async || {
        get(&address, "/readyz").0 == 200
    })
    .await;
    let publish = async |task: &Message| {
        let mut letter = Letter::new(task).unwrap();
        letter.trace.parent = Some(PARENT.to_owned());
        broker.publish(Queue::Tasks, &letter).await.unwrap();
    };
    let finished = async |events: &mut Consumer, task: &Message| {
        let (message, trace) = event(events).await;
        let Message::Finished(finished) = message else {
            panic!("not finished: {message:?}");
        };
        assert_eq!(
            (finished.task.as_str(), finished.commit),
            (task.id().as_str(), Commit::First)
        );
        // The trace goes on under the same id, in a span of the worker's own.
        let parent = trace.parent.unwrap();
        assert_eq!(parent.get(..35), PARENT.get(..35));
        assert_ne!(parent, PARENT);
    };
    publish(&tasks[0]).await;
    finished(&mut events, &tasks[0]).await;
    let job = tasks[0].job().unwrap();
    until("the task is counted", async || {
        let progress = counts.progress(job).await.unwrap();
        progress.is_some_and(|progress| progress.done == 1)
    })
    .await;
    let workers = counts.workers().await.unwrap();
    assert!(workers[0].worker.as_str().starts_with("w1-"), "{workers:?}");

    redis.freeze();
    publish(&tasks[1]).await;
    finished(&mut events, &tasks[1]).await;
    redis.thaw();

    let (status, metrics) = get(&address, "/metrics");
    assert_eq!(status, 200);
    for name in [
        "farm_tasks_total",
        "farm_task_duration_seconds_bucket",
        "farm_results_committed_total",
        "farm_consumer_active",
        "farm_inflight_tasks",
    ] {
        assert!(metrics.contains(name), "{name}\n{metrics}");
    }
    signal(&worker, "TERM");
    assert_eq!(ended(&mut worker), Some(0));
    let log = fs::read_to_string(place.log("w1")).unwrap();
    assert!(log.contains("abandoned=0"), "{log}");
    broker.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_worker_that_is_told_twice_leaves_its_task_to_others() {
    let place = Place::new();
    let tasks = place.publish_job("j1", Some("slow")).await;
    let config = place.file(
        "worker.toml",
        "[engines.slow]\nkind = \"delay\"\nlatency_ms = 3600000\n",
    );
    let broker = connected("twice").await;
    let mut worker = place
        .worker(&RABBIT.uri(), "w1")
        .env("EVALFARM_PREFIX", "twice")
        .args(["--config", &config])
        .spawn()
        .unwrap();
    let address = place.address("w1");
    let letter = Letter::new(&tasks[0]).unwrap();
    broker.publish(Queue::Tasks, &letter).await.unwrap();
    let at_work = |metrics: &str| {
        let mut lines = metrics.lines();
        lines.any(|line| line.starts_with("farm_inflight_tasks") && line.ends_with(" 1"))
    };
    until("the task is at hand", async || {
        at_work(&get(&address, "/metrics").1)
    })
    .await;
    signal(&worker, "TERM");
    until("the worker drains", async || {
        get(&address, "/readyz").0 == 503
    })
    .await;
    assert_eq!(get(&address, "/livez").0, 200);
    signal(&worker, "INT");
    assert_eq!(ended(&mut worker), Some(0));
    let log = fs::read_to_string(place.log("w1")).unwrap();
    assert!(log.contains("abandoned=1"), "{log}");
    let mut consumer = broker.consume(Queue::Tasks, NonZeroU16::MIN);
    let delivery = tokio::time::timeout(SOON, consumer.next()).await;
    let delivery = delivery.expect("the task comes again").unwrap();
    assert_eq!(
        (delivery.letter().id.clone(), delivery.attempt()),
        (tasks[0].id(), 1)
    );
    broker.close().await;
}
