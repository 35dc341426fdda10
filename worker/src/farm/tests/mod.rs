//! Tests of the whole service, in one process.

mod bench;
mod endings;
mod failures;
mod results;
