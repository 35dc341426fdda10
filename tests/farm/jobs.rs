//! Jobs of a farm, from the command line and over HTTP.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::sync::OnceLock;

use evalfarm_tests::{Bench, Tree, wait_until};
use serde_json::Value;

use crate::scene::{Farm, SWEEP, results, token};

/// Returns another job like [`SWEEP`].
pub(crate) fn with_seed(seed: u32) -> String {
    SWEEP.replace("seed = 7", &format!("seed = {seed}"))
}

/// Returns what [`SWEEP`] gives when nothing happens.
pub(crate) fn undisturbed() -> &'static Tree {
    static TREE: OnceLock<Tree> = OnceLock::new();
    TREE.get_or_init(|| {
        let mut farm = Farm::start("calm");
        farm.engine("slow", "kind = \"delay\"\nlatency_ms = 0");
        farm.start_worker(&["--config", "worker.toml", "--slots", "4"]);
        let job = farm.submit(SWEEP);
        farm.judged(&job)
    })
}

impl Farm {
    /// Starts a farm whose processes get further variables.
    pub(crate) fn set(name: &str, variables: &[(&str, String)]) -> Self {
        let bench = Bench::new();
        let store = format!("file://{}", bench.at("store").display());
        let variables = variables
            .iter()
            .map(|(name, value)| ((*name).to_owned(), value.clone()));
        Self::with(name, bench, store, variables.collect())
    }

    /// Adds an engine to the workers' configuration, `worker.toml`.
    pub(crate) fn engine(&self, name: &str, lines: &str) {
        let before = fs::read_to_string(self.bench.at("worker.toml")).unwrap_or_default();
        let engine = format!("{before}[engines.{name}]\n{lines}\n\n");
        self.bench.write("worker.toml", engine);
    }

    /// Submits a sweep and returns its job.
    pub(crate) fn submit(&self, sweep: &str) -> String {
        self.bench.write("sweep.toml", sweep);
        let outcome = self.run(&["submit", "sweep.toml", "--format", "json"]);
        let json = outcome.expect_code(0).json();
        json["job"].as_str().expect("a job has an id").to_owned()
    }

    /// Returns how far a job is.
    pub(crate) fn status(&self, job: &str) -> Value {
        let text = self.ask("GET", &format!("/v1/jobs/{job}"), Some(&token("rita")));
        serde_json::from_str(&text.expect("the job is there")).expect("a status is JSON")
    }

    /// Waits until a job is over, and returns its last status.
    pub(crate) fn ended(&self, job: &str) -> Value {
        self.run(&["watch", job]).expect_code(0);
        let status = self.status(job);
        assert!(!status["end"].is_null(), "watched to no end: {status}");
        status
    }

    /// Waits for a job's verdict, and returns its results.
    pub(crate) fn judged(&self, job: &str) -> Tree {
        let status = self.ended(job);
        assert_eq!(status["state"], "judged", "{status}");
        self.fetched(job)
    }

    /// Returns the results of a job.
    pub(crate) fn fetched(&self, job: &str) -> Tree {
        let out = format!("fetched-{job}");
        self.run(&["results", job, "--out", &out]).expect_code(0);
        results(&self.bench.at(&out))
    }

    /// Waits until some tasks of a job are done and others are not.
    pub(crate) fn wait_for_the_middle(&self, job: &str) {
        wait_until("the middle of the job", || {
            let status = self.status(job);
            assert!(status["end"].is_null(), "it ended too soon: {status}");
            let tasks = &status["tasks"];
            (tasks["done"].as_u64()? >= 1 && tasks["done"] != tasks["planned"]).then_some(())
        });
    }

    /// Returns the sum of a counter or gauge of a worker, over all values of its labels that hold `label`.
    pub(crate) fn measured(&self, worker: usize, name: &str, label: &str) -> u64 {
        let text = self.metrics(worker);
        let values = text.lines().filter_map(|line| {
            let (series, value) = line.rsplit_once(' ')?;
            let labels = series.strip_prefix(name)?;
            let is_it = (labels.is_empty() || labels.starts_with('{')) && labels.contains(label);
            is_it.then(|| value.parse::<u64>().expect("a value is a number"))
        });
        values.sum()
    }

    /// Returns `/metrics` of a worker, nothing while it does not answer.
    fn metrics(&self, worker: usize) -> String {
        let file = self.bench.at(&format!("worker-{worker}.address"));
        let address = fs::read_to_string(file).unwrap_or_default();
        let mut answer = String::new();
        let asked = TcpStream::connect(address.trim()).and_then(|mut stream| {
            stream.write_all(b"GET /metrics HTTP/1.0\r\n\r\n")?;
            stream.read_to_string(&mut answer)
        });
        asked.map_or_else(|_| String::new(), |_| answer)
    }
}
