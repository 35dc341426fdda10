//! Names of relevance metrics: what is measured, to which depth, and which direction is good.
//!
//! Names are those of ir-measures; `trec_eval`'s spellings are read and mean the same.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;

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
pub struct Persistence(u16);

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
    measure: Measure,
    cutoff: Option<NonZeroU32>,
    /// Relevance level of this metric alone; the job's otherwise.
    level: Option<u8>,
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

    fn checked(
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

impl fmt::Display for Metric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (base, parameter) = match self.measure {
            Measure::Ndcg(DcgGain::Declared) => ("nDCG", None),
            Measure::Ndcg(DcgGain::Exponential) => ("nDCG", Some("dcg='exp-log2'".to_owned())),
            Measure::ReciprocalRank => ("RR", None),
            Measure::Precision => ("P", None),
            Measure::Recall => ("R", None),
            Measure::AveragePrecision => ("AP", None),
            Measure::Success => ("Success", None),
            Measure::Err => ("ERR", None),
            Measure::Rbp(persistence) => ("RBP", Some(format!("p={}", persistence.value()))),
            Measure::Judged => ("Judged", None),
            Measure::RPrecision => ("Rprec", None),
            Measure::ZeroResult => ("zero_result", None),
            Measure::NumQ => ("NumQ", None),
            Measure::NumRet => ("NumRet", None),
            Measure::NumRel => ("NumRel", None),
            Measure::NumRelRet => ("NumRelRet", None),
        };
        f.write_str(base)?;
        let level = self.level.map(|level| format!("rel={level}"));
        let parameters: Vec<String> = parameter.into_iter().chain(level).collect();
        if !parameters.is_empty() {
            write!(f, "({})", parameters.join(","))?;
        }
        match self.cutoff {
            Some(cutoff) => write!(f, "@{cutoff}"),
            None => Ok(()),
        }
    }
}

/// Base names of both spellings, in lower case.
const NAMES: &[(&str, Measure)] = &[
    ("ndcg", Measure::Ndcg(DcgGain::Declared)),
    ("ndcg_cut", Measure::Ndcg(DcgGain::Declared)),
    ("rr", Measure::ReciprocalRank),
    ("mrr", Measure::ReciprocalRank),
    ("recip_rank", Measure::ReciprocalRank),
    ("p", Measure::Precision),
    ("precision", Measure::Precision),
    ("r", Measure::Recall),
    ("recall", Measure::Recall),
    ("ap", Measure::AveragePrecision),
    ("map", Measure::AveragePrecision),
    ("map_cut", Measure::AveragePrecision),
    ("success", Measure::Success),
    ("err", Measure::Err),
    ("rbp", Measure::Rbp(Persistence(800))),
    ("judged", Measure::Judged),
    ("rprec", Measure::RPrecision),
    ("zero_result", Measure::ZeroResult),
    ("numq", Measure::NumQ),
    ("num_q", Measure::NumQ),
    ("numret", Measure::NumRet),
    ("num_ret", Measure::NumRet),
    ("numrel", Measure::NumRel),
    ("num_rel", Measure::NumRel),
    ("numrelret", Measure::NumRelRet),
    ("num_rel_ret", Measure::NumRelRet),
];

impl FromStr for Metric {
    type Err = MetricError;

    /// Reads `nDCG@10`, `nDCG(dcg='exp-log2')@10`, `P(rel=2)@5`, `RBP(p=0.8)@10`, and `trec_eval`'s `ndcg_cut_10`, `map`,
    /// `recip_rank`, `P_5`. Case does not matter. A dot may stand for the `_` before a cutoff (`ndcg_cut.10`).
    fn from_str(name: &str) -> Result<Self, MetricError> {
        let unknown = || MetricError::Unknown {
            name: name.to_owned(),
        };
        let (head, cutoff) = split_cutoff(name)?;
        let (base, parameters) = match head.split_once('(') {
            Some((base, rest)) => (base, Some(rest.strip_suffix(')').ok_or_else(unknown)?)),
            None => (head, None),
        };
        let base = base.to_ascii_lowercase();
        let &(_, mut measure) = NAMES
            .iter()
            .find(|(known, _)| *known == base)
            .ok_or_else(unknown)?;
        let mut level = None;
        for parameter in parameters.into_iter().flat_map(|text| text.split(',')) {
            let invalid = || MetricError::Parameter {
                name: name.to_owned(),
                parameter: parameter.trim().to_owned(),
            };
            let (key, value) = parameter.split_once('=').ok_or_else(invalid)?;
            match (key.trim(), value.trim(), measure) {
                ("rel", value, _) => {
                    level = Some(
                        value
                            .parse::<u8>()
                            .ok()
                            .filter(|level| (1..=30).contains(level))
                            .ok_or_else(invalid)?,
                    );
                }
                ("dcg", "'exp-log2'" | "\"exp-log2\"" | "exp-log2", Measure::Ndcg(_)) => {
                    measure = Measure::Ndcg(DcgGain::Exponential);
                }
                ("dcg", "'log2'" | "\"log2\"" | "log2", Measure::Ndcg(_)) => {
                    measure = Measure::Ndcg(DcgGain::Declared);
                }
                ("p", value, Measure::Rbp(_)) => {
                    measure = Measure::Rbp(persistence(value).ok_or_else(invalid)?);
                }
                _ => return Err(invalid()),
            }
        }
        Self::checked(measure, cutoff, level, name)
    }
}

fn persistence(text: &str) -> Option<Persistence> {
    let thousandths = text.parse::<f64>().ok()? * 1000.0;
    let rounded = thousandths.round();
    if (1.0..=999.0).contains(&rounded) && (thousandths - rounded).abs() < 1e-6 {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "rounded lies in [1, 999]"
        )]
        return Some(Persistence(rounded as u16));
    }
    None
}

/// Splits `nDCG@10`, `ndcg_cut_10` and `P.5` into the name before the cutoff and the cutoff.
fn split_cutoff(name: &str) -> Result<(&str, Option<NonZeroU32>), MetricError> {
    let wrong = || MetricError::Cutoff {
        name: name.to_owned(),
    };
    if let Some((head, digits)) = name.rsplit_once('@') {
        let cutoff = digits.parse().map_err(|_| wrong())?;
        return Ok((head, Some(cutoff)));
    }
    match name.rsplit_once(['_', '.']) {
        Some((head, digits))
            if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) =>
        {
            Ok((head, Some(digits.parse().map_err(|_| wrong())?)))
        }
        _ => Ok((name, None)),
    }
}

impl TryFrom<String> for Metric {
    type Error = MetricError;

    fn try_from(name: String) -> Result<Self, MetricError> {
        name.parse()
    }
}

impl From<Metric> for String {
    fn from(metric: Metric) -> Self {
        metric.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn metric(name: &str) -> Metric {
        name.parse().unwrap()
    }

    #[test]
    fn both_spellings_are_one_metric() {
        let pairs = [
            ("nDCG@10", "ndcg_cut_10"),
            ("nDCG@10", "ndcg_cut.10"),
            ("RR", "recip_rank"),
            ("RR@10", "MRR@10"),
            ("P@5", "P_5"),
            ("R@10", "recall_10"),
            ("AP", "map"),
            ("AP@100", "map_cut_100"),
            ("Success@1", "success_1"),
            ("NumRelRet", "num_rel_ret"),
            ("Rprec", "Rprec"),
            ("nDCG", "ndcg"),
        ];
        for (ours, trec) in pairs {
            assert_eq!(metric(ours), metric(trec));
            assert_eq!(metric(trec).to_string(), ours);
        }
        assert_eq!(metric("nDCG@10"), Metric::NDCG_10);
    }

    #[test]
    fn parameters_are_part_of_the_name() {
        for name in [
            "nDCG(dcg='exp-log2')@10",
            "P(rel=2)@5",
            "RBP(p=0.85)",
            "AP(rel=3)",
        ] {
            assert_eq!(metric(name).to_string(), name);
            let json = serde_json::to_string(&metric(name)).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&json).unwrap(), metric(name));
        }
        assert_eq!(metric("nDCG(dcg='exp-log2')@10").slug(), "ndcg_exp_10");
        assert_eq!(metric("P(rel=2)@5").slug(), "p_rel2_5");
        assert_eq!(metric("RBP(p=0.85)").slug(), "rbp_p850");
        assert_ne!(metric("nDCG(dcg='exp-log2')@10"), metric("nDCG@10"));
    }

    #[test]
    fn names_that_mean_nothing_are_refused() {
        for name in [
            "",
            "nDCG@0",
            "nDCG@ten",
            "P",
            "Success",
            "zero_result@10",
            "R_cap@10",
        ] {
            assert!(name.parse::<Metric>().is_err(), "{name}");
        }
        for name in [
            "nDCG(rel=2)@10",
            "P(rel=0)@5",
            "RBP(p=1)@10",
            "P(dcg=log2)@5",
            "nDCG(@10",
        ] {
            assert!(name.parse::<Metric>().is_err(), "{name}");
        }
    }

    #[test]
    fn a_level_in_the_name_wins_over_the_jobs() {
        let two = Grade::try_from(2.0).unwrap();
        assert_eq!(metric("P@5").relevant_from(two), two);
        assert_eq!(
            metric("P(rel=3)@5").relevant_from(two),
            Grade::try_from(3.0).unwrap()
        );
    }
}
