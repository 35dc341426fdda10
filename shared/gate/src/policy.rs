//! What a policy file says, and the checked policy that it means.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroU32;

use evalfarm_domain::{Metric, MetricName};
use evalfarm_stats::{Confidence, Correction, Resamples};
use serde::{Deserialize, Serialize};

/// A policy as it is written: everything optional, nothing checked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RawGatePolicy {
    /// Metric that has to improve; `nDCG@10`.
    pub primary: Option<String>,
    /// Metrics that must not be harmed; the other quality metrics of the job.
    pub guards: Option<Vec<String>>,
    /// Level of every test, greater than 0 and at most .5; .05.
    pub alpha: Option<f64>,
    /// Resamples of every test and interval, 100 to 1,000,000; 10,000.
    pub resamples: Option<u32>,
    /// Seed of the resamples; 1.
    pub seed: Option<u64>,
    /// `bh`, `holm` or `max_t`; `bh` over the metrics of one candidate, `max_t` over several candidates.
    pub correction: Option<Correction>,
    /// Queries below which nothing is decided; 20.
    pub min_queries: Option<usize>,
    /// Improvement of the primary below which nobody cares, in its own unit; 0.
    pub min_effect: Option<f64>,
    /// Guards with a margin: the interval has to exclude a worsening of this much, in the guard's own unit; none.
    pub max_drop: Option<BTreeMap<String, f64>>,
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
    /// Change of the primary that reruns of the same configuration show, in its own unit; unknown.
    pub noise_band: Option<f64>,
    /// Confidence of every interval; .95.
    pub confidence: Option<f64>,
}

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
/// Invariants: every value lies in the range that the raw policy states, shares in [0, 1], and the resamples are enough
/// for a p-value below alpha.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawGatePolicy", into = "RawGatePolicy")]
pub struct GatePolicy {
    pub(crate) primary: MetricName,
    pub(crate) guards: Guards,
    pub(crate) alpha: f64,
    pub(crate) resamples: Resamples,
    pub(crate) correction: Option<Correction>,
    pub(crate) min_queries: usize,
    pub(crate) min_effect: f64,
    pub(crate) max_drop: BTreeMap<MetricName, f64>,
    pub(crate) catastrophic_drop: f64,
    pub(crate) max_catastrophic_share: f64,
    pub(crate) max_zero_result_increase: f64,
    pub(crate) max_degraded_share: f64,
    pub(crate) max_failed_share: f64,
    pub(crate) max_judged_gap: f64,
    pub(crate) noise_band: Option<f64>,
    pub(crate) confidence: Confidence,
}

/// A policy that means nothing.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PolicyError {
    /// A number is outside its range.
    #[error("policy value `{key}` is `{value}`, it has to be {expected}")]
    Range {
        /// Key in the policy.
        key: String,
        /// The rejected number.
        value: f64,
        /// What is accepted.
        expected: &'static str,
    },
    /// A metric's name is empty or too long.
    #[error("policy value `{key}` holds a metric name that cannot be used")]
    Name {
        /// Key in the policy.
        key: &'static str,
        /// What is wrong with it.
        #[source]
        source: evalfarm_domain::IdError,
    },
    /// A metric is named twice.
    #[error("policy value `{key}` names `{metric}` twice")]
    Twice {
        /// Key in the policy.
        key: &'static str,
        /// The metric.
        metric: MetricName,
    },
    /// The primary metric is among the guards.
    #[error("`{metric}` is the primary metric and cannot be a guard as well")]
    PrimaryGuards {
        /// The metric.
        metric: MetricName,
    },
    /// A margin is set for a metric that is not a guard.
    #[error("`max_drop` names `{metric}`, which is not a guard")]
    MarginWithoutGuard {
        /// The metric.
        metric: MetricName,
    },
    /// The resamples cannot give a p-value below alpha.
    #[error(
        "`{resamples}` resamples give no p-value below alpha `{alpha}`: at least 1/alpha are needed"
    )]
    TooFewResamples {
        /// Resamples asked for.
        resamples: u32,
        /// Level asked for.
        alpha: f64,
    },
}

/// Alpha of design section 8.
const ALPHA: f64 = 0.05;
/// Resamples of design section 8.
const RESAMPLES: u32 = 10_000;
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
        let max_drop = margins(raw.max_drop.unwrap_or_default(), &guards, &primary)?;
        let alpha = number("alpha", raw.alpha.unwrap_or(ALPHA), Range::Level)?;
        let count = raw.resamples.unwrap_or(RESAMPLES);
        number("resamples", f64::from(count), Range::Resamples)?;
        if f64::from(count) * alpha < 1.0 {
            return Err(PolicyError::TooFewResamples {
                resamples: count,
                alpha,
            });
        }
        let confidence = raw.confidence.unwrap_or(Confidence::DEFAULT.into());
        let confidence = number("confidence", confidence, Range::Confidence)?;
        let noise_band = raw
            .noise_band
            .map(|band| number("noise_band", band, Range::Amount))
            .transpose()?;
        let share =
            |key, value: Option<f64>, default| number(key, value.unwrap_or(default), Range::Share);
        let amount =
            |key, value: Option<f64>, default| number(key, value.unwrap_or(default), Range::Amount);
        Ok(Self {
            primary,
            guards,
            alpha,
            resamples: Resamples {
                count: NonZeroU32::new(count).unwrap_or(NonZeroU32::MIN),
                seed: raw.seed.unwrap_or(SEED),
            },
            correction: raw.correction,
            min_queries: raw.min_queries.unwrap_or(MIN_QUERIES),
            min_effect: amount("min_effect", raw.min_effect, 0.0)?,
            max_drop,
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
            noise_band,
            confidence: Confidence::try_from(confidence).unwrap_or(Confidence::DEFAULT),
        })
    }
}

impl From<GatePolicy> for RawGatePolicy {
    fn from(policy: GatePolicy) -> Self {
        Self {
            primary: Some(policy.primary.into()),
            guards: match policy.guards {
                Guards::Others => None,
                Guards::Named(names) => Some(names.into_iter().map(String::from).collect()),
            },
            alpha: Some(policy.alpha),
            resamples: Some(policy.resamples.count.get()),
            seed: Some(policy.resamples.seed),
            correction: policy.correction,
            min_queries: Some(policy.min_queries),
            min_effect: Some(policy.min_effect),
            max_drop: Some(
                policy
                    .max_drop
                    .into_iter()
                    .map(|(metric, margin)| (metric.into(), margin))
                    .collect(),
            ),
            catastrophic_drop: Some(policy.catastrophic_drop),
            max_catastrophic_share: Some(policy.max_catastrophic_share),
            max_zero_result_increase: Some(policy.max_zero_result_increase),
            max_degraded_share: Some(policy.max_degraded_share),
            max_failed_share: Some(policy.max_failed_share),
            max_judged_gap: Some(policy.max_judged_gap),
            noise_band: policy.noise_band,
            confidence: Some(policy.confidence.into()),
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

    /// Returns the number of queries below which nothing is decided.
    pub fn min_queries(&self) -> usize {
        self.min_queries
    }
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

fn margins(
    written: BTreeMap<String, f64>,
    guards: &Guards,
    primary: &MetricName,
) -> Result<BTreeMap<MetricName, f64>, PolicyError> {
    let key = "max_drop";
    let mut margins = BTreeMap::new();
    for (name, margin) in written {
        let metric = metric_name(key, &name)?;
        let is_guard = match guards {
            Guards::Others => metric != *primary,
            Guards::Named(names) => names.contains(&metric),
        };
        if !is_guard {
            return Err(PolicyError::MarginWithoutGuard { metric });
        }
        number(&format!("max_drop.{name}"), margin, Range::Amount)?;
        if margins.insert(metric.clone(), margin).is_some() {
            return Err(PolicyError::Twice { key, metric });
        }
    }
    Ok(margins)
}

/// What a number of a policy may be.
#[derive(Debug, Clone, Copy)]
enum Range {
    Level,
    Resamples,
    Confidence,
    Share,
    Amount,
}

fn number(key: &str, value: f64, range: Range) -> Result<f64, PolicyError> {
    let (holds, expected) = match range {
        Range::Level => (
            value > 0.0 && value <= 0.5,
            "greater than 0 and at most 0.5",
        ),
        Range::Resamples => (
            (100.0..=1e6).contains(&value),
            "at least 100 and at most 1000000",
        ),
        Range::Confidence => ((0.5..1.0).contains(&value), "at least 0.5 and less than 1"),
        Range::Share => ((0.0..=1.0).contains(&value), "at least 0 and at most 1"),
        Range::Amount => (
            (0.0..f64::INFINITY).contains(&value),
            "finite and at least 0",
        ),
    };
    if holds {
        Ok(value + 0.0) // -0.0 becomes 0.0
    } else {
        Err(PolicyError::Range {
            key: key.to_owned(),
            value,
            expected,
        })
    }
}
