//! The formulas once more, written as plainly as possible and apart from the library, to compare with where no
//! reference data is at hand.

use std::collections::BTreeMap;

/// A ranking of document numbers and the grades of the judged ones.
pub(crate) struct Naive<'a> {
    pub(crate) ranking: &'a [u32],
    pub(crate) grades: &'a BTreeMap<u32, f64>,
    pub(crate) exponential: bool,
}

impl Naive<'_> {
    fn grade_at(&self, rank: usize) -> Option<f64> {
        let document = self.ranking.get(rank - 1)?;
        self.grades.get(document).copied()
    }

    fn gain(&self, grade: f64) -> f64 {
        let grade = if grade < 0.0 { 0.0 } else { grade };
        if self.exponential {
            2.0_f64.powf(grade) - 1.0
        } else {
            grade
        }
    }

    fn is_relevant(&self, rank: usize) -> bool {
        matches!(self.grade_at(rank), Some(grade) if grade >= 1.0)
    }

    fn found(&self, k: usize) -> f64 {
        (1..=k).filter(|&rank| self.is_relevant(rank)).count() as f64
    }

    pub(crate) fn relevant(&self) -> f64 {
        self.grades.values().filter(|&&grade| grade >= 1.0).count() as f64
    }

    pub(crate) fn ndcg(&self, k: usize) -> f64 {
        let mut ideal: Vec<f64> = self.grades.values().map(|&g| self.gain(g)).collect();
        ideal.sort_by(f64::total_cmp);
        ideal.reverse();
        let (mut dcg, mut best) = (0.0, 0.0);
        for rank in 1..=k {
            let discount = (rank as f64 + 1.0).log2();
            dcg += self.gain(self.grade_at(rank).unwrap_or(0.0)) / discount;
            best += ideal.get(rank - 1).unwrap_or(&0.0) / discount;
        }
        if best > 0.0 { dcg / best } else { 0.0 }
    }

    pub(crate) fn precision(&self, k: usize) -> f64 {
        self.found(k) / k as f64
    }

    pub(crate) fn recall(&self, k: usize) -> f64 {
        self.over_relevant(self.found(k))
    }

    pub(crate) fn average_precision(&self, k: usize) -> f64 {
        let hits = (1..=k).filter(|&rank| self.is_relevant(rank));
        self.over_relevant(hits.map(|rank| self.precision(rank)).sum())
    }

    pub(crate) fn reciprocal_rank(&self, k: usize) -> f64 {
        (1..=k)
            .find(|&rank| self.is_relevant(rank))
            .map_or(0.0, |rank| 1.0 / rank as f64)
    }

    fn over_relevant(&self, value: f64) -> f64 {
        if self.relevant() > 0.0 {
            value / self.relevant()
        } else {
            0.0
        }
    }
}
