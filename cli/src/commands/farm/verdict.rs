//! The stored verdict of a job, as far as this release can read it.

use evalfarm_domain::{CandidateId, JobId};
use evalfarm_gate::{
    CriterionResult, Family, Limit, MetricJudgement, Reason, SliceJudgement, Verdict,
};
use evalfarm_report::{Findings, count, findings_text, signed, slices_text};
use serde::Deserialize;
use serde_json::Value;

/// The parts of `verdict.json` that people read. Unknown keys are those of a newer coordinator.
#[derive(Debug, Deserialize)]
struct Stored {
    job: JobId,
    verdict: Verdict,
    reasons: Vec<Reason>,
    best: Named,
    baseline: Named,
    candidates: usize,
    distinct_results: usize,
    family: Family,
    limits: Vec<Limit>,
    metrics: Vec<MetricJudgement>,
    #[serde(default)]
    slices: Vec<SliceJudgement>,
    criteria: Vec<CriterionResult>,
    selection: Option<Selection>,
    changed_queries: Changed,
    provenance: Provenance,
}

#[derive(Debug, Deserialize)]
struct Named {
    id: CandidateId,
    label: String,
}

#[derive(Debug, Deserialize)]
struct Selection {
    train_delta: f64,
    holdout_delta: f64,
    optimism: f64,
}

#[derive(Debug, Deserialize)]
struct Changed {
    rankings: usize,
    metrics: usize,
    unchanged: usize,
}

#[derive(Debug, Deserialize)]
struct Provenance {
    dataset: String,
    synthetic: bool,
}

/// Returns the verdict as text; nothing when the record is of a release that says it in another way.
pub(super) fn verdict_text(record: &Value) -> Option<String> {
    let stored = Stored::deserialize(record).ok()?;
    let findings = Findings {
        verdict: stored.verdict,
        candidate: &format!("{} ({})", stored.best.label, stored.best.id),
        baseline: &format!("{} ({})", stored.baseline.label, stored.baseline.id),
        reasons: &stored.reasons,
        criteria: &stored.criteria,
        metrics: &stored.metrics,
        family: &stored.family,
        limits: &stored.limits,
    };
    let changed = &stored.changed_queries;
    let provenance = &stored.provenance;
    let parts = [
        findings_text(&findings),
        slices_text(&stored.slices),
        format!(
            "\nsweep\n  {} distinct candidates gave {} distinct results\n",
            count(stored.candidates),
            count(stored.distinct_results),
        ),
        format!(
            "  of the judged queries {} have another ranking, {} another value, {} are unchanged\n",
            count(changed.rankings),
            count(changed.metrics),
            count(changed.unchanged),
        ),
        stored.selection.as_ref().map_or(String::new(), promised),
        format!(
            "\njob {}, dataset {}{}\n",
            stored.job,
            provenance.dataset,
            if provenance.synthetic {
                " (synthetic)"
            } else {
                ""
            },
        ),
    ];
    Some(parts.concat())
}

fn promised(selection: &Selection) -> String {
    format!(
        "  the winner promised {} on the train queries and kept {} on the holdout: optimism {}\n",
        signed(selection.train_delta),
        signed(selection.holdout_delta),
        signed(selection.optimism),
    )
}
