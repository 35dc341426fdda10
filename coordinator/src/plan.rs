//! Candidates and queries to tasks.
//!
//! The plan depends on the job and the dataset alone, never on workers or measured speed: the same job has the same
//! tasks, and so the same files, however it is run.

use std::sync::Arc;

use evalfarm_domain::{Candidate, EvaluateTask, Fold, JobSettings};

/// Queries of one task. Small enough that a few threads share a fold of 600 queries, large enough that a file of rows
/// is worth its footer.
pub const QUERIES_PER_TASK: u32 = 256;

/// Candidates of one task. The engine reads the postings of a query once for all of them; 256 × 256 rows are a file of
/// a few megabytes.
pub const CANDIDATES_PER_TASK: usize = 256;

/// Queries, and candidates, of one task whose engine answers over a network: one at a time, so that 16 × 16 answers of
/// 15 ms are 4 s, and 2 s each are nine minutes.
pub(crate) const SERVED_PER_TASK: u16 = 16;

/// How much work one task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TaskSize {
    queries: u32,
    candidates: usize,
}

impl TaskSize {
    /// Returns the size for the engine that answers: it depends on the job alone.
    pub(crate) fn of(settings: &JobSettings) -> Self {
        match settings.served_by {
            None => Self {
                queries: QUERIES_PER_TASK,
                candidates: CANDIDATES_PER_TASK,
            },
            Some(_) => Self {
                queries: u32::from(SERVED_PER_TASK),
                candidates: usize::from(SERVED_PER_TASK),
            },
        }
    }

    /// Returns the first query and the length of each range.
    pub(crate) fn ranges(self, queries: u32) -> impl Iterator<Item = (u32, u32)> {
        (0..queries)
            .step_by(self.queries as usize)
            .map(move |first| (first, self.queries.min(queries - first)))
    }
}

/// Most rows (candidates × queries) that a sweep stores unless its file says otherwise.
///
/// Rows take about 10 bytes each on disk, and 120 in memory while they are judged as one family: 100 MB and 1.2 GB.
pub const MAX_ROWS: u64 = 10_000_000;

/// Decides of which candidates the rows are stored: those of the first rounds, as long as a round fits as a whole.
#[derive(Debug)]
pub(crate) struct RowBudget {
    queries: u64,
    max_rows: u64,
    /// Candidates whose rows are stored, the first in evaluation order.
    stored: usize,
    exceeded: bool,
}

impl RowBudget {
    pub(crate) fn new(queries: usize, max_rows: u64) -> Self {
        Self {
            queries: queries as u64,
            max_rows,
            stored: 0,
            exceeded: false,
        }
    }

    /// Whether the rows of the next round of candidates are stored. After one round without rows there is none with.
    pub(crate) fn admit(&mut self, candidates: usize) -> bool {
        let rows = (self.stored as u64)
            .saturating_add(candidates as u64)
            .saturating_mul(self.queries);
        self.exceeded |= rows > self.max_rows;
        if !self.exceeded {
            self.stored += candidates;
        }
        !self.exceeded
    }

    /// Whether the rows of the candidate at this position in evaluation order are stored.
    pub(crate) fn is_stored(&self, position: usize) -> bool {
        position < self.stored
    }

    /// Of how many of so many candidates the rows are not stored.
    pub(crate) fn unstored(&self, candidates: usize) -> usize {
        candidates.saturating_sub(self.stored)
    }
}

/// Returns the tasks that average `candidates` over a fold: each task has all queries, so that its means are final and
/// summed up in the order of the queries.
pub(crate) fn plan_means(
    settings: &JobSettings,
    fold: Fold,
    queries: u32,
    candidates: &[Candidate],
) -> Vec<EvaluateTask> {
    let batches = candidates.chunks(TaskSize::of(settings).candidates);
    batches
        .map(|batch| EvaluateTask {
            job: settings.job.clone(),
            fold,
            first_query: 0,
            query_count: queries,
            candidates: batch.into(),
        })
        .collect()
}

/// Returns the tasks that evaluate `candidates` on the first `queries` queries of a fold: query ranges in order within
/// candidate batches in order.
pub(crate) fn plan(
    settings: &JobSettings,
    fold: Fold,
    queries: u32,
    candidates: &[Candidate],
) -> Vec<EvaluateTask> {
    let size = TaskSize::of(settings);
    candidates
        .chunks(size.candidates)
        .flat_map(|batch| {
            let batch: Arc<[Candidate]> = batch.into();
            size.ranges(queries)
                .map(move |(first_query, query_count)| EvaluateTask {
                    job: settings.job.clone(),
                    fold,
                    first_query,
                    query_count,
                    candidates: Arc::clone(&batch),
                })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use std::num::NonZeroU32;

    use evalfarm_domain::{
        Combine, Digest, EngineName, EngineSettings, FieldName, FieldWeights, Gains, Grade, JobId,
        Measurement,
    };

    use super::*;

    fn settings(served_by: Option<&str>) -> JobSettings {
        JobSettings {
            job: JobId::try_from("j1").unwrap(),
            dataset: Digest::of(b"data"),
            engine: EngineSettings::default(),
            served_by: served_by.map(|name| EngineName::try_from(name).unwrap()),
            measurement: Measurement {
                metrics: Vec::new(),
                depth: NonZeroU32::MIN,
                gains: Gains::Linear,
                relevant_from: Grade::RELEVANT,
                top_grade: Grade::RELEVANT,
            },
            folds: BTreeMap::new(),
        }
    }

    fn candidates(count: usize) -> Vec<Candidate> {
        (1..=count)
            .map(|index| {
                let weights = BTreeMap::from([
                    (FieldName::try_from("title").unwrap(), 1000.0),
                    (FieldName::try_from("brand").unwrap(), index as f64),
                ]);
                Candidate {
                    combine: Combine::best_fields(0.0).unwrap(),
                    weights: FieldWeights::try_from(weights).unwrap(),
                }
            })
            .collect()
    }

    #[test]
    fn every_candidate_meets_every_query_once() {
        let tasks = plan(&settings(None), Fold::Train, 600, &candidates(300));
        let mut pairs = BTreeSet::new();
        for task in &tasks {
            for candidate in task.candidates.iter() {
                for query in task.first_query..task.first_query + task.query_count {
                    assert!(pairs.insert((candidate.id(), query)), "planned twice");
                }
            }
        }
        assert_eq!(pairs.len(), 600 * 300);
        let ids: BTreeSet<_> = tasks.iter().map(EvaluateTask::id).collect();
        assert_eq!(ids.len(), tasks.len());
    }

    #[test]
    fn means_are_taken_over_all_queries_at_once() {
        let tasks = plan_means(&settings(None), Fold::Train, 600, &candidates(300));
        let sizes: Vec<_> = tasks
            .iter()
            .map(|task| (task.first_query, task.query_count, task.candidates.len()))
            .collect();
        assert_eq!(sizes, [(0, 600, 256), (0, 600, 44)]);
    }

    #[test]
    fn rows_are_stored_round_by_round_while_they_fit() {
        let mut rows = RowBudget::new(10, 60);
        assert!(rows.admit(1));
        assert!(rows.admit(5), "60 rows are not more than 60");
        assert!(!rows.admit(1));
        assert_eq!((rows.is_stored(5), rows.is_stored(6)), (true, false));
        assert_eq!(rows.unstored(7), 1);

        let mut rows = RowBudget::new(10, 60);
        assert!(rows.admit(1));
        assert!(!rows.admit(6), "a round is stored whole or not at all");
        assert!(!rows.admit(1), "a later round that would fit is not");
        assert_eq!(rows.unstored(8), 7);
    }

    #[test]
    fn nothing_to_do_is_no_task() {
        let settings = settings(None);
        assert_eq!(plan(&settings, Fold::Train, 600, &[]), []);
        assert_eq!(plan(&settings, Fold::Train, 0, &candidates(1)), []);
    }

    #[test]
    fn tasks_of_a_slow_engine_are_small() {
        let tasks = plan(&settings(Some("search")), Fold::Train, 40, &candidates(20));
        let sizes: Vec<_> = tasks
            .iter()
            .map(|task| (task.query_count, task.candidates.len()))
            .collect();
        let expected = [(16, 16), (16, 16), (8, 16), (16, 4), (16, 4), (8, 4)];
        assert_eq!(sizes, expected);
    }
}
