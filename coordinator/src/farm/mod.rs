//! Jobs over many workers: what is offered when, what comes back, and who may ask for it.

mod board;
mod collect;
mod credentials;
mod dispatch;
mod entry;
#[expect(
    clippy::module_inception,
    reason = "what all jobs of one farm share is the farm"
)]
mod farm;
mod http;
mod inbox;
mod instruments;
mod jobs;
mod ledger;
mod prepare;
mod records;
mod relay;
mod runner;
mod schedule;
mod service;
mod settings;
mod shares;
mod take_up;
#[cfg(test)]
mod tests;
mod told;
mod turns;
mod work;

pub use credentials::{Actor, Credentials, CredentialsError, Kind, Role};
pub use http::{ROUTES, Route};
pub use relay::Relay;
pub use schedule::{Answer, Moment, Pace, Schedule};
pub use service::{ServiceError, serve};
pub use settings::{Settings, SettingsError};
