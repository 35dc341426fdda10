//! The sweep file: what people write, checked key by key, and what it means.
//!
//! Every key is described in `docs/sweep-file.md`, whose examples a test reads.

mod baseline;
mod canonical;
mod document;
mod error;
mod measure;
mod moves;
mod plan;
mod policy;
mod reader;
mod source;

pub use baseline::Baseline;
pub use document::{SweepFile, SweepName};
pub use error::{Position, Refusal, SweepFileError, nearest};
pub use measure::MetricSettings;
pub use plan::{Moves, SweepPlan};
pub use policy::Judge;
pub use source::{Catalogue, DatasetSource, GeneratedDataset, SplitSizes, SplitSource};
