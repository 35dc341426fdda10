//! Step-down maximum over many hypotheses that share their resamples.

use ndarray::ArrayView2;

use crate::permutation::count;
use crate::{GridDifferences, PValue, ResamplingPlan, SignFlipRun};

/// The statistic whose maximum over the family is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Statistic {
    /// |Σ s·d| / Σw: the absolute mean. Hypotheses with large differences dominate.
    Mean,
    /// |Σ s·d| / √(Σ d²): free of scale, so that metrics and candidates of any spread stand beside each other.
    Normalised,
}

/// Factors and thresholds of the family, hypotheses by descending observed statistic.
#[derive(Debug)]
pub(crate) struct StepDown {
    /// Hypothesis at each step.
    order: Vec<usize>,
    /// What turns a sum in grid units into the statistic, by hypothesis.
    scales: Vec<f64>,
    /// Observed statistic less the tolerance, by step.
    thresholds: Vec<f64>,
}

impl StepDown {
    pub(crate) fn new(columns: &[&GridDifferences], statistic: Statistic) -> Self {
        let scales: Vec<f64> = columns.iter().map(|c| scale(c, statistic)).collect();
        let observed: Vec<f64> = columns
            .iter()
            .zip(&scales)
            .map(|(column, scale)| column.observed().abs() * scale)
            .collect();
        // Any hypothesis may hold the maximum, so the widest tolerance of all decides whether it ties.
        let tolerance = columns
            .iter()
            .zip(&scales)
            .map(|(column, scale)| column.tolerance() * scale)
            .fold(0.0, f64::max);
        let mut order: Vec<usize> = (0..columns.len()).collect();
        order.sort_by(|&a, &b| observed[b].total_cmp(&observed[a]));
        let thresholds = order.iter().map(|&h| observed[h] - tolerance).collect();
        Self {
            order,
            scales,
            thresholds,
        }
    }

    /// Adds, by step, the resamples whose maximum over this and the later steps reaches the observed value; `sums` is
    /// columns × resamples, and `row` says in which of its rows a hypothesis is.
    pub(crate) fn count(&self, sums: &ArrayView2<'_, f64>, row: &[usize], counts: &mut [u64]) {
        let mut greatest = vec![0.0_f64; sums.ncols()];
        for (step, &hypothesis) in self.order.iter().enumerate().rev() {
            let scale = self.scales[hypothesis];
            for (greatest, sum) in greatest.iter_mut().zip(sums.row(row[hypothesis])) {
                *greatest = greatest.max(sum.abs() * scale);
            }
            let threshold = self.thresholds[step];
            counts[step] += count(&greatest, |value| value >= threshold);
        }
    }

    /// Turns counts by step into adjusted p-values by hypothesis, `p` giving the value of a count.
    pub(crate) fn adjust(&self, counts: &[u64], p: impl Fn(u64) -> PValue) -> Vec<PValue> {
        let mut adjusted = vec![PValue::ONE; self.order.len()];
        let mut greatest = None;
        for (&hypothesis, &count) in self.order.iter().zip(counts) {
            let q = p(count);
            let q = greatest.map_or(q, |before| q.max(before));
            greatest = Some(q);
            adjusted[hypothesis] = q;
        }
        adjusted
    }
}

fn scale(column: &GridDifferences, statistic: Statistic) -> f64 {
    match statistic {
        Statistic::Mean => column.to_mean(1.0),
        Statistic::Normalised => {
            let squares: f64 = column.sums().iter().map(|sum| sum * sum).sum();
            if squares > 0.0 {
                squares.sqrt().recip()
            } else {
                0.0
            }
        }
    }
}

impl ResamplingPlan {
    /// Returns the step-down adjusted p-values of the family, in the order of `columns`.
    ///
    /// ```text
    /// t(1) ≥ … ≥ t(m) observed,   u_b(j) = max_{i ≥ j} t_b(i)
    /// q(j) = max_{i ≤ j} (1 + #{b : u_b(i) ≥ t(i) − tolerance}) / (1 + B)
    /// ```
    ///
    /// All hypotheses see the same signs, so their dependence is kept; the family-wise error rate is bounded under subset
    /// pivotality, which sign flips of whole queries have. When the units that changed anywhere have at most `B`
    /// assignments, all are enumerated and q is exact. A hypothesis in which nothing changed has q = 1. An empty family has
    /// an empty result. Adding a hypothesis can only raise the q of the others, as long as both families are sampled or
    /// both enumerated.
    ///
    /// Source: Westfall and Young, *Resampling-Based Multiple Testing*, 1993, algorithm 2.8 and section 2.6.
    ///
    /// # Panics
    ///
    /// Never: `columns` were put on this plan's grid, so they have its number of units.
    pub fn max_t(&self, columns: &[&GridDifferences], statistic: Statistic) -> Vec<PValue> {
        let family: Vec<usize> = (0..columns.len()).collect();
        SignFlipRun::new(self, columns, &family, statistic).adjusted()
    }
}
