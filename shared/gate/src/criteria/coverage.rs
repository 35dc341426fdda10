//! Step 3: a loss that missing judgments could explain.

use super::{Case, at_most, not_tested};
use crate::measure::Trend;
use crate::{CriterionResult, ReasonCode, wording};

impl Case<'_> {
    /// The side that loses on the primary has markedly fewer judged hits.
    pub(super) fn loss_made_of_holes(&self) -> CriterionResult {
        let code = ReasonCode::Coverage;
        let Some(coverage) = self.coverage else {
            return not_tested(code, "judged hits: not recorded".to_owned());
        };
        let (loser, gap) = match self.primary().mean {
            Trend::Better => ("baseline", coverage.candidate - coverage.baseline),
            Trend::Worse => ("candidate", coverage.baseline - coverage.candidate),
            Trend::Same => {
                let text = "judged hits: neither side loses on the primary metric";
                return not_tested(code, text.to_owned());
            }
        };
        let limit = self.policy.max_judged_gap;
        let text = format!(
            "judged hits: baseline {}, candidate {}; the {loser} loses and has {} {}, at most {} fewer allowed",
            wording::share(coverage.baseline),
            wording::share(coverage.candidate),
            wording::points(gap),
            if gap > 0.0 { "fewer" } else { "more" },
            wording::points(limit),
        );
        at_most(code, gap, limit, text)
    }
}
