//! Why a job did not end in a verdict.

use evalfarm_gate::EvidenceError;
use evalfarm_results::ResultsError;

use crate::looks::LooksError;
use crate::seams::WorkersError;
use crate::sweep::ObservationError;

/// A job that did not end in a verdict.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Workers stopped.
    #[error("the job was not finished")]
    Workers(#[source] WorkersError),
    /// Rows could not be read or written.
    #[error("the job's folder cannot be used")]
    Results(#[source] ResultsError),
    /// What was measured cannot be an observation.
    #[error("candidate values cannot be compared")]
    Observation(#[source] ObservationError),
    /// What was measured cannot be judged.
    #[error("the rows cannot be judged")]
    Evidence(#[source] EvidenceError),
    /// The ledger of looks cannot be used.
    #[error("the look at the holdout could not be counted")]
    Looks(#[source] LooksError),
    /// The record could not be written as JSON.
    #[error("the verdict has no JSON form")]
    Json(#[source] serde_json::Error),
    /// Every candidate is to be judged on every query, and that are more rows than the job may have.
    #[error(
        "{candidates} candidates on {queries} queries are more than the {max_rows} rows of `max_rows`, and `all_on_all` \
         needs the row of each"
    )]
    TooManyRows {
        /// Candidates, the baseline included.
        candidates: usize,
        /// Queries.
        queries: usize,
        /// Most rows that the sweep allows.
        max_rows: u64,
    },
    /// The strategy asked for nothing, not even its baseline.
    #[error("the sweep evaluated nothing")]
    NothingEvaluated,
}
