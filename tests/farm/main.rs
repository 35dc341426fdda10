//! The farm as its users run it: real processes, a real RabbitMQ and Redis, and the command line.

mod api;
mod faults;
mod following;
mod identity;
mod jobs;
mod lifecycle;
mod poison;
mod scene;
mod sharing;
#[cfg(feature = "python")]
mod stores;
mod tracing;
