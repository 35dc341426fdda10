//! Strategies: what to evaluate next, given what was seen.
//!
//! A strategy is a pure state machine that is asked for a batch and told values. Batches are as large as they can be
//! without knowing more (a whole axis, a whole grid), because the kernel evaluates many candidates for little more than
//! the price of one. Strategies may propose what was evaluated before; [`super::Sweep`] evaluates it once.

mod axes;
mod axis_scan;
mod descent;
mod grid;
mod list;
mod proposal;
mod random;
mod refine;
mod staged;

pub use axis_scan::{AxisScan, AxisScanSettings};
pub use descent::{CoordinateDescent, DescentSettings};
pub use grid::{Grid, GridSettings, MAX_GRID};
pub use list::List;
pub use proposal::{
    Batch, Configuration, DEFAULT_LEVELS, DEFAULT_MAX_RATIO, Proposal, Stage, Strategy,
};
pub use random::{RandomBox, RandomSettings};
pub use refine::{Refine, RefineSettings};
pub use staged::{RandomPoints, Staged, StagedSettings};
