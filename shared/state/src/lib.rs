//! What the farm counts while it works: progress, leases, heartbeats, cancel flags, engine budgets.
//!
//! It counts and never decides. What is stored in the object store is the truth; everything here may be lost at any
//! moment, and losing it costs progress, never a result. So every call can fail with a [`StateError`] that its caller may
//! log and ignore, and every write may be repeated.

mod error;
mod memory;
mod redis;
mod store;

pub use error::StateError;
pub use memory::MemoryStore;
pub use redis::{RedisSettings, RedisStore};
pub use store::{
    Budget, Claim, Claimant, JobStore, Lease, Pace, Permit, PermitId, Progress, TaskEnd, Timestamp,
    WorkerReport,
};
