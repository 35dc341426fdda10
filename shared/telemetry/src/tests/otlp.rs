use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};

use opentelemetry_proto::tonic::collector::metrics::v1::ExportMetricsServiceRequest;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{KeyValue, any_value::Value};
use opentelemetry_proto::tonic::trace::v1::Span;
use prost::Message;
use tracing::info_span;

use crate::configuration::Configuration;
use crate::{TelemetryError, TraceContext, continue_trace};

const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

struct Request {
    path: String,
    body: Vec<u8>,
}

/// Reads one HTTP/1.1 request with a stated length and answers with an empty 200.
fn answer(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut first = String::new();
    reader.read_line(&mut first).ok()?;
    let path = first.split(' ').nth(1)?.to_owned();
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
    stream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        .ok()?;
    Some(Request { path, body })
}

/// Starts a collector on loopback; returns its address and what it receives.
fn collector() -> (String, Receiver<Request>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            if let Some(request) = answer(&mut stream)
                && sender.send(request).is_err()
            {
                return;
            }
        }
    });
    (address, receiver)
}

fn sending_to(address: &str) -> Configuration {
    Configuration {
        traces: Some(format!("{address}/v1/traces")),
        metrics: Some(format!("{address}/v1/metrics")),
        service: None,
    }
}

fn text<'a>(attributes: &'a [KeyValue], key: &str) -> Option<&'a str> {
    let found = attributes.iter().find(|attribute| attribute.key == key)?;
    match found.value.as_ref()?.value.as_ref()? {
        Value::StringValue(text) => Some(text),
        _ => None,
    }
}

fn hexadecimal(bytes: &[u8]) -> String {
    use std::fmt::Write;
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").expect("a string takes all");
        text
    })
}

#[test]
fn a_collector_receives_spans_and_values() {
    let (address, received) = collector();
    let (telemetry, dispatch) = super::build(&sending_to(&address));
    tracing::dispatcher::with_default(&dispatch, || {
        let span = info_span!(target: "evalfarm", "process farm.tasks", task = "t1");
        continue_trace(&span, &TraceContext::new(Some(PARENT), None));
        span.in_scope(|| {
            info_span!(target: "evalfarm", "store rows").in_scope(|| {});
            info_span!(target: "lapin", "not ours").in_scope(|| {});
        });
    });
    telemetry
        .meter()
        .u64_counter("farm.tasks")
        .build()
        .add(3, &[]);
    telemetry.shutdown();

    let requests: Vec<Request> = received.try_iter().collect();
    let of = |path: &str| {
        let mut found = requests.iter().filter(|request| request.path == path);
        let request = found.next().expect("a request has this path");
        assert!(found.next().is_none(), "one request for {path}");
        request.body.as_slice()
    };
    let spans = ExportTraceServiceRequest::decode(of("/v1/traces")).expect("it is protobuf");
    let from = spans.resource_spans[0]
        .resource
        .as_ref()
        .expect("there is a resource");
    assert_eq!(
        text(&from.attributes, "service.name"),
        Some("evalfarm-test")
    );
    assert_eq!(text(&from.attributes, "service.instance.id"), Some("here"));
    let spans: Vec<&Span> = spans
        .resource_spans
        .iter()
        .flat_map(|resource| &resource.scope_spans)
        .flat_map(|scope| &scope.spans)
        .collect();
    let names: Vec<&str> = spans.iter().map(|span| span.name.as_str()).collect();
    assert_eq!(
        names,
        ["store rows", "process farm.tasks"],
        "in order of their ends"
    );
    for span in &spans {
        assert_eq!(
            hexadecimal(&span.trace_id),
            "4bf92f3577b34da6a3ce929d0e0e4736"
        );
    }
    assert_eq!(spans[0].parent_span_id, spans[1].span_id);
    assert_eq!(hexadecimal(&spans[1].parent_span_id), "00f067aa0ba902b7");
    assert_eq!(text(&spans[1].attributes, "task"), Some("t1"));

    let values = ExportMetricsServiceRequest::decode(of("/v1/metrics")).expect("it is protobuf");
    let metric = &values.resource_metrics[0].scope_metrics[0].metrics[0];
    assert_eq!(metric.name, "farm.tasks");
}

/// Sends one span and one value to `address` and returns how long shutdown took.
fn time_to_shut_down(address: &str) -> Duration {
    let (telemetry, dispatch) = super::build(&sending_to(address));
    tracing::dispatcher::with_default(&dispatch, || {
        info_span!(target: "evalfarm", "submit").in_scope(|| {});
    });
    telemetry
        .meter()
        .u64_counter("farm.tasks")
        .build()
        .add(1, &[]);
    let begin = Instant::now();
    telemetry.shutdown();
    begin.elapsed()
}

#[test]
fn a_collector_that_never_answers_does_not_hold_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("it is bound"));
    let (sender, accepted) = mpsc::channel();
    std::thread::spawn(move || {
        // Held, not dropped: a closed connection would be an answer.
        for stream in listener.incoming() {
            if sender.send(stream).is_err() {
                return;
            }
        }
    });
    let elapsed = time_to_shut_down(&address);
    assert!(elapsed < Duration::from_secs(5), "{elapsed:?}");
    assert_eq!(accepted.try_iter().count(), 2, "both signals were tried");
}

#[test]
fn a_dead_collector_does_not_hold_the_end() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("loopback has a free port");
    let address = format!("http://{}", listener.local_addr().expect("it is bound"));
    drop(listener);
    let elapsed = time_to_shut_down(&address);
    assert!(elapsed < Duration::from_secs(2), "{elapsed:?}");
}

#[test]
fn starts_and_ends_inside_an_async_runtime() {
    let (address, received) = collector();
    for runtime in [
        tokio::runtime::Builder::new_current_thread(),
        tokio::runtime::Builder::new_multi_thread(),
    ] {
        let mut runtime = runtime;
        let runtime = runtime.build().expect("a runtime starts");
        runtime.block_on(async { time_to_shut_down(&address) });
        assert_eq!(received.try_iter().count(), 2, "spans and values arrived");
    }
}

#[test]
fn an_address_that_is_none_is_an_error() {
    let configuration = Configuration {
        traces: Some("not an address".to_owned()),
        ..Configuration::default()
    };
    let error = crate::telemetry::build(super::settings(), &configuration).unwrap_err();
    assert!(matches!(error, TelemetryError::Sender { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        "OTLP endpoint `not an address` cannot be used"
    );
}
