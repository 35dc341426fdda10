//! Plans a job, follows it to the last row, and judges the rows: the only place that says PROMOTE.
//!
//! The coordinator hands out tasks and reads committed rows. It never runs a query and never scores a ranking: what it
//! knows of either, workers have measured.

pub mod api;
mod driver;
mod error;
mod evidence;
#[cfg(feature = "farm")]
pub mod farm;
mod holes;
mod job;
mod judging;
mod looks;
mod measured;
mod plan;
mod rejudge;
mod run;
mod seams;
mod summary;
pub mod sweep;
mod tied;
mod unfinished;
mod verdict;

pub use error::RunError;
pub use job::{EVALUATION, Job, JobError, JobRecord};
pub use looks::{EarlierLooks, LooksError};
pub use plan::{CANDIDATES_PER_TASK, MAX_ROWS, QUERIES_PER_TASK};
pub use rejudge::{RejudgeError, Rejudged, rejudge, stored_evidence};
pub use run::{Surroundings, run};
pub use seams::{Progress, Workers, WorkersError};
pub use verdict::{
    BothSides, ChangedQueries, NamedCandidate, OtherVerdict, Provenance, RowsLeftOut, Selection,
    VERDICT_SCHEMA, VerdictRecord,
};
