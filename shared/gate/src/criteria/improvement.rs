//! Steps 6 and 7: whether the primary metric got better, beyond chance, by enough, and by more than reruns differ.

use evalfarm_stats::PValue;

use super::{Case, about, at_least, at_most, held, not_tested};
use crate::measure::Trend;
use crate::{CriterionResult, Evidence, GatePolicy, Outcome, ReasonCode, Rerun, wording};

impl Case<'_> {
    /// Promotion is hard, so each of these has to hold.
    pub(super) fn primary_improves(&self) -> Vec<CriterionResult> {
        let primary = self.primary();
        let improvement = primary.improvement();
        [
            self.improved(improvement),
            self.significant(),
            self.interval_excludes_zero(),
            self.matters(improvement),
        ]
        .into_iter()
        .map(|result| about(result, primary))
        .collect()
    }

    fn improved(&self, improvement: f64) -> CriterionResult {
        let primary = self.primary();
        let text = format!(
            "{} {}: {} ({})",
            primary.summary.metric,
            match primary.mean {
                Trend::Better => "improved",
                Trend::Same => "did not improve",
                Trend::Worse => "got worse",
            },
            wording::signed(primary.summary.delta),
            wording::means(&primary.summary),
        );
        let mut result = at_least(ReasonCode::PrimaryNotImproved, improvement, 0.0, text);
        result.outcome = held(primary.mean == Trend::Better);
        result
    }

    fn significant(&self) -> CriterionResult {
        let summary = &self.primary().summary;
        let q = summary.q.map_or(1.0, PValue::value);
        let alpha = self.policy.alpha;
        let mut result = at_most(ReasonCode::NotSignificant, q, alpha, String::new());
        let corrected = match self.family.size {
            1 => String::new(),
            many => format!(
                ", corrected for {many} hypotheses {} ({})",
                wording::p(q),
                wording::correction(self.family.correction)
            ),
        };
        result.reason.text = format!(
            "the change of {} is {}: p {}{corrected}; at most {} needed",
            summary.metric,
            match result.outcome {
                Outcome::Holds => "significant",
                Outcome::Broken | Outcome::NotTested => "not significant",
            },
            wording::p(summary.p.value()),
            wording::limit(alpha),
        );
        result
    }

    fn interval_excludes_zero(&self) -> CriterionResult {
        let primary = self.primary();
        let summary = &primary.summary;
        let excludes = match primary.interval {
            Trend::Better => true,
            Trend::Same => false,
            // It excludes 0; that the mean is on the losing side too is the first criterion's matter.
            Trend::Worse => primary.mean == Trend::Worse,
        };
        let text = format!(
            "the {} % interval of the change of {} {} 0: {}",
            wording::limit(100.0 * f64::from(self.policy.confidence)),
            summary.metric,
            if excludes { "excludes" } else { "includes" },
            wording::interval(summary.ci_low, summary.ci_high),
        );
        let worst = primary.worst_end();
        let mut interval = at_least(ReasonCode::IntervalIncludesZero, worst, 0.0, text);
        interval.outcome = held(excludes);
        interval
    }

    fn matters(&self, improvement: f64) -> CriterionResult {
        let code = ReasonCode::BelowMinEffect;
        let least = self.policy.min_effect;
        if least <= 0.0 {
            let text = "smallest improvement that matters: none is set";
            return not_tested(code, text.to_owned());
        }
        let text = format!(
            "{} improved by {}; at least {} is needed to matter",
            self.primary().summary.metric,
            wording::value(improvement),
            wording::limit(least)
        );
        at_least(code, improvement, least, text)
    }

    /// Step 7: reruns of one configuration differ by less.
    pub(super) fn outside_noise(&self) -> CriterionResult {
        let code = ReasonCode::NoiseBand;
        let Some(band) = noise_band(self.policy, self.evidence) else {
            let text = "noise of reruns: not known";
            return not_tested(code, text.to_owned());
        };
        let primary = self.primary();
        let size = primary.summary.delta.abs();
        let outside = size > band;
        let text = format!(
            "the change of {}, {}, is {} what reruns of one configuration show, up to {}",
            primary.summary.metric,
            wording::value(size),
            if outside { "larger than" } else { "within" },
            wording::value(band)
        );
        let mut result = at_least(code, size, band, text);
        result.outcome = held(outside);
        about(result, primary)
    }
}

pub(super) fn trend(mean: Trend) -> &'static str {
    match mean {
        Trend::Better => "better",
        Trend::Same => "unchanged",
        Trend::Worse => "worse",
    }
}

/// Returns the largest of the bands that the policy states, the caller knows, and reruns of the primary showed.
pub(crate) fn noise_band(policy: &GatePolicy, evidence: &Evidence) -> Option<f64> {
    let context = &evidence.parts.context;
    let reruns = context.reruns.iter();
    reruns
        .filter(|rerun| rerun.metric == policy.primary)
        .map(Rerun::band)
        .chain(policy.noise_band)
        .chain(context.noise_band)
        .reduce(f64::max)
}
