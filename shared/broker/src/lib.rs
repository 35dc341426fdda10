//! Deliveries of messages between coordinator and workers: at least once, in no order that matters.
//!
//! The broker is transport. What is stored elsewhere is the truth, so whoever publishes can publish again, and whoever
//! receives can receive twice. [`Broker`] has an implementation in process and one over RabbitMQ; both pass one contract.

mod amqp;
mod broker;
mod consumer;
mod delivery;
mod error;
mod in_process;
mod letter;

pub use amqp::{AmqpBroker, AmqpSettings};
pub use broker::Broker;
pub use consumer::{Consumer, Listener};
pub use delivery::{Delivery, NotSettled, Settled};
pub use error::{BrokerError, PublishError};
pub use in_process::InProcessBroker;
pub use letter::{DeadLetter, Letter, Trace};
