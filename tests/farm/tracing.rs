//! One trace goes through everything that happens to a job.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::thread;

use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::any_value::Value;
use opentelemetry_proto::tonic::resource::v1::Resource;
use prost::Message as _;

use crate::scene::{Farm, SWEEP};

/// A span as the collector was told of it.
#[derive(Debug, Clone)]
struct Seen {
    service: String,
    name: String,
    trace: Vec<u8>,
    id: Vec<u8>,
    parent: Vec<u8>,
}

/// Takes one request with a stated length, and answers with an empty 200.
fn taken(mut stream: TcpStream) -> Option<(String, Vec<u8>)> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
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
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.write_all(answer).ok()?;
    Some((first.split(' ').nth(1)?.to_owned(), body))
}

fn service(resource: Option<Resource>) -> String {
    let attributes = resource.map(|resource| resource.attributes);
    let name =
        attributes
            .into_iter()
            .flatten()
            .find_map(|attribute| match attribute.value?.value? {
                Value::StringValue(text) if attribute.key == "service.name" => Some(text),
                _ => None,
            });
    name.expect("whoever sends says who")
}

/// Starts a collector on loopback; returns its address and the spans that it receives.
fn collector() -> (String, Receiver<Seen>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = listener.local_addr().expect("it is bound");
    let (sender, receiver) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let Some((path, body)) = taken(stream) else {
                continue;
            };
            if path != "/v1/traces" {
                continue;
            }
            let request = ExportTraceServiceRequest::decode(body.as_slice());
            for part in request.expect("it is protobuf").resource_spans {
                let service = service(part.resource);
                for span in part.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                    let seen = Seen {
                        service: service.clone(),
                        name: span.name,
                        trace: span.trace_id,
                        id: span.span_id,
                        parent: span.parent_span_id,
                    };
                    if sender.send(seen).is_err() {
                        return;
                    }
                }
            }
        }
    });
    (format!("http://{address}"), receiver)
}

#[test]
fn one_trace_leads_from_submission_to_verdict() {
    let (address, received) = collector();
    let mut farm = Farm::set("trace", &[("OTEL_EXPORTER_OTLP_ENDPOINT", address)]);
    farm.engine("slow", "kind = \"delay\"\nlatency_ms = 0");
    farm.start_worker(&["--config", "worker.toml", "--slots", "2"]);
    let job = farm.submit(SWEEP);
    farm.judged(&job);
    // They send what is left before they end.
    let worker = farm.workers.pop().expect("there is a worker");
    let coordinator = farm.coordinator.take().expect("it runs");
    for part in [worker, coordinator] {
        part.signal("TERM");
        part.finish().expect_code(0);
    }
    let spans: Vec<Seen> = received.try_iter().collect();
    let find = |service: &str, name: &str| {
        let of = format!("evalfarm-{service}");
        let mut found = spans
            .iter()
            .filter(move |span| span.service == of && span.name.starts_with(name));
        let first = found.next().cloned();
        first.unwrap_or_else(|| panic!("no span `{name}` of the {service}"))
    };
    let roles = [
        find("coordinator", "submit"),
        find("coordinator", "publish tasks"),
        find("worker", "process "),
        find("worker", "store"),
        find("coordinator", "judge"),
    ];
    let traces: BTreeSet<&[u8]> = roles.iter().map(|span| span.trace.as_slice()).collect();
    assert_eq!(traces.len(), 1, "{roles:?}");
    // Every span of a task hangs from the one that published it.
    let published: BTreeSet<&[u8]> = spans
        .iter()
        .filter(|span| span.name == "publish tasks")
        .map(|span| span.id.as_slice())
        .collect();
    let mut processed = spans
        .iter()
        .filter(|span| span.name.starts_with("process "));
    assert!(processed.all(|span| published.contains(span.parent.as_slice())));
    let of_trace = |span: &&Seen| span.trace == roles[0].trace && span.service == "evalfarm-worker";
    let stored = spans
        .iter()
        .filter(of_trace)
        .filter(|span| span.name == "store");
    assert_eq!(stored.count(), 18, "each task is stored once");
}
