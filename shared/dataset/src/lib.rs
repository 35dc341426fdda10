//! Judged queries and documents: files in, verified typed tables out.

mod content;
mod fault;
mod files;
mod judging;
mod near;
mod source;
pub mod split;
mod store;
pub mod trec;
mod warning;

pub use content::{DatasetContent, Imported, JoinOptions};
pub use fault::{Fault, InputError};
pub use near::{NearCollision, near_collisions};
pub use source::SourceFile;
pub use store::{
    About, ContentError, Counts, Dataset, DatasetError, Manifest, StoredFile, store, verify,
};
pub use warning::Warning;
