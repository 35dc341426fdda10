//! Simulated power of the sign-flip test, for data in which too few units changed for a normal approximation.

use rand::RngCore;
use rayon::prelude::*;

use crate::power::PowerGoal;
use crate::random::{below, stream};
use crate::{Design, GridDifferences, PairedDifferences, Resamples, ResamplingPlan, Share};

/// Halvings of the bracket of a detectable effect; leaves it to 0.1 % of the bracket.
const HALVINGS: u32 = 10;

/// Doublings of an effect after which a larger one cannot be found either.
const DOUBLINGS: u32 = 20;

/// Samples like a pilot's, with a planted effect, and the test that looks for it.
///
/// A sample draws `units` units from the pilot with replacement. Units that did not change in the pilot stay unchanged; the
/// sums of those that did are moved so that the mean difference is the effect:
///
/// ```text
/// c'[u] = c[u] − C/k + effect · Σw/k   for the k changed units,   C their sum
/// ```
///
/// so that the number of changed queries varies as it would, and a test of a handful of changes has the floor it will have.
#[derive(Debug, Clone, Copy)]
pub struct PowerSimulation<'a> {
    /// Differences of the pilot.
    pub pilot: &'a GridDifferences,
    /// Units of resampling (queries, or clusters) in each simulated sample.
    pub units: usize,
    /// Simulated samples.
    pub simulations: u32,
    /// Resamples of each simulated test, and the seed of all streams.
    pub resamples: Resamples,
}

impl PowerSimulation<'_> {
    /// Returns in how many of the simulated samples the two-sided sign-flip test at `alpha` finds an `effect`, in the
    /// metric's own unit; nothing when no unit of the pilot changed or no sample is asked for.
    ///
    /// Effects of the same simulation are planted in the same samples, so that power rises smoothly with the effect.
    pub fn power(&self, effect: f64, alpha: f64) -> Option<Share> {
        let changed = self.pilot.moved_to(effect)?;
        let found = (0..self.simulations)
            .into_par_iter()
            .filter(|&simulation| self.finds(simulation, &changed, alpha))
            .count();
        Share::new(found as u64, u64::from(self.simulations)).ok()
    }

    fn finds(&self, simulation: u32, changed: &[f64], alpha: f64) -> bool {
        let mut stream = stream(self.resamples.seed, u64::from(simulation));
        let pilot_units = self.pilot.sums().len();
        let sample: Vec<f64> = (0..self.units)
            // The changed units stand first: which unit is which does not matter to the test.
            .filter_map(|_| changed.get(below(&mut stream, pilot_units)).copied())
            .collect();
        let resamples = Resamples {
            count: self.resamples.count,
            seed: stream.next_u64(),
        };
        let (Ok(design), Ok(sample)) = (
            Design::independent(sample.len()),
            PairedDifferences::from_differences(sample),
        ) else {
            // Nothing changed in the sample, or the effect is beyond f64: nothing is found.
            return false;
        };
        let plan = ResamplingPlan::new(design, resamples);
        plan.grid(&sample)
            .is_ok_and(|grid| plan.sign_flips(&[&grid])[0].p.value() <= alpha)
    }
}

/// Returns the smallest effect, in the metric's own unit, that the simulated samples find with the wanted power; nothing when
/// no effect of any size is, because too few units change.
pub fn simulated_detectable(simulation: &PowerSimulation<'_>, goal: PowerGoal) -> Option<f64> {
    let found = |effect: f64| {
        let share = simulation.power(effect, goal.alpha());
        share.is_some_and(|share| share.value() >= goal.power())
    };
    let scale = simulation.pilot.standard_error()?;
    let mut high = scale.max(simulation.pilot.mean_tolerance());
    let doubled = (0..DOUBLINGS).find(|_| {
        let enough = found(high);
        if !enough {
            high *= 2.0;
        }
        enough
    });
    doubled?;
    let mut low = 0.0;
    for _ in 0..HALVINGS {
        let middle = f64::midpoint(low, high);
        if found(middle) {
            high = middle;
        } else {
            low = middle;
        }
    }
    Some(high)
}
