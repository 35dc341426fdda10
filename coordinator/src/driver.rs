//! Hands tasks to workers, and reads what they committed.

use std::collections::BTreeSet;

use evalfarm_domain::{Candidate, CandidateId, EvaluateTask, ExamineTask, Fold, TaskId};
use evalfarm_results::{Finished, MeansRow, RowsView, Wanted};

use crate::error::RunError;
use crate::job::Job;
use crate::measured::Measured;
use crate::plan::{TaskSize, plan, plan_means};
use crate::run::Surroundings;
use crate::seams::{Progress, WorkersError};
use crate::sweep::Visit;

/// Hits written for baseline and finalist: what a results page and the report need.
const EXAMINED_HITS: u32 = 50;

/// Depth to which the ranks of relevant documents are looked for.
const RANK_DEPTH: u32 = 1000;

/// Does tasks and says which are finished.
type Work<'w> =
    dyn Fn(&[EvaluateTask], &(dyn Fn(&EvaluateTask) + Sync)) -> Result<(), WorkersError> + 'w;

/// Has tasks done that are not done yet, and reads what they gave.
pub(crate) struct Driver<'a> {
    pub(crate) job: &'a Job,
    pub(crate) around: &'a Surroundings<'a>,
    /// Tasks whose rows are committed.
    with_rows: BTreeSet<TaskId>,
    /// Tasks whose means are committed.
    with_means: BTreeSet<TaskId>,
}

impl<'a> Driver<'a> {
    /// Looks for what an earlier run has finished.
    pub(crate) fn new(job: &'a Job, around: &'a Surroundings<'a>) -> Result<Self, RunError> {
        let metrics = &job.settings.measurement.metrics;
        let folder = around.folder;
        let rows = folder.finished(metrics).map_err(RunError::Results)?;
        let means = folder.finished_means(metrics).map_err(RunError::Results)?;
        say_set_aside(&rows, around.progress);
        say_set_aside(&means, around.progress);
        let count = rows.tasks.len() + means.tasks.len();
        if count > 0 {
            around
                .progress
                .note(&format!("{count} finished tasks are taken over"));
        }
        Ok(Self {
            job,
            around,
            with_rows: rows.tasks.into_keys().collect(),
            with_means: means.tasks.into_keys().collect(),
        })
    }

    /// Evaluates candidates on a fold with their rows stored, and hands over what these say and come to, in the order of the
    /// candidates and a few at a time.
    pub(crate) fn evaluate(
        &mut self,
        fold: Fold,
        visits: &[Visit],
        take: &mut dyn FnMut(Measured, MeansRow),
    ) -> Result<(), RunError> {
        let tasks = plan(
            &self.job.settings,
            fold,
            self.queries(fold),
            &candidates(visits),
        );
        let workers = self.around.workers;
        self.finish(
            fold,
            visits,
            &tasks,
            &self.with_rows,
            &|missing, finished| workers.evaluate(missing, finished),
        )?;
        self.with_rows.extend(tasks.iter().map(EvaluateTask::id));
        let weights = self.job.weights(fold);
        let metrics = self.job.settings.measurement.metrics.len();
        for of_batch in tasks.chunk_by(|a, b| a.candidates == b.candidates) {
            let ids: Vec<CandidateId> = of_batch[0].candidates.iter().map(Candidate::id).collect();
            let view = self.read(fold, of_batch, &ids)?;
            for (index, id) in ids.iter().enumerate() {
                let measured = Measured::new(id, &view, index, metrics);
                let means = measured.means(&weights);
                take(measured, means);
            }
        }
        Ok(())
    }

    /// Evaluates candidates on a fold with nothing but their means stored, and returns these in the order of the candidates.
    pub(crate) fn average(
        &mut self,
        fold: Fold,
        visits: &[Visit],
    ) -> Result<Vec<MeansRow>, RunError> {
        let tasks = plan_means(
            &self.job.settings,
            fold,
            self.queries(fold),
            &candidates(visits),
        );
        let workers = self.around.workers;
        self.finish(
            fold,
            visits,
            &tasks,
            &self.with_means,
            &|missing, finished| workers.average(missing, finished),
        )?;
        self.with_means.extend(tasks.iter().map(EvaluateTask::id));
        let metrics = &self.job.settings.measurement.metrics;
        let folder = self.around.folder;
        let mut means = Vec::with_capacity(visits.len());
        for task in &tasks {
            let of_task = folder.means(&task.id(), fold, metrics);
            means.append(&mut of_task.map_err(RunError::Results)?);
        }
        Ok(means)
    }

    fn queries(&self, fold: Fold) -> u32 {
        u32::try_from(self.job.ids(fold).len()).unwrap_or(u32::MAX)
    }

    /// Has the tasks done that are not among the finished ones.
    fn finish(
        &self,
        fold: Fold,
        visits: &[Visit],
        tasks: &[EvaluateTask],
        finished: &BTreeSet<TaskId>,
        work: &Work<'_>,
    ) -> Result<(), RunError> {
        let missing: Vec<EvaluateTask> = tasks
            .iter()
            .filter(|task| !finished.contains(&task.id()))
            .cloned()
            .collect();
        if missing.is_empty() {
            return Ok(());
        }
        let evaluations =
            |task: &EvaluateTask| u64::from(task.query_count) * task.candidates.len() as u64;
        let stage = visits.first().map_or("", |visit| visit.stage.as_str());
        let progress = self.around.progress;
        progress.begin(
            &format!("{fold} {stage}"),
            missing.iter().map(evaluations).sum(),
        );
        let outcome = work(&missing, &|task| progress.advance(evaluations(task)));
        progress.end();
        outcome.map_err(RunError::Workers)
    }

    fn read(
        &self,
        fold: Fold,
        tasks: &[EvaluateTask],
        ids: &[CandidateId],
    ) -> Result<RowsView, RunError> {
        let files = tasks
            .iter()
            .map(|task| self.around.folder.rows_path(&task.id()))
            .collect::<Result<Vec<_>, _>>()
            .map_err(RunError::Results)?;
        let wanted = Wanted {
            job: &self.job.settings.job,
            fold,
            metrics: &self.job.settings.measurement.metrics,
            candidates: ids,
            queries: self.job.ids(fold),
        };
        RowsView::read(&files, wanted).map_err(RunError::Results)
    }

    /// Has the hits of baseline and finalists written, where the relevant documents are, and what unjudged hits may hide, on
    /// every fold.
    pub(crate) fn examine(&self, candidates: &[&Candidate]) -> Result<(), RunError> {
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
                TaskSize::of(&self.job.settings)
                    .ranges(queries)
                    .map(move |range| (fold, range))
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

fn candidates(visits: &[Visit]) -> Vec<Candidate> {
    let candidates = visits.iter().map(|visit| &visit.configuration.candidate);
    candidates.cloned().collect()
}
