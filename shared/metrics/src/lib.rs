//! A ranking and its judgments in, metric values out.
//!
//! A ranking is given as the grades of its hits in rank order, `None` where a hit is unjudged. [`QueryMetrics`] holds
//! what one query contributes (its ideal ranking, its number of relevant documents) and can then score any number of
//! rankings without allocating. [`evaluate`] does this for a whole run and averages.
//!
//! Sums run in rank order over constants that are computed with IEEE additions, multiplications and divisions alone, so
//! a value is the same bits on every machine.

#![warn(clippy::wildcard_enum_match_arm)]

mod average_precision;
mod condensed;
mod counts;
mod discount;
mod err;
mod evaluation;
mod join;
mod judged;
mod ndcg;
mod precision;
mod query_metrics;
mod ranking;
mod rbp;
mod recall;
mod reciprocal_rank;
mod rprec;
mod success;
mod unjudged;

pub use condensed::condense_into;
pub use evaluation::{
    EvaluateError, Evaluation, EvaluationCounts, MetricMeans, NoRelevant, QuerySet, QueryValues,
    evaluate, is_count,
};
pub use join::{JoinError, JoinedRun, SelfHits};
pub use query_metrics::{MetricsError, QueryMetrics};
pub use unjudged::{
    JudgmentBounds, UnjudgedDocument, UnjudgedPair, UnjudgedQuery, condensed_values,
};
