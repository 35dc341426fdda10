//! Step 4: guards that can decide, margins, catastrophic queries.

use super::{Case, about, at_most, held};
use crate::measure::{Comparison, Trend};
use crate::{CriterionResult, MetricRole, Outcome, Reason, ReasonCode, wording};

impl Case<'_> {
    pub(super) fn guards(&self) -> Vec<CriterionResult> {
        let guards = self
            .comparisons
            .iter()
            .filter(|comparison| match comparison.summary.role {
                MetricRole::Guard => true,
                MetricRole::Primary | MetricRole::Descriptive => false,
            });
        let mut results: Vec<CriterionResult> = guards
            .clone()
            .map(|guard| self.guard_holds(guard))
            .collect();
        results.extend(guards.filter_map(|guard| self.guard_margin(guard)));
        results.push(self.catastrophes());
        results
    }

    /// Harm is easy: uncorrected, and either the test or the interval is enough.
    fn guard_holds(&self, guard: &Comparison) -> CriterionResult {
        let summary = &guard.summary;
        let can_decide = guard.floor.value() < self.policy.alpha;
        let found = summary.p.value() < self.policy.alpha || guard.interval == Trend::Worse;
        let (outcome, finding) = match (can_decide, guard.mean) {
            (_, Trend::Same) if summary.changed == 0 => (Outcome::NotTested, "nothing changed"),
            (false, _) => (Outcome::NotTested, "too few queries changed to decide"),
            (true, Trend::Worse) if found => (Outcome::Broken, "harmed"),
            (true, Trend::Worse) => (Outcome::Holds, "worse, but within what chance does"),
            (true, Trend::Same | Trend::Better) => (Outcome::Holds, "not harmed"),
        };
        let changed = match outcome {
            Outcome::NotTested if summary.changed > 0 => format!(" ({})", summary.changed),
            Outcome::NotTested | Outcome::Holds | Outcome::Broken => String::new(),
        };
        let text = format!(
            "guard {}: {}; {finding}{changed}",
            summary.metric,
            wording::effect(summary),
        );
        about(
            CriterionResult {
                step: ReasonCode::GuardHarmed.step(),
                outcome,
                reason: Reason {
                    code: ReasonCode::GuardHarmed,
                    text,
                    metric: None,
                    observed: Some(summary.p.value()),
                    limit: Some(self.policy.alpha),
                    margin: Some(guard.improvement()),
                },
            },
            guard,
        )
    }

    fn guard_margin(&self, guard: &Comparison) -> Option<CriterionResult> {
        let &limit = self.policy.max_drop.get(&guard.summary.metric)?;
        let drop = -guard.worst_end();
        let text = format!(
            "guard {}: the interval reaches {} at its worse end; a worsening of {} has to be excluded",
            guard.summary.metric,
            wording::worst_end(guard),
            wording::limit(limit),
        );
        let mut result = at_most(ReasonCode::MaxDrop, drop, limit, text);
        // The end itself has to lie inside the margin.
        result.outcome = held(drop < limit);
        Some(about(result, guard))
    }

    fn catastrophes(&self) -> CriterionResult {
        let primary = self.primary();
        let what = format!(
            "queries on which {} worsened by more than {}",
            primary.summary.metric,
            wording::limit(self.policy.catastrophic_drop),
        );
        let count = Some(primary.summary.catastrophic);
        let limit = self.policy.max_catastrophic_share;
        let result = self.tolerance(ReasonCode::CatastrophicShare, &what, count, limit);
        about(result, primary)
    }
}
