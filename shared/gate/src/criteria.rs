//! The criteria of a policy in the order of decision, each with what was observed.

use evalfarm_stats::{Correction, PValue};

use crate::counts::zero_result_increase;
use crate::measure::{Comparison, SLACK, Trend};
use crate::{
    Coverage, CriterionResult, Evidence, Family, GatePolicy, MetricRole, Outcome, Reason,
    ReasonCode, Side, SideCounts,
};

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
}

/// Returns every criterion, in the order of decision.
pub(crate) fn criteria(case: &Case<'_>) -> Vec<CriterionResult> {
    let mut results = case.operations();
    results.push(case.loss_made_of_holes());
    results.extend(case.guards());
    results.extend(case.evidence_suffices());
    results.extend(case.primary_improves());
    results.push(case.outside_noise());
    debug_assert!(results.is_sorted_by_key(|result| result.step));
    results
}

impl Case<'_> {
    fn primary(&self) -> &Comparison {
        &self.comparisons[0]
    }

    fn queries(&self) -> usize {
        self.evidence.queries()
    }

    /// Step 2: harm that needs no judgments.
    fn operations(&self) -> Vec<CriterionResult> {
        let increase = zero_result_increase(&self.evidence.parts.baseline, self.candidate);
        let counts = self.candidate_counts;
        vec![
            self.tolerance(
                ReasonCode::ZeroResult,
                "increase of queries without a result",
                increase,
                self.policy.max_zero_result_increase,
            ),
            self.tolerance(
                ReasonCode::Degraded,
                "queries of the candidate on which a stage failed",
                counts.degraded.map(|count| count as f64),
                self.policy.max_degraded_share,
            ),
            self.tolerance(
                ReasonCode::Failed,
                "queries on which the candidate failed",
                Some(counts.failed as f64),
                self.policy.max_failed_share,
            ),
        ]
    }

    /// A share of queries that must not exceed a limit, on enough queries.
    fn tolerance(
        &self,
        code: ReasonCode,
        what: &str,
        count: Option<f64>,
        limit: f64,
    ) -> CriterionResult {
        let Some(count) = count else {
            return not_tested(code, format!("{what}: not recorded"));
        };
        let queries = self.queries();
        let share = count / queries as f64;
        let enough = queries >= self.policy.min_queries;
        let untested = if enough {
            String::new()
        } else {
            format!(
                "; not tested on fewer than `{}` queries",
                self.policy.min_queries
            )
        };
        let text = format!(
            "{what}: `{count}` of `{queries}`, a share of {}{untested}",
            number(share)
        );
        let mut result = at_most(code, share, limit, text);
        if !enough {
            result.outcome = Outcome::NotTested;
        }
        result
    }

    /// Step 3: the side that loses on the primary has markedly fewer judged hits.
    fn loss_made_of_holes(&self) -> CriterionResult {
        let code = ReasonCode::Coverage;
        let Some(coverage) = self.coverage else {
            return not_tested(code, "judged share of the hits: not recorded".to_owned());
        };
        let (loser, gap) = match self.primary().mean {
            Trend::Better => ("baseline", coverage.candidate - coverage.baseline),
            Trend::Worse => ("candidate", coverage.baseline - coverage.candidate),
            Trend::Same => return not_tested(code, "neither side loses on the primary".to_owned()),
        };
        let text = format!(
            "judged share of the hits: baseline {}, candidate {}; the {loser}, which loses, lies {} below the other",
            number(coverage.baseline),
            number(coverage.candidate),
            number(gap),
        );
        at_most(code, gap, self.policy.max_judged_gap, text)
    }

    /// Step 4: guards that can decide, margins, catastrophic queries.
    fn guards(&self) -> Vec<CriterionResult> {
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
        let catastrophic = self.primary().summary.catastrophic;
        let what = format!(
            "queries on which {} got worse by more than {}",
            self.primary().summary.metric,
            number(self.policy.catastrophic_drop),
        );
        let count = Some(catastrophic as f64);
        let limit = self.policy.max_catastrophic_share;
        let result = self.tolerance(ReasonCode::CatastrophicShare, &what, count, limit);
        results.push(about(result, self.primary()));
        results
    }

    /// Harm is easy: uncorrected, and either the test or the interval is enough.
    fn guard_holds(&self, guard: &Comparison) -> CriterionResult {
        let summary = &guard.summary;
        let can_decide = guard.floor.value() < self.policy.alpha;
        let found = summary.p.value() < self.policy.alpha || guard.interval == Trend::Worse;
        let outcome = match (can_decide, guard.mean) {
            (false, _) => Outcome::NotTested,
            (true, Trend::Worse) if found => Outcome::Broken,
            (true, Trend::Worse | Trend::Same | Trend::Better) => Outcome::Holds,
        };
        let undecided = if can_decide {
            String::new()
        } else {
            format!("; `{}` changed queries cannot decide", summary.changed)
        };
        let text = format!("guard {}{undecided}", described(guard));
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
            "guard {}; the interval has to exclude a worsening of {}",
            described(guard),
            number(limit)
        );
        let mut result = at_most(ReasonCode::MaxDrop, drop, limit, text);
        // The end itself has to lie inside the margin.
        result.outcome = held(drop < limit);
        Some(about(result, guard))
    }

    /// Step 5: whether the data can decide at all.
    fn evidence_suffices(&self) -> Vec<CriterionResult> {
        let changed = self
            .comparisons
            .iter()
            .map(Comparison::changed_queries)
            .max();
        let changed = changed.unwrap_or_default();
        let queries = self.queries();
        let least = self.policy.min_queries;
        let missing = self.evidence.parts.context.missing_rows;
        let counts = self.baseline_counts;
        let mut results = vec![
            at_least(
                ReasonCode::NoChange,
                changed as f64,
                1.0,
                format!("`{changed}` of `{queries}` queries changed in any metric"),
            ),
            self.decidable(),
            at_least(
                ReasonCode::TooFewQueries,
                queries as f64,
                least as f64,
                format!("`{queries}` queries, at least `{least}` are needed"),
            ),
            at_most(
                ReasonCode::Incomplete,
                missing as f64,
                0.0,
                format!("`{missing}` planned rows are missing"),
            ),
        ];
        for (code, what, count, limit) in [
            (
                ReasonCode::BaselineFailed,
                "queries on which the baseline failed, which count as unchanged",
                Some(counts.failed),
                self.policy.max_failed_share,
            ),
            (
                ReasonCode::BaselineDegraded,
                "queries of the baseline on which a stage failed",
                counts.degraded,
                self.policy.max_degraded_share,
            ),
        ] {
            results.push(match count {
                Some(count) => {
                    let share = counts.share(count);
                    let text = format!(
                        "{what}: `{count}` of `{queries}`, a share of {}",
                        number(share)
                    );
                    at_most(code, share, limit, text)
                }
                None => not_tested(code, format!("{what}: not recorded")),
            });
        }
        results
    }

    fn decidable(&self) -> CriterionResult {
        let primary = self.primary();
        let summary = &primary.summary;
        let missing = match (primary.decidable, primary.needed) {
            (true, _) => String::new(),
            (false, Some(needed)) => format!(
                "; `{needed}` changed queries are needed while the other hypotheses stay as they are"
            ),
            (false, None) => format!(
                "; `{}` resamples are too few for this family, however many queries change",
                self.policy.resamples.count
            ),
        };
        let text = format!(
            "`{}` of `{}` queries changed {}: the smallest possible p is {}, in a family of `{}` under {}{missing}",
            summary.changed,
            summary.n,
            summary.metric,
            number(primary.floor.value()),
            self.family.size,
            correction_name(self.family.correction),
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

    /// Step 6: promotion is hard, so each of these has to hold.
    fn primary_improves(&self) -> Vec<CriterionResult> {
        let primary = self.primary();
        let summary = &primary.summary;
        let improvement = primary.improvement();
        let text = described(primary);
        let mut improved = at_least(ReasonCode::PrimaryNotImproved, improvement, 0.0, text);
        improved.outcome = held(primary.mean == Trend::Better);
        let q = summary.q.map_or(1.0, PValue::value);
        let significant = at_most(
            ReasonCode::NotSignificant,
            q,
            self.policy.alpha,
            format!(
                "{}: p {}, corrected {} by {} over `{}` hypotheses, alpha {}",
                summary.metric,
                number(summary.p.value()),
                number(q),
                correction_name(self.family.correction),
                self.family.size,
                number(self.policy.alpha),
            ),
        );
        let worst = primary.worst_end();
        let text = format!(
            "{}: the {} % interval of the change is [{}, {}]",
            summary.metric,
            100.0 * f64::from(self.policy.confidence),
            number(summary.ci_low),
            number(summary.ci_high)
        );
        let mut interval = at_least(ReasonCode::IntervalIncludesZero, worst, 0.0, text);
        interval.outcome = held(match primary.interval {
            Trend::Better => true,
            Trend::Same => false,
            // It excludes 0; that the mean is on the losing side too is the first criterion's matter.
            Trend::Worse => primary.mean == Trend::Worse,
        });
        let effect = self.matters(improvement);
        [improved, significant, interval, effect]
            .into_iter()
            .map(|result| about(result, primary))
            .collect()
    }

    fn matters(&self, improvement: f64) -> CriterionResult {
        let code = ReasonCode::BelowMinEffect;
        let least = self.policy.min_effect;
        if least <= 0.0 {
            return not_tested(code, "no least effect is set".to_owned());
        }
        let text = format!(
            "{} improves by {}, the least that matters is {}",
            self.primary().summary.metric,
            number(improvement),
            number(least)
        );
        at_least(code, improvement, least, text)
    }

    /// Step 7: reruns of one configuration differ by less.
    fn outside_noise(&self) -> CriterionResult {
        let code = ReasonCode::NoiseBand;
        let Some(band) = noise_band(self.policy, self.evidence) else {
            return not_tested(code, "the noise of a rerun is not known".to_owned());
        };
        let primary = self.primary();
        let size = primary.summary.delta.abs();
        let text = format!(
            "{} changes by {}, reruns of one configuration by up to {}",
            primary.summary.metric,
            number(size),
            number(band)
        );
        let mut result = at_least(code, size, band, text);
        result.outcome = held(size > band);
        about(result, primary)
    }
}

/// Returns the larger of the bands that policy and evidence state.
pub(crate) fn noise_band(policy: &GatePolicy, evidence: &Evidence) -> Option<f64> {
    match (policy.noise_band, evidence.parts.context.noise_band) {
        (Some(stated), Some(measured)) => Some(stated.max(measured)),
        (stated, measured) => stated.or(measured),
    }
}

/// Returns a metric's change in words.
pub(crate) fn described(comparison: &Comparison) -> String {
    let summary = &comparison.summary;
    let trend = match comparison.mean {
        Trend::Better => "better",
        Trend::Same => "unchanged",
        Trend::Worse => "worse",
    };
    format!(
        "{} {trend}: change {}, interval [{}, {}], p {}",
        summary.metric,
        number(summary.delta),
        number(summary.ci_low),
        number(summary.ci_high),
        number(summary.p.value()),
    )
}

/// Returns a number for people: six decimals, without a sign on zero; small ones as a power of ten.
pub(crate) fn number(value: f64) -> String {
    if value.abs() > 0.0 && value.abs() < 1e-4 {
        return format!("`{value:.2e}`");
    }
    let text = format!("{value:.6}");
    let trimmed = text.trim_end_matches('0').trim_end_matches('.');
    let shown = match trimmed {
        "-0" | "" => "0",
        other => other,
    };
    format!("`{shown}`")
}

fn correction_name(correction: Correction) -> String {
    format!("`{}`", correction.as_str())
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
