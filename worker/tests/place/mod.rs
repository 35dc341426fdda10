//! A folder with a store and a cache, and workers that log into it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use evalfarm_dataset::{About, Dataset, DatasetContent, store};
use evalfarm_domain::{
    Candidate, Combine, EngineName, EngineSettings, EvaluateTask, FieldWeights, Fold, JobId,
    JobSettings, Measurement,
};
use evalfarm_proto::Message;
use evalfarm_store::Store;
use evalfarm_synthetic::{CatalogueSpec, generate};
use evalfarm_testkit::wait_until;
use tempfile::TempDir;

/// Longest wait for what has to come.
pub(crate) const SOON: Duration = Duration::from_mins(1);

/// Returns the program, without what the environment of the tests may say.
pub(crate) fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_evalfarm-worker"));
    program.env_clear();
    program.env("HOME", "/nonexistent");
    program
}

pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).display().to_string()
    }

    /// Writes a file and returns its path.
    pub(crate) fn file(&self, name: &str, text: &str) -> String {
        let path = self.path(name);
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn store(&self) -> String {
        format!("file://{}", self.path("store"))
    }

    pub(crate) fn cache(&self) -> String {
        self.path("cache")
    }

    /// Returns where a worker's log is.
    pub(crate) fn log(&self, name: &str) -> String {
        self.path(&format!("{name}.log"))
    }

    /// Prepares a worker of the farm `test`.
    pub(crate) fn worker(&self, broker: &str, name: &str) -> Command {
        let log = fs::File::create(self.log(name)).unwrap();
        let mut worker = program();
        worker
            .env("EVALFARM_BROKER", broker)
            .env("EVALFARM_PREFIX", "test")
            .args(["--store", &self.store(), "--cache", &self.cache()])
            .args(["--listen", "127.0.0.1:0", "--name", name])
            .args(["--address-file", &self.path(&format!("{name}.address"))])
            .args(["--heartbeat", "200ms"])
            .stderr(Stdio::from(log));
        worker
    }

    /// Waits until a worker says where it serves.
    pub(crate) fn address(&self, name: &str) -> String {
        let path = self.path(&format!("{name}.address"));
        let what = format!("the address in `{path}`");
        let address = wait_until(&what, || fs::read_to_string(&path).ok());
        address.trim().to_owned()
    }

    /// Publishes a dataset and a job about it, answered by an engine of this name, and returns some of its tasks.
    pub(crate) async fn publish_job(&self, job: &str, engine: Option<&str>) -> Vec<Message> {
        let generated = generate(&CatalogueSpec::new(7, 200, 12).unwrap());
        let content = DatasetContent {
            corpus: generated.corpus,
            queries: generated.queries,
            judgments: generated.judgments,
        };
        let local = self.folder.path().join("dataset");
        store(&local, content, About::new("test")).unwrap();
        let objects = Store::open(&self.store()).await.unwrap();
        objects.publish_dataset(&local).await.unwrap();
        let dataset = Dataset::open(&local).unwrap();
        let about = &dataset.manifest;
        let ids = dataset.queries.iter().map(|query| query.id.clone());
        let settings = JobSettings {
            job: JobId::try_from(job).unwrap(),
            dataset: about.fingerprint,
            engine: EngineSettings::default(),
            served_by: engine.map(|name| EngineName::try_from(name).unwrap()),
            measurement: Measurement {
                metrics: vec!["nDCG@10".parse().unwrap()],
                depth: NonZeroU32::new(10).unwrap(),
                gains: about.gains.clone(),
                relevant_from: about.relevant_from,
                top_grade: about.top_grade,
            },
            folds: BTreeMap::from([(Fold::All, ids.collect())]),
        };
        let stored = objects.create_settings(&settings.job, &settings);
        stored.await.unwrap();
        let field = dataset.corpus.fields[0].clone();
        let candidate = Candidate {
            combine: Combine::MostFields,
            weights: FieldWeights::try_from(BTreeMap::from([(field, 1.0)])).unwrap(),
        };
        let task = |first_query| EvaluateTask {
            job: settings.job.clone(),
            fold: Fold::All,
            first_query,
            query_count: 4,
            candidates: [candidate.clone()].into(),
        };
        [0, 4, 8].map(|first| Message::Evaluate(task(first))).into()
    }
}

pub(crate) fn said(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Sends a signal to a process.
pub(crate) fn signal(process: &Child, name: &str) {
    let id = process.id().to_string();
    let sent = Command::new("kill").args(["-s", name, &id]).status();
    assert!(sent.unwrap().success());
}

/// Waits for the end of a process and returns its exit code.
pub(crate) fn ended(process: &mut Child) -> Option<i32> {
    let status = wait_until("the end of the worker", || process.try_wait().unwrap());
    status.code()
}

/// Asks for a page and returns its status and text.
pub(crate) fn get(address: &str, path: &str) -> (u16, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nHost: worker\r\nConnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    (status, answer)
}
