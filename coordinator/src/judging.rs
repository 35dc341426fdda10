//! From measured finalists to the record of the verdict.

use std::collections::BTreeMap;
use std::path::Path;

use evalfarm_domain::{CandidateId, Fold};
use evalfarm_gate::{FamilyJudgement, Judgement, Side, judge_all};
use evalfarm_results::{CandidateRow, CondensedRow, JobFolder};

use crate::error::RunError;
use crate::evidence::{About, evidence};
use crate::holes::unjudged;
use crate::job::{EVALUATION, Job};
use crate::looks::{EarlierLooks, Look, holdout, question, record, remember};
use crate::measured::Measured;
use crate::summary::Summaries;
use crate::sweep::{Judge, ResultClass, Sweep, SweepReport, Visit};
use crate::verdict::{
    BothSides, NamedCandidate, Provenance, RowsLeftOut, Selection, VERDICT_SCHEMA, VerdictRecord,
    other,
};

/// A finished sweep with its finalists measured on the queries that judge them.
pub(crate) struct Judged<'a> {
    pub(crate) job: &'a Job,
    pub(crate) sweep: Sweep,
    pub(crate) report: SweepReport,
    /// The baseline, then the candidates of the family; the baseline alone when nothing beat it.
    pub(crate) finalists: Vec<Measured>,
    pub(crate) summaries: Summaries,
    /// Whose rows are not stored.
    pub(crate) rows_left_out: Option<RowsLeftOut>,
    /// Rows that the sweep chose without.
    pub(crate) unfinished_train_rows: usize,
}

impl Judged<'_> {
    /// The candidates that are judged as one family. Nothing beat the baseline: it stands against itself, which no gate
    /// promotes.
    fn family(&self) -> &[Measured] {
        match self.finalists.get(1..) {
            None | Some([]) => &self.finalists[..1],
            Some(family) => family,
        }
    }

    /// Judges the family with what is known of the lists' unjudged hits, or before anybody looked at them.
    pub(crate) fn judge_family(
        &self,
        earlier: Option<EarlierLooks>,
        condensed: Option<&[CondensedRow]>,
    ) -> Result<FamilyJudgement, RunError> {
        let job = self.job;
        let fold = job.judged_fold();
        let metrics = &job.settings.measurement.metrics;
        let baseline = &self.finalists[0].side;
        let family: Vec<Side> = self.family().iter().map(|one| one.side.clone()).collect();
        let ids: Vec<CandidateId> = family.iter().map(|side| side.id.clone()).collect();
        let queries = job.queries(fold);
        let unjudged = condensed
            .map(|condensed| unjudged(condensed, &baseline.id, &ids, metrics, job.ids(fold)));
        let about = About {
            queries: &queries,
            metrics,
            gains: job.settings.measurement.gains.to_string(),
            synthetic: job.manifest.synthetic,
            earlier,
            notes: Vec::new(),
            unfinished_train_rows: self.unfinished_train_rows,
        };
        let evidence = evidence(&about, baseline, family, unjudged).map_err(RunError::Evidence)?;
        judge_all(&job.sweep.policy, &evidence).map_err(RunError::Evidence)
    }
}

/// Writes the record of a judged family.
pub(crate) fn record_of(
    judged: &Judged<'_>,
    earlier_looks: Option<EarlierLooks>,
    family: FamilyJudgement,
) -> Result<VerdictRecord, RunError> {
    let job = judged.job;
    let baseline = &judged.finalists[0];
    let FamilyJudgement {
        verdict: _,
        leader,
        judgements,
    } = family;
    let (leading, others): (Vec<Judgement>, Vec<Judgement>) = judgements
        .into_iter()
        .partition(|judgement| judgement.candidate == leader);
    let leading = leading
        .into_iter()
        .next()
        .ok_or(RunError::NothingEvaluated)?;
    let measured = judged.family().iter().find(|one| one.side.id == leader);
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
        rows_left_out: judged.rows_left_out,
        unfinished_train_rows: Some(judged.unfinished_train_rows).filter(|&rows| rows > 0),
        family: leading.family,
        limits: leading.limits,
        metrics: leading.metrics,
        slices: leading.slices,
        criteria: leading.criteria,
        policy: leading.policy,
    })
}

/// Records the look at the holdout, and in the job's folder where looks are counted; a job without a holdout, or without a
/// winner, does not look.
pub(crate) fn looks(
    judged: &Judged<'_>,
    folder: &JobFolder,
    ledger: &Path,
) -> Result<Option<EarlierLooks>, RunError> {
    let job = judged.job;
    let winner = &judged.family()[0].side.id;
    if job.sweep.judge != Judge::WinnerOnHoldout || *winner == judged.finalists[0].side.id {
        return Ok(None);
    }
    let look = Look {
        holdout: holdout(job.settings.dataset, job.ids(Fold::Holdout)),
        baseline: judged.finalists[0].side.id.clone(),
        candidate: winner.clone(),
        policy: question(&job.sweep.policy).map_err(RunError::Json)?,
        job: job.settings.job.clone(),
    };
    remember(folder.path(), ledger).map_err(RunError::Looks)?;
    record(ledger, &look).map(Some).map_err(RunError::Looks)
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
        let mut aliases: BTreeMap<&CandidateId, Vec<String>> = BTreeMap::new();
        for alias in self.sweep.aliases() {
            let labels = aliases.entry(&alias.candidate).or_default();
            labels.push(alias.label.clone());
        }
        let mut rows = Vec::new();
        for (index, visit) in (0_u32..).zip(self.sweep.visits()) {
            let summary = self.summaries.get(&visit.id);
            let same_results_as = summary.class.and_then(|class| {
                let first = first_of_class
                    .entry(class)
                    .or_insert_with(|| visit.id.clone());
                (*first != visit.id).then(|| first.clone())
            });
            rows.push(CandidateRow {
                candidate: visit.id.clone(),
                index,
                stage: visit.stage.to_string(),
                labels: std::iter::once(visit.configuration.label.clone())
                    .chain(aliases.remove(&visit.id).unwrap_or_default())
                    .collect(),
                config: visit.configuration.candidate.canonical_json(),
                same_results_as,
                means: summary.means,
            });
        }
        rows
    }
}
