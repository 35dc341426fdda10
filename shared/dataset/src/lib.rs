//! Judged queries and documents: files in, verified typed tables out.

pub mod beir;
pub mod catalogue;
mod cells;
mod content;
mod delimited;
pub mod esci;
mod fault;
mod files;
mod inspect;
mod json;
mod judging;
mod near;
mod source;
pub mod split;
mod store;
pub mod trec;
pub mod value_table;
mod warning;

pub use content::{DatasetContent, Imported, JoinOptions};
pub use delimited::Delimited;
pub use fault::{Fault, InputError};
pub use inspect::{FieldInspection, GradeCount, Inspection, Spread, inspect};
pub use near::{NearCollision, near_collisions};
pub use source::SourceFile;
pub use store::{
    About, ContentError, Counts, Dataset, DatasetError, Manifest, StoredFile, store, verify,
};
pub use trec::QrelsOptions;
pub use warning::Warning;
