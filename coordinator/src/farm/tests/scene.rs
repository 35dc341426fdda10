//! What the tests have in common: a farm without engines.

use std::collections::BTreeMap;
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use evalfarm_broker::{Broker, InProcessBroker, Letter, Settled};
use evalfarm_dataset::{About, DatasetContent};
use evalfarm_domain::{
    Candidate, Corpus, Digest, DocId, Document, EvaluateTask, FieldName, Grade, JobId, Judgments,
    Query, QueryId, RerankStatus, RewriteStatus, TaskId, WorkerId,
};
use evalfarm_proto::{
    Commit, Fate, Message, Queue, TaskFailed, TaskFailureKind, TaskFinished, Topology,
};
use evalfarm_results::{
    QueryRow, RowBlock, condensed_to_bytes, hits_to_bytes, means_to_bytes, relevant_to_bytes,
    timings_to_bytes, unjudged_to_bytes,
};
use evalfarm_state::MemoryStore;
use evalfarm_store::{Limits, LocalCache, Store, TaskObjects};
use evalfarm_telemetry::{LogFormat, Telemetry, TraceContext};
use tempfile::TempDir;
use tokio::sync::{Semaphore, watch};
use tokio::task::JoinHandle;

use crate::api::{EndOfJob, JobStatus, Submission, Submitted};
use crate::farm::credentials::{Actor, Kind, Role};
use crate::farm::dispatch::Lines;
use crate::farm::farm::Farm;
use crate::farm::inbox::Inbox;
use crate::farm::instruments::Instruments;
use crate::farm::jobs::{Jobs, JobsError};
use crate::farm::schedule::Pace;
use crate::farm::shares::Shares;
use crate::unfinished;

/// Longest wait for what has to happen.
const LONG: Duration = Duration::from_secs(30);

const QUERIES: usize = 24;

/// What a worker does with a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Does {
    /// Commits a result and says so.
    Finishes,
    /// Commits a result and says that the task failed for good: it is late.
    FinishesAndFails,
    /// Says that it is done, and has committed nothing.
    OnlySaysSo,
    /// Says that it failed for good.
    Fails,
    /// Takes it and is never heard of again.
    Vanishes,
}

/// What is asked of the workers; says what they do.
pub(super) type Script = dyn FnMut(&Message) -> Does + Send;

/// A store, and coordinators on it, one after another.
pub(super) struct Scene {
    pub(super) folder: TempDir,
    pub(super) store: Store,
    pub(super) dataset: Digest,
}

/// A coordinator with its workers.
pub(super) struct Running {
    pub(super) jobs: Arc<Jobs>,
    pub(super) broker: Arc<InProcessBroker>,
    stop: watch::Sender<bool>,
    parts: Vec<JoinHandle<()>>,
}

/// One for the process: it is who logs.
pub(super) fn telemetry() -> Arc<Telemetry> {
    static TELEMETRY: OnceLock<Arc<Telemetry>> = OnceLock::new();
    let start = || {
        let settings = evalfarm_telemetry::Settings {
            service: "test",
            instance: "test".to_owned(),
            log: LogFormat::Text,
            filter: "off".to_owned(),
        };
        Arc::new(evalfarm_telemetry::start(settings).unwrap())
    };
    Arc::clone(TELEMETRY.get_or_init(start))
}

pub(super) fn actor(name: &str, role: Role) -> Actor {
    Actor {
        name: name.to_owned(),
        kind: Kind::Human,
        role,
    }
}

/// A sweep of three candidates whose winner is judged on 12 queries of a holdout; the name makes it another job.
pub(super) fn sweep(name: &str) -> String {
    format!(
        "name = \"{name}\"\nseed = 7\n[dataset]\npath = \"/etc/passwd\"\n\
         [split]\nseed = 1\ntrain = 12\nholdout = 12\n\
         [metrics]\nprimary = \"nDCG@10\"\nguards = [\"RR@10\"]\n\
         [baseline]\nweights = {{ title = 4.0, brand = 2.0 }}\n\
         [policy]\nresamples = 1000\n\
         [sweep]\nstrategy = \"grid\"\nratios = {{ brand = [0.5, 1, 2] }}\n"
    )
}

fn content() -> DatasetContent {
    let numbers = || 0..QUERIES;
    let documents = numbers().map(|number| Document {
        id: DocId::try_from(format!("d{number:02}")).unwrap(),
        fields: vec![format!("phone {number}"), "brand".to_owned()],
    });
    let queries = numbers().map(|number| Query {
        id: QueryId::try_from(format!("q{number:02}")).unwrap(),
        text: format!("phone {number} of {}", "x".repeat(number)),
        weight: 1.0,
        cluster: None,
        columns: BTreeMap::default(),
    });
    let queries: Vec<Query> = queries.collect();
    let mut judgments = Judgments::default();
    for (number, query) in queries.iter().enumerate() {
        let document = DocId::try_from(format!("d{number:02}")).unwrap();
        judgments.insert(query.id.clone(), document, Grade::try_from(1.0).unwrap());
    }
    DatasetContent {
        corpus: Corpus {
            fields: ["title", "brand"]
                .map(|name| FieldName::try_from(name).unwrap())
                .into(),
            documents: documents.collect(),
        },
        queries,
        judgments,
    }
}

impl Scene {
    pub(super) async fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let local = folder.path().join("dataset");
        let manifest = evalfarm_dataset::store(&local, content(), About::new("tiny")).unwrap();
        let store = Store::in_memory(Limits::default());
        store.publish_dataset(&local).await.unwrap();
        Self {
            folder,
            store,
            dataset: manifest.fingerprint,
        }
    }

    pub(super) fn submission(&self, sweep: String) -> Submission {
        Submission {
            sweep,
            dataset: self.dataset,
            split_manifest: None,
        }
    }

    /// Starts a coordinator with copies in `data` that runs `running` jobs at a time.
    pub(super) fn start(&self, data: &str, running: usize, script: Box<Script>) -> Running {
        let topology = Topology::new("test", &[Duration::from_millis(5)]).unwrap();
        let broker = Arc::new(InProcessBroker::new(topology));
        let start = Instant::now();
        let folder = self.folder.path().join(data);
        for part in ["jobs", "looks"] {
            std::fs::create_dir_all(folder.join(part)).unwrap();
        }
        let window = NonZeroUsize::new(2).unwrap();
        let lines = Lines {
            broker: Arc::clone(&broker) as Arc<dyn Broker>,
            state: Arc::new(MemoryStore::new(move || start.elapsed())),
            shares: Arc::new(Shares::new(window)),
            instruments: Instruments::new(&telemetry().meter()),
            pace: Pace {
                window,
                overdue: Duration::from_mins(15),
                straggler: 1_000,
            },
            patience: LONG,
        };
        let inbox = Arc::<Inbox>::default();
        let farm = Farm {
            lines,
            store: self.store.clone(),
            cache: LocalCache::open(&folder.join("cache"), 1 << 30).unwrap(),
            inbox: Arc::clone(&inbox),
            preparing: Semaphore::new(2),
            alive: LONG,
            folder,
        };
        let (stop, stopped) = watch::channel(false);
        let news = inbox.run(Arc::clone(&broker) as Arc<dyn Broker>, stopped.clone());
        let worker = work(Arc::clone(&broker), self.store.clone(), script, stopped);
        Running {
            jobs: Arc::new(Jobs::new(Arc::new(farm), running)),
            broker,
            stop,
            parts: vec![tokio::spawn(news), tokio::spawn(worker)],
        }
    }
}

impl Running {
    pub(super) async fn submit(
        &self,
        submission: Submission,
        at: u64,
    ) -> Result<Submitted, JobsError> {
        let mia = actor("mia", Role::Operator);
        let trace = TraceContext::default();
        self.jobs.submit(&mia, submission, at, &trace).await
    }

    /// Submits the sweep `one` and returns its job.
    pub(super) async fn take_in(&self, scene: &Scene) -> JobId {
        let submitted = self.submit(scene.submission(sweep("one")), 1).await;
        submitted.unwrap().job
    }

    pub(super) async fn cancel(&self, job: &JobId) -> Result<JobStatus, JobsError> {
        let mia = actor("mia", Role::Operator);
        self.jobs.cancel(&mia, job.as_str(), "wrong split").await
    }

    /// Waits until the status of a job is one that is waited for.
    pub(super) async fn when(&self, job: &JobId, is_it: impl Fn(&JobStatus) -> bool) -> JobStatus {
        let (_, entry) = self.jobs.get(job.as_str()).unwrap();
        let mut changed = entry.board.watch();
        let waiting = async {
            loop {
                changed.mark_unchanged();
                let status = entry.board.status();
                if is_it(&status) {
                    return status;
                }
                changed.changed().await.unwrap();
            }
        };
        let waited = tokio::time::timeout(LONG, waiting).await;
        waited.unwrap_or_else(|_| panic!("not reached: {:?}", entry.board.status()))
    }

    pub(super) async fn end(&self, job: &JobId) -> EndOfJob {
        let status = self.when(job, |status| status.end.is_some()).await;
        status.end.unwrap()
    }

    /// Stops as a signal does.
    pub(super) async fn stop(self) {
        self.jobs.pause().await;
        self.stop.send_replace(true);
        for part in self.parts {
            part.await.unwrap();
        }
        self.broker.close().await;
    }
}

/// Returns the bytes of a job's verdict.
pub(super) fn verdict(folder: &Path, data: &str, job: &JobId) -> Vec<u8> {
    let folder = folder.join(data).join("jobs").join(job.as_str());
    std::fs::read(folder.join("verdict.json")).unwrap()
}

/// A worker: takes tasks and does with them what the script says.
async fn work(
    broker: Arc<InProcessBroker>,
    store: Store,
    mut script: Box<Script>,
    mut stop: watch::Receiver<bool>,
) {
    let mut consumer = broker.consume(Queue::Tasks, NonZeroU16::new(64).unwrap());
    loop {
        let delivery = tokio::select! {
            delivery = consumer.next() => delivery,
            _ = stop.wait_for(|&stop| stop) => return,
        };
        let Some(delivery) = delivery else { return };
        let message = Message::decode(&delivery.letter().body).unwrap();
        let does = script(&message);
        let (job, task) = named(&message);
        if matches!(does, Does::Finishes | Does::FinishesAndFails) {
            let objects = objects(&store, &message).await;
            // Another attempt may have been first.
            drop(store.commit_task(&job, &task, objects).await);
        }
        let event = match does {
            Does::Vanishes => None,
            Does::Finishes | Does::OnlySaysSo => Some(finished(job, task)),
            Does::FinishesAndFails | Does::Fails => Some(failed(job, task)),
        };
        if let Some(event) = event {
            say(&broker, &event).await;
        }
        let settled = delivery.ack().await;
        assert!(matches!(settled, Settled::Done | Settled::Lost));
    }
}

pub(super) async fn say(broker: &InProcessBroker, event: &Message) {
    let letter = Letter::new(event).unwrap();
    // A coordinator that ended hears nothing more.
    drop(broker.publish(Queue::Events, &letter).await);
}

/// Returns what a message is about.
pub(super) fn named(message: &Message) -> (JobId, TaskId) {
    match message {
        Message::Evaluate(task) | Message::Average(task) => (task.job.clone(), task.id()),
        Message::Examine(task) => (task.job.clone(), task.id()),
        other => panic!("no task: {other:?}"),
    }
}

pub(super) fn finished(job: JobId, task: TaskId) -> Message {
    Message::Finished(TaskFinished {
        job,
        task,
        attempt: 1,
        worker: WorkerId::try_from("w1").unwrap(),
        commit: Commit::First,
        rows: Digest::of(b"rows"),
        elapsed: Duration::ZERO,
    })
}

pub(super) fn failed(job: JobId, task: TaskId) -> Message {
    Message::Failed(TaskFailed {
        job,
        task,
        attempt: 4,
        worker: WorkerId::try_from("w1").unwrap(),
        kind: TaskFailureKind::Retryable,
        fate: Fate::Dead,
        causes: vec!["the engine is away".to_owned()],
    })
}

/// What every attempt at a task gives: values that follow from candidate and query alone.
async fn objects(store: &Store, message: &Message) -> TaskObjects {
    let (job, _) = named(message);
    let settings = store.settings(&job).await.unwrap();
    let metrics = &settings.measurement.metrics;
    let timings = || Bytes::from(timings_to_bytes(&job, &[]).unwrap());
    match message {
        Message::Evaluate(task) => {
            let queries = settings.queries(task.fold, task.first_query, task.query_count);
            let block = rows(task, metrics.len(), queries.unwrap());
            let block = RowBlock {
                job: job.clone(),
                fold: task.fold,
                metrics: metrics.clone(),
                rows: block,
            };
            TaskObjects::Evaluated {
                rows: Bytes::from(block.to_bytes().unwrap()),
                timings: timings(),
            }
        }
        Message::Average(task) => {
            let of = |candidate: &Candidate| {
                unfinished::means(&candidate.id(), metrics, task.query_count as usize)
            };
            let means: Vec<_> = task.candidates.iter().map(of).collect();
            TaskObjects::Averaged {
                means: Bytes::from(means_to_bytes(&job, task.fold, metrics, &means).unwrap()),
                timings: timings(),
            }
        }
        _ => TaskObjects::Examined {
            hits: Bytes::from(hits_to_bytes(&job, &[]).unwrap()),
            relevant: Bytes::from(relevant_to_bytes(&job, &[]).unwrap()),
            condensed: Bytes::from(condensed_to_bytes(&job, metrics, &[]).unwrap()),
            unjudged: Bytes::from(unjudged_to_bytes(&job, &[]).unwrap()),
        },
    }
}

fn rows(task: &EvaluateTask, metrics: usize, queries: &[QueryId]) -> Vec<QueryRow> {
    let row = |candidate: &Candidate, query: &QueryId| {
        let id = candidate.id();
        let digest = Digest::of(format!("{id} {query}").as_bytes());
        let value = f64::from(digest.as_bytes()[0]) / 255.0;
        QueryRow {
            candidate: id,
            query: query.clone(),
            values: vec![Some(value); metrics],
            scored: vec![value; metrics],
            judged_share: Some(1.0),
            zero_result: false,
            hits_returned: 10,
            top_digest: u64::from(digest.as_bytes()[1]) + 1,
            rewrite: RewriteStatus::NotRequested,
            rerank: RerankStatus::NotRequested,
            failure: None,
        }
    };
    let candidates = task.candidates.iter();
    candidates
        .flat_map(|candidate| queries.iter().map(move |query| row(candidate, query)))
        .collect()
}
