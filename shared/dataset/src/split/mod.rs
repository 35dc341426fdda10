//! Train and holdout: which queries a sweep may look at, and which judge its winner.
//!
//! The order of queries is that of `sha256("{seed}|{query id}")`, so it needs no random number generator and is the same
//! on every machine and in every language. The first `total` queries of it are the sample and the first `train` of these
//! are the train side. A larger sample therefore contains a smaller one.

mod error;
mod file;
mod likeness;
mod manifest;
mod order;
mod request;

pub use error::SplitError;
pub use likeness::{Likeness, MIN_SIMILARITY, Overlap, overlap};
pub use manifest::{Grouping, Side, SplitManifest, SplitOptions};
pub use order::hash_order;
pub use request::{Filter, GroupBy, Split, SplitReport, SplitRequest, TrainSize, split};

#[cfg(test)]
mod tests;
