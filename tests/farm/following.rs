//! Whoever follows a job sees it at once.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::jobs::with_seed;
use crate::scene::{Farm, token};

/// Reads the states of a job as the coordinator sends them, until one has what is wanted or the job ends.
fn followed(farm: &Farm, job: &str, wanted: impl Fn(&Value) -> bool) -> Option<Value> {
    let address = farm.url().replace("http://", "");
    let mut stream = TcpStream::connect(&address).expect("the coordinator listens");
    let token = token("rita");
    let asked = write!(
        stream,
        "GET /v1/jobs/{job}/events HTTP/1.0\r\nHost: {address}\r\nAuthorization: Bearer {token}\r\n\r\n"
    );
    asked.expect("the coordinator reads");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut states = lines.filter_map(|line| {
        let text = line.strip_prefix("data: ")?;
        Some(serde_json::from_str::<Value>(text).expect("a status is JSON"))
    });
    states.find(wanted)
}

#[test]
fn a_submitted_job_has_a_rate_and_an_end_in_sight_within_a_second() {
    let mut farm = Farm::start("watch");
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 2");
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
    // The worker has the dataset and its index after this.
    let first = farm.submit(&with_seed(1));
    assert_eq!(farm.ended(&first)["state"], "judged");
    // A busy machine may be late; three times in a row it is not the machine.
    let mut took = Vec::new();
    for seed in 2..=4 {
        let start = Instant::now();
        let job = farm.submit(&with_seed(seed));
        let shown = followed(&farm, &job, |status| {
            status["step"]["rate"].as_f64() > Some(0.0) && status["step"]["eta_seconds"].is_f64()
        });
        took.push(start.elapsed());
        let shown = shown.expect("it was shown before it ended");
        assert_eq!(shown["state"], "running", "{shown}");
        assert_eq!(farm.ended(&job)["state"], "judged");
    }
    let least = took.iter().min().expect("there were three");
    assert!(*least < Duration::from_secs(1), "{took:?}");
    // What the commands print is one object each.
    let job = farm.submit(&with_seed(2));
    let one = farm.run(&["status", &job, "--format", "json"]);
    let one = one.expect_code(0).json();
    assert_eq!(
        (&one["job"], &one["state"]),
        (&job.into(), &"judged".into())
    );
    let all = farm.run(&["status", "--format", "json"]);
    let all = all.expect_code(0).json();
    assert_eq!(all["jobs"].as_array().map(Vec::len), Some(4));
    let watched = farm.run(&["watch", "--format", "json"]);
    assert_eq!(
        watched.expect_code(0).json()["jobs"],
        Value::Array(Vec::new())
    );
}
