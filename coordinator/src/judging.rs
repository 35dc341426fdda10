//! From measured finalists to the record of the verdict.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_domain::{CandidateId, Digest, Fold};
use evalfarm_gate::{
    Context, Evidence, EvidenceParts, FamilyJudgement, GatePolicy, JudgedMetric, Judgement,
    judge_all,
};
use evalfarm_results::CandidateRow;

use crate::error::RunError;
use crate::job::{EVALUATION, Job, ids_digest};
use crate::looks::{EarlierLooks, Look, record};
use crate::measured::Measured;
use crate::summary::Summaries;
use crate::sweep::{Judge, ResultClass, Sweep, SweepReport, Visit};
use crate::verdict::{
    BothSides, NamedCandidate, Provenance, Selection, VERDICT_SCHEMA, VerdictRecord, other,
};

/// A finished sweep with its finalists measured on the queries that judge them.
pub(crate) struct Judged<'a> {
    pub(crate) job: &'a Job,
    pub(crate) sweep: &'a Sweep,
    pub(crate) report: SweepReport,
    /// The baseline, then the candidates of the family; the baseline alone when nothing beat it.
    pub(crate) finalists: Vec<Measured>,
    pub(crate) summaries: &'a Summaries,
}

/// Judges the finalists and counts the look at the holdout.
pub(crate) fn judge(judged: &Judged<'_>, ledger: &Path) -> Result<VerdictRecord, RunError> {
    let job = judged.job;
    let baseline = &judged.finalists[0];
    // Nothing beat the baseline: it stands against itself, which no gate promotes.
    let family = match judged.finalists.get(1..) {
        None | Some([]) => std::slice::from_ref(baseline),
        Some(family) => family,
    };
    let earlier_looks = looks(judged, family, ledger)?;
    let evidence = evidence(judged, family, earlier_looks)?;
    let FamilyJudgement {
        verdict: _,
        leader,
        judgements,
    } = judge_all(&job.sweep.policy, &evidence).map_err(RunError::Evidence)?;
    let (leading, others): (Vec<Judgement>, Vec<Judgement>) = judgements
        .into_iter()
        .partition(|judgement| judgement.candidate == leader);
    let leading = leading
        .into_iter()
        .next()
        .ok_or(RunError::NothingEvaluated)?;
    let measured = family.iter().find(|one| one.side.id == leader);
    let changed_queries = measured.unwrap_or(baseline).changes(baseline);
    Ok(VerdictRecord {
        schema_version: VERDICT_SCHEMA,
        job: job.settings.job.clone(),
        sweep: job.sweep.name.to_string(),
        verdict: leading.verdict,
        best: judged.named(&leader)?,
        baseline: judged.named(&baseline.side.id)?,
        judged_on: job.judged_fold(),
        candidates: judged.report.configurations,
        distinct_results: judged.report.distinct_results,
        selection: judged.selection(&leading),
        counts: BothSides {
            baseline: leading.baseline_counts,
            candidate: leading.candidate_counts,
        },
        coverage: leading.coverage,
        changed_queries,
        report: judged.report.clone(),
        others: others
            .iter()
            .map(|judgement| other(judgement, &judged.label(&judgement.candidate)))
            .collect(),
        earlier_looks,
        judge: job.sweep.judge,
        provenance: provenance(job),
        reasons: leading.reasons,
        family: leading.family,
        limits: leading.limits,
        metrics: leading.metrics,
        criteria: leading.criteria,
        policy: leading.policy,
    })
}

/// Records the look at the holdout; a job without one, or without a winner, does not look.
fn looks(
    judged: &Judged<'_>,
    family: &[Measured],
    ledger: &Path,
) -> Result<Option<EarlierLooks>, RunError> {
    let job = judged.job;
    let winner = &family[0].side.id;
    if job.sweep.judge != Judge::WinnerOnHoldout || *winner == judged.finalists[0].side.id {
        return Ok(None);
    }
    let policy = question(&job.sweep.policy)?;
    let holdout = ids_digest(job.ids(Fold::Holdout));
    let look = Look {
        holdout: Digest::of_parts([
            job.settings.dataset.as_bytes().as_slice(),
            holdout.as_bytes(),
        ]),
        baseline: judged.finalists[0].side.id.clone(),
        candidate: winner.clone(),
        policy: Digest::of(&policy),
        job: job.settings.job.clone(),
    };
    record(ledger, &look).map(Some).map_err(RunError::Looks)
}

/// What of a policy makes a question another one: all but what its resamples are drawn with. Asking again with another
/// seed is asking the same thing twice.
fn question(policy: &GatePolicy) -> Result<Vec<u8>, RunError> {
    let mut form = serde_json::to_value(policy).map_err(RunError::Json)?;
    if let Some(keys) = form.as_object_mut() {
        keys.retain(|key, _| key != "seed" && key != "resamples");
    }
    serde_json::to_vec(&form).map_err(RunError::Json)
}

fn evidence(
    judged: &Judged<'_>,
    family: &[Measured],
    earlier: Option<EarlierLooks>,
) -> Result<Evidence, RunError> {
    let job = judged.job;
    let fold = job.judged_fold();
    let facts = job.facts[&fold];
    let mut notes = Vec::new();
    if facts.without_relevant > 0 {
        notes.push(format!(
            "{} of {} queries have no relevant judgment and count as 0 for every candidate",
            facts.without_relevant,
            job.ids(fold).len(),
        ));
    }
    let weights = job.weights(fold);
    if weights.is_some() {
        notes.push(
            "each query counts by its weight here, and once in the means of candidates.parquet"
                .to_owned(),
        );
    }
    if family[0].side.id == judged.finalists[0].side.id {
        notes.push("no candidate was better than the baseline on the train queries".to_owned());
    }
    if let Some(earlier) = earlier.filter(|earlier| earlier.same_holdout > 0) {
        notes.push(format!(
            "other jobs have looked at this holdout {} times before, {} of them at this very comparison",
            earlier.same_holdout, earlier.same_hypothesis,
        ));
    }
    Evidence::new(EvidenceParts {
        queries: job.ids(fold).to_vec(),
        metrics: job
            .settings
            .measurement
            .metrics
            .iter()
            .map(|&metric| JudgedMetric::from(metric))
            .collect(),
        baseline: judged.finalists[0].side.clone(),
        candidates: family.iter().map(|one| one.side.clone()).collect(),
        weights,
        clusters: job.clusters(fold),
        context: Context {
            gains: Some(job.settings.measurement.gains.to_string()),
            relevant_per_query: Some(facts.relevant_per_query),
            synthetic: job.manifest.synthetic,
            looks: earlier.map_or(0, |earlier| earlier.same_hypothesis + 1),
            notes,
            ..Context::default()
        },
    })
    .map_err(RunError::Evidence)
}

fn provenance(job: &Job) -> Provenance {
    let record = job.record();
    let measurement = &job.settings.measurement;
    let folds = job.settings.folds.iter();
    Provenance {
        evaluation: EVALUATION,
        dataset: job.manifest.name.clone(),
        fingerprint: job.settings.dataset,
        source: job.manifest.source.clone(),
        licence: job.manifest.licence.clone(),
        synthetic: job.manifest.synthetic,
        queries: folds.map(|(&fold, ids)| (fold, ids.len())).collect(),
        folds: record.folds,
        metrics: measurement.metrics.clone(),
        depth: measurement.depth.get(),
        gains: measurement.gains.clone(),
        relevant_from: measurement.relevant_from,
        seed: job.sweep.seed,
        sweep: record.sweep,
    }
}

impl Judged<'_> {
    fn visit(&self, id: &CandidateId) -> Option<&Visit> {
        self.sweep.visits().iter().find(|visit| visit.id == *id)
    }

    fn label(&self, id: &CandidateId) -> String {
        self.visit(id)
            .map_or_else(|| id.to_string(), |visit| visit.configuration.label.clone())
    }

    fn named(&self, id: &CandidateId) -> Result<NamedCandidate, RunError> {
        let visit = self.visit(id).ok_or(RunError::NothingEvaluated)?;
        Ok(NamedCandidate {
            id: id.clone(),
            label: visit.configuration.label.clone(),
            stage: visit.stage.to_string(),
            configuration: visit.configuration.candidate.clone(),
        })
    }

    /// What the train queries promised of the winner and the holdout kept.
    fn selection(&self, leading: &Judgement) -> Option<Selection> {
        if self.job.sweep.judge != Judge::WinnerOnHoldout {
            return None;
        }
        let value = |id: &CandidateId| {
            let observation = self.sweep.observations().get(id)?;
            Some(observation.value())
        };
        let train_delta = value(&leading.candidate)? - value(&leading.baseline)?;
        let holdout_delta = leading.metrics[0].delta;
        Some(Selection {
            train_delta,
            holdout_delta,
            optimism: train_delta - holdout_delta,
        })
    }

    /// Returns one row for each candidate, in evaluation order.
    pub(crate) fn candidate_rows(&self) -> Vec<CandidateRow> {
        let mut first_of_class: BTreeMap<ResultClass, CandidateId> = BTreeMap::new();
        let mut rows = Vec::new();
        for (index, visit) in (0_u32..).zip(self.sweep.visits()) {
            let summary = self.summaries.get(&visit.id);
            let same_results_as = summary.class.and_then(|class| {
                let first = first_of_class
                    .entry(class)
                    .or_insert_with(|| visit.id.clone());
                (*first != visit.id).then(|| first.clone())
            });
            let aliases = self.sweep.aliases().iter();
            let aliases = aliases.filter(|alias| alias.candidate == visit.id);
            rows.push(CandidateRow {
                candidate: visit.id.clone(),
                index,
                stage: visit.stage.to_string(),
                labels: std::iter::once(visit.configuration.label.clone())
                    .chain(aliases.map(|alias| alias.label.clone()))
                    .collect(),
                config: visit.configuration.candidate.canonical_json(),
                same_results_as,
                means: summary.means,
            });
        }
        rows
    }
}
