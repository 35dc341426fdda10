//! Takes a task, evaluates its candidates on its queries, and returns rows. It measures and never judges.

mod average;
mod digests;
mod evaluator;
mod examine;
#[cfg(feature = "farm")]
pub mod farm;
mod measured;
mod stop;

pub use evaluator::{EvaluateError, Evaluator};
pub use examine::Examination;
pub use measured::MeasuredQuery;
pub use stop::{Stop, Stopped};
