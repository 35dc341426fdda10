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
    /// What a defect of ours would do.
    #[cfg(any(test, feature = "faults"))]
    Faulty(Faulty),
}

/// Answers as the embedded engine does, but for tasks with a fault.
#[cfg(any(test, feature = "faults"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Faulty {
    /// What happens.
    pub fault: Fault,
    /// Only tasks that evaluate the query at this position of its fold have it; without one all tasks do.
    pub query: Option<u32>,
}

/// What happens to a task.
#[cfg(any(test, feature = "faults"))]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Its computation panics.
    Panic,
    /// The process ends on the spot.
    Abort,
}

/// Answers as the embedded engine does, each query of each candidate after a wait of its own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Delay {
    /// From a request to its answer.
    pub latency: Duration,
    /// What the whole farm may ask of it, if that is limited.
    pub budget: Option<Budget>,
}
