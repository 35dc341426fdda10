//! The farm's broker, over AMQP 0-9-1 to RabbitMQ. Written for what 3.10 and 4.x have in common.

mod backoff;
mod broker;
mod dead;
mod declare;
mod hold;
mod link;
mod listener;
mod properties;
mod publisher;
mod settings;
mod source;

pub use broker::AmqpBroker;
pub use settings::AmqpSettings;
