//! Drives a job from its first candidate to its verdict: a thin loop around a pure sweep and a pure gate.

use std::path::Path;

use evalfarm_domain::{Candidate, Fold};
use evalfarm_results::JobFolder;

use crate::driver::Driver;
use crate::error::RunError;
use crate::holes::{judge_next, to_examine};
use crate::job::Job;
use crate::judging::{Judged, looks, record_of};
use crate::measured::Measured;
use crate::plan::RowBudget;
use crate::seams::{Progress, Workers};
use crate::summary::Summaries;
use crate::sweep::{Ask, Judge, Observation, ResultClass, Sweep, Visit};
use crate::unfinished;
use crate::verdict::{RowsLeftOut, VerdictRecord};

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
/// Tasks whose results the folder has are not evaluated again; a folder without any is a first run.
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
    let swept = sweep(job, &mut driver)?;
    let judged = finalists(job, &mut driver, swept)?;
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

/// A sweep that has no more to ask.
struct Swept {
    sweep: Sweep,
    summaries: Summaries,
    rows: RowBudget,
    /// What is judged without being evaluated again: every candidate under [`Judge::AllOnAll`], else none.
    kept: Vec<Measured>,
    /// Rows that the sweep chose without, on queries that judge nobody.
    unfinished_train_rows: usize,
}

/// Evaluates what the sweep asks for until it has no more to ask.
fn sweep(job: &Job, driver: &mut Driver<'_>) -> Result<Swept, RunError> {
    let selection = job.sweep.judge.selection_fold();
    let fold = Fold::from(selection);
    let mut swept = Swept {
        sweep: job.sweep.start(),
        summaries: Summaries::default(),
        rows: RowBudget::new(job.ids(fold).len(), job.sweep.max_rows),
        kept: Vec::new(),
        unfinished_train_rows: 0,
    };
    loop {
        let visits = match swept.sweep.ask() {
            Ask::Finished => break,
            Ask::Evaluate(visits) => visits.to_vec(),
        };
        let mut means = Vec::with_capacity(visits.len());
        match (swept.rows.admit(visits.len()), job.sweep.judge) {
            (true, judge) => driver.evaluate(fold, &visits, &mut |measured, of_all| {
                means.push(of_all);
                match judge {
                    Judge::AllOnAll => swept.kept.push(measured),
                    Judge::WinnerOnHoldout => {
                        swept.unfinished_train_rows += unfinished::rows_of(&measured);
                    }
                }
            })?,
            (false, Judge::WinnerOnHoldout) => {
                means = driver.average(fold, &visits)?;
                let metrics = &job.settings.measurement.metrics;
                swept.unfinished_train_rows +=
                    unfinished::rows_behind(&means, metrics, job.ids(fold).len());
            }
            (false, Judge::AllOnAll) => {
                return Err(RunError::TooManyRows {
                    candidates: swept.sweep.visits().len(),
                    queries: job.ids(fold).len(),
                    max_rows: job.sweep.max_rows,
                });
            }
        }
        let observations = means
            .iter()
            .map(|one| Observation::new(selection, one.weighted, ResultClass(one.class)))
            .collect::<Result<Vec<_>, _>>()
            .map_err(RunError::Observation)?;
        let told = swept.sweep.tell(&observations);
        told.map_err(RunError::Observation)?;
        for one in means {
            swept.summaries.add(fold, one);
        }
    }
    Ok(swept)
}

/// Evaluates those who are judged: on the holdout, and on the train queries when only their means are stored.
fn finalists<'a>(
    job: &'a Job,
    driver: &mut Driver<'_>,
    swept: Swept,
) -> Result<Judged<'a>, RunError> {
    let Swept {
        sweep,
        mut summaries,
        rows,
        kept,
        unfinished_train_rows,
    } = swept;
    let report = job.sweep.report(&sweep).ok_or(RunError::NothingEvaluated)?;
    let mut finalists = kept;
    let mut unstored = rows.unstored(sweep.visits().len());
    if job.sweep.judge == Judge::WinnerOnHoldout {
        let mut chosen = vec![0, report.best.position - 1];
        chosen.dedup();
        let visits = |wanted: &dyn Fn(usize) -> bool| -> Vec<Visit> {
            let chosen = chosen.iter().filter(|&&index| wanted(index));
            chosen.map(|&index| sweep.visits()[index].clone()).collect()
        };
        let without_rows = visits(&|index| !rows.is_stored(index));
        driver.evaluate(Fold::Train, &without_rows, &mut |_, _| {})?;
        unstored -= without_rows.len();
        driver.evaluate(Fold::Holdout, &visits(&|_| true), &mut |measured, means| {
            finalists.push(measured);
            summaries.add(Fold::Holdout, means);
        })?;
    }
    let rows_left_out = (unstored > 0).then_some(RowsLeftOut {
        candidates: unstored,
        max_rows: job.sweep.max_rows,
    });
    Ok(Judged {
        job,
        sweep,
        report,
        finalists,
        summaries,
        rows_left_out,
        unfinished_train_rows,
    })
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
