//! Names of relevance metrics: what is measured, to which depth, and which direction is good.
//!
//! Names are those of ir-measures; `trec_eval`'s spellings are read and mean the same.

mod measure;
mod name;

pub use measure::{DcgGain, Direction, Measure, Metric, MetricError, Persistence};

#[cfg(test)]
mod tests;
