//! A trace on its way from process to process.

use std::collections::BTreeMap;
use std::str::FromStr;

use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing_opentelemetry::OpenTelemetrySpanExt;

const PARENT: &str = "traceparent";
const STATE: &str = "tracestate";

/// Length of a `traceparent` of version 00, and of the part of a later version that this one can read.
const PARENT_LENGTH: usize = 55;
/// Bytes of a `traceparent` that are looked at: later versions may append fields.
const MAX_PARENT: usize = 256;
/// Bytes of a `tracestate` that must be passed on at least; a longer one may be dropped whole.
const MAX_STATE: usize = 512;
/// Members of a `tracestate` at most.
const MAX_MEMBERS: usize = 32;

/// A W3C trace context as text, as it stands in the headers of a request or of a message.
///
/// Invariants: `parent` is a valid `traceparent` of version 00; `state` is a valid `tracestate` and only beside a `parent`.
///
/// Source: W3C Trace Context, 2021.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TraceContext {
    parent: Option<String>,
    state: Option<String>,
}

impl TraceContext {
    /// Takes in what came over the wire. Whatever is malformed or too long is left out: a broken trace must not stop a task.
    pub fn new(parent: Option<&str>, state: Option<&str>) -> Self {
        let Some(parent) = parent.and_then(read_parent) else {
            return Self::default();
        };
        Self {
            parent: Some(parent),
            state: state.and_then(read_state),
        }
    }

    /// `traceparent`, when there is a trace.
    pub fn parent(&self) -> Option<&str> {
        self.parent.as_deref()
    }

    /// `tracestate`, when there is one.
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }

    /// The id of the trace, as 32 hexadecimal digits.
    pub fn trace_id(&self) -> Option<&str> {
        self.parent.as_deref()?.split('-').nth(1)
    }
}

/// Returns the context of the current span: what a request or a message should carry. Outside of any span it is empty.
pub fn current() -> TraceContext {
    let mut headers = Headers::default();
    TraceContextPropagator::new().inject_context(&tracing::Span::current().context(), &mut headers);
    TraceContext::new(headers.text(PARENT), headers.text(STATE))
}

/// Makes `span` a child of the span that `context` names. Must come before the span is entered for the first time; a span
/// that has begun keeps its parent.
pub fn continue_trace(span: &tracing::Span, context: &TraceContext) {
    let Some(parent) = &context.parent else {
        return;
    };
    let mut headers = Headers::default();
    headers.0.insert(PARENT.to_owned(), parent.clone());
    if let Some(state) = &context.state {
        headers.0.insert(STATE.to_owned(), state.clone());
    }
    // From an empty context, not from the one of this thread: its span would otherwise stay when nothing can be read.
    let remote = TraceContextPropagator::new()
        .extract_with_context(&opentelemetry::Context::new(), &headers);
    if remote.span().span_context() == &SpanContext::NONE {
        return;
    }
    if let Err(error) = span.set_parent(remote) {
        tracing::debug!(%error, "span could not join its trace");
    }
}

/// Reads `traceparent` and writes it as version 00.
fn read_parent(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\t']);
    if text.len() > MAX_PARENT {
        return None;
    }
    let (known, rest) = text.split_at_checked(PARENT_LENGTH)?;
    let fields: Vec<&str> = known.split('-').collect();
    let &[version, trace, span, flags] = fields.as_slice() else {
        return None;
    };
    let hexadecimal = |field: &str, length: usize| {
        let digit = |byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        field.len() == length && field.bytes().all(digit)
    };
    let is_set = |field: &str| field.bytes().any(|byte| byte != b'0');
    let rest_fits = rest.is_empty() || (version != "00" && rest.starts_with('-'));
    let valid = hexadecimal(version, 2)
        && version != "ff"
        && hexadecimal(trace, 32)
        && is_set(trace)
        && hexadecimal(span, 16)
        && is_set(span)
        && hexadecimal(flags, 2)
        && rest_fits;
    valid.then(|| format!("00-{trace}-{span}-{flags}"))
}

fn read_state(text: &str) -> Option<String> {
    let text = text.trim_matches([' ', '\t']);
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    let fits = !text.is_empty() && text.len() <= MAX_STATE && printable;
    if !fits || text.split(',').count() > MAX_MEMBERS {
        return None;
    }
    let header = TraceState::from_str(text).ok()?.header();
    (!header.is_empty()).then_some(header)
}

/// Headers by name in lower case, as the propagator reads and writes them.
#[derive(Default)]
struct Headers(BTreeMap<String, String>);

impl Headers {
    fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str)
    }
}

impl opentelemetry::propagation::Injector for Headers {
    fn set(&mut self, key: &str, value: String) {
        self.0.insert(key.to_owned(), value);
    }
}

impl opentelemetry::propagation::Extractor for Headers {
    fn get(&self, key: &str) -> Option<&str> {
        self.text(key)
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(String::as_str).collect()
    }
}
