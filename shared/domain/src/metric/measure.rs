//! What a metric is: a measure, a depth, a relevance level.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::{Grade, MetricName};

/// Which way a metric has to move to be better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// More is better.
    Higher,
    /// Less is better: a cost.
    Lower,
}

/// The gain that nDCG adds up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DcgGain {
    /// The gains of the dataset or job: the grade itself unless a map is given.
    Declared,
    /// 2^grade − 1, whatever the job declares: ir-measures' `dcg='exp-log2'`.
    Exponential,
}

/// Persistence of rank-biased precision, in thousandths: greater than 0, less than 1000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Persistence(pub(super) u16);

impl Persistence {
    /// Returns the persistence as a probability.
    pub fn value(self) -> f64 {
        f64::from(self.0) / 1000.0
    }
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Measure {
    /// Normalised discounted cumulative gain.
    Ndcg(DcgGain),
    /// Reciprocal rank of the first relevant hit.
    ReciprocalRank,
    /// Relevant hits over the cutoff.
    Precision,
    /// Relevant hits over relevant documents.
    Recall,
    /// Average precision over relevant documents.
    AveragePrecision,
    /// Whether any hit is relevant.
    Success,
    /// Expected reciprocal rank.
    Err,
    /// Rank-biased precision.
    Rbp(Persistence),
    /// Share of the returned hits that are judged.
    Judged,
    /// Precision at the number of relevant documents.
    RPrecision,
    /// Whether nothing was returned: 1 or 0.
    ZeroResult,
    /// Queries evaluated.
    NumQ,
    /// Hits returned.
    NumRet,
    /// Relevant documents.
    NumRel,
    /// Relevant hits.
    NumRelRet,
}

/// A metric: what, to which depth, relevant from which grade.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Metric {
    pub(super) measure: Measure,
    pub(super) cutoff: Option<NonZeroU32>,
    /// Relevance level of this metric alone; the job's otherwise.
    pub(super) level: Option<u8>,
}

/// A metric name that could not be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricError {
    /// No measure has this name.
    #[error("unknown metric `{name}`")]
    Unknown {
        /// The rejected name.
        name: String,
    },
    /// The cutoff is not a whole number of at least 1.
    #[error("metric `{name}` has a cutoff that is not a whole number of at least 1")]
    Cutoff {
        /// The rejected name.
        name: String,
    },
    /// The measure needs a cutoff, or may not have one.
    #[error("metric `{name}` {problem}")]
    Shape {
        /// The rejected name.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A parameter is unknown or its value out of range.
    #[error(
        "metric `{name}` has the parameter `{parameter}`, which it does not know or whose value is out of range"
    )]
    Parameter {
        /// The rejected name.
        name: String,
        /// The rejected parameter.
        parameter: String,
    },
}

impl Metric {
    /// nDCG@10 with the declared gains: the default primary metric.
    pub const NDCG_10: Self = Self::at(Measure::Ndcg(DcgGain::Declared), 10);

    const fn at(measure: Measure, cutoff: u32) -> Self {
        Self {
            measure,
            cutoff: NonZeroU32::new(cutoff),
            level: None,
        }
    }

    /// Returns a metric, checking that the measure and the cutoff fit each other.
    pub fn new(measure: Measure, cutoff: Option<NonZeroU32>) -> Result<Self, MetricError> {
        Self::checked(measure, cutoff, None, "")
    }

    pub(super) fn checked(
        measure: Measure,
        cutoff: Option<NonZeroU32>,
        level: Option<u8>,
        name: &str,
    ) -> Result<Self, MetricError> {
        let metric = Self {
            measure,
            cutoff,
            level,
        };
        let problem = match (measure, cutoff) {
            (Measure::Precision | Measure::Success | Measure::Judged, None) => {
                Some("needs a cutoff, e.g. `@10`")
            }
            (
                Measure::RPrecision
                | Measure::ZeroResult
                | Measure::NumQ
                | Measure::NumRet
                | Measure::NumRel
                | Measure::NumRelRet,
                Some(_),
            ) => Some("takes no cutoff"),
            _ => None,
        };
        let level_is_read = !matches!(
            measure,
            Measure::Ndcg(_)
                | Measure::Err
                | Measure::Judged
                | Measure::ZeroResult
                | Measure::NumQ
                | Measure::NumRet
        );
        let problem = problem.or((level.is_some() && !level_is_read)
            .then_some("takes no relevance level: it reads grades, or none at all"));
        match problem {
            None => Ok(metric),
            Some(problem) => Err(MetricError::Shape {
                name: if name.is_empty() {
                    metric.to_string()
                } else {
                    name.to_owned()
                },
                problem,
            }),
        }
    }

    /// Returns what is measured.
    pub fn measure(self) -> Measure {
        self.measure
    }

    /// Returns the number of hits looked at, or nothing for all of them.
    pub fn cutoff(self) -> Option<NonZeroU32> {
        self.cutoff
    }

    /// Returns the lowest relevant grade of this metric, which is `default` unless its name says otherwise.
    pub fn relevant_from(self, default: Grade) -> Grade {
        self.level
            .and_then(|level| Grade::try_from(f64::from(level)).ok())
            .unwrap_or(default)
    }

    /// Returns which way the metric has to move to be better.
    pub fn direction(self) -> Direction {
        match self.measure {
            Measure::ZeroResult => Direction::Lower,
            Measure::Ndcg(_)
            | Measure::ReciprocalRank
            | Measure::Precision
            | Measure::Recall
            | Measure::AveragePrecision
            | Measure::Success
            | Measure::Err
            | Measure::Rbp(_)
            | Measure::Judged
            | Measure::RPrecision
            | Measure::NumQ
            | Measure::NumRet
            | Measure::NumRel
            | Measure::NumRelRet => Direction::Higher,
        }
    }

    /// Returns the canonical name as an identifier of a result column.
    ///
    /// # Panics
    ///
    /// Never: a metric's name is neither empty nor too long.
    pub fn name(self) -> MetricName {
        MetricName::try_from(self.to_string()).expect("a metric has a short name")
    }

    /// Returns the name in lower-case letters, digits and underscores, for columns that SQL need not quote, e.g.
    /// `ndcg_10`, `ndcg_exp_10`, `p_rel2_5`, `rbp_p800`.
    pub fn slug(self) -> String {
        let mut slug = match self.measure {
            Measure::Ndcg(DcgGain::Declared) => "ndcg".to_owned(),
            Measure::Ndcg(DcgGain::Exponential) => "ndcg_exp".to_owned(),
            Measure::ReciprocalRank => "rr".to_owned(),
            Measure::Precision => "p".to_owned(),
            Measure::Recall => "r".to_owned(),
            Measure::AveragePrecision => "ap".to_owned(),
            Measure::Success => "success".to_owned(),
            Measure::Err => "err".to_owned(),
            Measure::Rbp(Persistence(thousandths)) => format!("rbp_p{thousandths:03}"),
            Measure::Judged => "judged".to_owned(),
            Measure::RPrecision => "rprec".to_owned(),
            Measure::ZeroResult => "zero_result".to_owned(),
            Measure::NumQ => "num_q".to_owned(),
            Measure::NumRet => "num_ret".to_owned(),
            Measure::NumRel => "num_rel".to_owned(),
            Measure::NumRelRet => "num_rel_ret".to_owned(),
        };
        if let Some(level) = self.level {
            slug = format!("{slug}_rel{level}");
        }
        if let Some(cutoff) = self.cutoff {
            slug = format!("{slug}_{cutoff}");
        }
        slug
    }
}
