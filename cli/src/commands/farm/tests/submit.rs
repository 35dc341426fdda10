use std::fs;
use std::path::PathBuf;

use evalfarm_coordinator::api::{JobState, MissingFiles, Submission};
use evalfarm_dataset::{Dataset, Manifest};
use evalfarm_domain::Digest;
use tempfile::TempDir;

use super::text::status;
use super::{option, run};
use crate::exit_code::{INFRASTRUCTURE, INVALID_INPUT};
use crate::failure::Failure;
use crate::farm::tests::fake::{Answer, Asked, Fake};

const NOT_FOUND: &str = r#"{"code":"not_found","message":"no"}"#;

const SWEEP: &str = r#"
name = "shop"
seed = 1

[dataset]
generate = { catalogue = "shop", seed = 1, products = 50, queries = 40 }

[split]
seed = 1
train = 20
holdout = 20

[baseline]
weights = { title = 1.0, description = 1.0 }

[sweep]
strategy = "axis_scan"
levels = [0.5, 2.0]

[policy]
judge = "winner_on_holdout"
"#;

/// A folder with a sweep file and a cache.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder can be made");
        fs::write(folder.path().join("sweep.toml"), SWEEP).expect("a file can be written");
        Self { folder }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn submit(&self, fake: &Fake, more: &[&str]) -> Result<u8, Failure> {
        let sweep = self.at("sweep.toml");
        let sweep = sweep.to_str().expect("the path is Unicode");
        let cache = option("--cache", &self.at("cache"));
        let line = ["submit", sweep, "--quiet", &cache];
        run(fake, &[&line[..], more].concat())
    }

    /// The dataset that the command has generated.
    fn manifest(&self) -> (Manifest, Vec<u8>) {
        let datasets = fs::read_dir(self.at("cache/datasets")).expect("it was generated");
        let folder = datasets
            .filter_map(|entry| Some(entry.ok()?.path()))
            .find(|path| path.is_dir())
            .expect("there is one");
        let bytes = fs::read(folder.join("manifest.json")).expect("a dataset has a manifest");
        let dataset = Dataset::open(&folder).expect("it is whole");
        (dataset.manifest, bytes)
    }
}

/// A coordinator that lacks the dataset but for one file, and takes the job.
fn lacking(asked: &Asked) -> Answer {
    let created = r#"{"job":"j1","created":true}"#;
    match (asked.method.as_str(), asked.path.as_str()) {
        ("POST", "/v1/jobs") => Answer::new(201, created),
        ("POST", path) if path.ends_with("/missing") => {
            let manifest: Manifest =
                serde_json::from_slice(&asked.body).expect("the body is the manifest");
            let missing = manifest.files[1..].iter().map(|file| file.sha256).collect();
            let answer = MissingFiles { missing };
            Answer::new(200, serde_json::to_vec(&answer).expect("it is JSON"))
        }
        ("PUT", _) => Answer::new(204, ""),
        _ => Answer::new(404, NOT_FOUND),
    }
}

#[test]
fn only_what_the_farm_lacks_is_uploaded_and_the_manifest_last() {
    let desk = Desk::new();
    let fake = Fake::start(lacking);
    assert_eq!(desk.submit(&fake, &[]).expect("it is submitted"), 0);

    let (manifest, bytes) = desk.manifest();
    let dataset = format!("/v1/datasets/{}", manifest.fingerprint);
    let mut expected = vec![format!("GET {dataset}"), format!("POST {dataset}/missing")];
    let sent = &manifest.files[1..];
    expected.extend(
        sent.iter()
            .map(|file| format!("PUT {dataset}/files/{}", file.sha256)),
    );
    expected.push(format!("PUT {dataset}"));
    expected.push("POST /v1/jobs".to_owned());
    assert_eq!(fake.routes(), expected);

    let asked = fake.asked();
    for (file, asked) in sent.iter().zip(&asked[2..]) {
        assert_eq!(Digest::of(&asked.body), file.sha256, "{}", file.name);
    }
    assert_eq!(asked[asked.len() - 2].body, bytes);
    let last = asked.last().expect("there are requests");
    let submission: Submission = serde_json::from_slice(&last.body).expect("it is JSON");
    let whole = Submission {
        sweep: SWEEP.to_owned(),
        dataset: manifest.fingerprint,
        split_manifest: None,
    };
    assert_eq!(submission, whole);
}

#[test]
fn a_dataset_that_is_there_is_not_sent() {
    let desk = Desk::new();
    let fake = Fake::start(|asked| match asked.method.as_str() {
        "POST" => Answer::new(200, r#"{"job":"j1","created":false}"#),
        _ => Answer::new(204, ""),
    });
    assert_eq!(desk.submit(&fake, &[]).expect("it is submitted"), 0);
    let (manifest, _) = desk.manifest();
    let has = format!("GET /v1/datasets/{}", manifest.fingerprint);
    assert_eq!(fake.routes(), [has.as_str(), "POST /v1/jobs"]);
}

#[test]
fn a_broken_sweep_is_found_before_anything_is_sent() {
    let desk = Desk::new();
    let fake = Fake::start(|_| Answer::new(500, ""));
    let unknown_field = SWEEP.replace("description = 1.0", "colour_of_the_sea = 1.0");
    for (text, about) in [
        ("name = 1", "InFile"),
        (unknown_field.as_str(), "UnknownField"),
    ] {
        fs::write(desk.at("sweep.toml"), text).expect("a file can be written");
        let failure = desk.submit(&fake, &[]).expect_err("the sweep is wrong");
        assert_eq!(failure.exit_code(), INVALID_INPUT);
        assert!(format!("{failure:?}").contains(about), "{failure:?}");
    }
    assert_eq!(fake.routes(), Vec::<String>::new());
}

/// A coordinator on which the job has ended in this way.
fn ended(end: &'static str, state: JobState) -> Fake {
    let mut over = serde_json::to_value(status(state, None)).expect("a status is JSON");
    over["end"] = serde_json::from_str(end).expect("it is JSON");
    Fake::start(
        move |asked| match (asked.method.as_str(), asked.path.as_str()) {
            ("POST", _) => Answer::new(200, r#"{"job":"j1","created":false}"#),
            (_, "/v1/jobs/j1/events") => {
                Answer::new(200, format!("event: status\ndata: {over}\n\n"))
            }
            (_, "/v1/jobs/j1/verdict") => Answer::new(200, r#"{"verdict":"of a later release"}"#),
            _ => Answer::new(204, ""),
        },
    )
}

#[test]
fn waiting_ends_with_the_code_of_the_verdict() {
    let desk = Desk::new();
    for (verdict, code) in [("PROMOTE", 0), ("BLOCK", 1), ("INSUFFICIENT_EVIDENCE", 4)] {
        let end: &'static str =
            Box::leak(format!(r#"{{"how":"judged","verdict":"{verdict}"}}"#).into_boxed_str());
        let fake = ended(end, JobState::Judged);
        let waited = desk.submit(&fake, &["--wait"]);
        assert_eq!(waited.expect("there is a verdict"), code, "{verdict}");
    }
}

#[test]
fn waiting_for_a_job_without_a_verdict_is_infrastructure() {
    let desk = Desk::new();
    for (end, state, said) in [
        (
            r#"{"how":"cancelled","by":"you","reason":"no"}"#,
            JobState::Cancelled,
            "job `j1` was cancelled by `you`: no",
        ),
        (
            r#"{"how":"failed","error":"disk full","input":false}"#,
            JobState::Failed,
            "job `j1` failed: disk full",
        ),
        ("null", JobState::Failed, "not how it ended"),
    ] {
        let failure = desk
            .submit(&ended(end, state), &["--wait"])
            .expect_err("no verdict");
        assert_eq!(failure.exit_code(), INFRASTRUCTURE, "{end}");
        assert!(format!("{failure:?}").contains(said), "{failure:?}");
    }
}
