//! What travels beside the bytes. Built from nothing each time: a copied `x-death` would make the broker see a cycle, and
//! drop the message without a word.

use lapin::BasicProperties;
use lapin::types::{AMQPValue, FieldTable};

use crate::{Letter, Trace};

const ATTEMPT: &str = "evalfarm-attempt";
const REASON: &str = "evalfarm-reason";
const ORIGIN: &str = "evalfarm-origin";
const TRACE_PARENT: &str = "traceparent";
const TRACE_STATE: &str = "tracestate";

const PERSISTENT: u8 = 2;

/// What is added to a message for the dead-letter queue.
#[derive(Debug, Clone, Copy)]
pub(super) struct Death<'a> {
    pub(super) reason: &'a str,
    /// Name of the queue it came from.
    pub(super) origin: &'a str,
}

/// What a message said beside its bytes.
#[derive(Debug)]
pub(super) struct Headers {
    pub(super) attempt: u32,
    /// How often the broker took it back.
    pub(super) returned: u32,
    pub(super) reason: Option<String>,
    pub(super) origin: Option<String>,
}

pub(super) fn write(letter: &Letter, attempt: u32, death: Option<Death<'_>>) -> BasicProperties {
    let mut headers = FieldTable::default();
    let mut text = |name: &str, value: &str| {
        headers.insert(name.into(), AMQPValue::LongString(value.into()));
    };
    if let Some(parent) = &letter.trace.parent {
        text(TRACE_PARENT, parent);
    }
    if let Some(state) = &letter.trace.state {
        text(TRACE_STATE, state);
    }
    if let Some(death) = death {
        text(REASON, death.reason);
        text(ORIGIN, death.origin);
    }
    headers.insert(ATTEMPT.into(), AMQPValue::LongLongInt(attempt.into()));
    let properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_content_type("application/vnd.evalfarm".into())
        .with_message_id(letter.id.as_str().into())
        .with_headers(headers);
    match &letter.job {
        Some(job) => properties.with_correlation_id(job.as_str().into()),
        None => properties,
    }
}

/// Reads a message that anybody may have published: what is missing is absent, and the attempt is then the first.
pub(super) fn read(properties: &BasicProperties, body: Vec<u8>) -> (Letter, Headers) {
    let headers = properties.headers().as_ref();
    let field = |name: &str| headers.and_then(|headers| headers.inner().get(name));
    let text = |name: &str| field(name).and_then(text);
    let number = |name: &str| field(name).and_then(number);
    let letter = Letter {
        id: properties
            .message_id()
            .as_ref()
            .map_or_else(String::new, ToString::to_string),
        job: properties
            .correlation_id()
            .as_ref()
            .map(ToString::to_string),
        trace: Trace {
            parent: text(TRACE_PARENT),
            state: text(TRACE_STATE),
        },
        body,
    };
    let headers = Headers {
        attempt: number(ATTEMPT).unwrap_or(1).max(1),
        returned: number("x-delivery-count").unwrap_or(0),
        reason: text(REASON).or_else(|| last_death(field("x-death"), "reason")),
        origin: text(ORIGIN).or_else(|| last_death(field("x-death"), "queue")),
    };
    (letter, headers)
}

/// Returns what the broker wrote about the last time it moved the message. `x-first-death-…` would tell of a retry delay
/// that ended before.
fn last_death(deaths: Option<&AMQPValue>, name: &str) -> Option<String> {
    let AMQPValue::FieldArray(deaths) = deaths? else {
        return None;
    };
    let AMQPValue::FieldTable(last) = deaths.as_slice().first()? else {
        return None;
    };
    last.inner().get(name).and_then(text)
}

fn text(value: &AMQPValue) -> Option<String> {
    match value {
        AMQPValue::LongString(text) => Some(text.to_string()),
        AMQPValue::ShortString(text) => Some(text.to_string()),
        _ => None,
    }
}

fn number(value: &AMQPValue) -> Option<u32> {
    let number = match *value {
        AMQPValue::ShortShortInt(number) => i64::from(number),
        AMQPValue::ShortShortUInt(number) => i64::from(number),
        AMQPValue::ShortInt(number) => i64::from(number),
        AMQPValue::ShortUInt(number) => i64::from(number),
        AMQPValue::LongInt(number) => i64::from(number),
        AMQPValue::LongUInt(number) => i64::from(number),
        AMQPValue::LongLongInt(number) => number,
        _ => return None,
    };
    u32::try_from(number).ok()
}
