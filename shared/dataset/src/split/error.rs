//! Splits that cannot be made or trusted.

use std::io;
use std::path::PathBuf;

use evalfarm_domain::{Digest, Fold, QueryId};

/// A split that cannot be made, read or trusted.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// The file could not be read.
    #[error("failed to read the split `{path}`")]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file could not be written.
    #[error("failed to write the split `{path}`")]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
    /// The file is not the JSON of a split.
    #[error("`{path}` is not a split manifest")]
    Json {
        /// The file.
        path: PathBuf,
        /// Where it differs.
        #[source]
        source: serde_json::Error,
    },
    /// The file is of another version.
    #[error("the split has version {found}, this program reads version {expected}")]
    Version {
        /// The version of the file.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// An id is neither a text nor a whole number.
    #[error("query id `{value}` of the {fold} side is neither a text nor a whole number")]
    Id {
        /// The side.
        fold: Fold,
        /// The rejected value.
        value: String,
    },
    /// The ids of a side are not those that its digest was made of.
    #[error("the ids of the {fold} side have sha256 `{found}`, the split says `{recorded}`")]
    Digest {
        /// The side.
        fold: Fold,
        /// Digest of the ids as they are.
        found: Digest,
        /// Digest that is recorded.
        recorded: Digest,
    },
    /// A recorded size is not the number of ids.
    #[error("the {fold} side lists {found} queries, the split says {recorded}")]
    Count {
        /// The side.
        fold: Fold,
        /// Ids listed.
        found: usize,
        /// Size recorded.
        recorded: usize,
    },
    /// A query occurs twice.
    #[error("query `{query}` occurs twice")]
    Twice {
        /// The query.
        query: QueryId,
    },
    /// Queries of the split are not in the dataset.
    #[error("{count} queries of the split are not in the dataset, e.g. `{example}`")]
    Unknown {
        /// How many.
        count: usize,
        /// The first, bytewise.
        example: QueryId,
    },
    /// A sample of no queries was asked for.
    #[error("a split needs at least one query")]
    Empty,
    /// More queries were asked for than there are.
    #[error("{asked} queries were asked for, {available} are available")]
    TooFew {
        /// The size asked for.
        asked: usize,
        /// Queries that passed the filter.
        available: usize,
    },
    /// The train side was to be larger than the sample.
    #[error("{train} queries were asked for on the train side of a split of {total}")]
    TrainTooLarge {
        /// The size asked for.
        train: usize,
        /// Size of the sample.
        total: usize,
    },
    /// A share is not between 0 and 1.
    #[error("train share `{share}` is not between 0 and 1")]
    Share {
        /// The rejected share.
        share: f64,
    },
    /// Keeping groups together leaves nothing for one side.
    #[error("groups of queries that stay together leave nothing for the {fold} side")]
    GroupsTooLarge {
        /// The empty side.
        fold: Fold,
    },
    /// No query has the column that was to group them.
    #[error("no query has the column `{column}`")]
    NoColumn {
        /// The column.
        column: String,
    },
}

impl SplitError {
    /// Returns what to do next, where there is something to say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Self::Digest { .. } | Self::Count { .. } | Self::Twice { .. } => Some(
                "the file was changed after it was made: make the split again from its seed, or get the original",
            ),
            Self::Unknown { .. } => {
                Some("the split belongs to another dataset, or to other queries of it")
            }
            Self::TooFew { .. } => Some("ask for fewer queries, or drop the filter"),
            Self::GroupsTooLarge { .. } => Some("group by something finer, or choose other sizes"),
            _ => None,
        }
    }
}
