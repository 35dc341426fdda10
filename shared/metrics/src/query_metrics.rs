//! Everything that one query contributes to its values, computed once.

use std::num::NonZeroU32;

use evalfarm_domain::{DcgGain, DocId, Gains, Grade, Measure, Measurement, Metric, QueryJudgments};

use crate::average_precision::average_precision;
use crate::counts::{NUM_Q, num_rel, num_rel_ret, num_ret, zero_result};
use crate::err::expected_reciprocal_rank;
use crate::judged::judged_share;
use crate::ndcg::{gain_of, ideal_dcg, ndcg};
use crate::precision::precision;
use crate::ranking::{Cutoff, is_relevant};
use crate::rbp::rank_biased_precision;
use crate::recall::recall;
use crate::reciprocal_rank::reciprocal_rank;
use crate::rprec::r_precision;
use crate::success::success;

/// Judgments that the measurement cannot score.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetricsError {
    /// The gain map does not say what a grade is worth.
    #[error("document `{document}` has grade `{grade}`, which the gain map does not list")]
    UnlistedGrade {
        /// The first such document, by id.
        document: DocId,
        /// Its grade.
        grade: Grade,
    },
    /// ERR was asked for and a grade lies above the grade by which it scales, which would make a probability above 1.
    #[error("document `{document}` has grade `{grade}`, above the declared top grade `{top}`")]
    AboveTopGrade {
        /// The first such document, by id.
        document: DocId,
        /// Its grade.
        grade: Grade,
        /// The top grade of the measurement.
        top: Grade,
    },
}

/// A metric with what this query contributes to it.
#[derive(Debug, Clone, PartialEq)]
enum Formula {
    Ndcg {
        gain: DcgGain,
        cutoff: Cutoff,
        ideal: f64,
    },
    ReciprocalRank {
        cutoff: Cutoff,
    },
    Precision {
        cutoff: Cutoff,
    },
    Recall {
        cutoff: Cutoff,
    },
    AveragePrecision {
        cutoff: Cutoff,
    },
    Success {
        cutoff: Cutoff,
    },
    Err {
        cutoff: Cutoff,
    },
    Rbp {
        cutoff: Cutoff,
        persistence: f64,
    },
    Judged {
        cutoff: Cutoff,
    },
    RPrecision,
    ZeroResult,
    NumQ,
    NumRet,
    NumRel,
    NumRelRet,
}

/// One metric for one query.
#[derive(Debug, Clone, PartialEq)]
struct Plan {
    formula: Formula,
    /// Lowest relevant grade for this metric.
    relevant_from: Grade,
    /// Judged documents of at least that grade.
    relevant: usize,
}

/// The metrics of one query: scores rankings given as the grades of their hits.
///
/// Invariant: every judged grade of the query has a gain, and lies at or below the top grade when ERR is among the
/// metrics. So no value is ever NaN or infinite.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryMetrics {
    plans: Vec<Plan>,
    gains: Gains,
    top_grade: Grade,
    has_relevant: bool,
    has_gain: bool,
    has_positive_grade: bool,
}

impl QueryMetrics {
    /// Prepares the metrics of a measurement for a query with these judgments; `None` when it has none, which gives 0
    /// everywhere.
    pub fn new(
        measurement: &Measurement,
        judgments: Option<&QueryJudgments>,
    ) -> Result<Self, MetricsError> {
        let gains = &measurement.gains;
        let grades = checked_grades(measurement, judgments)?;
        let declared = falling_gains(DcgGain::Declared, gains, &grades);
        let exponential = falling_gains(DcgGain::Exponential, gains, &grades);
        let ideal = |gain, cutoff| match gain {
            DcgGain::Declared => ideal_dcg(&declared, cutoff),
            DcgGain::Exponential => ideal_dcg(&exponential, cutoff),
        };
        let relevant = |from| {
            let judged = grades.iter().map(|&grade| Some(grade));
            judged.filter(|&hit| is_relevant(hit, from)).count()
        };
        let plan = |&metric: &Metric| {
            let relevant_from = metric.relevant_from(measurement.relevant_from);
            Plan {
                formula: formula(metric, measurement.depth, ideal),
                relevant_from,
                relevant: relevant(relevant_from),
            }
        };
        Ok(Self {
            plans: measurement.metrics.iter().map(plan).collect(),
            gains: gains.clone(),
            top_grade: measurement.top_grade,
            has_relevant: relevant(measurement.relevant_from) > 0,
            has_gain: declared.first().is_some_and(|&gain| gain > 0.0),
            has_positive_grade: grades.iter().any(|grade| grade.value() > 0.0),
        })
    }

    /// Fills `values` with one value per metric of the measurement, in its order, replacing what it held.
    ///
    /// `hits[i]` is the grade of the hit at rank i + 1, `None` when it is unjudged. The grades are those of the judgments
    /// that were given to [`Self::new`], and no document occurs twice. A value is `None` only where the metric is
    /// undefined: Judged@k when nothing was returned.
    pub fn values_into(&self, hits: &[Option<Grade>], values: &mut Vec<Option<f64>>) {
        values.clear();
        values.extend(self.plans.iter().map(|plan| self.value(plan, hits)));
    }

    /// Whether the query has a document that is relevant at the measurement's own level.
    pub fn has_relevant(&self) -> bool {
        self.has_relevant
    }

    /// Whether any judged document has a positive declared gain. Without one the ideal DCG is 0, and so is every nDCG,
    /// whatever is returned.
    pub fn has_gain(&self) -> bool {
        self.has_gain
    }

    /// Returns for each metric, in order, whether some ranking could score above 0: there is something to find. Counts,
    /// Judged@k and `zero_result` describe a ranking whatever there is to find, so they are always attainable.
    pub fn attainable(&self) -> impl ExactSizeIterator<Item = bool> {
        self.plans.iter().map(|plan| match plan.formula {
            Formula::Ndcg { ideal, .. } => ideal > 0.0,
            Formula::Err { .. } => self.has_positive_grade,
            Formula::ReciprocalRank { .. }
            | Formula::Precision { .. }
            | Formula::Recall { .. }
            | Formula::AveragePrecision { .. }
            | Formula::Success { .. }
            | Formula::Rbp { .. }
            | Formula::RPrecision => plan.relevant > 0,
            Formula::Judged { .. }
            | Formula::ZeroResult
            | Formula::NumQ
            | Formula::NumRet
            | Formula::NumRel
            | Formula::NumRelRet => true,
        })
    }

    fn value(&self, plan: &Plan, hits: &[Option<Grade>]) -> Option<f64> {
        let from = plan.relevant_from;
        let value = match plan.formula {
            Formula::Ndcg {
                gain,
                cutoff,
                ideal,
            } => {
                // `new` has seen a gain for every judged grade, so the default is never met.
                let gain = |grade| gain_of(gain, &self.gains, grade).unwrap_or(0.0);
                ndcg(cutoff.top(hits), gain, ideal)
            }
            Formula::ReciprocalRank { cutoff } => reciprocal_rank(cutoff.top(hits), from),
            Formula::Precision { cutoff } => precision(hits, from, cutoff),
            Formula::Recall { cutoff } => recall(cutoff.top(hits), from, plan.relevant),
            Formula::AveragePrecision { cutoff } => {
                average_precision(cutoff.top(hits), from, plan.relevant)
            }
            Formula::Success { cutoff } => success(cutoff.top(hits), from),
            Formula::Err { cutoff } => expected_reciprocal_rank(cutoff.top(hits), self.top_grade),
            Formula::Rbp {
                cutoff,
                persistence,
            } => rank_biased_precision(cutoff.top(hits), from, persistence),
            Formula::Judged { cutoff } => return judged_share(cutoff.top(hits)),
            Formula::RPrecision => r_precision(hits, from, plan.relevant),
            Formula::ZeroResult => zero_result(hits),
            Formula::NumQ => NUM_Q,
            Formula::NumRet => num_ret(hits),
            Formula::NumRel => num_rel(plan.relevant),
            Formula::NumRelRet => num_rel_ret(hits, from),
        };
        Some(value)
    }
}

/// Returns the judged grades, by document id, each of which the measurement can score.
fn checked_grades(
    measurement: &Measurement,
    judgments: Option<&QueryJudgments>,
) -> Result<Vec<Grade>, MetricsError> {
    let top = measurement.top_grade;
    let scales_by_top = measurement
        .metrics
        .iter()
        .any(|metric| metric.measure() == Measure::Err);
    let judged = judgments.into_iter().flat_map(QueryJudgments::iter);
    let check = |(document, grade): (&DocId, Grade)| {
        if measurement.gains.gain(grade).is_none() {
            let document = document.clone();
            return Err(MetricsError::UnlistedGrade { document, grade });
        }
        if scales_by_top && grade > top {
            let document = document.clone();
            return Err(MetricsError::AboveTopGrade {
                document,
                grade,
                top,
            });
        }
        Ok(grade)
    };
    judged.map(check).collect()
}

fn falling_gains(gain: DcgGain, declared: &Gains, grades: &[Grade]) -> Vec<f64> {
    let gains = grades
        .iter()
        .filter_map(|&grade| gain_of(gain, declared, grade));
    let mut gains: Vec<f64> = gains.collect();
    gains.sort_by(|one, other| other.total_cmp(one));
    gains
}

fn formula(metric: Metric, depth: NonZeroU32, ideal: impl Fn(DcgGain, Cutoff) -> f64) -> Formula {
    let cutoff = Cutoff::new(metric.cutoff());
    match metric.measure() {
        Measure::Ndcg(gain) => Formula::Ndcg {
            gain,
            cutoff,
            ideal: ideal(gain, cutoff),
        },
        Measure::ReciprocalRank => Formula::ReciprocalRank { cutoff },
        // `Metric` refuses a precision without cutoff; the depth is what its k would be.
        Measure::Precision => Formula::Precision {
            cutoff: Cutoff::new(metric.cutoff().or(Some(depth))),
        },
        Measure::Recall => Formula::Recall { cutoff },
        Measure::AveragePrecision => Formula::AveragePrecision { cutoff },
        Measure::Success => Formula::Success { cutoff },
        Measure::Err => Formula::Err { cutoff },
        Measure::Rbp(persistence) => Formula::Rbp {
            cutoff,
            persistence: persistence.value(),
        },
        Measure::Judged => Formula::Judged { cutoff },
        Measure::RPrecision => Formula::RPrecision,
        Measure::ZeroResult => Formula::ZeroResult,
        Measure::NumQ => Formula::NumQ,
        Measure::NumRet => Formula::NumRet,
        Measure::NumRel => Formula::NumRel,
        Measure::NumRelRet => Formula::NumRelRet,
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use evalfarm_domain::GainMap;

    use super::*;
    use crate::ranking::testing::{grade, hits, judged};

    fn measurement(metrics: &[&str], gains: Gains) -> Measurement {
        Measurement {
            metrics: metrics.iter().map(|name| name.parse().unwrap()).collect(),
            depth: NonZeroU32::new(10).unwrap(),
            gains,
            relevant_from: Grade::RELEVANT,
            top_grade: grade(3.0),
        }
    }

    fn judgments(grades: &[(&str, f64)]) -> QueryJudgments {
        let mut judgments = QueryJudgments::default();
        for &(document, value) in grades {
            judgments.insert(DocId::try_from(document).unwrap(), grade(value));
        }
        judgments
    }

    fn map(pairs: &[(f64, f64)]) -> Gains {
        let entries: BTreeMap<Grade, f64> = pairs.iter().map(|&(g, v)| (grade(g), v)).collect();
        Gains::Map(GainMap::new(entries).unwrap())
    }

    #[test]
    fn a_grade_without_a_gain_is_refused_by_name() {
        let error = QueryMetrics::new(
            &measurement(&["P@1"], map(&[(0.0, 0.0), (3.0, 1.0)])),
            Some(&judgments(&[("a", 0.0), ("b", 2.0)])),
        )
        .unwrap_err();
        assert_eq!(
            error.to_string(),
            "document `b` has grade `2`, which the gain map does not list"
        );
    }

    #[test]
    fn a_grade_above_the_top_is_refused_where_err_reads_it() {
        let above = judgments(&[("a", 4.0)]);
        let with = measurement(&["ERR@10"], Gains::Linear);
        assert!(matches!(
            QueryMetrics::new(&with, Some(&above)),
            Err(MetricsError::AboveTopGrade { .. })
        ));
        let without = measurement(&["nDCG@10"], Gains::Linear);
        assert!(QueryMetrics::new(&without, Some(&above)).is_ok());
    }

    #[test]
    fn a_query_without_judgments_scores_nothing() {
        let metrics = QueryMetrics::new(
            &measurement(&["nDCG@10", "AP", "Judged@10", "NumRel"], Gains::Linear),
            None,
        )
        .unwrap();
        let mut values = vec![Some(9.0)];
        metrics.values_into(&hits(&[None, None]), &mut values);
        assert_eq!(values, [Some(0.0), Some(0.0), Some(0.0), Some(0.0)]);
        metrics.values_into(&[], &mut values);
        assert_eq!(values, [Some(0.0), Some(0.0), None, Some(0.0)]);
        assert!(!metrics.has_relevant() && !metrics.has_gain());
        let attainable: Vec<bool> = metrics.attainable().collect();
        assert_eq!(attainable, [false, false, true, true]);
    }

    #[test]
    fn each_metric_has_its_own_level_cutoff_and_ideal() {
        let names = [
            "P@1",
            "P(rel=3)@1",
            "R@1",
            "R(rel=3)@2",
            "nDCG@1",
            "nDCG(dcg='exp-log2')@1",
            "nDCG(dcg='exp-log2')@2",
        ];
        let metrics = QueryMetrics::new(
            &measurement(&names, Gains::Linear),
            Some(&judgments(&[("a", 1.0), ("b", 3.0)])),
        )
        .unwrap();
        let mut values = Vec::new();
        metrics.values_into(&judged(&[1.0, 3.0]), &mut values);
        let values: Vec<f64> = values.into_iter().flatten().collect();
        let second = 1.0 / 3.0_f64.log2();
        let expected = [
            1.0,
            0.0,
            0.5,
            1.0,
            1.0 / 3.0,
            1.0 / 7.0,
            (1.0 + 7.0 * second) / (7.0 + second),
        ];
        assert_eq!(values.len(), expected.len());
        for (value, expected) in values.iter().zip(expected) {
            crate::ranking::testing::assert_close(*value, expected);
        }
    }

    #[test]
    fn gain_and_relevance_are_two_things() {
        let metrics = QueryMetrics::new(
            &measurement(&["nDCG@10", "P@1"], map(&[(0.0, 0.1), (3.0, 1.0)])),
            Some(&judgments(&[("a", 0.0)])),
        )
        .unwrap();
        assert!(metrics.has_gain());
        assert!(!metrics.has_relevant());
    }
}
