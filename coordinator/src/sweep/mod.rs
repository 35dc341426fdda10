//! Sweeps: from the file that people write to the candidates that are evaluated, in which order, and what they showed.
//!
//! [`SweepFile`] is the file, read and checked. [`Space`] holds ratios of field weights to an anchor field. A
//! [`Strategy`] proposes, [`Sweep`] evaluates each candidate once, [`SweepReport`] says what it amounted to. Nothing
//! here evaluates, waits or reads a clock.

mod explore;
mod file;
mod observe;
mod report;
mod space;
mod strategy;
mod values;

#[cfg(test)]
mod tests;

pub use explore::{Alias, Ask, BASELINE, Sweep, Visit};
pub use file::*;
pub use observe::{
    Observation, ObservationError, Observations, Observed, ResultClass, SelectionFold,
};
pub use report::{
    Best, CurvePoint, FieldEffect, FieldReport, ResponseCurve, SweepReport, Unchanged,
};
pub use space::{LARGEST_RATIO, Point, SMALLEST_RATIO, Space, SpaceError};
pub use strategy::*;
pub use values::{MAX_VALUES, RangeError, range};
