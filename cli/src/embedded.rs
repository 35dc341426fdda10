//! The embedded mode: the farm's coordinator and worker wired together in one process. No port is opened.

use std::num::NonZeroUsize;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use evalfarm_coordinator::{Workers, WorkersError};
use evalfarm_domain::{EvaluateTask, ExamineTask, TaskId};
use evalfarm_results::{Commit, JobFolder, ResultsError, TimingRow};
use evalfarm_worker::{EvaluateError, Evaluator, Stop};

/// Set by the first interrupt; workers look at it between tasks.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Makes the first interrupt finish the tasks at hand and stop, instead of ending the process.
pub(crate) fn stop_on_interrupt() -> Result<(), ctrlc::Error> {
    match ctrlc::set_handler(|| INTERRUPTED.store(true, Ordering::SeqCst)) {
        // The one that is there is this one.
        Err(ctrlc::Error::MultipleHandlers) => Ok(()),
        other => other,
    }
}

/// Whether the user has interrupted the command.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
enum TaskError {
    #[error("task `{task}` could not be evaluated")]
    Evaluate {
        task: TaskId,
        #[source]
        source: EvaluateError,
    },
    #[error("the result of task `{task}` could not be stored")]
    Store {
        task: TaskId,
        #[source]
        source: ResultsError,
    },
}

/// Worker threads that share one evaluator and one job folder.
#[derive(Debug)]
pub(crate) struct Embedded<'a> {
    pub(crate) evaluator: &'a Evaluator<'a>,
    pub(crate) folder: &'a JobFolder,
    pub(crate) threads: NonZeroUsize,
}

impl Workers for Embedded<'_> {
    fn evaluate(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        self.share(tasks, |task| {
            self.evaluate_one(task)?;
            finished(task);
            Ok(())
        })
    }

    fn average(
        &self,
        tasks: &[EvaluateTask],
        finished: &(dyn Fn(&EvaluateTask) + Sync),
    ) -> Result<(), WorkersError> {
        self.share(tasks, |task| {
            self.average_one(task)?;
            finished(task);
            Ok(())
        })
    }

    fn examine(
        &self,
        tasks: &[ExamineTask],
        finished: &(dyn Fn(&ExamineTask) + Sync),
    ) -> Result<(), WorkersError> {
        self.share(tasks, |task| {
            self.examine_one(task)?;
            finished(task);
            Ok(())
        })
    }
}

impl Embedded<'_> {
    /// Does every task on one of the threads. Threads take the next task as they become free, which changes who does a
    /// task and never what it gives. After an error or an interrupt no further task is taken.
    fn share<T: Sync>(
        &self,
        tasks: &[T],
        work: impl Fn(&T) -> Result<(), TaskError> + Sync,
    ) -> Result<(), WorkersError> {
        let next = AtomicUsize::new(0);
        let failed: Mutex<Option<(usize, TaskError)>> = Mutex::new(None);
        let failed_before = || {
            let failed = failed
                .lock()
                .unwrap_or_else(std::sync::PoisonError::into_inner);
            failed.is_some()
        };
        thread::scope(|scope| {
            for _ in 0..self.threads.get().min(tasks.len()) {
                scope.spawn(|| {
                    while !INTERRUPTED.load(Ordering::SeqCst) && !failed_before() {
                        let index = next.fetch_add(1, Ordering::SeqCst);
                        let Some(task) = tasks.get(index) else { break };
                        if let Err(error) = work(task) {
                            let mut failed = failed
                                .lock()
                                .unwrap_or_else(std::sync::PoisonError::into_inner);
                            if failed.as_ref().is_none_or(|&(first, _)| index < first) {
                                *failed = Some((index, error));
                            }
                        }
                    }
                });
            }
        });
        let failed = failed
            .into_inner()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        match failed {
            Some((_, error)) => Err(WorkersError::Failed(Box::new(error))),
            None if INTERRUPTED.load(Ordering::SeqCst) => Err(WorkersError::Interrupted),
            None => Ok(()),
        }
    }

    fn evaluate_one(&self, task: &EvaluateTask) -> Result<(), TaskError> {
        let compute = || self.evaluator.evaluate(task, &Stop::never());
        self.timed(task, compute, |id, block| {
            self.folder.commit_rows(id, &block)
        })
    }

    fn average_one(&self, task: &EvaluateTask) -> Result<(), TaskError> {
        let metrics = self.evaluator.metrics();
        let compute = || self.evaluator.average(task, &Stop::never());
        self.timed(task, compute, |id, means| {
            self.folder.commit_means(id, task.fold, metrics, &means)
        })
    }

    /// Computes and commits a task, and how long it took to compute.
    fn timed<T>(
        &self,
        task: &EvaluateTask,
        compute: impl FnOnce() -> Result<T, EvaluateError>,
        commit: impl FnOnce(&TaskId, T) -> Result<Commit, ResultsError>,
    ) -> Result<(), TaskError> {
        let start = Instant::now();
        let id = task.id();
        let computed = compute().map_err(|source| TaskError::Evaluate {
            task: id.clone(),
            source,
        })?;
        let timing = TimingRow {
            task: id.clone(),
            attempt: 1,
            worker: "embedded".to_owned(),
            queries: task.query_count,
            candidates: u32::try_from(task.candidates.len()).unwrap_or(u32::MAX),
            seconds: start.elapsed().as_secs_f64(),
        };
        commit(&id, computed)
            .and_then(|_| self.folder.write_timings(&id, &[timing]))
            .map_err(|source| TaskError::Store { task: id, source })
    }

    fn examine_one(&self, task: &ExamineTask) -> Result<(), TaskError> {
        let id = task.id();
        let examination = self
            .evaluator
            .examine(task, &Stop::never())
            .map_err(|source| TaskError::Evaluate {
                task: id.clone(),
                source,
            })?;
        let metrics = self.evaluator.metrics();
        self.folder
            .commit_hits(&id, &examination.hits)
            .and_then(|_| self.folder.commit_relevant(&id, &examination.relevant))
            .and_then(|_| {
                self.folder
                    .commit_condensed(&id, metrics, &examination.condensed)
            })
            .and_then(|_| self.folder.commit_unjudged(&id, &examination.unjudged))
            .map(drop)
            .map_err(|source| TaskError::Store { task: id, source })
    }
}
