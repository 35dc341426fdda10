//! Step 2: harm that needs no judgments.

use super::{Case, at_most, not_tested};
use crate::counts::zero_result_increase;
use crate::{CriterionResult, ReasonCode, wording};

impl Case<'_> {
    pub(super) fn operations(&self) -> Vec<CriterionResult> {
        let counts = self.candidate_counts;
        vec![
            self.empty_results(),
            self.tolerance(
                ReasonCode::Degraded,
                "degraded queries of the candidate",
                counts.degraded,
                self.policy.max_degraded_share,
            ),
            self.tolerance(
                ReasonCode::Failed,
                "failed queries of the candidate",
                Some(counts.failed),
                self.policy.max_failed_share,
            ),
        ]
    }

    fn empty_results(&self) -> CriterionResult {
        let code = ReasonCode::ZeroResult;
        let Some(increase) = zero_result_increase(&self.evidence.parts.baseline, self.candidate)
        else {
            return not_tested(code, "queries without a result: not recorded".to_owned());
        };
        let queries = self.queries();
        let share = increase as f64 / queries as f64;
        let limit = self.policy.max_zero_result_increase;
        let size = increase.unsigned_abs();
        let against = match increase {
            0 => "as many as the baseline".to_owned(),
            1.. => format!("{size} more than the baseline"),
            _ => format!("{size} fewer than the baseline"),
        };
        let allowed = if limit > 0.0 {
            format!("at most {} more allowed", wording::share(limit))
        } else {
            "no more allowed".to_owned()
        };
        let text = format!(
            "queries without a result: {against}, of {queries} ({}); {allowed}",
            wording::share(share),
        );
        self.on_enough_queries(at_most(code, share, limit, text))
    }
}
