//! Plans a job, follows it to the last row, and judges the rows: the only place that says PROMOTE.

pub mod sweep;
