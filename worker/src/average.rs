//! What a task comes to when its rows are not stored.

use evalfarm_domain::EvaluateTask;
use evalfarm_results::MeansRow;

use crate::{EvaluateError, Evaluator, Stop};

impl Evaluator<'_> {
    /// Returns what the task's rows come to, one entry for each candidate in task order. Heeds `stop` as
    /// [`Self::evaluate`] does.
    pub fn average(
        &self,
        task: &EvaluateTask,
        stop: &Stop,
    ) -> Result<Vec<MeansRow>, EvaluateError> {
        let measured = self.measure(task, stop)?;
        let queries = self.range(task.fold, task.first_query, task.query_count)?;
        let weights: Vec<f64> = queries.iter().map(|judged| judged.query.weight).collect();
        let mut scored = vec![vec![0.0; measured.len()]; self.metrics().len()];
        let mut digests = vec![0; measured.len()];
        let mut means = Vec::with_capacity(task.candidates.len());
        for (position, candidate) in task.candidates.iter().enumerate() {
            for (at, query) in measured.iter().enumerate() {
                for (column, value) in scored.iter_mut().zip(query.scored(position)) {
                    column[at] = value;
                }
                digests[at] = query.digest(position);
            }
            let columns: Vec<&[f64]> = scored.iter().map(Vec::as_slice).collect();
            means.push(MeansRow::new(candidate.id(), &columns, &digests, &weights));
        }
        Ok(means)
    }
}
