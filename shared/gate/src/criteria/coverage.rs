//! Step 3: a loss that missing judgments could explain.

use evalfarm_stats::Position;

use super::{Case, about, at_most, bounded, held, not_tested};
use crate::measure::Trend;
use crate::{CriterionResult, ReasonCode, wording};

impl Case<'_> {
    pub(super) fn loss_made_of_holes(&self) -> Vec<CriterionResult> {
        vec![self.judged_gap(), self.condensed_agrees()]
    }

    /// The side that loses on the primary has markedly fewer judged hits.
    fn judged_gap(&self) -> CriterionResult {
        let code = ReasonCode::Coverage;
        let Some(coverage) = self.coverage else {
            return not_tested(code, "judged hits: not recorded".to_owned());
        };
        let (loser, gap) = match self.primary().mean {
            Trend::Better => ("baseline", coverage.difference()),
            Trend::Worse => ("candidate", -coverage.difference()),
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

    /// Without the unjudged hits the other side wins.
    fn condensed_agrees(&self) -> CriterionResult {
        let code = ReasonCode::CondensedReversal;
        let Some(condensed) = self.coverage.and_then(|coverage| coverage.condensed) else {
            let text = "condensed lists (without unjudged hits): not looked at";
            return not_tested(code, text.to_owned());
        };
        let primary = self.primary();
        let delta = primary.summary.delta;
        let reversed = match condensed.position {
            Position::Holds => false,
            Position::Above => delta < 0.0,
            Position::Below => delta > 0.0,
        } && primary.mean != Trend::Same;
        let text = format!(
            "condensed lists (without unjudged hits): {} changes by {}, {} the {} of the full lists",
            primary.summary.metric,
            wording::signed(condensed.delta),
            if reversed { "against" } else { "not against" },
            wording::signed(delta),
        );
        let margin = condensed.delta * delta.signum();
        let mut result = bounded(code, condensed.delta, 0.0, margin, text);
        result.outcome = held(!reversed);
        about(result, primary)
    }
}
