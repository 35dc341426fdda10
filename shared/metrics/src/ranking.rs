//! The parts of a ranking that every formula reads.

use std::num::NonZeroU32;

use evalfarm_domain::Grade;

/// How many hits a metric looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Cutoff(usize);

impl Cutoff {
    /// Returns the cutoff `k`, or no cutoff at all.
    pub(crate) fn new(cutoff: Option<NonZeroU32>) -> Self {
        // A cutoff beyond the address space cuts nothing.
        let all = usize::MAX;
        Self(cutoff.map_or(all, |k| usize::try_from(k.get()).unwrap_or(all)))
    }

    /// Returns the number of hits looked at; `usize::MAX` for all.
    pub(crate) fn get(self) -> usize {
        self.0
    }

    /// Returns the first k items, or all when there are fewer.
    pub(crate) fn top<T>(self, items: &[T]) -> &[T] {
        items.get(..self.0).unwrap_or(items)
    }
}

/// Whether a hit is relevant: judged, and with a grade of at least `from`.
pub(crate) fn is_relevant(hit: Option<Grade>, from: Grade) -> bool {
    hit.is_some_and(|grade| grade >= from)
}

/// Returns the number of relevant hits.
pub(crate) fn count_relevant(hits: &[Option<Grade>], from: Grade) -> usize {
    hits.iter().filter(|&&hit| is_relevant(hit, from)).count()
}

/// Builders of rankings for the tests of the formulas.
#[cfg(test)]
pub(crate) mod testing {
    use evalfarm_domain::Grade;

    /// Returns a ranking from grades, `None` for an unjudged hit.
    pub(crate) fn hits(grades: &[Option<f64>]) -> Vec<Option<Grade>> {
        grades.iter().map(|hit| hit.map(grade)).collect()
    }

    /// Returns a ranking in which every hit is judged.
    pub(crate) fn judged(grades: &[f64]) -> Vec<Option<Grade>> {
        grades.iter().map(|&value| Some(grade(value))).collect()
    }

    /// Returns a grade.
    pub(crate) fn grade(value: f64) -> Grade {
        Grade::try_from(value).unwrap()
    }

    /// Asserts that two values agree to 1e-12.
    #[track_caller]
    pub(crate) fn assert_close(value: f64, expected: f64) {
        assert!(
            (value - expected).abs() <= 1e-12,
            "{value} is not {expected}"
        );
    }
}
