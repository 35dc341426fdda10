//! Real Lucene over HTTP, where a JDK and the tool that starts it are at hand.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use evalfarm_domain::Candidate;
use serde_json::{Map, Value, json};

use crate::clock::Clock;
use crate::collection::{Collection, DEPTH};
use crate::{Outcome, note};

/// Documents sent in one request.
const BULK: usize = 1000;

/// A running server; it ends with the value.
struct Server {
    process: Child,
    connection: BufReader<TcpStream>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let killed = self.process.kill().and_then(|()| self.process.wait());
        drop(killed); // it may have ended by itself
    }
}

/// Returns the time of one candidate on every query, one request a query over one connection; nothing when Lucene cannot be
/// started here.
pub(crate) fn pass(collection: &Collection, candidate: &Candidate) -> Outcome<Option<Duration>> {
    let Some(mut server) = start()? else {
        note("  Lucene over HTTP                  skipped: no JDK, or no tool to start it")?;
        return Ok(None);
    };
    let corpus = &collection.dataset.corpus;
    for documents in corpus.documents.chunks(BULK) {
        let mut body = String::new();
        for document in documents {
            let fields = corpus.fields.iter().zip(&document.fields);
            let fields: Map<String, Value> = fields
                .map(|(field, text)| (field.to_string(), Value::from(text.as_str())))
                .collect();
            let action = json!({"index": {"_id": document.id.as_str()}});
            body = body + &action.to_string() + "\n" + &Value::Object(fields).to_string() + "\n";
        }
        server.request("POST", "/bench/_bulk", &body)?;
    }
    server.request("POST", "/bench/_refresh", "")?;
    let fields = candidate.weights.iter();
    let fields: Vec<String> = fields
        .map(|(field, weight)| format!("{field}^{weight}"))
        .collect();
    let bodies = collection.dataset.queries.iter().map(|query| {
        let query = json!({"multi_match": {"query": query.text, "fields": fields}});
        json!({"size": DEPTH, "_source": false, "query": query}).to_string()
    });
    let bodies: Vec<String> = bodies.collect();
    let mut least = Duration::MAX;
    // The first rounds warm the virtual machine up.
    for _ in 0..4 {
        let clock = Clock::start();
        for body in &bodies {
            server.request("POST", "/bench/_search", body)?;
        }
        least = least.min(clock.passed());
    }
    Ok(Some(least))
}

fn start() -> Outcome<Option<Server>> {
    let Some(chorus) = evalfarm_testkit::reference_data("chorus") else {
        return Ok(None);
    };
    let tool: PathBuf = chorus.join("../../tools/lucene-es/run.sh");
    let has_java = Command::new("java")
        .arg("-version")
        .stderr(Stdio::null())
        .status();
    if !tool.is_file() || !has_java.is_ok_and(|status| status.success()) {
        return Ok(None);
    }
    let port = TcpListener::bind("127.0.0.1:0")?.local_addr()?.port();
    let mut process = Command::new("sh")
        .arg(tool)
        .arg(port.to_string())
        .stdout(Stdio::piped())
        .spawn()?;
    let ready = process.stdout.take().ok_or("no standard output")?;
    let mut line = String::new();
    BufReader::new(ready).read_line(&mut line)?;
    if line.trim() != "ready" {
        process.kill()?;
        return Ok(None);
    }
    let connection = TcpStream::connect(("127.0.0.1", port))?;
    connection.set_nodelay(true)?;
    let connection = BufReader::new(connection);
    Ok(Some(Server {
        process,
        connection,
    }))
}

impl Server {
    /// Sends a request and reads its answer, which must be good.
    fn request(&mut self, method: &str, path: &str, body: &str) -> Outcome<Vec<u8>> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len(),
        );
        let mut message = head.into_bytes();
        message.extend_from_slice(body.as_bytes());
        self.connection.get_mut().write_all(&message)?;
        let mut status = String::new();
        self.connection.read_line(&mut status)?;
        let mut length = 0;
        let mut chunked = false;
        loop {
            let mut line = String::new();
            self.connection.read_line(&mut line)?;
            let line = line.trim().to_ascii_lowercase();
            if line.is_empty() {
                break;
            }
            if let Some(value) = line.strip_prefix("content-length:") {
                length = value.trim().parse()?;
            }
            chunked |= line.starts_with("transfer-encoding:");
        }
        if chunked || !status.contains(" 200 ") {
            return Err(format!("Lucene answered `{}`", status.trim()).into());
        }
        let mut answer = vec![0; length];
        self.connection.read_exact(&mut answer)?;
        Ok(answer)
    }
}
