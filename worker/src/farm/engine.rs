//! Engines that a job may name, as this worker's configuration knows them.

use std::time::Duration;

use evalfarm_state::Budget;

/// An engine that this worker may use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// The embedded engine behind a wait: for tests and benchmarks.
    Delay(Delay),
    /// Nothing is computed and nothing is stored, tasks just end: for benchmarks of the way that tasks take.
    Noop,
    /// Panics: what a defect of ours would do.
    #[cfg(test)]
    Panic,
}

/// Answers as the embedded engine does, each query of each candidate after a wait of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delay {
    /// From a request to its answer.
    pub latency: Duration,
    /// What the whole farm may ask of it, if that is limited.
    pub budget: Option<Budget>,
}
