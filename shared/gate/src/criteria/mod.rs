//! The criteria of a policy in the order of decision, each with what was observed.
//!
//! A sentence names its subject, then what was observed, then what is allowed, so that it reads the same way beside
//! `holds` and beside `FAILS`.

mod coverage;
mod guards;
mod improvement;
mod operations;
mod sufficiency;

use crate::measure::{Comparison, SLACK};
use crate::{
    Coverage, CriterionResult, Evidence, Family, GatePolicy, Outcome, Reason, ReasonCode, Side,
    SideCounts, SliceJudgement, wording,
};

pub(crate) use improvement::noise_band;

/// Everything that the criteria of one candidate look at.
pub(crate) struct Case<'a> {
    pub(crate) policy: &'a GatePolicy,
    pub(crate) evidence: &'a Evidence,
    pub(crate) candidate: &'a Side,
    pub(crate) family: &'a Family,
    /// One for each metric, the primary first.
    pub(crate) comparisons: &'a [Comparison],
    pub(crate) baseline_counts: &'a SideCounts,
    pub(crate) candidate_counts: &'a SideCounts,
    pub(crate) coverage: Option<Coverage>,
    pub(crate) slices: &'a [SliceJudgement],
}

/// Returns every criterion, in the order of decision.
pub(crate) fn criteria(case: &Case<'_>) -> Vec<CriterionResult> {
    let mut results = case.operations();
    results.extend(case.loss_made_of_holes());
    results.extend(case.guards());
    results.extend(case.evidence_suffices());
    results.extend(case.primary_improves());
    results.push(case.outside_noise());
    results.extend(case.guard_losses_made_of_holes());
    follow(&mut results);
    results.extend(case.unexamined(&results));
    debug_assert!(results.is_sorted_by_key(|result| result.step));
    results
}

/// What follows from nothing having changed is no reason beside it.
fn follow(results: &mut [CriterionResult]) {
    let unchanged = |result: &CriterionResult| {
        result.reason.code == ReasonCode::NoChange && result.outcome == Outcome::Broken
    };
    if !results.iter().any(unchanged) {
        return;
    }
    for result in results {
        let follows = [
            ReasonCode::Undecidable,
            ReasonCode::TooFewChanged,
            ReasonCode::PrimaryNotImproved,
            ReasonCode::NotSignificant,
            ReasonCode::IntervalIncludesZero,
            ReasonCode::BelowMinEffect,
            ReasonCode::NoiseBand,
        ]
        .contains(&result.reason.code);
        if follows && result.outcome == Outcome::Broken {
            result.outcome = Outcome::NotTested;
            result.reason.text.push_str("; follows from no change");
        }
    }
}

impl Case<'_> {
    fn primary(&self) -> &Comparison {
        &self.comparisons[0]
    }

    fn queries(&self) -> usize {
        self.evidence.queries()
    }

    /// A share of queries that must not exceed a limit, on enough queries.
    fn tolerance(
        &self,
        code: ReasonCode,
        what: &str,
        count: Option<usize>,
        limit: f64,
    ) -> CriterionResult {
        let Some(count) = count else {
            return not_tested(code, format!("{what}: not recorded"));
        };
        let queries = self.queries();
        let share = count as f64 / queries as f64;
        let text = format!("{what}: {}", of_queries(count, queries));
        self.on_enough_queries(at_most(code, share, limit, text + &allowed(limit)))
    }

    /// Leaves a share untested where single queries are larger than the tolerance that it is compared with.
    fn on_enough_queries(&self, mut result: CriterionResult) -> CriterionResult {
        let least = self.policy.min_queries;
        if self.queries() < least {
            result.outcome = Outcome::NotTested;
            let text = result.reason.text;
            result.reason.text = format!("{text}; not tested on fewer than {least} queries");
        }
        result
    }
}

/// `5 of 135 (3.7 %)`.
fn of_queries(count: usize, queries: usize) -> String {
    let share = wording::share(count as f64 / queries as f64);
    format!("{count} of {queries} ({share})")
}

/// `; at most 1.0 % allowed`.
fn allowed(limit: f64) -> String {
    if limit > 0.0 {
        format!("; at most {} allowed", wording::share(limit))
    } else {
        "; none allowed".to_owned()
    }
}

/// Returns a metric's change in words.
pub(crate) fn described(comparison: &Comparison) -> String {
    let summary = &comparison.summary;
    format!(
        "{} {}: {}",
        summary.metric,
        improvement::trend(comparison.mean),
        wording::effect(summary),
    )
}

fn held(holds: bool) -> Outcome {
    if holds {
        Outcome::Holds
    } else {
        Outcome::Broken
    }
}

fn about(mut result: CriterionResult, comparison: &Comparison) -> CriterionResult {
    result.reason.metric = Some(comparison.summary.metric.clone());
    result
}

fn at_most(code: ReasonCode, observed: f64, limit: f64, text: String) -> CriterionResult {
    bounded(code, observed, limit, limit - observed, text)
}

fn at_least(code: ReasonCode, observed: f64, limit: f64, text: String) -> CriterionResult {
    bounded(code, observed, limit, observed - limit, text)
}

fn bounded(
    code: ReasonCode,
    observed: f64,
    limit: f64,
    margin: f64,
    text: String,
) -> CriterionResult {
    CriterionResult {
        step: code.step(),
        outcome: held(margin >= -SLACK),
        reason: Reason {
            code,
            text,
            metric: None,
            observed: Some(observed),
            limit: Some(limit),
            margin: Some(margin),
        },
    }
}

fn not_tested(code: ReasonCode, text: String) -> CriterionResult {
    CriterionResult {
        step: code.step(),
        outcome: Outcome::NotTested,
        reason: Reason {
            code,
            text,
            metric: None,
            observed: None,
            limit: None,
            margin: None,
        },
    }
}
