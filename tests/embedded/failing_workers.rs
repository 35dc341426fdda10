//! A task that failed is not done.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::Path;

use evalfarm_coordinator::sweep::SweepFile;
use evalfarm_coordinator::{
    Job, Progress, RunError, Surroundings, VerdictRecord, Workers, WorkersError, run,
};
use evalfarm_dataset::Dataset;
use evalfarm_domain::{EvaluateTask, ExamineTask, TaskId};
use evalfarm_results::JobFolder;
use evalfarm_retrieval::Bm25Index;
use evalfarm_tests::Bench;
use evalfarm_worker::{Evaluator, Stop};

use crate::scene::{differences, marks, results, staged};

/// One worker that works, but for the task at a position.
struct Counted<'a> {
    evaluator: &'a Evaluator<'a>,
    folder: &'a JobFolder,
    /// Which of the evaluated tasks fails, counted from 0 over the whole job; nothing when all succeed.
    failing: Option<usize>,
    /// Every task that was taken up, the failed one too.
    taken: RefCell<Vec<TaskId>>,
}

impl Workers for Counted<'_> {
    fn evaluate(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        for task in tasks {
            let position = self.taken.borrow().len();
            self.taken.borrow_mut().push(task.id());
            if self.failing == Some(position) {
                return Err(WorkersError::Failed("the engine does not answer".into()));
            }
            let block = self
                .evaluator
                .evaluate(task, &Stop::never())
                .expect("the task is sound");
            let committed = self.folder.commit_rows(&task.id(), &block);
            committed.expect("the folder can be written to");
            finished(task);
        }
        Ok(())
    }

    fn average(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        for task in tasks {
            let means = self
                .evaluator
                .average(task, &Stop::never())
                .expect("the task is sound");
            let metrics = self.evaluator.metrics();
            let committed = self
                .folder
                .commit_means(&task.id(), task.fold, metrics, &means);
            committed.expect("the folder can be written to");
            finished(task);
        }
        Ok(())
    }

    fn examine(
        &self,
        tasks: &[ExamineTask],
        finished: &(dyn Fn(&ExamineTask) + Sync),
    ) -> Result<(), WorkersError> {
        for task in tasks {
            let found = self
                .evaluator
                .examine(task, &Stop::never())
                .expect("the task is sound");
            let id = task.id();
            let hits = self.folder.commit_hits(&id, &found.hits);
            hits.expect("the folder can be written to");
            let relevant = self.folder.commit_relevant(&id, &found.relevant);
            relevant.expect("the folder can be written to");
            let metrics = self.evaluator.metrics();
            let condensed = self.folder.commit_condensed(&id, metrics, &found.condensed);
            condensed.expect("the folder can be written to");
            let unjudged = self.folder.commit_unjudged(&id, &found.unjudged);
            unjudged.expect("the folder can be written to");
            finished(task);
        }
        Ok(())
    }
}

/// Nobody watches.
struct Unwatched;

impl Progress for Unwatched {
    fn begin(&self, _step: &str, _evaluations: u64) {}
    fn advance(&self, _evaluations: u64) {}
    fn end(&self) {}
    fn note(&self, _line: &str) {}
}

/// The sweep of the bench with all that it needs.
struct Scene {
    job: Job,
    dataset: Dataset,
    index: Bm25Index,
}

impl Scene {
    fn new(bench: &Bench) -> Self {
        let dataset = Dataset::open(&bench.at("shop")).expect("it was generated");
        let sweep = SweepFile::read(&bench.at("sweep.toml")).expect("it was written");
        let job = Job::new(sweep, &dataset).expect("the sweep fits the dataset");
        let engine = &job.settings.engine;
        let index = Bm25Index::build(&dataset.corpus, engine).expect("it can be indexed");
        Self {
            job,
            dataset,
            index,
        }
    }

    /// Runs the job in a folder, new or not, and returns what came of it and the tasks that were taken up.
    fn run(
        &self,
        folder: &Path,
        failing: Option<usize>,
    ) -> (Result<VerdictRecord, RunError>, Vec<TaskId>) {
        let settings = &self.job.settings;
        let record = serde_json::to_value(self.job.record()).expect("it has a JSON form");
        let folder = JobFolder::create(folder, &settings.job, &record).expect("it is ours");
        let evaluator = Evaluator::new(settings, &self.dataset, &self.index);
        let workers = Counted {
            evaluator: &evaluator.expect("the job is about this dataset"),
            folder: &folder,
            failing,
            taken: RefCell::default(),
        };
        let outcome = run(
            &self.job,
            &Surroundings {
                folder: &folder,
                ledger: &folder.path().with_extension("looks"),
                workers: &workers,
                progress: &Unwatched,
            },
        );
        (outcome, workers.taken.into_inner())
    }
}

#[test]
fn w13_a_failed_task_is_computed_when_the_job_goes_on() {
    let bench = staged(300, 60);
    let scene = Scene::new(&bench);
    let (whole, every_task) = scene.run(&bench.at("whole"), None);
    let whole = whole.expect("nothing fails");

    // The third task is the second half of a round's queries: its first half is committed, the round is not.
    let (failed, taken) = scene.run(&bench.at("job"), Some(3));
    let error = failed.expect_err("a task failed");
    assert!(
        matches!(error, RunError::Workers(WorkersError::Failed(_))),
        "{error}"
    );
    assert_eq!(taken.len(), 4, "nothing is taken up after the failure");
    assert!(!marks(&bench.at("job")).contains_key("verdict.json"));

    let (resumed, taken_then) = scene.run(&bench.at("job"), None);
    let resumed = resumed.expect("nothing fails any more");
    assert_eq!(
        taken_then.first(),
        taken.last(),
        "the failed task comes first"
    );
    let done: BTreeSet<&TaskId> = taken.iter().take(3).chain(&taken_then).collect();
    assert_eq!(
        done.len(),
        3 + taken_then.len(),
        "a finished task was done again"
    );
    assert_eq!(done, every_task.iter().collect());
    assert_eq!(resumed.verdict, whole.verdict);
    assert_eq!(
        differences(&results(&bench, "whole"), &results(&bench, "job")),
        [""; 0]
    );
}

#[test]
fn the_command_and_a_worker_of_another_kind_leave_the_same_results() {
    let bench = staged(300, 60);
    bench.run(["run", "sweep.toml", "--out", "command"]);
    let (outcome, _) = Scene::new(&bench).run(&bench.at("double"), None);
    outcome.expect("nothing fails");
    assert_eq!(
        differences(&results(&bench, "command"), &results(&bench, "double")),
        [""; 0]
    );
}
