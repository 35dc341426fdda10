//! Step 3: a loss that missing judgments could explain; step 7: the same of guards, and lists that nobody looked at.

use evalfarm_stats::Position;

use super::{Case, about, at_least, at_most, bounded, held, not_tested};
use crate::measure::{Comparison, SLACK, Trend};
use crate::{CriterionResult, MetricRole, Outcome, ReasonCode, wording};

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
            "judged hits: baseline {}, candidate {}; the {loser} loses, and its judged share is {} {}, at most {} lower allowed",
            wording::share(coverage.baseline),
            wording::share(coverage.candidate),
            wording::points(gap),
            if gap > 0.0 { "lower" } else { "higher" },
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

    /// Returns how missing judgments could explain that a guard got worse, by the rule that holds for the primary: the
    /// candidate, which loses, has markedly fewer judged hits, or wins on condensed lists.
    pub(super) fn hole(&self, guard: &Comparison) -> Option<String> {
        let loses = guard.summary.role == MetricRole::Guard && guard.mean == Trend::Worse;
        if !loses || !guard.from_judgments {
            return None;
        }
        if guard.condensed == Some(Trend::Better) {
            return Some("it is better on condensed lists (without unjudged hits)".to_owned());
        }
        let lower = -self.coverage?.difference();
        (lower > self.policy.max_judged_gap + SLACK).then(|| {
            format!(
                "the candidate's judged share is {} lower, at most {} lower allowed",
                wording::points(lower),
                wording::points(self.policy.max_judged_gap),
            )
        })
    }

    /// Step 7: a guard that may be harmed, or may lack judgments. What other criteria block stays blocked.
    pub(super) fn guard_losses_made_of_holes(&self) -> Vec<CriterionResult> {
        let unshown = self.comparisons.iter().filter(|guard| {
            let mut harms = self.harms(guard).into_iter();
            harms.any(|harm| harm.outcome == Outcome::Broken)
        });
        unshown
            .filter_map(|guard| {
                let text = format!(
                    "guard {}: {}; its loss may be made of unjudged hits: {}",
                    guard.summary.metric,
                    wording::effect(&guard.summary),
                    self.hole(guard)?,
                );
                let mut result = not_tested(ReasonCode::GuardCoverage, text);
                result.outcome = Outcome::Broken;
                result.reason.observed = Some(guard.summary.delta);
                Some(about(result, guard))
            })
            .collect()
    }

    /// Step 7: nobody is promoted whose lists were not looked at, where others' were.
    pub(super) fn unexamined(&self, results: &[CriterionResult]) -> Option<CriterionResult> {
        let promoted = results
            .iter()
            .all(|result| result.outcome != Outcome::Broken);
        let metric = &self.primary().summary.metric;
        let looked_at = self.evidence.parts.context.unjudged.is_some();
        let missing = looked_at && self.evidence.unjudged(self.candidate, metric).is_none();
        (promoted && missing).then(|| {
            let text = "condensed lists (without unjudged hits): not looked at for this candidate; judge it alone to have them looked at";
            let result = at_least(ReasonCode::Unexamined, 0.0, 1.0, text.to_owned());
            about(result, self.primary())
        })
    }
}
