//! Per-query values that somebody measured: one row a query, one column a metric.
//!
//! Read are this project's own rows (one file or a folder of them), and wide tables of any tool with a column of query
//! ids: Parquet, CSV, TSV, JSONL, a JSON list, or a JSON object whose `queries` is such a list.

mod columns;
mod names;
mod own;
mod parquet;
mod raw;
mod table;
mod text;

pub use names::metric_of_column;
pub use table::{ValueTable, ValueTableOptions, read_value_table};

#[cfg(test)]
mod tests;
