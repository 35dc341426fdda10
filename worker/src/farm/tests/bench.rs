//! A farm with a small catalogue, and workers in it.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroU32, NonZeroUsize};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use evalfarm_broker::{Broker, Consumer, DeadLetter, InProcessBroker, Letter, Settled};
use evalfarm_dataset::{About, Dataset, DatasetContent, store};
use evalfarm_domain::{
    Candidate, Combine, EngineName, EngineSettings, EvaluateTask, ExamineTask, FieldName,
    FieldWeights, Fold, JobId, JobSettings, Measurement, TaskId, WorkerId,
};
use evalfarm_proto::{Message, Queue, TaskFailed, TaskFinished, Topology};
use evalfarm_results::TaskFile;
use evalfarm_state::{JobStore, MemoryStore};
use evalfarm_store::{Limits, LocalCache, ObjectPath, Store, Variables};
use evalfarm_synthetic::{CatalogueSpec, generate};
use evalfarm_testkit::until;
use tempfile::TempDir;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::farm::{Engine, Options, Order, Parts, Service, Summary};

pub(super) const QUERIES: u32 = 12;

/// Longest wait for what has to come.
const SOON: Duration = Duration::from_mins(1);

pub(super) struct Farm {
    pub(super) folder: TempDir,
    pub(super) dataset: Dataset,
    pub(super) broker: Arc<InProcessBroker>,
    pub(super) state: Arc<MemoryStore>,
    pub(super) store: Store,
    topology: Topology,
    events: tokio::sync::Mutex<Consumer>,
}

pub(super) struct Worker {
    pub(super) id: WorkerId,
    pub(super) orders: watch::Sender<Order>,
    pub(super) subscribed: Arc<std::sync::atomic::AtomicBool>,
    ended: JoinHandle<Summary>,
}

/// Returns options that make tests quick, with one slot.
pub(super) fn options(name: &str) -> Options {
    Options {
        worker: WorkerId::try_from(name).unwrap(),
        slots: NonZeroU16::MIN,
        deadline: SOON,
        attempts: NonZeroU32::new(2).unwrap(),
        heartbeat: Duration::from_millis(5),
        grace: SOON,
        open_jobs: NonZeroUsize::new(4).unwrap(),
        engines: BTreeMap::new(),
    }
}

/// Returns options that know one engine, `engine`.
pub(super) fn with_engine(name: &str, engine: Engine) -> Options {
    let engines = BTreeMap::from([(engine_name(), engine)]);
    Options {
        engines,
        ..options(name)
    }
}

pub(super) fn engine_name() -> EngineName {
    EngineName::try_from("engine").unwrap()
}

impl Farm {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let generated = generate(&CatalogueSpec::new(7, 200, QUERIES).unwrap());
        let content = DatasetContent {
            corpus: generated.corpus,
            queries: generated.queries,
            judgments: generated.judgments,
        };
        let local = folder.path().join("dataset");
        store(&local, content, About::new("test")).unwrap();
        let address = format!("file://{}/store", folder.path().display());
        let variables = Variables::default();
        let limits = Limits {
            attempts: NonZeroU32::MIN,
            ..Limits::default()
        };
        let objects = Store::open_with(&address, &variables, limits);
        let objects = objects.await.unwrap();
        objects.publish_dataset(&local).await.unwrap();
        let delays = [Duration::from_millis(2), Duration::from_millis(5)];
        let topology = Topology::new("test", &delays).unwrap();
        let broker = Arc::new(InProcessBroker::new(topology.clone()));
        let start = Instant::now();
        Self {
            dataset: Dataset::open(&local).unwrap(),
            events: tokio::sync::Mutex::new(broker.consume(Queue::Events, NonZeroU16::MIN)),
            broker,
            state: Arc::new(MemoryStore::new(move || start.elapsed())),
            store: objects,
            topology,
            folder,
        }
    }

    /// Stores the settings of a job.
    pub(super) async fn job(
        &self,
        id: &str,
        depth: u32,
        served_by: Option<EngineName>,
    ) -> JobSettings {
        let about = &self.dataset.manifest;
        let ids = self.dataset.queries.iter().map(|query| query.id.clone());
        let metrics = ["nDCG", "RR", "P"].map(|name| format!("{name}@{depth}").parse().unwrap());
        let settings = JobSettings {
            job: JobId::try_from(id).unwrap(),
            dataset: about.fingerprint,
            engine: EngineSettings::default(),
            served_by,
            measurement: Measurement {
                metrics: metrics.into(),
                depth: NonZeroU32::new(depth).unwrap(),
                gains: about.gains.clone(),
                relevant_from: about.relevant_from,
                top_grade: about.top_grade,
            },
            folds: BTreeMap::from([(Fold::All, ids.collect())]),
        };
        let stored = self.store.create_settings(&settings.job, &settings);
        stored.await.unwrap();
        settings
    }

    pub(super) fn evaluate(&self, settings: &JobSettings, first_query: u32) -> EvaluateTask {
        EvaluateTask {
            job: settings.job.clone(),
            fold: Fold::All,
            first_query,
            query_count: 4,
            candidates: self.candidates().into(),
        }
    }

    pub(super) fn examine(&self, settings: &JobSettings) -> ExamineTask {
        ExamineTask {
            job: settings.job.clone(),
            fold: Fold::All,
            first_query: 0,
            query_count: QUERIES,
            candidates: self.candidates(),
            hits: NonZeroU32::new(10).unwrap(),
            rank_depth: NonZeroU32::new(50).unwrap(),
        }
    }

    fn candidates(&self) -> Vec<Candidate> {
        let field = &self.dataset.corpus.fields;
        let all = |weight: f64| field.iter().cloned().map(move |field| (field, weight));
        let first: BTreeMap<FieldName, f64> = all(1.0).collect();
        let second = BTreeMap::from([(field[0].clone(), 3.0), (field[1].clone(), 1.0)]);
        let best = Combine::best_fields(0.3).unwrap();
        [(Combine::MostFields, first), (best, second)]
            .map(|(combine, weights)| Candidate {
                combine,
                weights: FieldWeights::try_from(weights).unwrap(),
            })
            .into()
    }

    pub(super) async fn publish(&self, message: &Message) {
        let letter = Letter::new(message).unwrap();
        self.broker.publish(Queue::Tasks, &letter).await.unwrap();
    }

    /// Starts a worker with a cache of its own.
    pub(super) fn start(&self, options: Options) -> Worker {
        self.start_with(options, Some(Arc::clone(&self.state) as Arc<dyn JobStore>))
    }

    pub(super) fn start_with(&self, options: Options, state: Option<Arc<dyn JobStore>>) -> Worker {
        let id = options.worker.clone();
        let cache = self.folder.path().join("cache").join(id.as_str());
        let parts = Parts {
            broker: Arc::clone(&self.broker) as Arc<dyn Broker>,
            topology: self.topology.clone(),
            state,
            store: self.store.clone(),
            cache: LocalCache::open(&cache, 1 << 30).unwrap(),
        };
        let meter = opentelemetry::global::meter("test");
        let service = Service::new(options, parts, &meter);
        let (orders, received) = watch::channel(Order::Run);
        Worker {
            id,
            orders,
            subscribed: service.subscribed(),
            ended: tokio::spawn(async move { service.run(received).await }),
        }
    }

    /// Waits for the next event about a task.
    pub(super) async fn event(&self) -> Message {
        let mut events = self.events.lock().await;
        loop {
            let delivery = tokio::time::timeout(SOON, events.next());
            let delivery = delivery.await.expect("an event comes").unwrap();
            let message = Message::decode(&delivery.letter().body).unwrap();
            assert_eq!(delivery.ack().await, Settled::Done);
            if !matches!(message, Message::Hello(_)) {
                return message;
            }
        }
    }

    pub(super) async fn finished(&self) -> TaskFinished {
        match self.event().await {
            Message::Finished(finished) => finished,
            other => panic!("not finished: {other:?}"),
        }
    }

    pub(super) async fn failed(&self) -> TaskFailed {
        match self.event().await {
            Message::Failed(failed) => failed,
            other => panic!("not failed: {other:?}"),
        }
    }

    /// Waits for dead letters.
    pub(super) async fn dead(&self) -> Vec<DeadLetter> {
        let mut dead = Vec::new();
        until("there is a dead letter", async || {
            dead = self.broker.dead_letters(10).await.unwrap();
            !dead.is_empty()
        })
        .await;
        dead
    }

    pub(super) async fn object(&self, job: &JobId, kind: TaskFile, task: &TaskId) -> Option<Bytes> {
        let path = ObjectPath::task(job, kind, task).unwrap();
        self.store.read(&path).await.unwrap()
    }

    /// Returns the rows that an evaluated task committed.
    pub(super) async fn rows(&self, task: &EvaluateTask) -> Option<Bytes> {
        self.object(&task.job, TaskFile::Rows, &task.id()).await
    }

    /// Waits until a worker says that it works on a task.
    pub(super) async fn works_on(&self, worker: &WorkerId, task: &TaskId) {
        until("the worker reports the task", async || {
            let reports = self.state.workers().await.unwrap();
            let report = reports.iter().find(|report| report.worker == *worker);
            report.is_some_and(|report| report.current.contains(task))
        })
        .await;
    }
}

impl Worker {
    /// Tells the worker to drain and waits for its end.
    pub(super) async fn drain(self) -> Summary {
        self.orders.send_replace(Order::Drain);
        self.end().await
    }

    pub(super) async fn end(self) -> Summary {
        tokio::time::timeout(SOON, self.ended)
            .await
            .expect("the worker ends")
            .unwrap()
    }
}
