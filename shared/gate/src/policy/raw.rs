//! A policy as it is written.

use std::collections::BTreeMap;

use evalfarm_domain::Direction;
use evalfarm_stats::{Correction, IntervalMethod};
use serde::{Deserialize, Serialize};

use crate::slices::RawSlice;

/// A policy as it is written: everything optional, nothing checked. `docs/policy.md` says what each key means, what it
/// accepts, and its default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawGatePolicy {
    /// Metric that has to improve; `nDCG@10`.
    pub primary: Option<String>,
    /// Metrics that must not be harmed; the other quality metrics of the job.
    pub guards: Option<Vec<String>>,
    /// Level of every test, greater than 0 and at most .5; .05.
    pub alpha: Option<f64>,
    /// `bh`, `holm` or `max_t`; `bh` over the metrics of one candidate, `max_t` over several candidates.
    pub correction: Option<Correction>,
    /// Resamples of every interval, and with which every test begins, 100 to 1,000,000; 10,000.
    pub resamples: Option<u32>,
    /// Resamples up to which a test is continued while its decision hangs on Monte Carlo error; 100,000.
    pub max_resamples: Option<u32>,
    /// Seed of the resamples; 1.
    pub seed: Option<u64>,
    /// `percentile` or `bca`; `percentile`.
    pub interval: Option<IntervalMethod>,
    /// Confidence of every interval; .95.
    pub confidence: Option<f64>,
    /// Which way other columns than metrics are better; `higher`.
    pub directions: Option<BTreeMap<String, Direction>>,
    /// Queries below which nothing is decided; 20.
    pub min_queries: Option<usize>,
    /// Queries on which the primary has to have changed; 0.
    pub min_changed: Option<usize>,
    /// Share of returned hits that has to be judged on both sides; 0.
    pub min_judged_share: Option<f64>,
    /// Improvement of the primary below which nobody cares, in its own unit; 0.
    pub min_effect: Option<f64>,
    /// Change of the primary that reruns of the same configuration show, in its own unit; unknown.
    pub noise_band: Option<f64>,
    /// Guards with a margin: the interval has to exclude a worsening of this much, in the guard's own unit; none.
    pub max_drop: Option<BTreeMap<String, f64>>,
    /// For metrics that are 0 or 1: largest share of queries that may go from right to wrong; none.
    pub max_flips: Option<BTreeMap<String, f64>>,
    /// For metrics that are 0 or 1: what the exact upper bound of that share may reach; none.
    pub max_flips_bound: Option<BTreeMap<String, f64>>,
    /// Worsening of the primary on one query that counts as catastrophic, in its own unit; .30.
    pub catastrophic_drop: Option<f64>,
    /// Largest share of catastrophic queries; .05.
    pub max_catastrophic_share: Option<f64>,
    /// Largest increase of the share of queries without a result; 0.
    pub max_zero_result_increase: Option<f64>,
    /// Largest share of queries on which a stage failed; .01.
    pub max_degraded_share: Option<f64>,
    /// Largest share of queries that failed; 0.
    pub max_failed_share: Option<f64>,
    /// Largest gap in the judged share of hits by which the losing side may lie below the other; .10.
    pub max_judged_gap: Option<f64>,
    /// Independent cases below which two independent arms are not judged; 20.
    pub min_per_arm: Option<usize>,
    /// Named groups of queries; none.
    pub slices: Option<Vec<RawSlice>>,
}
