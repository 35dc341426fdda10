//! Whether the tests keep their promises: samples in which the truth is known.

use std::num::NonZeroU32;

use rand::RngCore;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use crate::random::{below, stream};
use crate::special::z_critical;
use crate::{
    Confidence, Design, GridDifferences, PValue, PairedDifferences, Resamples, ResamplingPlan,
    Share, ShareInterval, SignFlip, SignFlipRun, Statistic, benjamini_hochberg, holm,
    normal_quantile,
};

/// First stream of simulated data. A plan of the same seed reads streams below 2^33: data that share their signs with the
/// resamples that test them would say nothing.
const SIMULATED: u64 = 1 << 63;

/// Samples that are tested in one pass; bounds memory.
const SAMPLES_AT_ONCE: usize = 512;

/// Returns for each row whether baseline and candidate change places in copy `copy`, each with probability ½.
///
/// Swapping whole queries makes data in which no candidate is better, everything else staying as it is: what a gate promotes
/// there it promotes wrongly.
pub fn swapped_rows(seed: u64, copy: u32, rows: usize) -> Vec<bool> {
    let mut stream = stream(seed, SIMULATED + u64::from(copy));
    let words: Vec<u64> = (0..rows.div_ceil(64)).map(|_| stream.next_u64()).collect();
    (0..rows)
        .map(|row| words[row / 64] >> (row % 64) & 1 == 1)
        .collect()
}

/// Returns the rows of bootstrap sample `sample`: as many as there are, drawn with replacement.
pub fn drawn_rows(seed: u64, sample: u32, rows: usize) -> Vec<usize> {
    let mut stream = stream(seed, SIMULATED + u64::from(sample));
    (0..rows).map(|_| below(&mut stream, rows)).collect()
}

/// Returns where the share of rejections among `trials` true hypotheses lies with the given confidence when the test has the
/// level `alpha`: `α ± z·√(α(1 − α)/trials)`.
pub fn level_band(alpha: f64, trials: NonZeroU32, confidence: Confidence) -> ShareInterval {
    let half = z_critical(1.0 - f64::from(confidence))
        * (alpha * (1.0 - alpha) / f64::from(trials.get())).sqrt();
    ShareInterval {
        low: (alpha - half).max(0.0),
        high: (alpha + half).min(1.0),
    }
}

/// Returns in how many of `copies` sign-permuted copies of real differences the two-sided test rejects at `alpha`.
///
/// # Panics
///
/// Never: copies have the length of the original.
pub fn rejected_copies(
    differences: &PairedDifferences,
    copies: NonZeroU32,
    resamples: Resamples,
    alpha: f64,
) -> Share {
    let values = differences.as_slice();
    rejected(values.len(), copies, resamples, alpha, |copy| {
        let swapped = swapped_rows(resamples.seed, copy, values.len());
        let signed = values.iter().zip(swapped);
        signed
            .map(|(value, swap)| if swap { -value } else { *value })
            .collect()
    })
}

/// Returns in how many of `samples` bootstrap samples of the differences, centred and moved by `effect`, the two-sided test
/// rejects at `alpha`.
///
/// What is drawn are units: a cluster comes with all its rows and their weights. The test of signs sees of a unit only its total,
/// `Σ w·(d − mean + effect)`, so that each drawn unit is one row of the sample.
///
/// # Panics
///
/// When the design is of another number of rows than the differences.
pub fn found_effects(
    differences: &PairedDifferences,
    design: &Design,
    effect: f64,
    samples: NonZeroU32,
    resamples: Resamples,
    alpha: f64,
) -> Share {
    let values = differences.as_slice();
    assert_eq!(values.len(), design.rows(), "one design, one set of rows");
    let mut totals = vec![0.0; design.units()];
    let mut masses = vec![0.0; design.units()];
    for (row, value) in values.iter().enumerate() {
        let (unit, weight) = (design.unit(row), design.weight(row));
        totals[unit] += weight * value;
        masses[unit] += weight;
    }
    let mean = totals.iter().sum::<f64>() / masses.iter().sum::<f64>();
    rejected(totals.len(), samples, resamples, alpha, |sample| {
        let units = drawn_rows(resamples.seed, sample, totals.len());
        units
            .into_iter()
            .map(|unit| totals[unit] - masses[unit] * (mean - effect))
            .collect()
    })
}

fn rejected(
    rows: usize,
    samples: NonZeroU32,
    resamples: Resamples,
    alpha: f64,
    sample: impl Fn(u32) -> Vec<f64> + Sync,
) -> Share {
    let design = Design::independent(rows).expect("differences are never empty");
    let plan = ResamplingPlan::new(design, resamples);
    let numbers: Vec<u32> = (0..samples.get()).collect();
    let mut rejected = 0;
    for numbers in numbers.chunks(SAMPLES_AT_ONCE) {
        let grids: Vec<GridDifferences> = numbers
            .par_iter()
            .map(|&number| grid(&plan, sample(number)))
            .collect();
        let columns: Vec<&GridDifferences> = grids.iter().collect();
        let flips = plan.sign_flips(&columns);
        rejected += flips.iter().filter(|flip| flip.p.value() <= alpha).count();
    }
    Share::new(rejected as u64, u64::from(samples.get()))
        .expect("no more samples are rejected than there are")
}

fn grid(plan: &ResamplingPlan, values: Vec<f64>) -> GridDifferences {
    PairedDifferences::from_differences(values)
        .ok()
        .and_then(|sample| plan.grid(&sample).ok())
        .expect("a sample has the rows of its plan, and finite values")
}

/// Sweeps in which the truth is known: some candidates are as good as the baseline, the rest truly worse, none better.
///
/// Differences are normal with standard deviation 1, and share a part between all candidates, as those of a sweep do: their
/// pairwise correlation is `correlation`.
#[derive(Debug, Clone, Copy)]
pub struct FamilySimulation {
    /// Candidates in a family.
    pub candidates: usize,
    /// Candidates among them that are truly worse.
    pub worse: usize,
    /// How much worse, in standard deviations of a difference.
    pub harm: f64,
    /// Pairwise correlation of the candidates' differences, from 0 to below 1.
    pub correlation: f64,
    /// Queries.
    pub queries: NonZeroU32,
    /// Simulated families.
    pub families: NonZeroU32,
    /// Resamples of each family's tests, and the seed of all streams.
    pub resamples: Resamples,
    /// Level that the corrections aim at.
    pub alpha: f64,
}

/// In how many simulated families a correction lets at least one candidate through, all of them wrongly.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FamilyErrors {
    /// Step-down max-T of the normalised statistic, two-sided: the default over candidates.
    pub max_t: Share,
    /// Holm, two-sided.
    pub holm: Share,
    /// Benjamini-Hochberg on one-sided p-values at α/2, as it is offered over candidates.
    pub bh_one_sided: Share,
    /// Benjamini-Hochberg on two-sided p-values, as the published gates do.
    pub bh_two_sided: Share,
}

impl FamilySimulation {
    /// Simulates the families. Let through is a candidate whose mean rose and whose corrected p-value is at most alpha.
    ///
    /// # Panics
    ///
    /// When more candidates are worse than there are, or the correlation is not in [0, 1).
    pub fn run(&self) -> FamilyErrors {
        assert!(
            self.worse <= self.candidates && (0.0..1.0).contains(&self.correlation),
            "no such family: {self:?}"
        );
        let mut let_through = [0_u64; 4];
        for family in 0..self.families.get() {
            for (count, through) in let_through.iter_mut().zip(self.family(family)) {
                *count += u64::from(through);
            }
        }
        let [max_t, holm, bh_one_sided, bh_two_sided] = let_through.map(|count| {
            Share::new(count, u64::from(self.families.get()))
                .expect("no more families are counted than there are")
        });
        FamilyErrors {
            max_t,
            holm,
            bh_one_sided,
            bh_two_sided,
        }
    }

    /// Returns for one family which corrections let a candidate through.
    fn family(&self, number: u32) -> [bool; 4] {
        let mut random = stream(self.resamples.seed, u64::from(number));
        let rows = self.queries.get() as usize;
        let resamples = Resamples {
            count: self.resamples.count,
            seed: random.next_u64(),
        };
        let design = Design::independent(rows).expect("there is at least one query");
        let plan = ResamplingPlan::new(design, resamples);
        let shared: Vec<f64> = (0..rows).map(|_| normal(&mut random)).collect();
        let grids: Vec<GridDifferences> = (0..self.candidates)
            .map(|candidate| {
                let harm = if candidate < self.worse {
                    self.harm
                } else {
                    0.0
                };
                let own = (1.0 - self.correlation).sqrt();
                let common = self.correlation.sqrt();
                let values = shared
                    .iter()
                    .map(|shared| own * normal(&mut random) + common * shared - harm);
                grid(&plan, values.collect())
            })
            .collect();
        let columns: Vec<&GridDifferences> = grids.iter().collect();
        let all: Vec<usize> = (0..columns.len()).collect();
        let run = SignFlipRun::new(&plan, &columns, &all, Statistic::Normalised);
        let flips = run.flips();
        let p = |pick: fn(&SignFlip) -> PValue| flips.iter().map(pick).collect::<Vec<PValue>>();
        let corrected = [
            run.adjusted(),
            holm(&p(|flip| flip.p)),
            benjamini_hochberg(&p(|flip| flip.p_above.doubled())),
            benjamini_hochberg(&p(|flip| flip.p)),
        ];
        corrected.map(|corrected| {
            let mut judged = grids.iter().zip(&corrected);
            judged.any(|(grid, q)| grid.mean() > 0.0 && q.value() <= self.alpha)
        })
    }
}

/// Draws a standard normal number, by inversion.
fn normal(random: &mut ChaCha8Rng) -> f64 {
    // The middle of one of 2^53 equal cells, so that neither end is reached.
    let cell = (random.next_u64() >> 11) as f64 + 0.5;
    normal_quantile(cell / 2.0_f64.powi(53))
}
