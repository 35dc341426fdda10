//! Our own times.

use std::hint::black_box;
use std::time::Duration;

use evalfarm_domain::{Candidate, EvaluateTask, Fold};
use evalfarm_retrieval::{Prepared, Rankings};
use evalfarm_worker::{Evaluator, MeasuredQuery, Stop};

use crate::Outcome;
use crate::clock::Clock;
use crate::collection::{Collection, DEPTH};

/// Times of one sweep.
pub(crate) struct Sweep {
    /// From candidates to a value for each metric, candidate and query.
    pub(crate) time: Duration,
    /// Distinct outcomes a query, on average.
    pub(crate) distinct: f64,
}

/// Returns the least time of several sweeps, each with nothing cached, and every value kept.
pub(crate) fn sweep(
    collection: &Collection,
    candidates: &[Candidate],
    threads: u32,
    repetitions: u32,
) -> Outcome<Sweep> {
    let queries = collection.queries();
    let share = queries.div_ceil(threads);
    let tasks: Vec<EvaluateTask> = (0..threads)
        .map(|thread| EvaluateTask {
            job: collection.settings.job.clone(),
            fold: Fold::All,
            first_query: thread * share,
            query_count: share.min(queries - thread * share),
            candidates: candidates.into(),
        })
        .collect();
    let mut least = Duration::MAX;
    let mut distinct = 0.0;
    for _ in 0..repetitions {
        let evaluator = evaluator(collection)?;
        let clock = Clock::start();
        let measured: Vec<MeasuredQuery<'_>> = match &tasks[..] {
            [task] => evaluator.measure(task, &Stop::never())?,
            tasks => std::thread::scope(|scope| {
                let handles: Vec<_> = tasks
                    .iter()
                    .map(|task| scope.spawn(|| evaluator.measure(task, &Stop::never())))
                    .collect();
                let joined = handles
                    .into_iter()
                    .map(|handle| handle.join().map_err(|_| "a thread panicked"));
                let parts = joined.collect::<Result<Vec<_>, _>>()?.into_iter();
                let parts = parts.collect::<Result<Vec<_>, _>>()?;
                Outcome::Ok(parts.into_iter().flatten().collect())
            })?,
        };
        // The time of several threads is what has passed.
        least = least.min(if threads == 1 {
            clock.ran()
        } else {
            clock.passed()
        });
        let outcomes: usize = measured.iter().map(MeasuredQuery::distinct).sum();
        distinct = outcomes as f64 / f64::from(queries);
        black_box(measured);
    }
    Ok(Sweep {
        time: least,
        distinct,
    })
}

/// Returns an evaluator with nothing cached.
pub(crate) fn evaluator(collection: &Collection) -> Outcome<Evaluator<'_>> {
    let Collection {
        settings,
        dataset,
        index,
        ..
    } = collection;
    Ok(Evaluator::new(settings, dataset, index)?)
}

/// Returns the time of ranking for each candidate all documents that match, over the same per-field scores: what a sweep costs
/// that collects them once and leaves nothing out.
pub(crate) fn exhaustive(collection: &Collection, candidates: &[Candidate]) -> Outcome<Duration> {
    let index = &collection.index;
    let alone = |candidate| index.prepare(std::slice::from_ref(candidate));
    let alone: Vec<Prepared> = candidates.iter().map(alone).collect::<Result<_, _>>()?;
    let mut searcher = index.searcher();
    let mut rankings = Rankings::default();
    let clock = Clock::start();
    for query in &collection.dataset.queries {
        for prepared in &alone {
            searcher.rank_many(&query.text, prepared, DEPTH as usize, &mut rankings)?;
            black_box(&rankings);
        }
    }
    Ok(clock.ran())
}
