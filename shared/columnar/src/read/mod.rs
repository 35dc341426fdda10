//! Parquet to tables: strictly for our own files, by inference for those of other tools.

mod foreign;
mod sink;
mod strict;

pub use foreign::{check_sealed, read_foreign};
pub use strict::{read_bytes, read_path, read_selected};
