//! Policies that mean nothing.

use evalfarm_domain::MetricName;

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
    /// A direction is stated for a metric whose direction is known.
    #[error("`directions` names `{metric}`, whose direction is known")]
    KnownDirection {
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
    /// The cap on resamples lies below the number to begin with.
    #[error("`max_resamples` is `{cap}`, below the `{resamples}` of `resamples`")]
    Cap {
        /// Cap asked for.
        cap: u32,
        /// Resamples asked for.
        resamples: u32,
    },
    /// A slice is not one.
    #[error("slice `{name}` {problem}")]
    Slice {
        /// Its name; may be empty.
        name: String,
        /// What is wrong with it.
        problem: &'static str,
    },
}
