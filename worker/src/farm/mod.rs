//! The worker as a service: takes tasks from the broker, commits what they give to the store, and says so.
//!
//! [`Service`] does the work; [`Settings`] is what the binary was told, [`run`] is the binary. A task goes through these steps,
//! and is acknowledged only after the last: decode, look whether it is wanted and whether it is done already, compute, commit,
//! count, announce. Each may be repeated by another worker at the same time: what is committed first stays, and the rest has to
//! be the same bytes.
//!
//! Computation has threads of its own (`bench`), so that the runtime always answers the broker's heartbeats.

mod attempt;
mod bench;
mod budget;
mod clock;
mod connect;
mod counts;
mod engine;
mod failure;
mod health;
mod instruments;
mod jobs;
mod opening;
mod panics;
mod post;
mod program;
mod pulse;
mod quarantine;
mod running;
mod service;
mod settings;
mod settle;
#[cfg(test)]
mod tests;
mod trace;
mod work;

pub use engine::{Delay, Engine};
#[cfg(any(test, feature = "faults"))]
pub use engine::{Fault, Faulty};
pub use program::run;
pub use service::{Order, Parts, Service, Summary};
pub use settings::{Arguments, Options, Settings, SettingsError};
