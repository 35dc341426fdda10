//! What unjudged hits may hide: values without them, bounds over all ways to judge them, and which of them matter most.

mod bounds;

use std::collections::BTreeMap;

use evalfarm_domain::{DocId, Grade, Measurement, QueryJudgments};

pub use bounds::JudgmentBounds;

use crate::{MetricsError, QueryMetrics, condense_into};

/// A document that is unjudged and lies in the looked-at part of either list.
#[derive(Debug, Clone, PartialEq)]
pub struct UnjudgedDocument {
    /// The document.
    pub document: DocId,
    /// Its rank in the baseline's list, from 1, when it is there.
    pub baseline_rank: Option<u32>,
    /// Its rank in the candidate's list, from 1, when it is there.
    pub candidate_rank: Option<u32>,
    /// By how much a top grade for it alone, instead of none, would move the first metric's difference, candidate minus
    /// baseline.
    pub swing: f64,
}

/// Two rankings of one query seen through their holes. Columns are in the order of the measurement's metrics.
#[derive(Debug, Clone, PartialEq)]
pub struct UnjudgedPair {
    /// Bounds of each metric's difference; nothing for a metric whose extremes are not of the form that is searched.
    pub bounds: Vec<Option<JudgmentBounds>>,
    /// Unjudged documents by falling size of their swing, then by id.
    pub documents: Vec<UnjudgedDocument>,
}

/// One query with its judgments and what is measured.
#[derive(Debug, Clone, Copy)]
pub struct UnjudgedQuery<'a> {
    /// What is measured; its first metric orders the documents.
    pub measurement: &'a Measurement,
    /// The query's judgments, `None` when it has none.
    pub judgments: Option<&'a QueryJudgments>,
}

impl UnjudgedQuery<'_> {
    /// Returns a ranking's values without its unjudged hits (Sakai 2007), one for each metric; undefined ones are 0.
    ///
    /// The list should be much deeper than the metrics' cutoffs, because judged hits move up from below.
    pub fn condensed(&self, list: &[DocId]) -> Result<Vec<f64>, MetricsError> {
        let metrics = QueryMetrics::new(self.measurement, self.judgments)?;
        Ok(condensed_values(&metrics, &self.grades(list)))
    }

    /// Compares two rankings through their holes: of the hits that the metrics look at, the first `measurement.depth` of
    /// each list.
    ///
    /// Bounds are exact for nDCG, P and R, over all whole grades up to the top grade, or those that a gain map lists; a
    /// document has one grade even when it is in both lists. Other metrics do not add gains up and have none.
    pub fn pair(
        &self,
        baseline: &[DocId],
        candidate: &[DocId],
    ) -> Result<UnjudgedPair, MetricsError> {
        let depth = usize::try_from(self.measurement.depth.get()).unwrap_or(usize::MAX);
        let top = |list: &'_ [DocId]| list[..list.len().min(depth)].to_vec();
        let lists = Lists {
            baseline: top(baseline),
            candidate: top(candidate),
        };
        let holes = self.holes(&lists);
        let before = self.differences(&lists, &BTreeMap::new())?;
        let mut swings = Vec::with_capacity(holes.len());
        for hole in &holes {
            let judged = BTreeMap::from([(hole.clone(), self.measurement.top_grade)]);
            let after = self.differences(&lists, &judged)?;
            let moved = before.first().zip(after.first());
            swings.push(moved.map_or(0.0, |(before, after)| after - before));
        }
        let metrics = self.measurement.metrics.iter();
        let bounds = metrics
            .map(|&metric| bounds::bounds(self, &lists, &holes, metric))
            .collect();
        Ok(UnjudgedPair {
            bounds,
            documents: documents(&lists, holes, swings),
        })
    }

    fn grades(&self, list: &[DocId]) -> Vec<Option<Grade>> {
        let grade = |id: &DocId| self.judgments.and_then(|judged| judged.grade(id.as_str()));
        list.iter().map(grade).collect()
    }

    /// Returns the unjudged documents of both lists, each once, by id.
    fn holes(&self, lists: &Lists) -> Vec<DocId> {
        let both = lists.baseline.iter().chain(&lists.candidate);
        let unjudged = both.filter(|id| {
            let judged = self.judgments;
            judged.is_none_or(|judged| judged.grade(id.as_str()).is_none())
        });
        let mut holes: Vec<DocId> = unjudged.cloned().collect();
        holes.sort_unstable();
        holes.dedup();
        holes
    }

    /// Returns each metric's difference when these further judgments are added.
    fn differences(
        &self,
        lists: &Lists,
        further: &BTreeMap<DocId, Grade>,
    ) -> Result<Vec<f64>, MetricsError> {
        let mut judgments = self.judgments.cloned().unwrap_or_default();
        for (document, &grade) in further {
            judgments.insert(document.clone(), grade);
        }
        let judged = UnjudgedQuery {
            judgments: Some(&judgments),
            ..*self
        };
        let metrics = QueryMetrics::new(self.measurement, Some(&judgments))?;
        let before = values(&metrics, &judged.grades(&lists.baseline));
        let after = values(&metrics, &judged.grades(&lists.candidate));
        Ok(before.iter().zip(after).map(|(b, a)| a - b).collect())
    }
}

/// The looked-at parts of two rankings.
struct Lists {
    baseline: Vec<DocId>,
    candidate: Vec<DocId>,
}

/// Returns the values of a list without its unjudged hits, one for each metric; undefined ones are 0.
pub fn condensed_values(metrics: &QueryMetrics, hits: &[Option<Grade>]) -> Vec<f64> {
    let mut condensed = Vec::new();
    condense_into(hits, &mut condensed);
    values(metrics, &condensed)
}

fn values(metrics: &QueryMetrics, hits: &[Option<Grade>]) -> Vec<f64> {
    let mut values = Vec::new();
    metrics.values_into(hits, &mut values);
    values
        .into_iter()
        .map(|value| value.unwrap_or(0.0))
        .collect()
}

fn documents(lists: &Lists, holes: Vec<DocId>, swings: Vec<f64>) -> Vec<UnjudgedDocument> {
    let rank = |list: &[DocId], document: &DocId| {
        let at = list.iter().position(|id| id == document)?;
        u32::try_from(at + 1).ok()
    };
    let mut documents: Vec<UnjudgedDocument> = holes
        .into_iter()
        .zip(swings)
        .map(|(document, swing)| UnjudgedDocument {
            baseline_rank: rank(&lists.baseline, &document),
            candidate_rank: rank(&lists.candidate, &document),
            document,
            swing,
        })
        .collect();
    documents.sort_by(|a, b| {
        let by_size = b.swing.abs().total_cmp(&a.swing.abs());
        by_size.then_with(|| a.document.cmp(&b.document))
    });
    documents
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use evalfarm_domain::Gains;

    use super::*;
    use crate::ranking::testing::{assert_close, grade};

    fn ids(names: &[&str]) -> Vec<DocId> {
        names
            .iter()
            .map(|name| DocId::try_from(*name).unwrap())
            .collect()
    }

    fn measurement(names: &[&str], depth: u32) -> Measurement {
        Measurement {
            metrics: names.iter().map(|name| name.parse().unwrap()).collect(),
            depth: NonZeroU32::new(depth).unwrap(),
            gains: Gains::Linear,
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

    #[test]
    fn condensed_lists_move_judged_hits_up() {
        // By hand: without `x` the relevant `a` stands first.
        let measurement = measurement(&["RR@1"], 1);
        let judged = judgments(&[("a", 1.0)]);
        let query = UnjudgedQuery {
            measurement: &measurement,
            judgments: Some(&judged),
        };
        assert_close(query.condensed(&ids(&["x", "a"])).unwrap()[0], 1.0);
        let pair = query.pair(&ids(&["a"]), &ids(&["x", "a"])).unwrap();
        assert_eq!(pair.bounds, [None]);
    }

    /// Every way to judge the holes with 0 to 3, by brute force.
    fn brute(query: &UnjudgedQuery<'_>, baseline: &[DocId], candidate: &[DocId]) -> (f64, f64) {
        let lists = Lists {
            baseline: baseline.to_vec(),
            candidate: candidate.to_vec(),
        };
        let holes = query.holes(&lists);
        let mut extremes = (f64::INFINITY, f64::NEG_INFINITY);
        for code in 0..4_usize.pow(u32::try_from(holes.len()).unwrap()) {
            let mut rest = code;
            let mut further = BTreeMap::new();
            for hole in &holes {
                further.insert(hole.clone(), grade((rest % 4) as f64));
                rest /= 4;
            }
            let difference = query.differences(&lists, &further).unwrap()[0];
            extremes = (extremes.0.min(difference), extremes.1.max(difference));
        }
        extremes
    }

    #[test]
    fn bounds_are_the_extremes_over_all_judgments() {
        for name in ["nDCG@4", "P@4", "R@4"] {
            let measurement = measurement(&[name], 4);
            let judged = judgments(&[("a", 2.0), ("b", 1.0), ("c", 0.0), ("far", 3.0)]);
            let query = UnjudgedQuery {
                measurement: &measurement,
                judgments: Some(&judged),
            };
            for (baseline, candidate) in [
                (ids(&["a", "x", "b", "y"]), ids(&["x", "z", "a", "w"])),
                (ids(&["x", "y", "z", "w"]), ids(&["w", "z", "y", "x"])),
                (ids(&["x", "a"]), ids(&["b", "c", "x", "v"])),
                (ids(&["a"]), ids(&["x"])),
            ] {
                let bounds = query.pair(&baseline, &candidate).unwrap().bounds[0].unwrap();
                let (lowest, highest) = brute(&query, &baseline, &candidate);
                assert_close(bounds.lowest, lowest);
                assert_close(bounds.highest, highest);
            }
        }
    }

    #[test]
    fn the_most_decisive_document_comes_first() {
        let measurement = measurement(&["nDCG@3"], 3);
        let judged = judgments(&[("a", 1.0)]);
        let query = UnjudgedQuery {
            measurement: &measurement,
            judgments: Some(&judged),
        };
        // `both` stands at the same rank on both sides and decides nothing; `top` decides more than `low`.
        let pair = query
            .pair(&ids(&["top", "both", "a"]), &ids(&["a", "both", "low"]))
            .unwrap();
        let order: Vec<&str> = pair
            .documents
            .iter()
            .map(|one| one.document.as_str())
            .collect();
        assert_eq!(order[0], "top");
        assert_eq!(pair.documents[0].baseline_rank, Some(1));
        assert_eq!(pair.documents[0].candidate_rank, None);
        assert!(pair.documents[0].swing < 0.0);
        let both = pair
            .documents
            .iter()
            .find(|one| one.document.as_str() == "both");
        assert_eq!(both.unwrap().candidate_rank, Some(2));
    }
}
