//! `submit --wait` against a coordinator that gives the verdict which `run` came to: a user reads the same from both.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread;

use evalfarm_tests::{Bench, Data, Sweep};
use serde_json::{Value, json};

/// Reads a request and returns its method and path.
fn asked(stream: &TcpStream) -> Option<(String, String)> {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let mut words = line.split(' ').map(str::to_owned);
    let (method, path) = (words.next()?, words.next()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
    }
    reader.read_exact(&mut vec![0; length]).ok()?;
    Some((method, path))
}

/// Starts a coordinator that has every dataset and one job, which has this verdict; returns its address.
fn coordinator(job: &str, verdict: Vec<u8>) -> String {
    let record: Value = serde_json::from_slice(&verdict).expect("a verdict is JSON");
    let status = json!({
        "job": job, "name": "small", "submitter": "me", "submitted": 0, "state": "judged", "step": null,
        "tasks": { "planned": 1, "done": 1, "retried": 0, "dead": 0, "offered_again": 0 },
        "notes": [], "end": { "how": "judged", "verdict": record["verdict"] },
    });
    let submitted = json!({ "job": job, "created": true }).to_string();
    let (events, of_verdict) = (
        format!("/v1/jobs/{job}/events"),
        format!("/v1/jobs/{job}/verdict"),
    );
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            let Some((method, path)) = asked(&stream) else {
                continue;
            };
            let body = match (method.as_str(), path.as_str()) {
                ("POST", "/v1/jobs") => submitted.clone().into_bytes(),
                ("GET", path) if path == events => {
                    format!("event: status\ndata: {status}\n\n").into_bytes()
                }
                ("GET", path) if path == of_verdict => verdict.clone(),
                _ => Vec::new(),
            };
            let length = body.len();
            let head =
                format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
            // Whoever has seen enough may be gone.
            drop(
                stream
                    .write_all(head.as_bytes())
                    .and_then(|()| stream.write_all(&body)),
            );
        }
    });
    format!("http://{address}")
}

#[test]
fn waiting_prints_the_verdict_as_run_does() {
    let bench = Bench::new();
    let strategy = "strategy = \"axis_scan\"\nfields = [\"brand\"]\nlevels = [0.5, 2.0]";
    let sweep = Sweep::new(Data::Generated(200, 60), 30, 30, strategy);
    bench.write("sweep.toml", sweep.toml());
    let ran = bench.run(["run", "sweep.toml", "--out", "job", "--quiet"]);
    ran.expect_verdict();

    let verdict = fs::read(bench.at("job/verdict.json")).expect("the job has a verdict");
    let record: Value = serde_json::from_slice(&verdict).expect("a verdict is JSON");
    let job = record["job"].as_str().expect("it names its job");
    let address = coordinator(job, verdict);
    bench.write("token", "s3cret");
    let farm = ["--coordinator", &address, "--token-file", "token"];
    let submit =
        |more: &[&str]| bench.run([&["submit", "sweep.toml", "--wait"][..], &farm, more].concat());

    let waited = submit(&[]);
    assert_eq!(waited.code, ran.code, "{waited:?}");
    // Below this line `run` says more: what the worker in its process knows of the fields.
    let judged = |text: &str| {
        let (judged, _) = text
            .split_once("\nsweep\n")
            .expect("both tell of the sweep");
        judged.to_owned()
    };
    assert_eq!(judged(&waited.stdout), judged(&ran.stdout));
    assert!(
        waited.stdout.contains(&format!("\njob {job}, dataset ")),
        "{}",
        waited.stdout
    );
    assert!(
        waited.stderr.contains(&format!("job {job} is submitted")),
        "{}",
        waited.stderr
    );

    let quiet = submit(&["--quiet", "--format", "json"]);
    assert_eq!(quiet.json(), record);
    assert_eq!(quiet.stderr, "");
}
