//! The engine against real Lucene, against tantivy and against a slow implementation that is easy to believe.

mod cache;
mod generated;
mod golden;
mod properties;
mod ranking;
mod reference;
mod tantivy_peer;
