//! A bounded cache on this machine's disk.

mod dataset;
mod local;

pub use dataset::CachedDataset;
pub use local::{Kept, LocalCache, Room};
