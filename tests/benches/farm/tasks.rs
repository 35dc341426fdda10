//! What coordinator and worker add to a task's way through the broker.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::{Duration, Instant};

use evalfarm_broker::{AmqpBroker, AmqpSettings, Broker, Letter, Settled};
use evalfarm_coordinator::farm::Relay;
use evalfarm_domain::{
    Candidate, Combine, Digest, EngineName, EngineSettings, EvaluateTask, FieldName, FieldWeights,
    Fold, Gains, Grade, JobId, JobSettings, Measurement,
};
use evalfarm_proto::{DEFAULT_DELAYS, Message, Queue, Topology};
use evalfarm_state::{JobStore, RedisSettings, RedisStore};
use evalfarm_store::Store;
use evalfarm_telemetry::{LogFormat, Settings, Telemetry};
use evalfarm_testkit::{PrivateRedis, until};
use futures_util::{StreamExt as _, stream};
use tokio::task::JoinSet;

use crate::scene::{Farm, shared_broker};
use crate::{Outcome, median, note};

pub(crate) const NAME: &str = "farm-tasks-vs-broker";

/// Slots of the worker, and so its prefetch.
const SLOTS: NonZeroU16 = NonZeroU16::new(8).expect("8 is not 0");

/// Tasks of a round, long enough to outlast every tick.
const TASKS: u32 = 4_000;
const ROUNDS: usize = 5;

/// Messages on their way to the broker at a time, as a coordinator has it.
const PUBLISHING: usize = 64;

/// Returns tasks per second through a coordinator's dispatch, the queue and a worker whose engine does nothing, over messages
/// per second that are published, confirmed, consumed and acknowledged with the same bytes and prefetch, on the same broker.
pub(crate) fn measure() -> Outcome<f64> {
    let mut farm = Farm::start("relay");
    // The bench is the coordinator.
    farm.coordinator.take().ok_or("it was started")?.kill();
    farm.bench
        .write("worker.toml", "[engines.noop]\nkind = \"noop\"\n");
    let redis = PrivateRedis::start();
    let slots = SLOTS.to_string();
    let flags = ["--config", "worker.toml", "--slots", &slots];
    farm.start_worker(&[&flags[..], &["--redis", &redis.url()]].concat());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?;
    let (job, tasks) = tasks()?;
    let store = format!("file://{}", farm.bench.at("store").display());
    let mut counts = RedisSettings::new(redis.url());
    farm.prefix().clone_into(&mut counts.prefix);
    let state: Arc<dyn JobStore> = {
        let _inside = runtime.enter();
        Arc::new(RedisStore::open(&counts)?)
    };
    // As a coordinator has it, but quiet.
    let telemetry = evalfarm_telemetry::start(Settings {
        service: "evalfarm-coordinator",
        instance: "bench".to_owned(),
        log: LogFormat::Text,
        filter: "error,lapin=off".to_owned(),
    })?;
    let (relay, peer) = runtime.block_on(async {
        let store = Store::open(&store).await?;
        store.create_settings(&job.job, &job).await?;
        let broker = connected(farm.prefix()).await?;
        let relay = started(broker, state, &telemetry);
        let peer = connected(&format!("{}-peer", farm.prefix())).await?;
        Ok::<_, Box<dyn std::error::Error>>((relay, peer))
    })?;
    // The worker subscribes and reads the settings.
    let (warm, measured) = tasks.split_at(100);
    relay.hand_out(&job.job, warm)?;
    let letters = measured
        .iter()
        .map(|task| Letter::new(&Message::Evaluate(task.clone())))
        .collect::<Result<Vec<_>, _>>()?;
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let began = Instant::now();
        relay.hand_out(&job.job, measured)?;
        ours.push(began.elapsed());
        theirs.push(runtime.block_on(through(&peer, &letters))?);
    }
    runtime.block_on(relay.stop());
    telemetry.shutdown();
    let rate = |time: Duration| measured.len() as f64 / time.as_secs_f64();
    let rates = |times: &[Duration]| {
        let rates = times.iter().map(|&time| format!("{:.0}", rate(time)));
        rates.collect::<Vec<_>>().join(" ")
    };
    note(&format!(
        "{NAME}: {TASKS} tasks that do nothing, {SLOTS} slots; tasks a second in {ROUNDS} rounds: {}",
        rates(&ours)
    ))?;
    note(&format!(
        "{NAME}: the same messages published, confirmed, consumed and acknowledged, prefetch {SLOTS}; a second: {}",
        rates(&theirs)
    ))?;
    Ok(rate(median(ours)) / rate(median(theirs)))
}

fn started(broker: Arc<dyn Broker>, state: Arc<dyn JobStore>, telemetry: &Telemetry) -> Relay {
    Relay::start(broker, state, NonZeroUsize::from(SLOTS), &telemetry.meter())
}

async fn connected(prefix: &str) -> Outcome<Arc<dyn Broker>> {
    let settings = AmqpSettings::new(shared_broker(), "bench");
    let topology = Topology::new(prefix, &DEFAULT_DELAYS)?;
    let broker = AmqpBroker::connect(settings, topology).await?;
    broker.declare().await?;
    Ok(Arc::new(broker))
}

/// Publishes letters and takes them out again; returns how long that took from the first publication to the last
/// acknowledgement.
async fn through(broker: &Arc<dyn Broker>, letters: &[Letter]) -> Outcome<Duration> {
    let mut consumer = broker.consume(Queue::Tasks, SLOTS);
    until("the subscription", async || consumer.is_subscribed()).await;
    let began = Instant::now();
    let published = stream::iter(letters)
        .map(|letter| broker.publish(Queue::Tasks, letter))
        .buffer_unordered(PUBLISHING)
        .collect::<Vec<_>>();
    let consumed = async {
        let mut acknowledged = JoinSet::new();
        for _ in letters {
            let delivery = consumer.next().await.expect("the broker is open");
            acknowledged.spawn(async move { delivery.ack().await });
        }
        acknowledged.join_all().await
    };
    let (published, consumed) = tokio::join!(published, consumed);
    let took = began.elapsed();
    for confirmed in published {
        confirmed?;
    }
    assert!(consumed.iter().all(|settled| *settled == Settled::Done));
    consumer.stop().await;
    Ok(took)
}

/// Returns a job whose engine does nothing, and its tasks: one candidate and one query each.
fn tasks() -> Outcome<(JobSettings, Vec<EvaluateTask>)> {
    let settings = JobSettings {
        job: JobId::try_from("j1")?,
        dataset: Digest::of(b"nobody reads it"),
        engine: EngineSettings::default(),
        served_by: Some(EngineName::try_from("noop")?),
        measurement: Measurement {
            metrics: Vec::new(),
            depth: NonZeroU32::MIN,
            gains: Gains::Linear,
            relevant_from: Grade::RELEVANT,
            top_grade: Grade::RELEVANT,
        },
        folds: BTreeMap::new(),
    };
    let weights = BTreeMap::from([(FieldName::try_from("title")?, 1.0)]);
    let candidate = Candidate {
        combine: Combine::best_fields(0.0)?,
        weights: FieldWeights::try_from(weights)?,
    };
    let task = |first_query| EvaluateTask {
        job: settings.job.clone(),
        fold: Fold::All,
        first_query,
        query_count: 1,
        candidates: [candidate.clone()].into(),
    };
    let tasks = (0..TASKS + 100).map(task).collect();
    Ok((settings, tasks))
}
