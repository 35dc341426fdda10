//! Rows of a job: per-query values, hits and timings, in versioned Parquet.
//!
//! [`JobFolder`] is where they lie. Each folder inside it holds one kind of file with one schema, so that pandas,
//! polars and `DuckDB` read it whole: `rows/` ([`QueryRow`]), `hits/` ([`HitRow`]), `relevant/` ([`RelevantRank`]),
//! `condensed/` ([`CondensedRow`]), `unjudged/` ([`UnjudgedRow`]), `timings/` ([`TimingRow`]), and of a very large sweep
//! `means/` ([`MeansRow`]). `queries.parquet` ([`JobQuery`]), `candidates.parquet` ([`CandidateRow`]), `judge-next.csv` and
//! `verdict.json` lie beside them.

mod candidates;
mod cells;
mod condensed;
mod error;
mod folder;
mod hits;
mod means;
mod queries;
mod rows;
mod timings;
mod unjudged;

pub use candidates::{
    CandidateRow, FoldMeans, candidates_schema, candidates_to_bytes, read_candidates,
};
pub use condensed::{CondensedRow, condensed_schema, condensed_to_bytes, read_condensed};
pub use error::ResultsError;
pub use folder::{BesideFile, Commit, Finished, JobFolder, JudgeNext, SetAside, TaskFile};
pub use hits::{
    HitRow, RelevantRank, hits_schema, hits_to_bytes, read_hits, read_relevant, relevant_schema,
    relevant_to_bytes,
};
pub use means::{MeansRow, means_schema, means_to_bytes, read_means};
pub use queries::{JobQuery, queries_schema, queries_to_bytes, read_queries};
pub use rows::{QueryRow, RowBlock, RowCell, RowsView, Wanted, rows_schema};
pub use timings::{TimingRow, read_timings, timings_schema, timings_to_bytes};
pub use unjudged::{UnjudgedRow, read_unjudged, unjudged_schema, unjudged_to_bytes};

#[cfg(test)]
mod tests;
