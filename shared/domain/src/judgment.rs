//! Judgments: what people said about a document for a query, and what that is worth.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{DocId, QueryId};

/// Largest magnitude of a grade. Exponential gain of it, 2^30 − 1, is still exact in f64.
pub const MAX_GRADE: f64 = 30.0;

/// Largest gain that a gain map may give a grade.
pub const MAX_GAIN: f64 = 1e9;

/// A grade or gain that could not be accepted.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum GradeError {
    /// NaN, infinite, or larger than [`MAX_GRADE`] in magnitude.
    #[error("grade `{value}` is not a finite number of magnitude at most {MAX_GRADE}")]
    OutOfRange {
        /// The rejected number.
        value: f64,
    },
    /// A gain was negative, not finite, or larger than [`MAX_GAIN`].
    #[error("gain `{gain}` of grade `{grade}` is not between 0 and {MAX_GAIN}")]
    Gain {
        /// The grade whose gain was rejected.
        grade: Grade,
        /// The rejected gain.
        gain: f64,
    },
    /// A gain map was empty.
    #[error("the gain map is empty")]
    EmptyMap,
    /// A gain map falls as the grade rises.
    #[error("the gain map gives grade `{grade}` less than a lower grade")]
    Decreasing {
        /// The grade whose gain is less than that of the grade before it.
        grade: Grade,
    },
}

/// How relevant a document was judged to be: finite, usually a small integer, negative for spam.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Grade(f64);

impl Grade {
    /// The lowest grade that counts as relevant unless a job says otherwise, as in `trec_eval -l 1`.
    pub const RELEVANT: Self = Self(1.0);

    /// Returns the grade as a number.
    pub fn value(self) -> f64 {
        self.0
    }

    /// Whether the grade is a whole number.
    pub fn is_integer(self) -> bool {
        self.0.fract() == 0.0
    }
}

impl TryFrom<f64> for Grade {
    type Error = GradeError;

    fn try_from(value: f64) -> Result<Self, GradeError> {
        if value.is_finite() && value.abs() <= MAX_GRADE {
            Ok(Self(value + 0.0)) // -0.0 becomes 0.0
        } else {
            Err(GradeError::OutOfRange { value })
        }
    }
}

impl From<Grade> for f64 {
    fn from(grade: Grade) -> Self {
        grade.0
    }
}

impl PartialEq for Grade {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Grade {}

impl PartialOrd for Grade {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Grade {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl fmt::Display for Grade {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// What a grade is worth to a metric that adds gains up.
///
/// Invariants: every gain is finite, at least 0, at most [`MAX_GAIN`], and does not fall as the grade rises.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", try_from = "RawGains", into = "RawGains")]
pub enum Gains {
    /// The grade itself; negative grades give 0.
    Linear,
    /// 2^grade − 1; negative grades give 0.
    Exponential,
    /// An explicit gain for each grade; a grade that is not listed is an error of the dataset.
    Map(GainMap),
}

/// An explicit gain for each grade that occurs.
#[derive(Debug, Clone, PartialEq)]
pub struct GainMap(Vec<(Grade, f64)>);

impl GainMap {
    /// Checks the gains and orders them by grade.
    pub fn new(entries: BTreeMap<Grade, f64>) -> Result<Self, GradeError> {
        if entries.is_empty() {
            return Err(GradeError::EmptyMap);
        }
        let mut previous = 0.0;
        for (&grade, &gain) in &entries {
            if !(gain.is_finite() && (0.0..=MAX_GAIN).contains(&gain)) {
                return Err(GradeError::Gain { grade, gain });
            }
            if gain < previous {
                return Err(GradeError::Decreasing { grade });
            }
            previous = gain;
        }
        Ok(Self(entries.into_iter().collect()))
    }

    /// Returns the grades and their gains, lowest grade first.
    pub fn entries(&self) -> &[(Grade, f64)] {
        &self.0
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum RawGains {
    Linear,
    Exponential,
    Map(Vec<(Grade, f64)>),
}

impl TryFrom<RawGains> for Gains {
    type Error = GradeError;

    fn try_from(raw: RawGains) -> Result<Self, GradeError> {
        match raw {
            RawGains::Linear => Ok(Self::Linear),
            RawGains::Exponential => Ok(Self::Exponential),
            RawGains::Map(entries) => GainMap::new(entries.into_iter().collect()).map(Self::Map),
        }
    }
}

impl From<Gains> for RawGains {
    fn from(gains: Gains) -> Self {
        match gains {
            Gains::Linear => Self::Linear,
            Gains::Exponential => Self::Exponential,
            Gains::Map(map) => Self::Map(map.0),
        }
    }
}

impl Gains {
    /// Returns the gain of a grade, or nothing when an explicit map does not list the grade.
    pub fn gain(&self, grade: Grade) -> Option<f64> {
        match self {
            Self::Linear => Some(grade.value().max(0.0)),
            Self::Exponential => Some((grade.value().max(0.0)).exp2() - 1.0),
            Self::Map(map) => map
                .0
                .iter()
                .find(|(listed, _)| *listed == grade)
                .map(|&(_, gain)| gain),
        }
    }
}

impl fmt::Display for Gains {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("linear (gain = grade)"),
            Self::Exponential => f.write_str("exponential (gain = 2^grade - 1)"),
            Self::Map(map) => {
                let entries: Vec<String> = map
                    .0
                    .iter()
                    .map(|(grade, gain)| format!("{grade}→{gain}"))
                    .collect();
                f.write_str(&entries.join(" "))
            }
        }
    }
}

/// The judgments of one query, ordered by document id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct QueryJudgments(BTreeMap<DocId, Grade>);

impl QueryJudgments {
    /// Records a judgment and returns the grade that the document had before, if any.
    pub fn insert(&mut self, document: DocId, grade: Grade) -> Option<Grade> {
        self.0.insert(document, grade)
    }

    /// Returns the grade of a document, or nothing when it is unjudged.
    pub fn grade(&self, document: &str) -> Option<Grade> {
        self.0.get(document).copied()
    }

    /// Returns every judged document with its grade, by document id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&DocId, Grade)> {
        self.0.iter().map(|(document, &grade)| (document, grade))
    }

    /// Returns the number of judged documents.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no document is judged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The judgments of a dataset, ordered by query id.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Judgments(BTreeMap<QueryId, QueryJudgments>);

impl Judgments {
    /// Records a judgment and returns the grade that the pair had before, if any.
    pub fn insert(&mut self, query: QueryId, document: DocId, grade: Grade) -> Option<Grade> {
        self.0.entry(query).or_default().insert(document, grade)
    }

    /// Returns the judgments of a query, or nothing when it has none.
    pub fn query(&self, query: &str) -> Option<&QueryJudgments> {
        self.0.get(query)
    }

    /// Returns every judged query with its judgments, by query id.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&QueryId, &QueryJudgments)> {
        self.0.iter()
    }

    /// Returns the number of judged queries.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no query is judged.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn grade(value: f64) -> Grade {
        Grade::try_from(value).unwrap()
    }

    #[test]
    fn a_grade_that_is_not_finite_is_refused() {
        for value in [f64::NAN, f64::INFINITY, 31.0] {
            assert!(matches!(
                Grade::try_from(value),
                Err(GradeError::OutOfRange { .. })
            ));
        }
    }

    #[test]
    fn negative_grades_gain_nothing() {
        assert_eq!(Gains::Linear.gain(grade(-2.0)), Some(0.0));
        assert_eq!(Gains::Exponential.gain(grade(-2.0)), Some(0.0));
        assert_eq!(Gains::Exponential.gain(grade(3.0)), Some(7.0));
    }

    #[test]
    fn a_map_must_not_fall_and_lists_what_it_knows() {
        let map = |pairs: &[(f64, f64)]| {
            GainMap::new(pairs.iter().map(|&(g, v)| (grade(g), v)).collect())
        };
        assert_eq!(
            map(&[(0.0, 0.1), (1.0, 0.0)]),
            Err(GradeError::Decreasing { grade: grade(1.0) })
        );
        let gains = Gains::Map(map(&[(0.0, 0.0), (3.0, 1.0)]).unwrap());
        assert_eq!(gains.gain(grade(3.0)), Some(1.0));
        assert_eq!(gains.gain(grade(2.0)), None);
        let json = serde_json::to_string(&gains).unwrap();
        assert_eq!(serde_json::from_str::<Gains>(&json).unwrap(), gains);
    }
}
