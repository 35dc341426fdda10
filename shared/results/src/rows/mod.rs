//! One row for each query of each candidate.

mod block;
mod schema;
mod view;

pub use block::{QueryRow, RowBlock};
pub(crate) use block::{SPLIT_KEY, fold_of};
pub use schema::rows_schema;
pub use view::{RowCell, RowsView, Wanted};
