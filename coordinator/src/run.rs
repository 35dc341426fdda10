//! Drives a job from its first candidate to its verdict: a thin loop around a pure sweep and a pure gate.

use std::collections::BTreeSet;
use std::path::Path;

use evalfarm_domain::{Candidate, CandidateId, EvaluateTask, ExamineTask, Fold, TaskId};
use evalfarm_results::{Finished, JobFolder, RowsView, Wanted};

use crate::error::RunError;
use crate::holes::{judge_next, to_examine};
use crate::job::Job;
use crate::judging::{Judged, looks, record_of};
use crate::measured::Measured;
use crate::plan::{plan, ranges};
use crate::seams::{Progress, Workers};
use crate::summary::Summaries;
use crate::sweep::{Ask, Judge, Observation, Visit};
use crate::verdict::VerdictRecord;

/// Hits written for baseline and finalist: what a results page and the report need.
const EXAMINED_HITS: u32 = 50;

/// Depth to which the ranks of relevant documents are looked for.
const RANK_DEPTH: u32 = 1000;

/// What a driver needs beside the job.
#[expect(
    missing_debug_implementations,
    reason = "workers and watchers need not be printable"
)]
pub struct Surroundings<'a> {
    /// Where rows are committed.
    pub folder: &'a JobFolder,
    /// Where looks at the holdout are counted.
    pub ledger: &'a Path,
    /// Who evaluates.
    pub workers: &'a dyn Workers,
    /// Who watches.
    pub progress: &'a dyn Progress,
}

/// Runs a job to its verdict, which is also written into its folder.
///
/// Tasks whose rows the folder has are not evaluated again; a folder without any is a first run.
pub fn run(job: &Job, around: &Surroundings<'_>) -> Result<VerdictRecord, RunError> {
    let mut driver = Driver::new(job, around)?;
    let queries: Vec<_> = job
        .settings
        .folds
        .keys()
        .flat_map(|&fold| job.queries(fold))
        .collect();
    around
        .folder
        .write_queries(&queries)
        .map_err(RunError::Results)?;
    let mut summaries = Summaries::default();
    let selection = job.sweep.judge.selection_fold();
    let fold = Fold::from(selection);
    let mut sweep = job.sweep.start();
    let weights = job.weights(fold);
    let mut kept: Vec<Measured> = Vec::new();
    loop {
        let visits = match sweep.ask() {
            Ask::Finished => break,
            Ask::Evaluate(visits) => visits.to_vec(),
        };
        let measured = driver.evaluate(fold, &visits)?;
        let primary = 0; // the first metric of a job is its primary
        let observations = measured
            .iter()
            .map(|one| {
                let value = one.weighted_mean(primary, weights.as_deref());
                Observation::new(selection, value, one.class())
            })
            .collect::<Result<Vec<_>, _>>()
            .map_err(RunError::Observation)?;
        sweep.tell(&observations).map_err(RunError::Observation)?;
        for one in measured {
            summaries.add(fold, &one);
            let is_baseline = kept.is_empty();
            if is_baseline || job.sweep.judge == Judge::AllOnAll {
                kept.push(one);
            }
        }
    }
    let report = job.sweep.report(&sweep).ok_or(RunError::NothingEvaluated)?;
    let finalists = match job.sweep.judge {
        Judge::AllOnAll => kept,
        Judge::WinnerOnHoldout => {
            let chosen = [0, report.best.position - 1].map(|index| sweep.visits()[index].clone());
            let mut chosen: Vec<Visit> = chosen.into();
            chosen.dedup_by(|a, b| a.id == b.id);
            let finalists = driver.evaluate(Fold::Holdout, &chosen)?;
            for one in &finalists {
                summaries.add(Fold::Holdout, one);
            }
            finalists
        }
    };
    let judged = Judged {
        job,
        sweep: &sweep,
        report,
        finalists,
        summaries: &summaries,
    };
    let record = conclude(&driver, &judged)?;
    around
        .folder
        .write_candidates(&job.settings.measurement.metrics, &judged.candidate_rows())
        .map_err(RunError::Results)?;
    let json = serde_json::to_value(&record).map_err(RunError::Json)?;
    around
        .folder
        .write_verdict(&json)
        .map_err(RunError::Results)?;
    Ok(record)
}

/// Judges, has the lists of those examined whose verdict could hang on unjudged hits, and judges again with what was found.
fn conclude(driver: &Driver<'_>, judged: &Judged<'_>) -> Result<VerdictRecord, RunError> {
    let (job, folder) = (driver.job, driver.around.folder);
    let earlier = looks(judged, folder, driver.around.ledger)?;
    let first = judged.judge_family(earlier, None)?;
    let baseline = &judged.finalists[0].side.id;
    let examined = std::iter::once(baseline.clone()).chain(to_examine(&first));
    let visits = judged.sweep.visits();
    let candidates: Vec<&Candidate> = examined
        .filter_map(|id| visits.iter().find(|visit| visit.id == id))
        .map(|visit| &visit.configuration.candidate)
        .collect();
    driver.examine(&candidates)?;
    let metrics = &job.settings.measurement.metrics;
    let condensed = folder.condensed(metrics).map_err(RunError::Results)?;
    let family = judged.judge_family(earlier, Some(&condensed))?;
    let queries = job.queries(job.judged_fold());
    let queries: Vec<_> = queries.into_iter().map(|query| query.query).collect();
    let rows = folder.unjudged().map_err(RunError::Results)?;
    folder
        .write_judge_next(&judge_next(&rows, &family.leader, &queries))
        .map_err(RunError::Results)?;
    record_of(judged, earlier, family)
}

struct Driver<'a> {
    job: &'a Job,
    around: &'a Surroundings<'a>,
    /// Tasks whose rows are committed.
    committed: BTreeSet<TaskId>,
}

impl<'a> Driver<'a> {
    fn new(job: &'a Job, around: &'a Surroundings<'a>) -> Result<Self, RunError> {
        let metrics = &job.settings.measurement.metrics;
        let finished = around.folder.finished(metrics).map_err(RunError::Results)?;
        say_set_aside(&finished, around.progress);
        if !finished.tasks.is_empty() {
            let count = finished.tasks.len();
            around
                .progress
                .note(&format!("{count} finished tasks are taken over"));
        }
        Ok(Self {
            job,
            around,
            committed: finished.tasks.into_keys().collect(),
        })
    }

    /// Evaluates candidates on a fold and returns what their rows say, in the order of the candidates.
    fn evaluate(&mut self, fold: Fold, visits: &[Visit]) -> Result<Vec<Measured>, RunError> {
        let candidates: Vec<Candidate> = visits
            .iter()
            .map(|visit| visit.configuration.candidate.clone())
            .collect();
        let queries = u32::try_from(self.job.ids(fold).len()).unwrap_or(u32::MAX);
        let tasks = plan(&self.job.settings.job, fold, queries, &candidates);
        let missing: Vec<EvaluateTask> = tasks
            .iter()
            .filter(|task| !self.committed.contains(&task.id()))
            .cloned()
            .collect();
        if !missing.is_empty() {
            let evaluations =
                |task: &EvaluateTask| u64::from(task.query_count) * task.candidates.len() as u64;
            let stage = visits.first().map_or("", |visit| visit.stage.as_str());
            let progress = self.around.progress;
            progress.begin(
                &format!("{fold} {stage}"),
                missing.iter().map(evaluations).sum(),
            );
            let outcome = self
                .around
                .workers
                .evaluate(&missing, &|task| progress.advance(evaluations(task)));
            progress.end();
            outcome.map_err(RunError::Workers)?;
        }
        self.committed.extend(tasks.iter().map(EvaluateTask::id));
        self.read(fold, &tasks, &candidates)
    }

    fn read(
        &self,
        fold: Fold,
        tasks: &[EvaluateTask],
        candidates: &[Candidate],
    ) -> Result<Vec<Measured>, RunError> {
        let files = tasks
            .iter()
            .map(|task| self.around.folder.rows_path(&task.id()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(RunError::Results)?;
        let ids: Vec<CandidateId> = candidates.iter().map(Candidate::id).collect();
        let wanted = Wanted {
            job: &self.job.settings.job,
            fold,
            metrics: &self.job.settings.measurement.metrics,
            candidates: &ids,
            queries: self.job.ids(fold),
        };
        let view = RowsView::read(&files, wanted).map_err(RunError::Results)?;
        let metrics = self.job.settings.measurement.metrics.len();
        Ok(ids
            .iter()
            .enumerate()
            .map(|(index, id)| Measured::new(id, &view, index, metrics))
            .collect())
    }

    /// Has the hits of baseline and finalists written, where the relevant documents are, and what unjudged hits may hide, on
    /// every fold.
    fn examine(&self, candidates: &[&Candidate]) -> Result<(), RunError> {
        let mut candidates: Vec<Candidate> = candidates.iter().copied().cloned().collect();
        candidates.dedup();
        let depth =
            |count: u32| std::num::NonZeroU32::new(count).unwrap_or(std::num::NonZeroU32::MIN);
        let tasks: Vec<ExamineTask> = self
            .job
            .settings
            .folds
            .iter()
            .flat_map(|(&fold, ids)| {
                let queries = u32::try_from(ids.len()).unwrap_or(u32::MAX);
                ranges(queries).map(move |range| (fold, range))
            })
            .map(|(fold, (first_query, query_count))| ExamineTask {
                job: self.job.settings.job.clone(),
                fold,
                first_query,
                query_count,
                candidates: candidates.clone(),
                hits: self
                    .job
                    .settings
                    .measurement
                    .depth
                    .max(depth(EXAMINED_HITS)),
                rank_depth: depth(RANK_DEPTH),
            })
            .collect();
        let tasks = self.unexamined(tasks)?;
        if tasks.is_empty() {
            return Ok(());
        }
        let evaluations =
            |task: &ExamineTask| u64::from(task.query_count) * task.candidates.len() as u64;
        let progress = self.around.progress;
        progress.begin(
            "hits of baseline and finalists",
            tasks.iter().map(evaluations).sum(),
        );
        let outcome = self
            .around
            .workers
            .examine(&tasks, &|task| progress.advance(evaluations(task)));
        progress.end();
        outcome.map_err(RunError::Workers)
    }

    /// Returns the tasks of which something is not there, or not whole.
    fn unexamined(&self, mut tasks: Vec<ExamineTask>) -> Result<Vec<ExamineTask>, RunError> {
        let folder = self.around.folder;
        let hits = folder.finished_hits().map_err(RunError::Results)?;
        let relevant = folder.finished_relevant().map_err(RunError::Results)?;
        let metrics = &self.job.settings.measurement.metrics;
        let condensed = folder
            .finished_condensed(metrics)
            .map_err(RunError::Results)?;
        let unjudged = folder.finished_unjudged().map_err(RunError::Results)?;
        let kinds = [&hits, &relevant, &condensed, &unjudged];
        for finished in kinds {
            say_set_aside(finished, self.around.progress);
        }
        tasks.retain(|task| {
            let id = task.id();
            !kinds
                .iter()
                .all(|finished| finished.tasks.contains_key(&id))
        });
        Ok(tasks)
    }
}

fn say_set_aside(finished: &Finished, progress: &dyn Progress) {
    for set_aside in &finished.set_aside {
        progress.note(&format!(
            "set aside as `{}` and evaluated again: {}",
            set_aside.path.display(),
            set_aside.reason,
        ));
    }
}
