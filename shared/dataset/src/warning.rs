//! What an import accepted but people should know.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something in the input that was accepted and may still be a mistake. Every kind occurs at most once in a list, with
/// its count.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind", deny_unknown_fields)]
pub enum Warning {
    /// Judgments that repeat an earlier one with the same grade; each pair counts once.
    RepeatedJudgments {
        /// Repetitions.
        count: u64,
        /// Line or row of the first repetition.
        first: u64,
    },
    /// Ids that differ and still look like one: in Unicode form, in case or in leading zeros.
    NearCollisions {
        /// What is identified, e.g. `document`.
        what: String,
        /// Pairs.
        count: u64,
        /// One id of the first pair.
        first: String,
        /// The other id of the first pair.
        second: String,
    },
    /// Judgments of documents that are not in the corpus; they are kept and lower every recall.
    JudgedNotInCorpus {
        /// Judgments.
        count: u64,
        /// The first such document, by query and document id.
        first: String,
    },
    /// Queries that were left out because nothing is judged for them.
    UnjudgedQueries {
        /// Queries.
        count: u64,
        /// The first, by id.
        first: String,
    },
    /// A column of the judgment file that differs within one query and was therefore not kept with the query.
    ColumnNotKept {
        /// The column.
        column: String,
        /// Line of the first difference.
        first: u64,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::RepeatedJudgments { count, first } => write!(
                f,
                "{count} judgments repeat an earlier one with the same grade, first in line {first}"
            ),
            Self::NearCollisions {
                what,
                count,
                first,
                second,
            } => write!(
                f,
                "{count} pairs of {what} ids differ only in Unicode form, case or leading zeros, e.g. `{first}` and `{second}`"
            ),
            Self::JudgedNotInCorpus { count, first } => write!(
                f,
                "{count} judgments are of documents that are not in the corpus, e.g. `{first}`"
            ),
            Self::UnjudgedQueries { count, first } => write!(
                f,
                "{count} queries without any judgment were left out, e.g. `{first}`"
            ),
            Self::ColumnNotKept { column, first } => write!(
                f,
                "column `{column}` differs within a query, first in line {first}, and is not kept"
            ),
        }
    }
}
