//! Rows of a job: per-query values, hits and timings, in versioned Parquet.
