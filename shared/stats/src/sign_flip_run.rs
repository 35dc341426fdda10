//! Sign-flip tests and the step-down maximum of a family from the same resamples, with more resamples on demand.

use std::num::NonZeroU32;

use ndarray::ArrayView2;

use crate::max_t::StepDown;
use crate::permutation::{Exceedances, Threshold, enumerate, nonzero};
use crate::plan::{active_units, enumerable};
use crate::product::{Factors, Product, first_equals};
use crate::{
    Confidence, Correction, GridDifferences, PValue, ResamplingPlan, Share, SignFlip, Statistic,
    benjamini_hochberg, holm,
};

/// Tests of one family under shared signs, from one product.
///
/// Starts with the plan's number of resamples and takes more by [`SignFlipRun::extend`]; those already drawn stay as they
/// are, so that the result at any number is what a plan of that number gives. Equal columns are computed once, and units in
/// which nothing changes not at all.
#[derive(Debug)]
pub struct SignFlipRun<'a> {
    plan: &'a ResamplingPlan,
    columns: Vec<&'a GridDifferences>,
    /// For each column the first that equals it.
    first: Vec<usize>,
    family: Vec<usize>,
    steps: StepDown,
    resamples: u32,
    /// By column: what every assignment gave, and their number, where these were enumerated.
    enumerated: Vec<Option<(Exceedances, u32)>>,
    /// By column: what the resamples gave; of meaning only for a column that is the first of its kind.
    sampled: Vec<Exceedances>,
    maxima: Maxima,
}

/// Counts of the step-down maximum, by step.
#[derive(Debug)]
enum Maxima {
    Enumerated { counts: Vec<u64>, assignments: u32 },
    Sampled { counts: Vec<u64> },
}

/// How a rise of the number of resamples ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Raised {
    /// With this many resamples no decision hangs on Monte Carlo error.
    Settled(NonZeroU32),
    /// The cap, this many, was reached with a decision still open.
    AtCap(NonZeroU32),
}

impl Raised {
    /// Returns the number of resamples at the end.
    pub fn resamples(self) -> NonZeroU32 {
        match self {
            Self::Settled(count) | Self::AtCap(count) => count,
        }
    }
}

/// Counts of one pass over resamples.
struct Counts {
    sampled: Vec<Exceedances>,
    maxima: Vec<u64>,
}

impl<'a> SignFlipRun<'a> {
    /// Tests `columns` with the plan's resamples; `family` holds the indices of those that the step-down maximum is over.
    ///
    /// # Panics
    ///
    /// When `family` names a column that is not there.
    pub fn new(
        plan: &'a ResamplingPlan,
        columns: &[&'a GridDifferences],
        family: &[usize],
        statistic: Statistic,
    ) -> Self {
        let members: Vec<&GridDifferences> = family.iter().map(|&index| columns[index]).collect();
        let mut run = Self {
            plan,
            columns: columns.to_vec(),
            first: first_equals(columns),
            family: family.to_vec(),
            steps: StepDown::new(&members, statistic),
            resamples: 0,
            enumerated: vec![None; columns.len()],
            sampled: vec![Exceedances::default(); columns.len()],
            maxima: Maxima::Sampled {
                counts: vec![0; family.len()],
            },
        };
        run.extend(plan.resamples().count);
        run
    }

    /// Returns the number of resamples drawn.
    ///
    /// # Panics
    ///
    /// Never: a run starts with the resamples of its plan.
    pub fn resamples(&self) -> NonZeroU32 {
        NonZeroU32::new(self.resamples).expect("a run starts with the resamples of its plan")
    }

    /// Draws resamples until there are `count`; fewer than there are change nothing.
    ///
    /// What has at most `count` assignments is enumerated instead and has no Monte Carlo error from then on.
    pub fn extend(&mut self, count: NonZeroU32) {
        let count = count.get();
        if count <= self.resamples {
            return;
        }
        for index in 0..self.columns.len() {
            if self.first[index] != index {
                self.enumerated[index] = self.enumerated[self.first[index]];
            } else if self.enumerated[index].is_none() {
                let column = self.columns[index];
                self.enumerated[index] = enumerable(nonzero(column).count(), count)
                    .map(|assignments| (enumerate(column), assignments));
            }
        }
        self.enumerate_maxima(count);
        self.sample(count);
        self.resamples = count;
    }

    fn members(&self) -> Vec<&'a GridDifferences> {
        self.family.iter().map(|&i| self.columns[i]).collect()
    }

    fn enumerate_maxima(&mut self, count: u32) {
        if matches!(self.maxima, Maxima::Enumerated { .. }) || self.family.is_empty() {
            return;
        }
        let members = self.members();
        let Some(assignments) = enumerable(active_units(&members).len(), count) else {
            return;
        };
        let product = Product::of_signs(self.plan, Factors::AllSigns, &members);
        let rows: Vec<usize> = (0..members.len()).collect();
        let counts = product.fold(
            0..assignments,
            || vec![0; members.len()],
            |counts, sums| self.steps.count(&sums, &rows, counts),
            added,
        );
        self.maxima = Maxima::Enumerated {
            counts,
            assignments,
        };
    }

    /// Counts over the resamples that are still to be drawn.
    fn sample(&mut self, count: u32) {
        let sampled_maxima = match self.maxima {
            Maxima::Sampled { .. } => self.family.as_slice(),
            Maxima::Enumerated { .. } => &[],
        };
        let tested = (0..self.columns.len()).filter(|&index| self.enumerated[index].is_none());
        let mut needed: Vec<usize> = tested
            .chain(sampled_maxima.iter().copied())
            .map(|index| self.first[index])
            .collect();
        needed.sort_unstable();
        needed.dedup();
        if needed.is_empty() {
            return;
        }
        let columns: Vec<&GridDifferences> = needed.iter().map(|&i| self.columns[i]).collect();
        let thresholds: Vec<Threshold> = columns.iter().map(|c| Threshold::of(c)).collect();
        let row_of = |index: &usize| {
            let first = needed.binary_search(&self.first[*index]);
            first.expect("the first of each sampled kind is needed")
        };
        let rows: Vec<usize> = sampled_maxima.iter().map(row_of).collect();
        let product = Product::of_signs(self.plan, Factors::Signs, &columns);
        let counts = product.fold(
            self.resamples..count,
            || Counts {
                sampled: vec![Exceedances::default(); columns.len()],
                maxima: vec![0; rows.len()],
            },
            |counts, sums| {
                count_rows(&thresholds, &sums, &mut counts.sampled);
                if !rows.is_empty() {
                    self.steps.count(&sums, &rows, &mut counts.maxima);
                }
            },
            |mut a, b| {
                for (a, b) in a.sampled.iter_mut().zip(b.sampled) {
                    a.add(b);
                }
                a.maxima = added(a.maxima, b.maxima);
                a
            },
        );
        for (&index, counted) in needed.iter().zip(counts.sampled) {
            self.sampled[index].add(counted);
        }
        if let Maxima::Sampled { counts: totals } = &mut self.maxima {
            *totals = added(std::mem::take(totals), counts.maxima);
        }
    }

    /// Returns the test of each column.
    pub fn flips(&self) -> Vec<SignFlip> {
        self.each_flip(|counts| SignFlip::sampled(counts, self.resamples))
    }

    /// Returns for each column its test with all p-values at the lower, and with all at the upper end of their Monte Carlo
    /// interval (Wilson's score interval of the share of exceedances); an enumerated test is the same at both.
    pub fn flip_bounds(&self, confidence: Confidence) -> Vec<(SignFlip, SignFlip)> {
        let end = |low| {
            self.each_flip(|counts| {
                SignFlip::from_counts(counts, false, |count| {
                    self.monte_carlo(count, confidence, low)
                })
            })
        };
        end(true).into_iter().zip(end(false)).collect()
    }

    fn each_flip(&self, sampled: impl Fn(Exceedances) -> SignFlip) -> Vec<SignFlip> {
        (0..self.columns.len())
            .map(|index| match self.enumerated[index] {
                Some((counts, assignments)) => SignFlip::enumerated(counts, assignments),
                None => sampled(self.sampled[self.first[index]]),
            })
            .collect()
    }

    fn monte_carlo(&self, count: u64, confidence: Confidence, low: bool) -> PValue {
        let share = Share::new(count, u64::from(self.resamples))
            .expect("no more resamples exceed than were drawn");
        let interval = share.wilson(confidence);
        PValue::at_most_one(if low { interval.low } else { interval.high })
    }

    /// Returns the step-down adjusted p-values of the family's members, in the order of `family`.
    pub fn adjusted(&self) -> Vec<PValue> {
        self.each_adjusted(|count| PValue::ratio(1 + count, 1 + u64::from(self.resamples)))
    }

    /// Returns for each member its adjusted p-value at the lower and at the upper end of the Monte Carlo interval.
    pub fn adjusted_bounds(&self, confidence: Confidence) -> Vec<(PValue, PValue)> {
        let end = |low| self.each_adjusted(|count| self.monte_carlo(count, confidence, low));
        end(true).into_iter().zip(end(false)).collect()
    }

    fn each_adjusted(&self, sampled: impl Fn(u64) -> PValue) -> Vec<PValue> {
        match &self.maxima {
            Maxima::Enumerated {
                counts,
                assignments,
            } => self.steps.adjust(counts, |count| {
                PValue::ratio(count, u64::from(*assignments))
            }),
            Maxima::Sampled { counts } => self.steps.adjust(counts, sampled),
        }
    }

    /// Whether every member of the family is rejected at `alpha`, or none, wherever the p-values lie in their Monte Carlo
    /// intervals.
    ///
    /// `tested` picks the p-value that is corrected from the test of the `n`th member of the family. Under
    /// [`Correction::MaxT`] the adjusted values themselves are counted and `tested` is not asked. The other corrections never
    /// fall when a p-value rises, so that the two corners, all at the lower and all at the upper ends, bound every case.
    pub fn is_settled(
        &self,
        correction: Correction,
        alpha: f64,
        confidence: Confidence,
        tested: impl Fn(usize, SignFlip) -> PValue,
    ) -> bool {
        let bounds = || self.flip_bounds(confidence);
        let ends: Vec<(PValue, PValue)> = match correction {
            Correction::MaxT => self.adjusted_bounds(confidence),
            Correction::BenjaminiHochberg => {
                self.corrected_ends(&bounds(), tested, benjamini_hochberg)
            }
            Correction::Holm => self.corrected_ends(&bounds(), tested, holm),
        };
        ends.iter()
            .all(|(low, high)| (low.value() <= alpha) == (high.value() <= alpha))
    }

    fn corrected_ends(
        &self,
        bounds: &[(SignFlip, SignFlip)],
        tested: impl Fn(usize, SignFlip) -> PValue,
        correct: impl Fn(&[PValue]) -> Vec<PValue>,
    ) -> Vec<(PValue, PValue)> {
        let members = || self.family.iter().map(|&index| bounds[index]).enumerate();
        let low: Vec<PValue> = members().map(|(n, (low, _))| tested(n, low)).collect();
        let high: Vec<PValue> = members().map(|(n, (_, high))| tested(n, high)).collect();
        correct(&low).into_iter().zip(correct(&high)).collect()
    }

    /// Doubles the resamples until `settled` says that no decision hangs on them, or until there are `cap`.
    ///
    /// The rule looks at the same resamples that decide, so a p-value near its threshold is decided slightly more often than
    /// its final interval says; the confidence of that interval is therefore chosen high (99 %).
    pub fn raise(&mut self, cap: NonZeroU32, settled: impl Fn(&Self) -> bool) -> Raised {
        loop {
            if settled(self) {
                return Raised::Settled(self.resamples());
            }
            if self.resamples >= cap.get() {
                return Raised::AtCap(self.resamples());
            }
            let doubled = self
                .resamples()
                .saturating_mul(NonZeroU32::MIN.saturating_add(1));
            self.extend(doubled.min(cap));
        }
    }
}

fn count_rows(thresholds: &[Threshold], sums: &ArrayView2<'_, f64>, counts: &mut [Exceedances]) {
    for ((threshold, row), count) in thresholds.iter().zip(sums.rows()).zip(counts) {
        let row = row.to_slice().expect("sums of a column lie side by side");
        count.add(threshold.count(row));
    }
}

fn added(mut a: Vec<u64>, b: Vec<u64>) -> Vec<u64> {
    for (a, b) in a.iter_mut().zip(b) {
        *a += b;
    }
    a
}
