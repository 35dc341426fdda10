//! What a policy file says, and the checked policy that it means.

mod error;
mod keys;
mod raw;

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use evalfarm_domain::{Direction, Metric, MetricName};
use evalfarm_stats::{Confidence, Correction, IntervalMethod, Resamples};
use serde::{Deserialize, Serialize};

use crate::slices::{SliceRule, slice_rules};
use keys::{AMOUNT, CONFIDENCE, LEVEL, RESAMPLES, Range, SHARE};

pub use error::PolicyError;
pub use keys::{policy_schema, policy_table};
pub use raw::RawGatePolicy;

/// Which metrics must not be harmed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Guards {
    /// Every quality metric of the job but the primary.
    Others,
    /// These, possibly none.
    Named(Vec<MetricName>),
}

/// A checked policy; [`RawGatePolicy`] says what each value means and its default.
///
/// Invariants: every value lies in the range that `docs/policy.md` states, shares in [0, 1], and the resamples are enough
/// for a p-value below alpha.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawGatePolicy", into = "RawGatePolicy")]
pub struct GatePolicy {
    pub(crate) primary: MetricName,
    pub(crate) guards: Guards,
    pub(crate) directions: BTreeMap<MetricName, Direction>,
    pub(crate) alpha: f64,
    pub(crate) correction: Option<Correction>,
    pub(crate) resamples: Resamples,
    pub(crate) max_resamples: NonZeroU32,
    pub(crate) interval: IntervalMethod,
    pub(crate) confidence: Confidence,
    pub(crate) min_queries: usize,
    pub(crate) min_changed: usize,
    pub(crate) min_judged_share: f64,
    pub(crate) min_effect: f64,
    pub(crate) noise_band: Option<f64>,
    pub(crate) max_drop: BTreeMap<MetricName, f64>,
    pub(crate) max_flips: BTreeMap<MetricName, f64>,
    pub(crate) max_flips_bound: BTreeMap<MetricName, f64>,
    pub(crate) catastrophic_drop: f64,
    pub(crate) max_catastrophic_share: f64,
    pub(crate) max_zero_result_increase: f64,
    pub(crate) max_degraded_share: f64,
    pub(crate) max_failed_share: f64,
    pub(crate) max_judged_gap: f64,
    pub(crate) min_per_arm: usize,
    pub(crate) slices: Vec<SliceRule>,
}

/// Alpha of design section 8.
const ALPHA: f64 = 0.05;
/// Resamples of design section 8.
const DEFAULT_RESAMPLES: u32 = 10_000;
/// Ten times the resamples: the Monte Carlo error of a p-value at .05 is then .0007.
const MAX_RESAMPLES: u32 = 100_000;
/// Any fixed seed does; it is printed with the verdict.
const SEED: u64 = 1;
/// Design section 8. Below it shares of single queries are larger than the tolerances they are compared with.
const MIN_QUERIES: usize = 20;
/// Design section 8, step 4.
const CATASTROPHIC_DROP: f64 = 0.30;
/// Design section 8, step 4.
const MAX_CATASTROPHIC_SHARE: f64 = 0.05;
/// A degraded query is scored without the stage under test, so a share of s dilutes the effect by about s. One in a
/// hundred stays far below what a few hundred queries can tell from chance, while the published degraded run (83 of 600)
/// is thirteen times above it.
const MAX_DEGRADED_SHARE: f64 = 0.01;
/// Design section 8, step 3.
const MAX_JUDGED_GAP: f64 = 0.10;

/// As for queries: with fewer, one case moves a share by more than five points.
const MIN_PER_ARM: usize = 20;

impl TryFrom<RawGatePolicy> for GatePolicy {
    type Error = PolicyError;

    fn try_from(raw: RawGatePolicy) -> Result<Self, PolicyError> {
        let primary = match &raw.primary {
            Some(name) => metric_name("primary", name)?,
            None => Metric::NDCG_10.name(),
        };
        let guards = match &raw.guards {
            Some(names) => Guards::Named(guard_names(names, &primary)?),
            None => Guards::Others,
        };
        let alpha = number("alpha", raw.alpha.unwrap_or(ALPHA), LEVEL)?;
        let (resamples, max_resamples) = resamples(&raw, alpha)?;
        let confidence = raw.confidence.unwrap_or(Confidence::DEFAULT.into());
        let confidence = number("confidence", confidence, CONFIDENCE)?;
        let noise_band = raw
            .noise_band
            .map(|band| number("noise_band", band, AMOUNT))
            .transpose()?;
        let share = |key, value: Option<f64>, default| number(key, value.unwrap_or(default), SHARE);
        let amount =
            |key, value: Option<f64>, default| number(key, value.unwrap_or(default), AMOUNT);
        Ok(Self {
            max_drop: margins(raw.max_drop, &guards, &primary)?,
            max_flips: per_metric("max_flips", raw.max_flips, SHARE)?,
            max_flips_bound: per_metric("max_flips_bound", raw.max_flips_bound, SHARE)?,
            directions: directions(raw.directions)?,
            primary,
            guards,
            alpha,
            correction: raw.correction,
            resamples,
            max_resamples,
            interval: raw.interval.unwrap_or(IntervalMethod::Percentile),
            confidence: Confidence::try_from(confidence).unwrap_or(Confidence::DEFAULT),
            min_queries: raw.min_queries.unwrap_or(MIN_QUERIES),
            min_changed: raw.min_changed.unwrap_or(0),
            min_judged_share: share("min_judged_share", raw.min_judged_share, 0.0)?,
            min_effect: amount("min_effect", raw.min_effect, 0.0)?,
            noise_band,
            catastrophic_drop: amount(
                "catastrophic_drop",
                raw.catastrophic_drop,
                CATASTROPHIC_DROP,
            )?,
            max_catastrophic_share: share(
                "max_catastrophic_share",
                raw.max_catastrophic_share,
                MAX_CATASTROPHIC_SHARE,
            )?,
            max_zero_result_increase: share(
                "max_zero_result_increase",
                raw.max_zero_result_increase,
                0.0,
            )?,
            max_degraded_share: share(
                "max_degraded_share",
                raw.max_degraded_share,
                MAX_DEGRADED_SHARE,
            )?,
            max_failed_share: share("max_failed_share", raw.max_failed_share, 0.0)?,
            max_judged_gap: share("max_judged_gap", raw.max_judged_gap, MAX_JUDGED_GAP)?,
            min_per_arm: raw.min_per_arm.unwrap_or(MIN_PER_ARM),
            slices: slice_rules(raw.slices.unwrap_or_default())?,
        })
    }
}

impl From<GatePolicy> for RawGatePolicy {
    fn from(policy: GatePolicy) -> Self {
        let named = |map: BTreeMap<MetricName, f64>| -> Option<BTreeMap<String, f64>> {
            let entries = map.into_iter();
            Some(
                entries
                    .map(|(metric, value)| (metric.into(), value))
                    .collect(),
            )
        };
        let directions = policy.directions.into_iter();
        Self {
            primary: Some(policy.primary.into()),
            guards: match policy.guards {
                Guards::Others => None,
                Guards::Named(names) => Some(names.into_iter().map(String::from).collect()),
            },
            directions: Some(directions.map(|(name, way)| (name.into(), way)).collect()),
            alpha: Some(policy.alpha),
            correction: policy.correction,
            resamples: Some(policy.resamples.count.get()),
            max_resamples: Some(policy.max_resamples.get()),
            seed: Some(policy.resamples.seed),
            interval: Some(policy.interval),
            confidence: Some(policy.confidence.into()),
            min_queries: Some(policy.min_queries),
            min_changed: Some(policy.min_changed),
            min_judged_share: Some(policy.min_judged_share),
            min_effect: Some(policy.min_effect),
            noise_band: policy.noise_band,
            max_drop: named(policy.max_drop),
            max_flips: named(policy.max_flips),
            max_flips_bound: named(policy.max_flips_bound),
            catastrophic_drop: Some(policy.catastrophic_drop),
            max_catastrophic_share: Some(policy.max_catastrophic_share),
            max_zero_result_increase: Some(policy.max_zero_result_increase),
            max_degraded_share: Some(policy.max_degraded_share),
            max_failed_share: Some(policy.max_failed_share),
            max_judged_gap: Some(policy.max_judged_gap),
            min_per_arm: Some(policy.min_per_arm),
            slices: Some(policy.slices.into_iter().map(Into::into).collect()),
        }
    }
}

impl Default for GatePolicy {
    fn default() -> Self {
        Self::try_from(RawGatePolicy::default()).expect("the defaults are valid")
    }
}

impl GatePolicy {
    /// Returns the metric that has to improve.
    pub fn primary(&self) -> &MetricName {
        &self.primary
    }

    /// Returns which metrics must not be harmed.
    pub fn guards(&self) -> &Guards {
        &self.guards
    }

    /// Returns the level of every test.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns number and seed of the resamples.
    pub fn resamples(&self) -> Resamples {
        self.resamples
    }

    /// Returns the confidence of every interval.
    pub fn confidence(&self) -> Confidence {
        self.confidence
    }

    /// Returns the number of queries below which nothing is decided.
    pub fn min_queries(&self) -> usize {
        self.min_queries
    }

    /// Returns the named groups of queries.
    pub fn slices(&self) -> &[SliceRule] {
        &self.slices
    }
}

/// Returns the resamples to begin with, and their cap.
fn resamples(raw: &RawGatePolicy, alpha: f64) -> Result<(Resamples, NonZeroU32), PolicyError> {
    let count = raw.resamples.unwrap_or(DEFAULT_RESAMPLES);
    number("resamples", f64::from(count), RESAMPLES)?;
    if f64::from(count) * alpha < 1.0 {
        let resamples = count;
        return Err(PolicyError::TooFewResamples { resamples, alpha });
    }
    let cap = raw.max_resamples.unwrap_or(MAX_RESAMPLES.max(count));
    number("max_resamples", f64::from(cap), RESAMPLES)?;
    if cap < count {
        let resamples = count;
        return Err(PolicyError::Cap { cap, resamples });
    }
    let at_least_one = |count| NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN);
    let resamples = Resamples {
        count: at_least_one(count),
        seed: raw.seed.unwrap_or(SEED),
    };
    Ok((resamples, at_least_one(cap)))
}

/// Reads a metric's name: a metric we know under its canonical name, any other text as an instrument's name.
fn metric_name(key: &'static str, name: &str) -> Result<MetricName, PolicyError> {
    match name.parse::<Metric>() {
        Ok(metric) => Ok(metric.name()),
        Err(_) => MetricName::try_from(name).map_err(|source| PolicyError::Name { key, source }),
    }
}

fn guard_names(names: &[String], primary: &MetricName) -> Result<Vec<MetricName>, PolicyError> {
    let key = "guards";
    let mut seen = BTreeSet::new();
    let mut guards = Vec::new();
    for name in names {
        let metric = metric_name(key, name)?;
        if metric == *primary {
            return Err(PolicyError::PrimaryGuards { metric });
        }
        if !seen.insert(metric.clone()) {
            return Err(PolicyError::Twice { key, metric });
        }
        guards.push(metric);
    }
    Ok(guards)
}

fn per_metric(
    key: &'static str,
    written: Option<BTreeMap<String, f64>>,
    range: Range,
) -> Result<BTreeMap<MetricName, f64>, PolicyError> {
    let mut limits = BTreeMap::new();
    for (name, limit) in written.unwrap_or_default() {
        let metric = metric_name(key, &name)?;
        let limit = number(&format!("{key}.{name}"), limit, range)?;
        if limits.insert(metric.clone(), limit).is_some() {
            return Err(PolicyError::Twice { key, metric });
        }
    }
    Ok(limits)
}

fn margins(
    written: Option<BTreeMap<String, f64>>,
    guards: &Guards,
    primary: &MetricName,
) -> Result<BTreeMap<MetricName, f64>, PolicyError> {
    let margins = per_metric("max_drop", written, AMOUNT)?;
    let is_guard = |metric: &MetricName| match guards {
        Guards::Others => metric != primary,
        Guards::Named(names) => names.contains(metric),
    };
    match margins.keys().find(|metric| !is_guard(metric)) {
        Some(metric) => Err(PolicyError::MarginWithoutGuard {
            metric: metric.clone(),
        }),
        None => Ok(margins),
    }
}

fn directions(
    written: Option<BTreeMap<String, Direction>>,
) -> Result<BTreeMap<MetricName, Direction>, PolicyError> {
    let key = "directions";
    let mut directions = BTreeMap::new();
    for (name, direction) in written.unwrap_or_default() {
        if let Ok(metric) = name.parse::<Metric>() {
            let metric = metric.name();
            return Err(PolicyError::KnownDirection { metric });
        }
        directions.insert(metric_name(key, &name)?, direction);
    }
    Ok(directions)
}

fn number(key: &str, value: f64, range: Range) -> Result<f64, PolicyError> {
    if range.holds(value) {
        Ok(value + 0.0) // -0.0 becomes 0.0
    } else {
        Err(PolicyError::Range {
            key: key.to_owned(),
            value,
            expected: range.words,
        })
    }
}
