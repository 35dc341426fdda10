//! Queues and exchanges, told to the broker.

use std::time::Duration;

use evalfarm_proto::{DeadLetterTo, QueueSpec, Topology};
use lapin::options::{ExchangeDeclareOptions, QueueBindOptions, QueueDeclareOptions};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, Connection, ErrorKind, ExchangeKind};
use tokio::time::timeout;

use crate::BrokerError;

/// Makes what is missing.
pub(super) async fn declare(
    connection: &Connection,
    topology: &Topology,
    limit: Duration,
) -> Result<(), BrokerError> {
    let what = "declare its queues";
    let channel = timeout(limit, connection.create_channel())
        .await
        .map_err(|_| BrokerError::Timeout { what, limit })?
        .map_err(|error| failed("", error))?;
    for spec in topology.queues() {
        timeout(limit, queue(&channel, &spec))
            .await
            .map_err(|_| BrokerError::Timeout { what, limit })?
            .map_err(|error| failed(&spec.name, error))?;
    }
    for spec in topology.exchanges() {
        timeout(limit, exchange(&channel, &spec.name, spec.queue.as_deref()))
            .await
            .map_err(|_| BrokerError::Timeout { what, limit })?
            .map_err(|error| failed(&spec.name, error))?;
    }
    Ok(())
}

async fn queue(channel: &Channel, spec: &QueueSpec) -> lapin::Result<()> {
    let options = QueueDeclareOptions {
        durable: true,
        ..QueueDeclareOptions::default()
    };
    channel
        .queue_declare(spec.name.as_str().into(), options, arguments(spec))
        .await
        .map(drop)
}

async fn exchange(channel: &Channel, name: &str, bound: Option<&str>) -> lapin::Result<()> {
    let options = ExchangeDeclareOptions {
        durable: true,
        ..ExchangeDeclareOptions::default()
    };
    let none = FieldTable::default;
    channel
        .exchange_declare(name.into(), ExchangeKind::Fanout, options, none())
        .await?;
    let Some(queue) = bound else { return Ok(()) };
    let options = QueueBindOptions::default();
    channel
        .queue_bind(queue.into(), name.into(), "".into(), options, none())
        .await
}

fn arguments(spec: &QueueSpec) -> FieldTable {
    let mut table = FieldTable::default();
    let mut text = |name: &str, value: &str| {
        table.insert(name.into(), AMQPValue::LongString(value.into()));
    };
    text("x-queue-type", "quorum");
    // A queue that is full says so to the publisher; the default drops confirmed messages.
    text("x-overflow", "reject-publish");
    match &spec.dead_letter {
        None => {}
        Some(to) => {
            text("x-dead-letter-exchange", "");
            // At most once, the default, loses what cannot be routed at that moment.
            text("x-dead-letter-strategy", "at-least-once");
            match to {
                DeadLetterTo::Queue(name) => text("x-dead-letter-routing-key", name),
                DeadLetterTo::RoutingKey => {}
            }
        }
    }
    let mut number = |name: &str, value: i64| {
        table.insert(name.into(), AMQPValue::LongLongInt(value));
    };
    if let Some(limit) = spec.delivery_limit {
        number("x-delivery-limit", limit.into());
    }
    if let Some(ttl) = spec.ttl {
        let millis = i64::try_from(ttl.as_millis()).expect("a topology's delays are at most a day");
        number("x-message-ttl", millis);
    }
    table
}

fn failed(name: &str, error: lapin::Error) -> BrokerError {
    match soft(&error) {
        Some((AMQPSoftError::PRECONDITIONFAILED, said)) => BrokerError::Mismatch {
            name: name.to_owned(),
            said,
        },
        _ => BrokerError::Failed {
            what: "declare queues",
            source: Box::new(error),
        },
    }
}

/// Returns what a broker said when it closed a channel.
pub(super) fn soft(error: &lapin::Error) -> Option<(AMQPSoftError, String)> {
    match error.kind() {
        ErrorKind::ProtocolError(said) => match said.kind() {
            AMQPErrorKind::Soft(soft) => Some((soft.clone(), said.get_message().to_string())),
            AMQPErrorKind::Hard(_) => None,
        },
        _ => None,
    }
}
