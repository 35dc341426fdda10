//! Step 4: guards that can decide, margins, flips, catastrophic queries, guarded slices.

use super::{Case, about, allowed, at_most, bounded, held, of_queries};
use crate::measure::{Comparison, Trend};
use crate::{CriterionResult, MetricRole, Outcome, Reason, ReasonCode, SliceState, wording};

impl Case<'_> {
    pub(super) fn guards(&self) -> Vec<CriterionResult> {
        let guards = self
            .comparisons
            .iter()
            .filter(|comparison| match comparison.summary.role {
                MetricRole::Guard => true,
                MetricRole::Primary | MetricRole::Descriptive => false,
            });
        let guards: Vec<&Comparison> = guards.collect();
        let compared = guards.iter().map(|guard| (*guard, self.guard_holds(guard)));
        let margins = guards
            .iter()
            .filter_map(|guard| Some((*guard, self.guard_margin(guard)?)));
        let flips = self
            .comparisons
            .iter()
            .flat_map(|one| self.flips(one).into_iter().map(move |flips| (one, flips)));
        let mut results: Vec<CriterionResult> = compared
            .chain(margins)
            .chain(flips)
            .map(|(metric, result)| self.shown(metric, result))
            .collect();
        results.push(self.catastrophes());
        results.extend(self.guarded_slices());
        results
    }

    /// Returns what is looked at of a guard, before it is asked whether missing judgments could explain it.
    pub(super) fn harms(&self, guard: &Comparison) -> Vec<CriterionResult> {
        if guard.summary.role != MetricRole::Guard {
            return Vec::new();
        }
        let mut harms = vec![self.guard_holds(guard)];
        harms.extend(self.guard_margin(guard));
        harms.extend(self.flips(guard));
        harms
    }

    /// A harm that missing judgments could explain is not shown and does not block; step 7 keeps it from being promoted.
    fn shown(&self, metric: &Comparison, mut result: CriterionResult) -> CriterionResult {
        if result.outcome == Outcome::Broken && self.hole(metric).is_some() {
            result.outcome = Outcome::NotTested;
            let text = "; not counted here, its loss may be made of unjudged hits";
            result.reason.text.push_str(text);
        }
        result
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

    /// Ceilings on the queries that went from right to wrong.
    fn flips(&self, comparison: &Comparison) -> Vec<CriterionResult> {
        let metric = &comparison.summary.metric;
        let Some(flips) = comparison.summary.flips else {
            return Vec::new();
        };
        let mut results = Vec::new();
        if let Some(&limit) = self.policy.max_flips.get(metric) {
            let count = usize::try_from(flips.to_wrong).unwrap_or(usize::MAX);
            let text = format!(
                "queries that went from right to wrong by {metric}: {}{} (McNemar p {})",
                of_queries(count, self.queries()),
                allowed(limit),
                wording::p(flips.p.value()),
            );
            let result = at_most(ReasonCode::Flips, flips.share_to_wrong, limit, text);
            results.push(about(result, comparison));
        }
        if let Some(&limit) = self.policy.max_flips_bound.get(metric) {
            let bound = flips.share_to_wrong_at_most;
            let text = format!(
                "share of queries that go from right to wrong by {metric}: at most {} with {} % confidence; at most {} allowed",
                wording::share(bound),
                wording::limit(100.0 * f64::from(self.policy.confidence)),
                wording::share(limit),
            );
            let result = at_most(ReasonCode::FlipsBound, bound, limit, text);
            results.push(about(result, comparison));
        }
        results
    }

    /// Slices that the policy guards, as guards are: harm is easy and uncorrected.
    fn guarded_slices(&self) -> Vec<CriterionResult> {
        let primary = self.primary();
        let guarded = self
            .slices
            .iter()
            .filter(|slice| slice.guard && slice.n > 0);
        guarded
            .map(|slice| {
                let (outcome, finding) = match slice.state {
                    SliceState::Harmed => (Outcome::Broken, "harmed"),
                    SliceState::NotHarmed => (Outcome::Holds, "not harmed"),
                    SliceState::Undecidable | SliceState::Unknown => (
                        Outcome::NotTested,
                        "too few of its queries changed to decide",
                    ),
                };
                let text = format!(
                    "{} in slice `{}` of {}: {} {}, p {}; {finding}",
                    primary.summary.metric,
                    slice.slice,
                    wording::counted(slice.n, "query", "queries"),
                    wording::signed(slice.delta),
                    wording::interval(slice.ci_low, slice.ci_high),
                    wording::p(slice.p.value()),
                );
                let code = ReasonCode::SliceHarmed;
                let (p, alpha) = (slice.p.value(), self.policy.alpha);
                let mut result = bounded(code, p, alpha, slice.delta, text);
                result.outcome = outcome;
                about(result, primary)
            })
            .collect()
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
