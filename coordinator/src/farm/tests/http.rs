//! Requests that nobody should send.

use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use evalfarm_domain::Digest;

use super::scene::{Does, Running, Scene, sweep, telemetry};
use crate::farm::credentials::Credentials;
use crate::farm::http::{Shared, Uploads, router};
use crate::farm::service::Health;

async fn served(farm: &Running, ready: bool) -> SocketAddr {
    let digest = Digest::of(b"secret");
    let text = format!(
        "[[credential]]\nname = \"mia\"\nkind = \"human\"\nrole = \"operator\"\ntoken_sha256 = \"{digest}\"\n"
    );
    let health = Health::default();
    if ready {
        health.is_taken_up();
    }
    let shared = Shared {
        jobs: Arc::clone(&farm.jobs),
        credentials: Arc::new(Credentials::parse(&text, Path::new("c")).unwrap()),
        health: Arc::new(health),
        telemetry: telemetry(),
        uploads: Uploads::default(),
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(axum::serve(listener, router(shared)).into_future());
    address
}

/// Sends a request and returns the status and the body of the answer.
async fn send(address: SocketAddr, method: &str, path: &str, body: &str) -> (u16, String) {
    let request = format!(
        "{method} {path} HTTP/1.1\r\nhost: farm\r\nconnection: close\r\nauthorization: Bearer secret\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let asked = move || {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer
    };
    let answer = tokio::task::spawn_blocking(asked).await.unwrap();
    let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
    let body = answer.split_once("\r\n\r\n").unwrap().1;
    (status, body.to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn every_refusal_is_a_problem_in_json() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let address = served(&farm, true).await;
    let job = farm.take_in(&scene).await;
    let cancel = format!("/v1/jobs/{job}/cancel");
    let traversal = format!("/v1/jobs/{job}/files/rows%2F..%2F..%2F..%2Fcredentials.toml");
    let zeros = "0".repeat(64);
    let asked: [(&str, &str, &str, u16, &str); 9] = [
        ("DELETE", "/v1/jobs", "", 405, "not_found"),
        ("GET", "/v1/nothing", "", 404, "not_found"),
        ("GET", "/v1/jobs/%ff", "", 400, "invalid"),
        ("GET", "/v1/jobs/..%2F..", "", 404, "not_found"),
        ("GET", &traversal, "", 404, "not_found"),
        (
            "POST",
            "/v1/jobs",
            "{\"submitter\":\"mia\"}",
            422,
            "invalid",
        ),
        ("POST", &cancel, "{\"reason\":\"a\\nb\"}", 422, "invalid"),
        (
            "POST",
            &cancel,
            "{\"reason\":\"\\u001b[2J\"}",
            422,
            "invalid",
        ),
        ("POST", "/v1/datasets/x/missing", &zeros, 422, "invalid"),
    ];
    for (method, path, body, status, code) in asked {
        let (found, answer) = send(address, method, path, body).await;
        assert_eq!(found, status, "{method} {path}: {answer}");
        let problem: serde_json::Value = serde_json::from_str(&answer)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}: {answer}"));
        assert_eq!(problem["code"], code, "{method} {path}: {answer}");
        assert!(
            !answer.contains(&*scene.folder.path().to_string_lossy()),
            "{answer}"
        );
    }
    farm.cancel(&job).await.unwrap();
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_answered_before_stored_jobs_are_taken_up() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let address = served(&farm, false).await;
    for (path, status) in [("/livez", 200), ("/readyz", 503), ("/v1/jobs", 503)] {
        assert_eq!(send(address, "GET", path, "").await.0, status, "{path}");
    }
    farm.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_submission_opens_no_file_that_its_sweep_names() {
    let scene = Scene::new().await;
    let farm = scene.start("a", 1, Box::new(|_| Does::Vanishes));
    let address = served(&farm, true).await;
    // It is there and could be read; the coordinator does not know of it.
    let split = scene.folder.path().join("split.json");
    std::fs::write(&split, "not to be read").unwrap();
    let text = sweep("one").replace(
        "seed = 1\ntrain = 12\nholdout = 12",
        &format!("path = \"{}\"", split.display()),
    );
    let mut submission = scene.submission(text);
    let body = serde_json::to_string(&submission).unwrap();
    let (status, answer) = send(address, "POST", "/v1/jobs", &body).await;
    assert_eq!(status, 422, "{answer}");
    assert!(answer.contains("sent along"), "{answer}");
    submission.split_manifest = Some("{\"no\": \"manifest\"}".to_owned());
    let body = serde_json::to_string(&submission).unwrap();
    let (status, answer) = send(address, "POST", "/v1/jobs", &body).await;
    assert_eq!(status, 422, "{answer}");
    assert!(answer.contains("split manifest"), "{answer}");
    assert!(
        !answer.contains(&*scene.folder.path().to_string_lossy()),
        "{answer}"
    );
    farm.stop().await;
}
