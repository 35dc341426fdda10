//! Train and holdout: which side of a split a query is on.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One side of a split.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Fold {
    /// Queries that a sweep strategy may see.
    Train,
    /// Queries that are looked at once, to judge the winner.
    Holdout,
    /// Every query of the dataset, for jobs that do not select on their own values.
    All,
}

impl Fold {
    /// Returns the name under which the fold is stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Train => "train",
            Self::Holdout => "holdout",
            Self::All => "all",
        }
    }

    /// Returns the fold of that stored name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Train, Self::Holdout, Self::All]
            .into_iter()
            .find(|fold| fold.as_str() == name)
    }
}

impl fmt::Display for Fold {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
