//! Permutation of whole clusters between two arms.

use rayon::prelude::*;
use serde::Serialize;

use crate::grid::{RELATIVE_TOLERANCE, ceil_log2, power_of_two};
use crate::random::{below, stream};
use crate::two_sample::{Arm, Better, OutcomeScale, TwoSample};
use crate::{Confidence, PValue, Resamples, Share, ShareInterval};

/// The comparison of two arms.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ArmComparison {
    /// How far the candidate is from the baseline, in the unit of `measure`.
    pub effect: f64,
    /// Percentile bootstrap interval of the effect, clusters drawn with replacement within each arm; nothing when an arm has
    /// a single cluster, whose spread cannot be known.
    pub interval: Option<ShareInterval>,
    /// What the effect is.
    pub measure: EffectMeasure,
    /// Two-sided p-value.
    pub p: PValue,
    /// Whether every assignment of clusters was counted.
    pub exact: bool,
    /// 99 % Monte Carlo interval of the p-value (Wilson); both ends are `p` when it is exact.
    pub p_bounds: (PValue, PValue),
}

/// What an effect between arms is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EffectMeasure {
    /// Mean over the candidate's rows less mean over the baseline's.
    DifferenceOfMeans,
    /// Probability that a row of the candidate is better than one of the baseline, ties counted half, less ½, times 2: Cliff's
    /// delta of the two arms, from −1 to 1.
    CliffsDelta,
}

/// Bits that the largest score takes; with up to 2^38 rows all sums of products are below 2^127.
const SCORE_BITS: i32 = 50;

/// The confidence at which the Monte Carlo interval of a p-value is stated.
const MONTE_CARLO: Confidence = Confidence::NINETY_NINE;

impl TwoSample {
    /// Compares the arms: means on a bounded scale, ranks on a positive one.
    ///
    /// ```text
    /// S = Σ_{u in candidate} (s[u] − n[u]·s̄),   s[u] the sum of cluster u's n[u] scores, s̄ the mean score of all rows
    /// p = (1 + #{b : |S_b| ≥ |S| − tolerance}) / (1 + B)
    /// ```
    ///
    /// Scores are the values, or their mid-ranks. Each resample assigns as many whole clusters to the candidate as it has;
    /// when there are no more than B such assignments they are enumerated and p is exact. The hypothesis is that the arm a
    /// cluster was assigned to changes nothing; assumed is that clusters were assigned independently of each other and with
    /// equal probability. Clusters of different sizes are allowed. Without clusters and with outcomes 0 and 1 this is Fisher's
    /// permutation with |S| as its order, but for ties as good as [`crate::fisher_exact`].
    ///
    /// Source: Gail, Mark, Carroll, Green and Pee, *On design considerations and randomization-based inference for community
    /// intervention trials*, 1996; Ernst, *Permutation methods: a basis for exact inference*, 2004; ranks as Wilcoxon 1945.
    pub fn compare(&self, resamples: Resamples, confidence: Confidence) -> ArmComparison {
        let (measure, scores) = match self.scale() {
            OutcomeScale::Bounded { .. } => (EffectMeasure::DifferenceOfMeans, self.values.clone()),
            OutcomeScale::Positive { .. } => (EffectMeasure::CliffsDelta, self.mid_ranks()),
        };
        let test = self.permute(&scores, resamples);
        let (effect, interval) = self.effect(measure, resamples, confidence);
        ArmComparison {
            effect,
            interval,
            measure,
            p: test.p,
            exact: test.exact,
            p_bounds: test.bounds,
        }
    }

    /// Returns the rank of each value among all rows, equal values at the mean of theirs.
    fn mid_ranks(&self) -> Vec<f64> {
        let order = self.ascending();
        let mut ranks = vec![0.0; order.len()];
        for ties in order.chunk_by(|&a, &b| self.values[a].total_cmp(&self.values[b]).is_eq()) {
            // Of a run from position i on, the mean of the ranks i + 1 … i + length.
            let below = order
                .partition_point(|&row| self.values[row].total_cmp(&self.values[ties[0]]).is_lt());
            let rank = below as f64 + (ties.len() + 1) as f64 / 2.0;
            for &row in ties {
                ranks[row] = rank;
            }
        }
        ranks
    }

    fn ascending(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.values.len()).collect();
        order.sort_by(|&a, &b| self.values[a].total_cmp(&self.values[b]));
        order
    }

    fn permute(&self, scores: &[f64], resamples: Resamples) -> Permuted {
        // On a grid of whole numbers N·s[u] − n[u]·Σs is exact, so that equal assignments tie whatever the order of a sum.
        let greatest = scores
            .iter()
            .fold(0.0_f64, |most, score| most.max(score.abs()));
        let unit = power_of_two(ceil_log2(greatest) - SCORE_BITS);
        let whole: Vec<i128> = scores.iter().map(|score| whole(score / unit)).collect();
        let total: i128 = whole.iter().sum();
        let rows = scores.len() as i128;
        let mut sums: Vec<i128> = self
            .clusters
            .iter()
            .map(|cluster| -(cluster.rows as i128) * total)
            .collect();
        for (&cluster, score) in self.cluster_of.iter().zip(whole) {
            sums[cluster] += rows * score;
        }
        let candidate: Vec<bool> = self
            .clusters
            .iter()
            .map(|cluster| cluster.arm == Arm::Candidate)
            .collect();
        let absolute: f64 = sums.iter().map(|sum| sum.unsigned_abs() as f64).sum();
        // Each of the N rows is rounded by half a unit at most, in either of two sums that tie.
        let tolerance = (rows * rows).max(whole_ceil(RELATIVE_TOLERANCE * absolute));
        permute(&sums, &candidate, tolerance, resamples)
    }

    fn effect(
        &self,
        measure: EffectMeasure,
        resamples: Resamples,
        confidence: Confidence,
    ) -> (f64, Option<ShareInterval>) {
        let whole = vec![1_u32; self.clusters.len()];
        let order = self.ascending();
        let estimate = |times: &[u32]| match measure {
            EffectMeasure::DifferenceOfMeans => self.difference_of_means(times),
            EffectMeasure::CliffsDelta => self.cliffs_delta(&order, times),
        };
        let arms = [Arm::Baseline, Arm::Candidate];
        if arms.iter().any(|&arm| self.counts(arm).clusters < 2) {
            return (estimate(&whole), None);
        }
        let mut effects: Vec<f64> = (0..resamples.count.get())
            .into_par_iter()
            .map(|resample| estimate(&self.draw(resamples.seed, resample)))
            .collect();
        let tail = (1.0 - f64::from(confidence)) / 2.0;
        let interval = ShareInterval {
            low: crate::bootstrap::quantile(&mut effects, tail),
            high: crate::bootstrap::quantile(&mut effects, 1.0 - tail),
        };
        (estimate(&whole), Some(interval))
    }

    /// Draws as many clusters of each arm as it has, with replacement, and returns how often each came.
    fn draw(&self, seed: u64, resample: u32) -> Vec<u32> {
        let mut stream = stream(seed, 2 * u64::from(resample) + 1);
        let mut times = vec![0; self.clusters.len()];
        for arm in [Arm::Baseline, Arm::Candidate] {
            let members: Vec<usize> = (0..self.clusters.len())
                .filter(|&cluster| self.clusters[cluster].arm == arm)
                .collect();
            for _ in 0..members.len() {
                times[members[below(&mut stream, members.len())]] += 1;
            }
        }
        times
    }

    fn difference_of_means(&self, times: &[u32]) -> f64 {
        let mut sums = [(0.0, 0.0); 2];
        for (&cluster, value) in self.cluster_of.iter().zip(&self.values) {
            let weight = f64::from(times[cluster]);
            let (sum, rows) = &mut sums[self.clusters[cluster].arm as usize];
            *sum += weight * value;
            *rows += weight;
        }
        let [baseline, candidate] = sums.map(|(sum, rows)| sum / rows);
        candidate - baseline
    }

    /// Returns P(candidate better) − P(baseline better) over all pairs of rows of the two arms.
    fn cliffs_delta(&self, order: &[usize], times: &[u32]) -> f64 {
        let mut seen = [0.0_f64; 2];
        let mut larger = 0.0;
        for ties in order.chunk_by(|&a, &b| self.values[a].total_cmp(&self.values[b]).is_eq()) {
            let mut here = [0.0_f64; 2];
            for &row in ties {
                let cluster = self.cluster_of[row];
                here[self.clusters[cluster].arm as usize] += f64::from(times[cluster]);
            }
            larger += here[1] * seen[0] - here[0] * seen[1];
            seen = [seen[0] + here[0], seen[1] + here[1]];
        }
        let delta = larger / (seen[0] * seen[1]);
        match self.scale() {
            OutcomeScale::Bounded {
                better: Better::Higher,
                ..
            }
            | OutcomeScale::Positive {
                better: Better::Higher,
            } => delta,
            OutcomeScale::Bounded {
                better: Better::Lower,
                ..
            }
            | OutcomeScale::Positive {
                better: Better::Lower,
            } => -delta,
        }
    }
}

/// A permutation test's p-value.
struct Permuted {
    p: PValue,
    exact: bool,
    bounds: (PValue, PValue),
}

/// Tests whether the sum of the candidate's `sums`, which add up to 0, could be chance.
fn permute(sums: &[i128], candidate: &[bool], tolerance: i128, resamples: Resamples) -> Permuted {
    let chosen = candidate.iter().filter(|&&is| is).count();
    let count = resamples.count.get();
    let picked = sums.iter().zip(candidate).filter(|(_, is)| **is);
    let observed: i128 = picked.map(|(sum, _)| sum).sum();
    let least = observed.abs() - tolerance;
    if let Some(assignments) = assignments(sums.len(), chosen, count) {
        let exceeding = enumerate(sums, chosen, least);
        let p = PValue::ratio(exceeding, u64::from(assignments));
        return Permuted {
            p,
            exact: true,
            bounds: (p, p),
        };
    }
    let exceeding = (0..count)
        .into_par_iter()
        .map_init(Vec::new, |order, resample| {
            let mut stream = stream(resamples.seed, 2 * u64::from(resample));
            order.clear();
            order.extend(0..sums.len());
            // The first steps of a shuffle choose the candidate's clusters.
            let sum: i128 = (0..chosen)
                .map(|step| {
                    let other = step + below(&mut stream, sums.len() - step);
                    order.swap(step, other);
                    sums[order[step]]
                })
                .sum();
            u64::from(sum.abs() >= least)
        })
        .sum();
    let share = Share::new(exceeding, u64::from(count)).expect("each resample exceeds or not");
    let bounds = share.wilson(MONTE_CARLO);
    Permuted {
        p: PValue::ratio(1 + exceeding, 1 + u64::from(count)),
        exact: false,
        bounds: (
            PValue::at_most_one(bounds.low),
            PValue::at_most_one(bounds.high),
        ),
    }
}

/// Returns the number of ways to choose `chosen` of `of`, when it is not more than `most`.
fn assignments(of: usize, chosen: usize, most: u32) -> Option<u32> {
    let mut ways = 1_u64;
    for step in 0..chosen.min(of - chosen) as u64 {
        // C(n, k + 1) = C(n, k) · (n − k)/(k + 1), whole at every step.
        ways = ways.checked_mul(of as u64 - step)? / (step + 1);
        if ways > u64::from(most) {
            return None;
        }
    }
    u32::try_from(ways).ok()
}

/// Counts the choices of `chosen` sums whose total is at least `least` in absolute value.
fn enumerate(sums: &[i128], chosen: usize, least: i128) -> u64 {
    let mut index: Vec<usize> = (0..chosen).collect();
    let mut exceeding = 0;
    loop {
        let sum: i128 = index.iter().map(|&i| sums[i]).sum();
        exceeding += u64::from(sum.abs() >= least);
        // The next combination in lexicographic order: raise the last index that can be raised, reset those after it.
        let Some(raised) = (0..chosen)
            .rev()
            .find(|&i| index[i] < sums.len() - chosen + i)
        else {
            return exceeding;
        };
        index[raised] += 1;
        for later in raised + 1..chosen {
            index[later] = index[later - 1] + 1;
        }
    }
}

/// Returns the nearest whole number of a score on the grid, whose magnitude is at most 2^51.
fn whole(score: f64) -> i128 {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "rounded, and far within the range"
    )]
    let whole = score.round() as i128;
    whole
}

/// Returns the least whole number that is not below a tolerance.
fn whole_ceil(tolerance: f64) -> i128 {
    whole(tolerance.ceil())
}
