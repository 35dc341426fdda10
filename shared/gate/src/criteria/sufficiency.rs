//! Step 5: whether the data can decide at all.

use super::{Case, about, allowed, at_least, at_most, held, not_tested, of_queries};
use crate::measure::Comparison;
use crate::{CriterionResult, Outcome, Reason, ReasonCode, wording};

impl Case<'_> {
    pub(super) fn evidence_suffices(&self) -> Vec<CriterionResult> {
        let missing = self.evidence.parts.context.missing_rows;
        let queries = self.queries();
        let least = self.policy.min_queries;
        let counts = self.baseline_counts;
        let mut results = vec![
            self.something_changed(),
            self.decidable(),
            at_least(
                ReasonCode::TooFewQueries,
                queries as f64,
                least as f64,
                format!(
                    "{}; at least {least} needed",
                    wording::counted(queries, "query", "queries")
                ),
            ),
            at_most(
                ReasonCode::Incomplete,
                missing as f64,
                0.0,
                format!("rows that are planned and missing: {missing}; none allowed"),
            ),
            self.baseline_share(
                ReasonCode::BaselineFailed,
                "failed queries of the baseline, counted as unchanged",
                Some(counts.failed),
                self.policy.max_failed_share,
            ),
            self.baseline_share(
                ReasonCode::BaselineDegraded,
                "degraded queries of the baseline",
                counts.degraded,
                self.policy.max_degraded_share,
            ),
        ];
        results.extend(self.enough_changed());
        results.extend(self.enough_judged());
        results.extend(self.slices_known());
        results
    }

    /// More changes than the test needs, where the policy asks for them.
    fn enough_changed(&self) -> Option<CriterionResult> {
        let least = self.policy.min_changed;
        if least == 0 {
            return None;
        }
        let primary = self.primary();
        let changed = primary.summary.changed;
        let text = format!(
            "queries on which {} changed: {changed}; the policy asks for at least {least}",
            primary.summary.metric,
        );
        let code = ReasonCode::TooFewChanged;
        let result = at_least(code, changed as f64, least as f64, text);
        Some(about(result, primary))
    }

    /// Enough judged hits on both sides, where the policy asks for them; what is not known is not enough.
    fn enough_judged(&self) -> Option<CriterionResult> {
        let least = self.policy.min_judged_share;
        if least <= 0.0 {
            return None;
        }
        let asked = format!(
            "the policy asks for {} on both sides",
            wording::share(least)
        );
        let code = ReasonCode::LowCoverage;
        Some(match self.coverage {
            None => {
                let text = format!("judged hits: not recorded; {asked}");
                let mut result = not_tested(code, text);
                result.outcome = Outcome::Broken;
                result
            }
            Some(coverage) => {
                let text = format!(
                    "judged hits: baseline {}, candidate {}; {asked}",
                    wording::share(coverage.baseline),
                    wording::share(coverage.candidate),
                );
                at_least(code, coverage.baseline.min(coverage.candidate), least, text)
            }
        })
    }

    /// A guard that nobody can look at does not hold.
    fn slices_known(&self) -> Vec<CriterionResult> {
        let unknown = self
            .slices
            .iter()
            .filter(|slice| slice.guard && slice.n == 0);
        unknown
            .map(|slice| {
                let text = format!(
                    "guarded slice `{}`: no query belongs to it, or the texts and columns of the queries are not known",
                    slice.slice
                );
                at_least(ReasonCode::SliceUnknown, 0.0, 1.0, text)
            })
            .collect()
    }

    fn something_changed(&self) -> CriterionResult {
        let changed = self
            .comparisons
            .iter()
            .map(Comparison::changed_queries)
            .max();
        let changed = changed.unwrap_or_default();
        let text = format!(
            "queries on which some metric changed: {}; at least 1 needed",
            of_queries(changed, self.queries()),
        );
        at_least(ReasonCode::NoChange, changed as f64, 1.0, text)
    }

    fn baseline_share(
        &self,
        code: ReasonCode,
        what: &str,
        count: Option<usize>,
        limit: f64,
    ) -> CriterionResult {
        match count {
            Some(count) => {
                let share = self.baseline_counts.share(count);
                let text = format!(
                    "{what}: {}{}",
                    of_queries(count, self.queries()),
                    allowed(limit)
                );
                at_most(code, share, limit, text)
            }
            None => not_tested(code, format!("{what}: not recorded")),
        }
    }

    fn decidable(&self) -> CriterionResult {
        let primary = self.primary();
        let summary = &primary.summary;
        let finding = match (primary.decidable, primary.needed) {
            (true, _) => "enough to decide".to_owned(),
            (false, Some(needed)) => format!("too few to decide, at least {needed} needed"),
            (false, None) => format!(
                "undecidable: {} resamples are too few for this family",
                self.family.resamples
            ),
        };
        let text = format!(
            "queries on which {} changed: {}; {finding} (smallest possible p {}; corrected, at most {} is needed: {}, {})",
            summary.metric,
            of_queries(summary.changed, summary.n),
            wording::p(primary.floor.value()),
            wording::limit(self.policy.alpha),
            wording::counted(self.family.size, "hypothesis", "hypotheses"),
            wording::correction(self.family.correction),
        );
        let limit = primary.needed;
        let observed = summary.changed as f64;
        about(
            CriterionResult {
                step: ReasonCode::Undecidable.step(),
                outcome: held(primary.decidable),
                reason: Reason {
                    code: ReasonCode::Undecidable,
                    text,
                    metric: None,
                    observed: Some(observed),
                    limit: limit.map(|needed| needed as f64),
                    margin: limit.map(|needed| observed - needed as f64),
                },
            },
            primary,
        )
    }
}
