//! Candidates and queries to tasks.
//!
//! The plan depends on the job and the dataset alone, never on workers or measured speed: the same job has the same
//! tasks, and so the same files, however it is run.

use evalfarm_domain::{Candidate, EvaluateTask, Fold, JobId};

/// Queries of one task. Small enough that a few threads share a fold of 600 queries, large enough that a file of rows
/// is worth its footer.
pub const QUERIES_PER_TASK: u32 = 256;

/// Candidates of one task. The engine reads the postings of a query once for all of them; 256 × 256 rows are a file of
/// a few megabytes.
pub const CANDIDATES_PER_TASK: usize = 256;

/// Returns the tasks that evaluate `candidates` on the first `queries` queries of a fold: query ranges in order within
/// candidate batches in order.
pub(crate) fn plan(
    job: &JobId,
    fold: Fold,
    queries: u32,
    candidates: &[Candidate],
) -> Vec<EvaluateTask> {
    candidates
        .chunks(CANDIDATES_PER_TASK)
        .flat_map(|batch| {
            ranges(queries).map(move |(first_query, query_count)| EvaluateTask {
                job: job.clone(),
                fold,
                first_query,
                query_count,
                candidates: batch.to_vec(),
            })
        })
        .collect()
}

/// Returns the first query and the length of each range.
pub(crate) fn ranges(queries: u32) -> impl Iterator<Item = (u32, u32)> {
    (0..queries)
        .step_by(QUERIES_PER_TASK as usize)
        .map(move |first| (first, QUERIES_PER_TASK.min(queries - first)))
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use evalfarm_domain::{Combine, FieldName, FieldWeights};

    use super::*;

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
        let job = JobId::try_from("j1").unwrap();
        let tasks = plan(&job, Fold::Train, 600, &candidates(300));
        let mut pairs = BTreeSet::new();
        for task in &tasks {
            for candidate in &task.candidates {
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
    fn nothing_to_do_is_no_task() {
        let job = JobId::try_from("j1").unwrap();
        assert_eq!(plan(&job, Fold::Train, 600, &[]), []);
        assert_eq!(plan(&job, Fold::Train, 0, &candidates(1)), []);
    }
}
