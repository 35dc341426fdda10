//! Two independent arms of rows that may hang together in clusters.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The arm that a row was assigned to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arm {
    /// What is compared with.
    Baseline,
    /// What is compared.
    Candidate,
}

/// Which way an outcome is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Better {
    /// Larger values are better.
    Higher,
    /// Smaller values are better.
    Lower,
}

/// What a row measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Outcome {
    /// A value.
    Value(f64),
    /// The row failed; it counts as the worst.
    Failed,
}

/// One row: a session, say, of a person.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ArmRow {
    /// Whom the row belongs to.
    pub unit: u32,
    /// Where the unit was assigned to.
    pub arm: Arm,
    /// What was measured.
    pub outcome: Outcome,
}

/// Whether rows of the same unit hang together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Clustering {
    /// Each unit has one row; a unit that comes back is refused.
    Rows,
    /// The rows of a unit are one cluster, which was assigned to its arm as a whole.
    Units,
}

/// Which values an outcome can take; decides which test fits.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum OutcomeScale {
    /// Between two bounds, such as a success (0 or 1) or a rating: means are compared.
    Bounded {
        /// Least value.
        low: f64,
        /// Greatest value.
        high: f64,
        /// Which end is better; a failure counts as the other.
        better: Better,
    },
    /// At least 0 without an upper bound, such as a duration or a cost: ranks are compared, because a few long ones would
    /// decide a mean. A failure is worse than every value.
    Positive {
        /// Which way is better.
        better: Better,
    },
}

/// Rows from which no comparison follows.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TwoSampleError {
    /// An arm has no row.
    #[error("the {0:?} arm has no rows")]
    EmptyArm(Arm),
    /// A unit has several rows, and no cluster was declared.
    ///
    /// Testing such rows as if they were independent rejects far too often: with ten rows a unit and an intraclass
    /// correlation of .3 about 32 % of true hypotheses at 5 %.
    #[error(
        "unit `{unit}` is in row `{first}` and again in row `{row}`, and no cluster was declared"
    )]
    RepeatedUnit {
        /// Number of the unit, as the caller gave it.
        unit: u32,
        /// Zero-based row where it first stood.
        first: usize,
        /// Zero-based row where it came back.
        row: usize,
    },
    /// The rows of a cluster are in both arms, so the cluster was not assigned as a whole.
    #[error("unit `{unit}` has rows in both arms, the first such row is `{row}`")]
    UnitInBothArms {
        /// Number of the unit.
        unit: u32,
        /// Zero-based row in the other arm than the unit's first.
        row: usize,
    },
    /// A value is not finite, or outside its scale.
    #[error("value `{value}` of row `{row}` is outside [{low}, {high}]")]
    Value {
        /// Zero-based row.
        row: usize,
        /// The rejected value.
        value: f64,
        /// Least value of the scale.
        low: f64,
        /// Greatest value of the scale.
        high: f64,
    },
    /// The bounds are not finite, or the lower is not below the upper.
    #[error("`{low}` to `{high}` is no scale")]
    Scale {
        /// Lower bound.
        low: f64,
        /// Upper bound.
        high: f64,
    },
}

/// Two arms of rows, checked: both have rows, values lie on the scale, and what repeats is declared.
#[derive(Debug, Clone)]
pub struct TwoSample {
    pub(crate) scale: OutcomeScale,
    /// Scale position of each row, in the order of `rows`; larger is larger, failures at the worst end.
    pub(crate) values: Vec<f64>,
    pub(crate) cluster_of: Vec<usize>,
    pub(crate) clusters: Vec<Cluster>,
    failed: [usize; 2],
}

/// A cluster of rows, or a single row.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Cluster {
    pub(crate) arm: Arm,
    pub(crate) rows: usize,
}

/// Rows, clusters and failures of an arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct ArmCounts {
    /// Rows.
    pub rows: usize,
    /// Clusters; as many as rows without clusters.
    pub clusters: usize,
    /// Rows that failed.
    pub failed: usize,
}

impl TwoSample {
    /// Checks rows.
    pub fn new(
        rows: &[ArmRow],
        scale: OutcomeScale,
        clustering: Clustering,
    ) -> Result<Self, TwoSampleError> {
        let [low, high] = scale.bounds()?;
        let mut first: BTreeMap<u32, (usize, usize)> = BTreeMap::new();
        let mut sample = Self {
            scale,
            values: Vec::with_capacity(rows.len()),
            cluster_of: Vec::with_capacity(rows.len()),
            clusters: Vec::new(),
            failed: [0; 2],
        };
        for (row, &ArmRow { unit, arm, outcome }) in rows.iter().enumerate() {
            let value = match outcome {
                Outcome::Value(value) if value.is_finite() && (low..=high).contains(&value) => {
                    value
                }
                Outcome::Value(value) => {
                    return Err(TwoSampleError::Value {
                        row,
                        value,
                        low,
                        high,
                    });
                }
                Outcome::Failed => {
                    sample.failed[arm as usize] += 1;
                    scale.worst()
                }
            };
            sample.values.push(value);
            let (first_row, cluster) = *first.entry(unit).or_insert((row, sample.clusters.len()));
            if first_row == row {
                sample.clusters.push(Cluster { arm, rows: 0 });
            } else if clustering == Clustering::Rows {
                return Err(TwoSampleError::RepeatedUnit {
                    unit,
                    first: first_row,
                    row,
                });
            } else if sample.clusters[cluster].arm != arm {
                return Err(TwoSampleError::UnitInBothArms { unit, row });
            }
            sample.clusters[cluster].rows += 1;
            sample.cluster_of.push(cluster);
        }
        for arm in [Arm::Baseline, Arm::Candidate] {
            if sample.counts(arm).rows == 0 {
                return Err(TwoSampleError::EmptyArm(arm));
            }
        }
        Ok(sample)
    }

    /// Returns the scale of the outcome.
    pub fn scale(&self) -> OutcomeScale {
        self.scale
    }

    /// Returns how much an arm has.
    pub fn counts(&self, arm: Arm) -> ArmCounts {
        let clusters = self.clusters.iter().filter(|cluster| cluster.arm == arm);
        ArmCounts {
            rows: clusters.clone().map(|cluster| cluster.rows).sum(),
            clusters: clusters.count(),
            failed: self.failed[arm as usize],
        }
    }
}

impl OutcomeScale {
    fn bounds(self) -> Result<[f64; 2], TwoSampleError> {
        match self {
            Self::Bounded { low, high, .. } => {
                if low.is_finite() && high.is_finite() && low < high {
                    Ok([low, high])
                } else {
                    Err(TwoSampleError::Scale { low, high })
                }
            }
            Self::Positive { .. } => Ok([0.0, f64::MAX]),
        }
    }

    /// Returns what a failure counts as.
    fn worst(self) -> f64 {
        match self {
            Self::Bounded {
                low,
                better: Better::Higher,
                ..
            } => low,
            Self::Bounded {
                high,
                better: Better::Lower,
                ..
            } => high,
            Self::Positive {
                better: Better::Higher,
            } => f64::NEG_INFINITY,
            Self::Positive {
                better: Better::Lower,
            } => f64::INFINITY,
        }
    }
}
