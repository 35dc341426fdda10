//! The coordinator over HTTP. [`crate::api`] lists the routes.

mod answer;
mod body;
mod datasets;
mod files;
mod guard;
mod jobs;
mod probes;
mod routes;
mod workers;

pub use routes::{ROUTES, Route};

pub(crate) use body::Uploads;
pub(crate) use routes::{Shared, router};
