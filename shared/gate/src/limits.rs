//! What limits how far a verdict carries.

use crate::criteria::{Case, noise_band};
use crate::{Agreement, Limit, LimitCode, wording};

/// Returns the limits of one candidate's judgement, in a fixed order.
pub(crate) fn limits(case: &Case<'_>) -> Vec<Limit> {
    let mut limits = data(case);
    limits.extend(coverage(case));
    limits.push(detectable(case));
    limits.extend(operations(case));
    limits.extend(noise(case));
    limits.extend(looks(case));
    limits.extend(resampling(case));
    let notes = &case.evidence.parts.context.notes;
    limits.extend(
        notes
            .iter()
            .map(|note| limit(LimitCode::Note, note.clone(), None)),
    );
    limits
}

fn limit(code: LimitCode, text: String, value: Option<f64>) -> Limit {
    Limit { code, text, value }
}

fn data(case: &Case<'_>) -> Vec<Limit> {
    let context = &case.evidence.parts.context;
    let mut limits = Vec::new();
    if context.synthetic {
        let text = "the data were generated: nothing follows for real queries".to_owned();
        limits.push(limit(LimitCode::Synthetic, text, None));
    }
    if let Some(gains) = &context.gains {
        limits.push(limit(LimitCode::Gains, format!("gains: {gains}"), None));
    }
    if context.ordered_by_rank {
        let text = "hits are in the order of the file's ranks, not of its scores".to_owned();
        limits.push(limit(LimitCode::OrderedByRank, text, None));
    }
    if let Some(relevant) = context.relevant_per_query {
        let text = format!("{relevant:.1} relevant judgments a query");
        limits.push(limit(LimitCode::RelevantPerQuery, text, Some(relevant)));
    }
    if context.missing_rows > 0 {
        let missing = context.missing_rows;
        let text = format!("the job is incomplete: {missing} rows are missing");
        limits.push(limit(LimitCode::Incomplete, text, Some(missing as f64)));
    }
    limits
}

fn coverage(case: &Case<'_>) -> Vec<Limit> {
    let Some(coverage) = case.coverage else {
        let text = "coverage unknown: the judged share of the hits was not recorded".to_owned();
        return vec![limit(LimitCode::CoverageUnknown, text, None)];
    };
    let mut limits: Vec<Limit> = [
        ("baseline", coverage.baseline),
        ("candidate", coverage.candidate),
    ]
    .into_iter()
    .map(|(side, share)| {
        let text = format!(
            "{} of the {side}'s hits are judged, on average over {} queries",
            wording::share(share),
            coverage.queries
        );
        limit(LimitCode::JudgedShare, text, Some(share))
    })
    .collect();
    let text = format!(
        "the candidate's judged share is {} {} than the baseline's, {} % interval [{}, {}]",
        wording::points(coverage.difference()),
        if coverage.difference() < 0.0 {
            "lower"
        } else {
            "higher"
        },
        wording::limit(100.0 * f64::from(case.policy.confidence)),
        wording::signed_share(coverage.ci_low),
        wording::signed_share(coverage.ci_high),
    );
    let value = Some(coverage.difference());
    limits.push(limit(LimitCode::JudgedDifference, text, value));
    let metric = &case.comparisons[0].summary.metric;
    if let Some(condensed) = coverage.condensed {
        let text = format!(
            "without unjudged hits {metric} changes by {} ({} to {})",
            wording::signed(condensed.delta),
            wording::value(condensed.baseline),
            wording::value(condensed.candidate),
        );
        limits.push(limit(LimitCode::Condensed, text, Some(condensed.delta)));
    }
    if let (Some(lowest), Some(highest)) = (coverage.lowest, coverage.highest) {
        let text = format!(
            "were every hit judged, the change of {metric} would lie between {} and {}",
            wording::signed(lowest),
            wording::signed(highest),
        );
        limits.push(limit(LimitCode::JudgmentBounds, text, None));
    }
    limits
}

fn detectable(case: &Case<'_>) -> Limit {
    let primary = &case.comparisons[0].summary;
    let code = LimitCode::MinimumDetectableEffect;
    let effect = primary.minimum_detectable_effect;
    let Some(effect) = effect.filter(|_| primary.changed > 0) else {
        let why = if primary.n > 1 {
            "the primary did not change"
        } else {
            "one query has no spread"
        };
        let text = format!("{why}, so no detectable effect can be stated");
        return limit(code, text, None);
    };
    let text = format!(
        "a change of {} below {} is likely missed (power 80 % at alpha {}, uncorrected)",
        primary.metric,
        wording::value(effect),
        wording::limit(case.policy.alpha)
    );
    limit(code, text, Some(effect))
}

fn operations(case: &Case<'_>) -> Vec<Limit> {
    let (baseline, candidate) = (case.baseline_counts, case.candidate_counts);
    let pairs = if baseline.failed > 0 {
        "; where the baseline failed, its mean counts the worst value and the change counts 0, so the change is not the difference of the means"
    } else {
        ""
    };
    let mut limits = vec![limit(
        LimitCode::Failed,
        format!(
            "failed queries: baseline {}, candidate {} of {}{pairs}",
            baseline.failed, candidate.failed, candidate.queries
        ),
        Some(candidate.failed as f64),
    )];
    let shown = |count: Option<usize>| count.map_or("unknown".to_owned(), |c| c.to_string());
    limits.push(
        if candidate.degraded.is_some() || baseline.degraded.is_some() {
            limit(
                LimitCode::Degraded,
                format!(
                    "degraded queries: baseline {}, candidate {} of {}",
                    shown(baseline.degraded),
                    shown(candidate.degraded),
                    candidate.queries
                ),
                candidate.degraded.map(|count| count as f64),
            )
        } else {
            let text = "degradation unknown: stage statuses were not recorded".to_owned();
            limit(LimitCode::DegradedUnknown, text, None)
        },
    );
    if candidate.zero_results.is_none() || baseline.zero_results.is_none() {
        let text = "queries without a result were not recorded".to_owned();
        limits.push(limit(LimitCode::ZeroResultUnknown, text, None));
    }
    limits
}

fn noise(case: &Case<'_>) -> Vec<Limit> {
    let Some(band) = noise_band(case.policy, case.evidence) else {
        let text = "no noise band: how much a rerun changes was not measured".to_owned();
        return vec![limit(LimitCode::NoiseBandUnknown, text, None)];
    };
    let text = format!(
        "reruns of one configuration change the primary by up to {}",
        wording::value(band)
    );
    let mut limits = vec![limit(LimitCode::NoiseBand, text, Some(band))];
    for rerun in &case.evidence.parts.context.reruns {
        let text = format!(
            "rerun: {} changed on {} of {} queries, {} {}, p {}",
            rerun.metric,
            rerun.changed,
            rerun.n,
            wording::signed(rerun.delta),
            wording::interval(rerun.ci_low, rerun.ci_high),
            wording::p(rerun.p.value()),
        );
        limits.push(limit(LimitCode::NoiseBand, text, Some(rerun.delta)));
    }
    limits
}

/// Says what the resamples could not give: a settled decision, BCa intervals.
fn resampling(case: &Case<'_>) -> Vec<Limit> {
    let mut limits = Vec::new();
    if !case.family.settled {
        let text = format!(
            "a decision still hangs on Monte Carlo error after {} resamples, the cap",
            case.family.resamples
        );
        let resamples = f64::from(case.family.resamples);
        limits.push(limit(LimitCode::Unsettled, text, Some(resamples)));
    }
    for comparison in case.comparisons {
        if comparison.summary.interval != case.policy.interval {
            let text = format!(
                "{}: BCa has no interval for these differences, the percentile interval is shown",
                comparison.summary.metric
            );
            limits.push(limit(LimitCode::IntervalMethod, text, None));
        }
    }
    for slice in case.slices.iter().filter(|slice| slice.n == 0) {
        let text = format!(
            "slice `{}`: no query belongs to it, or the texts and columns of the queries are not known",
            slice.slice
        );
        limits.push(limit(LimitCode::SliceUnknown, text, None));
    }
    limits
}

fn looks(case: &Case<'_>) -> Vec<Limit> {
    let mut limits = Vec::new();
    let looks = case.evidence.parts.context.looks;
    if looks > 1 {
        let text = format!(
            "look {looks} at this hypothesis on this query set: its p-value is too small by what was learnt before"
        );
        limits.push(limit(LimitCode::RepeatedLook, text, Some(f64::from(looks))));
    }
    for comparison in case.comparisons {
        let metric = &comparison.summary.metric;
        let text = match comparison.summary.agreement {
            Agreement::Agree => continue,
            Agreement::OnlyPValue => {
                format!("{metric}: the p-value finds a change and the interval does not")
            }
            Agreement::OnlyInterval => {
                format!("{metric}: the interval excludes 0 and the p-value finds no change")
            }
        };
        limits.push(limit(LimitCode::Disagreement, text, None));
    }
    limits
}
