//! Judged queries and documents: files in, verified typed tables out.

mod content;
mod fault;
mod files;
mod judging;
mod near;
mod source;
pub mod split;
pub mod trec;
mod warning;

pub use content::{DatasetContent, Imported, JoinOptions};
pub use fault::{Fault, InputError};
pub use near::{NearCollision, near_collisions};
pub use source::SourceFile;
pub use warning::Warning;
