//! How much the same configuration differs from itself.

use evalfarm_domain::MetricName;
use evalfarm_stats::{Design, PValue, PairedDifferences, PairingError, ResamplingPlan};
use serde::{Deserialize, Serialize};

use crate::GatePolicy;

/// Two runs of one configuration on the same queries, compared on one metric.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Rerun {
    /// The metric.
    pub metric: MetricName,
    /// Queries.
    pub n: usize,
    /// Queries on which the runs differ.
    pub changed: usize,
    /// Mean difference, second run minus first.
    pub delta: f64,
    /// Lower end of its bootstrap interval.
    pub ci_low: f64,
    /// Upper end of its bootstrap interval.
    pub ci_high: f64,
    /// Two-sided sign-flip p-value; a small one means that the runs were not of one configuration.
    pub p: PValue,
}

impl Rerun {
    /// Returns the change that reruns can be expected to show by themselves: the end of the interval that lies further
    /// from 0. The mean difference alone would be too narrow a band, because one pair of runs may differ by luck by
    /// nearly nothing.
    pub fn band(&self) -> f64 {
        self.ci_low.abs().max(self.ci_high.abs())
    }
}

/// Compares two runs of one configuration, values in the same query order, with the policy's resamples and confidence.
///
/// # Panics
///
/// Never: the design is made for these differences.
pub fn rerun(
    policy: &GatePolicy,
    metric: &MetricName,
    first: &[f64],
    second: &[f64],
) -> Result<Rerun, PairingError> {
    let differences = PairedDifferences::new(first, second)?;
    let n = differences.as_slice().len();
    let design = Design::independent(n).map_err(|_| PairingError::Empty)?;
    let plan = ResamplingPlan::new(design, policy.resamples);
    let grid = plan
        .grid(&differences)
        .expect("the design has one row for each difference");
    let flip = plan.sign_flips(&[&grid])[0];
    let interval = plan.intervals(&[&grid], policy.confidence)[0];
    Ok(Rerun {
        metric: metric.clone(),
        n,
        changed: grid.changed(),
        delta: grid.mean(),
        ci_low: interval.low,
        ci_high: interval.high,
        p: flip.p,
    })
}
