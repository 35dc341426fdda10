//! The farm as its users run it: real processes, a real RabbitMQ and Redis, and the command line.

mod api;
mod identity;
mod lifecycle;
mod scene;
