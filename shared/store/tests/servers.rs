//! Servers that answer badly, slowly or not at all.

#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test fails as the test does"
)]

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::num::NonZeroU32;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use bytes::Bytes;
use evalfarm_domain::{JobId, TaskId};
use evalfarm_results::TaskFile;
use evalfarm_store::{Creation, Limits, ObjectPath, Store, StoreError, Variables};

/// Answers of a server: from method and number of the request to bytes, or nothing to hang up.
type Answers = fn(&str, usize) -> Option<String>;

/// A server of one connection after another.
struct Server {
    port: u16,
    requests: Arc<AtomicUsize>,
}

impl Server {
    fn start(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let requests = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&requests);
        // Ends with the process: a listener cannot be woken.
        thread::spawn(move || {
            for connection in listener.incoming() {
                let mut connection = connection.unwrap();
                let method = receive(&mut connection);
                let number = counted.fetch_add(1, Ordering::SeqCst);
                if let Some(answer) = answers(&method, number) {
                    drop(connection.write_all(answer.as_bytes()));
                }
            }
        });
        Self { port, requests }
    }

    async fn open(&self, limits: Limits) -> Result<Store, StoreError> {
        let variables: Variables = [
            ("AWS_ACCESS_KEY_ID", "AKIASECRETKEYID".to_owned()),
            ("AWS_SECRET_ACCESS_KEY", "topsecretvalue".to_owned()),
            ("AWS_REGION", "us-east-1".to_owned()),
            (
                "AWS_ENDPOINT_URL",
                format!("http://127.0.0.1:{}", self.port),
            ),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        Store::open_with("s3://farm", &variables, limits).await
    }

    fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }
}

/// Reads one request and returns its method.
fn receive(connection: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut part = [0; 4096];
    loop {
        let head = request.windows(4).position(|bytes| bytes == b"\r\n\r\n");
        if let Some(head) = head {
            let text = String::from_utf8_lossy(&request[..head]).to_ascii_lowercase();
            let length = text
                .lines()
                .find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if request.len() >= head + 4 + length.unwrap_or(0) {
                return text.split(' ').next().unwrap_or_default().to_owned();
            }
        }
        match connection.read(&mut part) {
            Ok(0) | Err(_) => return String::new(),
            Ok(count) => request.extend_from_slice(&part[..count]),
        }
    }
}

#[expect(clippy::unnecessary_wraps, reason = "the form of an answer")]
fn status(line: &str, body: &str) -> Option<String> {
    let length = body.len();
    Some(format!(
        "HTTP/1.1 {line}\r\nETag: \"1\"\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    ))
}

/// No waiting between attempts, and half a second for each.
fn hasty() -> Limits {
    Limits {
        step: Duration::from_millis(500),
        attempts: NonZeroU32::new(3).unwrap(),
        first_pause: Duration::ZERO,
        ..Limits::default()
    }
}

fn rows() -> ObjectPath {
    let [job, task] = ["j", "t"];
    let (job, task) = (
        JobId::try_from(job).unwrap(),
        TaskId::try_from(task).unwrap(),
    );
    ObjectPath::task(&job, TaskFile::Rows, &task).unwrap()
}

#[tokio::test]
async fn a_server_that_creates_twice_or_knows_no_conditions_is_refused() {
    let overwriting = Server::start(|_, _| status("200 OK", ""));
    let unknowing = Server::start(|_, _| {
        status(
            "501 Not Implemented",
            "<Error><Code>NotImplemented</Code></Error>",
        )
    });
    for (server, requests) in [(overwriting, 2), (unknowing, 1)] {
        let error = server.open(hasty()).await.unwrap_err();
        assert!(
            matches!(error, StoreError::NoConditionalCreate { .. }),
            "{error:?}"
        );
        assert!(error.to_string().starts_with("`s3://farm` does not honour"));
        assert_eq!(server.requests(), requests);
    }
}

#[tokio::test]
async fn a_failure_that_passes_is_not_noticed() {
    // Two failures, the check's answer, a connection lost after the object was created, and the answer that tells.
    let server = Server::start(|method, number| match (method, number) {
        ("put", 0) => status("503 Slow Down", ""),
        ("put", 1 | 3) => None,
        ("put", 2 | 4) => status("412 Precondition Failed", ""),
        ("get", 5) => status(
            "200 OK\r\nLast-Modified: Mon, 30 Nov 2026 16:00:00 GMT",
            "rows",
        ),
        _ => status("500 Internal Server Error", ""),
    });
    let store = server.open(hasty()).await.unwrap();
    assert_eq!(server.requests(), 3);
    let created = store.create(&rows(), Bytes::from_static(b"rows")).await;
    assert_eq!(created.unwrap(), Creation::Same);
    assert_eq!(server.requests(), 6);
}

#[tokio::test]
async fn a_failure_that_stays_ends_after_its_attempts() {
    let server = Server::start(|_, _| status("503 Slow Down", ""));
    let error = server.open(hasty()).await.unwrap_err();
    assert_eq!(error.to_string(), "gave up on the store after 3 attempts");
    assert!(error.is_temporary());
    assert_eq!(server.requests(), 3);
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    // Nobody accepts: the operating system connects and nothing is ever answered.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let server = Server {
        port: listener.local_addr().unwrap().port(),
        requests: Arc::default(),
    };
    let short = Limits {
        step: Duration::from_millis(100),
        ..hasty()
    };
    let error = server.open(short).await.unwrap_err();
    let StoreError::GaveUp {
        attempts: 3,
        source,
    } = error
    else {
        panic!("{error:?}");
    };
    assert_eq!(
        source.to_string(),
        "the store took more than 0.1 s to create `checks/conditional-create`"
    );
}

#[tokio::test]
async fn a_refusal_is_not_tried_again_and_does_not_show_credentials() {
    let server = Server::start(|_, _| {
        status(
            "403 Forbidden",
            "<Error><Code>InvalidAccessKeyId</Code><AWSAccessKeyId>AKIASECRETKEYID</AWSAccessKeyId></Error>",
        )
    });
    let error = server.open(hasty()).await.unwrap_err();
    assert_eq!(server.requests(), 1);
    let StoreError::Refused { reason, .. } = &error else {
        panic!("{error:?}");
    };
    assert!(
        reason.to_string().contains("<AWSAccessKeyId>***<"),
        "{reason}"
    );
    let shown = format!("{error:?} {error}");
    assert!(!shown.contains("AKIASECRETKEYID") && !shown.contains("topsecretvalue"));
}

#[tokio::test]
async fn a_body_that_breaks_off_is_never_taken_for_the_object() {
    let server = Server::start(|method, _| {
        match method {
        "put" => status("412 Precondition Failed", ""),
        _ => Some(
            "HTTP/1.1 200 OK\r\nETag: \"1\"\r\nLast-Modified: Mon, 30 Nov 2026 16:00:00 GMT\r\nContent-Length: 100\r\nConnection: close\r\n\r\nten bytes."
                .to_owned(),
        ),
    }
    });
    let store = server.open(hasty()).await.unwrap();
    let error = store.read(&rows()).await.unwrap_err();
    assert!(
        matches!(error, StoreError::GaveUp { attempts: 3, .. }),
        "{error:?}"
    );
}

#[tokio::test]
async fn bytes_that_are_not_those_that_were_created_are_refused() {
    let server = Server::start(|method, _| {
        if method == "put" {
            return status("412 Precondition Failed", "");
        }
        let digest = "0".repeat(64);
        let headers = format!(
            "200 OK\r\nLast-Modified: Mon, 30 Nov 2026 16:00:00 GMT\r\nx-amz-meta-sha256: {digest}"
        );
        status(&headers, "rows")
    });
    let store = server.open(hasty()).await.unwrap();
    let error = store.read(&rows()).await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error:?}");
    assert!(
        error
            .to_string()
            .starts_with("`jobs/j/rows/t.parquet` has sha256")
    );
}

#[tokio::test]
async fn settings_that_cannot_be_used_are_refused_without_showing_them() {
    let variables: Variables = [(
        "AWS_ENDPOINT_URL".to_owned(),
        "http://user:hunter22@127.0.0.1:9".to_owned(),
    )]
    .into_iter()
    .collect();
    let opened = Store::open_with("s3://farm", &variables, hasty()).await;
    let error = opened.unwrap_err();
    assert!(matches!(error, StoreError::Settings { .. }), "{error:?}");
    let shown = format!("{error:?} {variables:?}");
    assert!(!shown.contains("hunter22"), "{shown}");
}
